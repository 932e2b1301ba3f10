"""Strata of a review queue, defined by answers of judges: rules, sizes of samples, and the draw. Pure.

A queue is a stratified sample of items. Every item belongs to the first stratum whose rule its judges'
answers meet. In a stratum of N items, n are drawn by simple random sampling without replacement: those with
the lowest MD5 of seed and key. So each item of the stratum has the probability n / N.
"""

from __future__ import annotations

import hashlib
import heapq
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, multimode, stdev
from typing import Any, NamedTuple, TypeGuard

Value = float | str
Answers = Sequence[Sequence[Value]]
"""Answers about one item: of each judge, its samples (at least one)."""
Inclusion = Mapping[int, tuple[float, str]]
"""Probability and stratum of each item that was drawn, or could be drawn, by item id."""

LEAST = 2
"""Smallest sample of a stratum that is not empty: the least from which a variance can be estimated."""
LEAST_PILOT = 5
"""Fewest items with answers of people from which the standard deviation of a stratum is estimated."""
MOST_JUDGES, MOST_STRATA, LONGEST = 20, 20, 200
PROPORTIONAL, NEYMAN = "proportional", "neyman"
ALLOCATIONS = {
    PROPORTIONAL: "In proportion to the sizes of the strata",
    NEYMAN: "Neyman: more where judge and people differ more",
}
CATEGORIES = ("binary", "nominal")
"""Levels at which answers agree or not; at the others, they lie some distance apart."""
LEVELS = (*CATEGORIES, "ordinal", "interval", "ratio")


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition on the judges' answers about an item. `limit` says what its number is, '' without one."""

    key: str
    title: str
    meaning: str
    limit: str = ""
    is_optional: bool = False


RULES = {
    rule.key: rule
    for rule in (
        Rule("flagged", "flagged", "a judge gave the positive answer, in at least half of its samples"),
        Rule(
            "value", "answer", "a judge gave one of these answers, in at least half of its samples", "answers"
        ),
        Rule("at_most", "score at most", "the mean of the judges' means is at most this", "score"),
        Rule("at_least", "score at least", "the mean of the judges' means is at least this", "score"),
        Rule(
            "disagree",
            "judges disagree",
            "the judges' answers differ; with a limit, their means are at least so far apart",
            "distance",
            is_optional=True,
        ),
        Rule(
            "unsure",
            "low confidence",
            "a judge's samples differ; with a limit, they are at least so far apart",
            "distance",
            is_optional=True,
        ),
        Rule("missing", "no answer", "no judge gave an answer"),
        Rule("rest", "rest", "all other items"),
    )
}
"""Rules of strata, in the order of the form."""
REST = "rest"


class QueueError(ValueError):
    """A queue that is not valid, or cannot be drawn, with a sentence that says how to mend it."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """A rule and the size of its sample: a `share` above 0 and at most 1, or a `number` of items.

    With neither, its part of the queue's total. The share of `rest` may be 0: those items are left out. `sd`
    is the standard deviation that Neyman allocation takes instead of an estimated one.
    """

    rule: str
    limit: float | None = None
    values: tuple[Value, ...] = ()
    share: float | None = None
    number: int | None = None
    sd: float | None = None

    @property
    def name(self) -> str:
        """Its name, stored with each item."""
        title = RULES[self.rule].title
        if self.rule == "value":
            texts = (f"{value:g}" if isinstance(value, float) else value for value in self.values)
            return f"{title} {', '.join(texts)}"[:200]
        if self.limit is None:
            return title
        words = {"disagree": "judges at least {} apart", "unsure": "samples at least {} apart"}
        return words.get(self.rule, title + " {}").format(f"{self.limit:g}")

    @property
    def is_fixed(self) -> bool:
        """Whether its own settings give the size of its sample."""
        return self.share is not None or self.number is not None

    @property
    def is_left_out(self) -> bool:
        """Whether none of its items is drawn."""
        return self.share == 0


@dataclass(frozen=True, slots=True)
class Queue:
    """The settings of a review queue: whose answers to which question, and the strata, `rest` last."""

    judges: tuple[str, ...]
    question: str
    strata: tuple[Stratum, ...]
    total: int | None = None
    allocation: str = ""


def parse(settings: Any) -> Queue:
    """Read a queue from its JSON form. Without `rest`, what no other stratum has is left out.

    Raises QueueError for settings that are not valid.
    """
    if not isinstance(settings, Mapping):
        raise QueueError("A review queue is an object with judges, question and strata.")
    if extra := settings.keys() - {"judges", "question", "strata", "total", "allocation"}:
        raise QueueError(f"A review queue has no “{min(extra)}”.")
    judges = settings.get("judges")
    if not _is_list(judges) or not all(isinstance(name, str) and name for name in judges):
        raise QueueError("Say by the answers of which judge items are drawn.")
    if not 1 <= len(set(judges)) <= MOST_JUDGES:
        raise QueueError(f"A review queue reads the answers of 1 to {MOST_JUDGES} judges.")
    question = settings.get("question")
    if not isinstance(question, str) or not question.isprintable() or not question:
        raise QueueError("Say by the answers to which question items are drawn.")
    rows = settings.get("strata")
    if not _is_list(rows) or not 1 <= len(rows) <= MOST_STRATA:
        raise QueueError(f"A review queue has 1 to {MOST_STRATA} strata.")
    strata = [_parse_stratum(row) for row in rows]
    if any(stratum.rule == REST for stratum in strata[:-1]):
        raise QueueError("The rest comes last: it is whatever no other stratum has.")
    if strata[-1].rule != REST:
        strata.append(Stratum(REST, share=0.0))
    names = [stratum.name for stratum in strata]
    if double := next((name for name in names if names.count(name) > 1), None):
        raise QueueError(f"There are two strata “{double}”. Keep one of them.")
    if all(stratum.is_left_out for stratum in strata):
        raise QueueError("Every stratum is left out. Draw something of at least one.")
    queue = Queue(tuple(dict.fromkeys(judges)), question, tuple(strata), *_parse_total(settings))
    if any(stratum.rule == "disagree" for stratum in strata) and len(queue.judges) < 2:
        raise QueueError("Judges can disagree only where there are two or more: choose another one.")
    lacking = [stratum.name for stratum in strata if not stratum.is_fixed]
    if lacking and queue.total is None:
        raise QueueError(f"Say how many of “{lacking[0]}” are drawn, or give a total.")
    if queue.total is not None and not lacking:
        raise QueueError("A total is divided among strata without a size of their own: leave one empty.")
    return queue


def check_question(queue: Queue, level: str, values: Sequence[Any]) -> None:
    """Refuse rules that do not fit a question's level and values. Raises QueueError."""
    if level not in LEVELS:
        raise QueueError("Items are drawn by answers on a scale or in categories, not by texts or rankings.")
    for stratum in queue.strata:
        if stratum.rule == "flagged" and level != "binary":
            raise QueueError("Only a yes-no question flags items: choose a score or answers.")
        if stratum.limit is not None and level == "nominal":
            raise QueueError("Categories have no order: choose answers, not a score or a distance.")
        strange = next((value for value in stratum.values if values and value not in values), None)
        if strange is not None:
            raise QueueError(f"“{strange}” is not an answer to this question.")


def _parse_stratum(row: Any) -> Stratum:
    if not isinstance(row, Mapping):
        raise QueueError("A stratum is an object with a rule and a size.")
    if extra := row.keys() - {"rule", "limit", "values", "share", "number", "sd"}:
        raise QueueError(f"A stratum has no “{min(extra)}”.")
    rule = RULES.get(row["rule"]) if isinstance(row.get("rule"), str) else None
    if rule is None:
        raise QueueError(f"The rule of a stratum is one of {', '.join(RULES)}.")
    limit, values = _number(row, "limit"), row.get("values") or []
    if not _is_list(values) or not all(map(_is_answer, values)):
        raise QueueError(f"The answers of “{rule.title}” are a list of numbers or names.")
    if (rule.key == "value") != bool(values):
        raise QueueError(f"“{rule.title}” {'needs its' if rule.key == 'value' else 'has no'} answers.")
    if limit is not None and rule.limit not in ("score", "distance"):
        raise QueueError(f"“{rule.title}” has no limit.")
    if limit is None and rule.limit == "score":
        raise QueueError(f"“{rule.title}” needs its score.")
    if limit is not None and rule.limit == "distance" and limit <= 0:
        raise QueueError(f"The distance of “{rule.title}” is above 0.")
    share, number, sd = _number(row, "share"), _number(row, "number"), _number(row, "sd")
    if share is not None and number is not None:
        raise QueueError(f"Say either which share of “{rule.title}” or how many are drawn, not both.")
    if share is not None and not (0 < share <= 1 or (share == 0 and rule.key == REST)):
        raise QueueError(f"The share of “{rule.title}” is above 0 and at most 1 (0.1 is a tenth).")
    if number is not None and (number < LEAST or number != int(number)):
        raise QueueError(f"Of “{rule.title}”, draw a whole number of items, {LEAST} or more.")
    if sd is not None and sd <= 0:
        raise QueueError(f"The standard deviation of “{rule.title}” is above 0.")
    exact = tuple(value if isinstance(value, str) else float(value) for value in values)
    return Stratum(rule.key, limit, exact, share, None if number is None else int(number), sd)


def _parse_total(settings: Mapping[str, Any]) -> tuple[int | None, str]:
    total, allocation = _number(settings, "total"), settings.get("allocation") or ""
    if allocation not in ("", *ALLOCATIONS):
        raise QueueError(f"A total is allocated {' or '.join(ALLOCATIONS)}.")
    if total is None:
        if allocation:
            raise QueueError("Say how many items are drawn in total, or choose no allocation.")
        return None, ""
    if total < LEAST or total != int(total):
        raise QueueError(f"The total is a whole number of items, {LEAST} or more.")
    return int(total), allocation or PROPORTIONAL


def _number(row: Mapping[str, Any], name: str) -> float | None:
    value = row.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise QueueError(f"The {name} of a stratum or queue is a number.")
    return float(value)


def _is_answer(value: Any) -> bool:
    if isinstance(value, str):
        return value.isprintable() and 0 < len(value) <= LONGEST
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def stratum_of(queue: Queue, answers: Answers, level: str, positive: float | None) -> Stratum:
    """Return the first stratum of a queue whose rule an item's answers meet."""
    return next(stratum for stratum in queue.strata if _meets(stratum, answers, level, positive))


def _meets(stratum: Stratum, answers: Answers, level: str, positive: float | None) -> bool:
    if stratum.rule in (REST, "missing"):
        return stratum.rule == REST or not answers
    if not answers:
        return False
    if stratum.rule in ("flagged", "value"):
        values = stratum.values if stratum.rule == "value" else (1.0 if positive is None else positive,)
        return any(2 * sum(value in values for value in samples) >= len(samples) for samples in answers)
    if stratum.rule == "unsure":
        return any(_differ(samples, stratum.limit) for samples in answers)
    if stratum.rule == "disagree":
        centres = [_centre(samples, level if stratum.limit is None else "interval") for samples in answers]
        return _differ(centres, stratum.limit)
    score = fmean(_mean(samples) for samples in answers)
    assert stratum.limit is not None
    slack = 1e-9
    return score <= stratum.limit + slack if stratum.rule == "at_most" else score >= stratum.limit - slack


def _differ(values: Sequence[Value], limit: float | None) -> bool:
    if limit is None:
        return len(set(values)) > 1
    numbers = _numbers(values)
    return max(numbers) - min(numbers) >= limit - 1e-9


def _centre(samples: Sequence[Value], level: str) -> Value:
    """Return the most frequent answer of categories (of equally frequent ones the lowest), else the mean."""
    if level in CATEGORIES:
        return min(multimode(samples), key=lambda value: (isinstance(value, str), value))
    return _mean(samples)


def _mean(samples: Sequence[Value]) -> float:
    return fmean(_numbers(samples))


def _numbers(values: Iterable[Value]) -> list[float]:
    return [float(value) for value in values]


# Standard deviations of the strata, from items that people have answered already.


class Deviation(NamedTuple):
    """Standard deviation of a stratum, and its source: given, the pilot's part in it, or the whole pilot."""

    sd: float
    source: str


def deviations(
    queue: Queue, pilot: Iterable[tuple[str, Answers, Sequence[Value]]], level: str
) -> dict[str, Deviation]:
    """Estimate the standard deviation of people's minus the judges' answer, by stratum that needs it.

    `pilot` has the items that people and judges answered: stratum, the judges' answers, people's answers. On
    a scale it is the sample standard deviation of the differences of means. For categories it is
    sqrt(p (1 - p)) of the error rate p = (errors + 1/2) / (n + 1): the share of items on which the most
    frequent answers differ, with Jeffreys' correction, so that a pilot without errors does not give 0. A
    stratum with fewer than `LEAST_PILOT` items, or without variation, takes the estimate of all strata
    together.

    Raises QueueError where that has too few items, too.
    """
    differences: dict[str, list[float]] = {}
    for name, answers, people in pilot:
        differences.setdefault(name, []).append(_difference(answers, people, level))
    pooled = [difference for rows in differences.values() for difference in rows]
    estimated: dict[str, Deviation] = {}
    for stratum in queue.strata:
        own = differences.get(stratum.name, [])
        if stratum.is_fixed:
            continue
        if stratum.sd is not None:
            estimated[stratum.name] = Deviation(stratum.sd, "given")
        elif len(own) >= LEAST_PILOT and _deviation(own, level):
            estimated[stratum.name] = Deviation(_deviation(own, level), f"{len(own)} rated items")
        elif len(pooled) >= LEAST_PILOT:
            estimated[stratum.name] = Deviation(
                _deviation(pooled, level), f"{len(pooled)} rated items of all strata"
            )
        else:
            raise QueueError(
                f"Neyman allocation needs {LEAST_PILOT} items that people and the judge have answered "
                f"(there are {len(pooled)}), or standard deviations. Rate a pilot first, or allocate in "
                "proportion."
            )
    return estimated


def _difference(answers: Answers, people: Sequence[Value], level: str) -> float:
    if level in CATEGORIES:
        judged = _centre([_centre(samples, level) for samples in answers], level)
        return float(_centre(people, level) != judged)
    return _mean(people) - fmean(_mean(samples) for samples in answers)


def _deviation(differences: Sequence[float], level: str) -> float:
    if level in CATEGORIES:
        p = (sum(differences) + 0.5) / (len(differences) + 1)
        return math.sqrt(p * (1 - p))
    return stdev(differences)


# Sizes of the samples, and the draw.


@dataclass(frozen=True, slots=True)
class StratumSize:
    """A stratum's name, items (N) and sample (n); `deviation` where Neyman allocation used one."""

    name: str
    items: int
    sample: int
    deviation: Deviation | None = field(default=None)

    @property
    def probability(self) -> float | None:
        """Probability of each of its items, n / N; None where nothing is drawn."""
        return self.sample / self.items if self.sample else None


def sizes(
    queue: Queue, counts: Mapping[str, int], estimate: Callable[[], Mapping[str, Deviation]]
) -> list[StratumSize]:
    """Return the size of each stratum's sample, from the numbers of items by stratum.

    A share is rounded to whole items (a half up). No sample of a stratum is larger than the stratum, or
    smaller than two items where it has them. A total is divided among the strata without a size of their own;
    `estimate` is called for their deviations where the allocation is Neyman's. Raises QueueError where the
    total is too small, and where there is nothing to draw.
    """
    n = {stratum.name: _own_size(stratum, counts.get(stratum.name, 0)) for stratum in queue.strata}
    free = [stratum.name for stratum in queue.strata if not stratum.is_fixed]
    estimates: Mapping[str, Deviation] = {}
    if queue.total is not None:
        if queue.allocation == NEYMAN:
            estimates = estimate()
        deviation = [estimates[name].sd if estimates else 1.0 for name in free]
        rest = queue.total - sum(n.values())
        least = sum(min(LEAST, counts.get(name, 0)) for name in free)
        if rest < least:
            raise QueueError(
                f"A total of {queue.total:,} is too small: the strata with sizes of their own take "
                f"{sum(n.values()):,}, and the others need at least {least:,}."
            )
        n |= dict(zip(free, allocate([counts.get(name, 0) for name in free], deviation, rest), strict=True))
    if not any(n.values()):
        raise QueueError("No item of the chosen strata can be rated here: there is nothing to draw.")
    return [
        StratumSize(stratum.name, counts.get(stratum.name, 0), n[stratum.name], estimates.get(stratum.name))
        for stratum in queue.strata
    ]


def _own_size(stratum: Stratum, items: int) -> int:
    if stratum.number is not None:
        return min(stratum.number, items)
    if not stratum.share:
        return 0
    return min(items, max(LEAST, math.floor(stratum.share * items + 0.5 + 1e-9)))


def allocate(counts: Sequence[int], deviation: Sequence[float], total: int) -> list[int]:
    """Divide a sample among strata so that the variance of a stratified mean is least.

    Minimises the sum of N^2 S^2 / n over whole numbers n with min(2, N) <= n <= N and sum `total` (all items
    where there are fewer): Neyman's allocation, solved exactly for whole numbers by giving one item after the
    other to the stratum that gains most, N^2 S^2 / (n (n + 1)) (Wright 2012, The American Statistician 66,
    217-224). With equal deviations it is in proportion to size. `counts` are the sizes N, `deviation` the
    standard deviations S (0 or more). `total` is at least the sum of the minima.
    """
    n = [min(LEAST, count) for count in counts]
    remaining = min(total, sum(counts)) - sum(n)
    heap = [
        (-_gain(count, sd, size), index)
        for index, (count, sd, size) in enumerate(zip(counts, deviation, n, strict=True))
        if size < count
    ]
    heapq.heapify(heap)
    for _ in range(remaining):
        _, index = heapq.heappop(heap)
        n[index] += 1
        if n[index] < counts[index]:
            heapq.heappush(heap, (-_gain(counts[index], deviation[index], n[index]), index))
    return n


def _gain(count: int, sd: float, n: int) -> float:
    return (count * sd) ** 2 / (n * (n + 1))


def draw(keys: Mapping[int, str], n: int, seed: int) -> list[int]:
    """Draw n of several items, by simple random sampling without replacement: a list of ids.

    `keys` are the items' keys by id. The draw depends on the seed and the keys alone, whatever their order.
    """
    return sorted(keys, key=lambda pk: (_rank(seed, keys[pk]), keys[pk]))[:n]


def _rank(seed: int, key: str) -> str:
    text = f"{seed}:review:{key}".encode()
    return hashlib.md5(text, usedforsecurity=False).hexdigest()


# Several draws: the probability that any of them has an item.


def joint_probabilities(draws: Sequence[tuple[int, Inclusion]]) -> dict[int, float] | None:
    """Return the probability that any of several draws has an item, of all items that one can draw.

    Each draw has its seed, and the probability (above 0) and stratum of every item that it can draw. Draws of
    different seeds are independent: 1 - (1 - p1) (1 - p2) ... (Bankier 1986, Journal of the American
    Statistical Association 81, 1074-1079). None where two draws of one seed divide an item's strata
    differently: they then depend on each other in a way that has no such formula.
    """
    by_seed: dict[int, list[Inclusion]] = {}
    for seed, inclusion in draws:
        by_seed.setdefault(seed, []).append(inclusion)
    missed: dict[int, float] = {}
    for inclusions in by_seed.values():
        joint = _joint_of_seed(inclusions)
        if joint is None:
            return None
        for item, probability in joint.items():
            missed[item] = missed.get(item, 1.0) * (1 - probability)
    return {item: 1 - rest for item, rest in missed.items()}


def _joint_of_seed(inclusions: Sequence[Inclusion]) -> dict[int, float] | None:
    """Return the probability that any of several draws of one seed has an item; None where not known.

    They take the items of a stratum in the same order. So of equal strata the larger sample holds the
    smaller, and the probability is the larger one, as it is where one draw alone can have the item, or one
    has it for certain.
    """
    codes: dict[frozenset[int], int] = {}
    strata: dict[int, set[int]] = {}
    joint: dict[int, float] = {}
    for inclusion in inclusions:
        members: dict[str, set[int]] = {}
        for item, (_, stratum) in inclusion.items():
            members.setdefault(stratum, set()).add(item)
        code = {name: codes.setdefault(frozenset(items), len(codes)) for name, items in members.items()}
        for item, (probability, stratum) in inclusion.items():
            strata.setdefault(item, set()).add(code[stratum])
            joint[item] = max(joint.get(item, 0.0), probability)
    is_known = all(len(codes_of_item) == 1 or joint[item] == 1 for item, codes_of_item in strata.items())
    return joint if is_known else None
