"""The formulas of the papers, written as plainly as possible: loops over words, no arrays.

A text's vector is its word counts, so these numbers need no model. None stands for undefined.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise

Said = list[tuple[str, str]]
Vector = dict[str, float]

WORDS = ["tea", "cake", "van", "lake", "road", "bread", "milk"]
PROFILES = {"Ana": "tea cake", "Bo": "van"}


def conversation(seed: int, least: int = 1, most: int = 12) -> Said:
    """Return a random conversation of three speakers over few words, so that texts repeat and overlap."""
    draw = random.Random(seed)
    length = draw.randint(least, most)
    return [
        (draw.choice(["Ana", "Ana", "Bo", "Cy"]), " ".join(draw.choices(WORDS, k=draw.randint(1, 4))))
        for _ in range(length)
    ]


def vector(text: str) -> Vector:
    return {word: float(count) for word, count in Counter(text.split()).items()}


def mixed(parts: Sequence[tuple[float, Vector]]) -> Vector:
    """Return the weighted sum of vectors."""
    total: Counter[str] = Counter()
    for weight, part in parts:
        for word, value in part.items():
            total[word] += weight * value  # type: ignore[assignment]
    return dict(total)


def mean(vectors: Sequence[Vector]) -> Vector:
    return mixed([(1 / len(vectors), one) for one in vectors])


def length(one: Vector) -> float:
    return math.sqrt(sum(value * value for value in one.values()))


def unit(one: Vector) -> Vector:
    return {word: value / length(one) for word, value in one.items()}


def cosine(left: Vector, right: Vector) -> float:
    dot = sum(value * right.get(word, 0.0) for word, value in left.items())
    return dot / (length(left) * length(right))


def near(left: str, right: str) -> float:
    return cosine(vector(left), vector(right))


def average(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


# Appendix B: a predicted turn (speaker, text) after a context.


def implicit_reference(context: Said, speaker: str) -> float | None:
    """Eq. 2 with the geometric decay and rate 0.6."""
    if len(context) < 2:
        return None
    places = [i for i in range(2, len(context) + 1) if context[-i][0] == speaker]
    return max((0.6 * 0.4 ** (i - 2) for i in places), default=0.0)


def frequency(context: Said, speaker: str, window: int) -> float | None:
    """Eq. 3."""
    return sum(who == speaker for who, _ in context) / (window or len(context)) if context else None


def sides(context: Said, speaker: str) -> tuple[list[str], list[str]]:
    own = [text for who, text in context if who == speaker]
    return own, [text for who, text in context if who != speaker]


def likeness(context: Said, speaker: str, pick: Callable) -> float | None:
    """Eq. 4 with `pick` the average, eq. 5 with the maximum."""
    own, others = sides(context, speaker)
    return pick([max(near(c, d) for d in own) for c in others]) if own and others else None


def augmented(context: Said, speaker: str, window: int) -> Vector | None:
    """Eq. 6-7."""
    if speaker not in PROFILES:
        return None
    own, _ = sides(context, speaker)
    alpha = min(1.0, len(own) / (window or max(len(context), 1)))
    spoken = mean([vector(text) for text in own]) if own else {}
    return mixed([(alpha, spoken), (1 - alpha, vector(PROFILES[speaker]))])


def likeness_aug(context: Said, speaker: str, window: int, pick: Callable) -> float | None:
    _, others = sides(context, speaker)
    speaker_vector = augmented(context, speaker, window)
    if speaker_vector is None or not others:
        return None
    return pick([cosine(vector(c), speaker_vector) for c in others])


def own_likeness(context: Said, speaker: str, text: str, pick: Callable) -> float | None:
    """Eq. 20-22."""
    own, _ = sides(context, speaker)
    return pick([near(text, c) for c in own]) if own else None


def novelty(context: Said, text: str, pick: Callable) -> float | None:
    """Eq. 15-16."""
    return pick([1 - near(text, c) for _, c in context]) if context else None


def units(text: str) -> set[str]:
    words = text.split()
    return {*words, *(f"{one} {two}" for one, two in pairwise(words))}


def lexical(context: Said, text: str, *, embedded: bool, weighted: bool) -> float | None:
    """Eq. 12-14, IDF over the context's turns and the message."""
    if not context:
        return None
    found, seen = units(text), [units(c) for _, c in context]
    known = set().union(*seen)
    if embedded:
        new = {w for w in found if max(near(w, c) for c in known) < 0.7}
    else:
        new = found - known
    documents = [*seen, found]

    def weight(unit: str) -> float:
        frequency = sum(unit in one for one in documents)
        return math.log((len(documents) + 1) / (frequency + 1)) + 1 if weighted else 1.0

    return sum(map(weight, new)) / sum(map(weight, found))


class Plan:
    """An agenda with the formulas about it; thresholds as in the paper's symbols."""

    def __init__(
        self, items: dict[str, str], edges: list[tuple[str, str]], rel: float, gamma: float, cov: float
    ) -> None:
        self.items, self.edges, self.rel, self.gamma, self.cov = items, edges, rel, gamma, cov

    def about(self, item: str, texts: list[str]) -> list[str]:
        return [text for text in texts if near(self.items[item], text) > self.rel]

    def coverage(self, item: str, texts: list[str]) -> float | None:
        """Eq. 9."""
        found = self.about(item, texts)
        distances = [1 - near(one, two) for one, two in combinations(found, 2)]
        if not distances:
            return None
        return (1 - math.exp(-len(found) / self.gamma)) * sum(distances) / len(distances)

    def saturated(self, item: str, texts: list[str]) -> bool:
        """Eq. 26."""
        return (self.coverage(item, texts) or 0.0) > self.cov

    def current(self, texts: list[str]) -> str | None:
        counts = {item: len(self.about(item, texts)) for item in self.items}
        best = max(counts.values())
        return next(item for item, count in counts.items() if count == best) if best else None

    def gain(self, item: str, texts: list[str], message: str) -> float | None:
        """Eq. 10."""
        return average([1 - near(message, c) for c in self.about(item, texts)])

    def next(self, item: str, texts: list[str], discovered: set[str]) -> str | None:
        """Algorithm 1, recursively as it is printed."""
        if item in discovered:
            return None
        discovered.add(item)
        if not self.saturated(item, texts):
            return item
        after = [two for one, two in self.edges if one == item]
        before = [one for one, two in self.edges if two == item]
        for other in [*after, *before]:
            found = self.next(other, texts, discovered)
            if found is not None:
                return found
        return None

    def progression(self, texts: list[str], message: str) -> float | None:
        """Eq. 11, on the active item."""
        current = self.current(texts)
        item = current and self.next(current, texts, set())
        gain = self.gain(item, texts, message) if item else None
        return None if item is None or gain is None else near(message, self.items[item]) * gain

    def order(self, start: str) -> list[str]:
        """Algorithm 2, recursively as it is printed; items that it does not reach follow."""
        found: list[str] = []

        def traverse(item: str) -> None:
            if item in found:
                return
            found.append(item)
            for one, two in self.edges:
                if one == item:
                    traverse(two)

        for item in [start, *self.items]:
            traverse(item)
        return found

    def structure(self, texts: list[str], start: str, size: int, step: int, hops: int) -> float | None:
        """Eq. 29-31; the last block ends with the last turn."""
        starts = list(range(0, max(len(texts) - size, 0) + 1, step))
        if starts[-1] + size < len(texts):
            starts.append(starts[-1] + step)
        path: list[str] = []
        for at in starts:
            sums = {
                item: sum(near(c, text) for c in texts[at : at + size]) for item, text in self.items.items()
            }
            best = max(sums.values())
            item = next(item for item, value in sums.items() if value > best - 1e-9)
            if not path or path[-1] != item:
                path.append(item)
        order = self.order(start)
        moves = [abs(order.index(two) - order.index(one)) > hops for one, two in pairwise(path)]
        return 1 - sum(moves) / len(moves) if moves else None


# Appendix C: a whole conversation.


def entropy(said: Said) -> float | None:
    """Eq. 24."""
    turns = Counter(who for who, _ in said)
    if len(turns) < 2:
        return None
    shares = [count / len(said) for count in turns.values()]
    return -sum(p * math.log2(p) for p in shares) / math.log2(len(turns))


def spread(texts: list[str]) -> float:
    """Return the mean edge of the minimum spanning tree, by Kruskal: equal texts are edges of length zero."""
    if len(texts) < 2:
        return 0.0
    group = list(range(len(texts)))
    edges = sorted((1 - near(texts[i], texts[j]), i, j) for i, j in combinations(range(len(texts)), 2))
    total = 0.0
    for distance, i, j in edges:
        if group[i] != group[j]:
            total += distance
            old = group[j]
            group = [group[i] if one == old else one for one in group]
    return total / (len(texts) - 1)


def concentration(said: Said) -> float | None:
    """C.1.1: Gini of max(0, R - R without the speaker)."""
    speakers = sorted({who for who, _ in said})
    whole = spread([text for _, text in said])
    gains = [max(0.0, whole - spread([t for who, t in said if who != one])) for one in speakers]
    gains = [gain if gain > 1e-9 else 0.0 for gain in gains]
    if len(speakers) < 2 or not sum(gains):
        return None
    return sum(abs(a - b) for a in gains for b in gains) / (2 * len(gains) * sum(gains))


def distance(left: str, right: str) -> float:
    one, two = vector(left), vector(right)
    return math.sqrt(sum((one.get(w, 0.0) - two.get(w, 0.0)) ** 2 for w in {*one, *two}))


def progression(said: Said) -> float | None:
    """Eq. 32."""
    return distance(said[0][1], said[-1][1]) / len(said) if len(said) > 1 else None


def harmonic(said: Said, epsilon: float) -> float | None:
    """Eq. 33."""
    steps = [distance(one[1], two[1]) for one, two in pairwise(said)]
    return len(steps) / sum(1 / (step + epsilon) for step in steps) if steps else None


def consistency(said: Said, pick: Callable, *, profiles: bool, least: int = 2) -> float | None:
    """Eq. 34-36 and 39, averaged by their turns over speakers with `least`; alpha = min(1, n / 10)."""
    total, count = 0.0, 0
    for speaker in {who for who, _ in said}:
        own = [unit(vector(text)) for who, text in said if who == speaker]
        if len(own) < least or (profiles and speaker not in PROFILES):
            continue
        centre = mean(own)
        if profiles:
            alpha = min(1.0, len(own) / 10)
            centre = mixed([(alpha, centre), (1 - alpha, unit(vector(PROFILES[speaker])))])
        total += len(own) * pick([cosine(one, centre) for one in own])
        count += len(own)
    return total / count if count else None
