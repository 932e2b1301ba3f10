"""Instances of a benchmark: their choice, the cuts in conversations, and statistics by source."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from statistics import fmean
from typing import Any, Literal

from annotation.records import HUMAN, Continuation, Dialogue, Participant, Turn
from annotation.text.draws import in_drawn_order, one_of, u
from suites.continuation.benchmarks.cleaning import counted, words
from suites.continuation.benchmarks.metadata import TEXTS, Metadata
from suites.continuation.benchmarks.summary import spoken

# Cuts of a conversation: the last turns of the history, and people's own next turns.
#
#   x = turns s - 30 to s - 1,  r = turns s to s + 29,  30 <= s <= n - 30       (CoCoEval, section 3)

HISTORY = CONTINUATION = 30
LEAST = HISTORY + CONTINUATION
"""Least number of turns with text, and least distance between starts: no turn is shown twice."""


def starts(seed: int, dialogue: str, n: int, most: int = 1) -> list[int]:
    """Return up to `most` starts in a conversation of n turns with text, in the order of their draws.

    The first is drawn uniformly from 30 to n - 30 with `u(seed, "cut", dialogue, 0)`, each further one with
    its own number from the remaining starts, at least 60 turns away from every earlier one. Fewer where none
    remains; none where n is below 60.
    """
    candidates = list(range(HISTORY, n - CONTINUATION + 1))
    cuts: list[int] = []
    while candidates and len(cuts) < most:
        start = one_of(candidates, seed, "cut", dialogue, len(cuts))
        cuts.append(start)
        candidates = [other for other in candidates if abs(other - start) >= LEAST]
    return cuts


# Choice of instances: those for evaluation by source, and those for training, from other conversations.
#
# Instances of one cluster (one source conversation, or several that share material) are never in both parts.

Part = Literal["evaluation", "train"]


class Shortage(ValueError):
    """Fewer instances than ordered; the message names the source and the remedy."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A source conversation available for cuts: its source, id, cluster and number of turns with text."""

    source: str
    conversation: str
    cluster: str
    turns: int


@dataclass(frozen=True, slots=True)
class Quota:
    """Numbers of instances.

    They are `per_source` for evaluation and `train` in total from `train_sources` (() for all sources), at
    most `per_conversation` from each conversation.
    """

    per_source: int
    train: int = 0
    train_sources: tuple[str, ...] = ()
    per_conversation: int = 1
    allow_fewer: bool = False


@dataclass(frozen=True, slots=True, order=True)
class Instance:
    """A cut of a conversation; `number` counts the cuts of the conversation, from 0."""

    part: Part
    source: str
    conversation: str
    start: int
    number: int = 0

    @property
    def key(self) -> str:
        """Id of its dialogue."""
        return f"{self.source}-{self.conversation}-{self.start}"


Unit = tuple[str, str]
"""Source and cluster: the unit that belongs to only one part."""
Cuts = dict[Unit, list[Instance]]


def choose(offers: Sequence[Offer], quota: Quota, seed: int, sources: Collection[str]) -> list[Instance]:
    """Return the instances, by part, source, conversation and start; the order of offers does not matter.

    Evaluation takes the first instance of as many conversations as possible, then second ones, and so on.
    Where too little is then left for training, it takes all instances of as few conversations as possible, in
    the sources of training. Raises Shortage, unless fewer are allowed (always for none at all).
    """
    training = set(quota.train_sources or sources)
    cuts = {source: _cuts(offers, source, quota.per_conversation, seed) for source in sorted(sources)}
    evaluation = {source: spread(source_cuts)[: quota.per_source] for source, source_cuts in cuts.items()}
    train = _train(cuts, evaluation, training, quota.train, seed)
    if len(train) < quota.train:
        compact = {source: dense(cuts[source])[: quota.per_source] for source in cuts if source in training}
        evaluation |= compact
        train = _train(cuts, evaluation, training, quota.train, seed)
    if not quota.allow_fewer:
        _refuse_fewer(cuts, evaluation, train, quota, training)
    instances = sorted([*(instance for part in evaluation.values() for instance in part), *train])
    if not instances:
        raise Shortage(f"no conversation has {LEAST} turns with text: nothing can be cut.")
    return instances


def _cuts(offers: Sequence[Offer], source: str, most: int, seed: int) -> Cuts:
    """Return the possible instances of a source by cluster, clusters in drawn order."""
    own = {offer.conversation: offer for offer in offers if offer.source == source}
    cuts: Cuts = {}
    for key in in_drawn_order({offer.cluster for offer in own.values()}, seed, f"order {source}"):
        cuts[source, key] = sorted(
            (
                Instance("evaluation", source, offer.conversation, start, number)
                for offer in own.values()
                if offer.cluster == key
                for number, start in enumerate(starts(seed, offer.conversation, offer.turns, most))
            ),
            key=lambda instance: (instance.number, instance.conversation),
        )
    return {unit: cut for unit, cut in cuts.items() if cut}


def spread(cuts: Cuts) -> list[Instance]:
    """Return the first instance of every cluster, then the second ones, and so on."""
    longest = max(map(len, cuts.values()), default=0)
    return [cut[place] for place in range(longest) for cut in cuts.values() if place < len(cut)]


def dense(cuts: Cuts) -> list[Instance]:
    """Return all instances of the first cluster, then of the second, and so on."""
    return [instance for cut in cuts.values() for instance in cut]


def _train(
    cuts: Mapping[str, Cuts],
    evaluation: Mapping[str, Sequence[Instance]],
    sources: Collection[str],
    number: int,
    seed: int,
) -> list[Instance]:
    used = {(instance.source, instance.conversation) for part in evaluation.values() for instance in part}
    free = [
        instance
        for source in sorted(cuts)
        if source in sources
        for cut in cuts[source].values()
        if not any((instance.source, instance.conversation) in used for instance in cut)
        for instance in cut
    ]
    free.sort(
        key=lambda instance: (
            instance.number,
            u(seed, "train", instance.source, instance.conversation, instance.number),
            instance,
        )
    )
    return [
        Instance("train", instance.source, instance.conversation, instance.start, instance.number)
        for instance in free[:number]
    ]


def _refuse_fewer(
    cuts: Mapping[str, Cuts],
    evaluation: Mapping[str, Sequence[Instance]],
    train: Sequence[Instance],
    quota: Quota,
    training: Collection[str],
) -> None:
    more = "Raise --per-conversation, ask for fewer, or give --allow-fewer."
    for source, instances in evaluation.items():
        if len(instances) < quota.per_source:
            raise Shortage(
                f"the source {source!r} has {len(instances)} instances of the {quota.per_source} asked for: "
                f"{len(cuts[source])} conversations of at least {LEAST} turns with text, up to "
                f"{quota.per_conversation} of each. {more}"
            )
    if len(train) < quota.train:
        source_names = ", ".join(repr(source) for source in sorted(training))
        raise Shortage(
            f"training: {len(train)} instances of the {quota.train} asked for are left in {source_names}, in "
            f"conversations that evaluation does not use. {more}"
        )


# The dialogue of an instance: x, r, the metadata of the conversation, and the summary.

RAW, FLAGS, LEFT_OUT = "raw", "flags", "left_out"
_OWN = ("name", "role")
"""Fields of a person in M that participants have themselves; the others become their extra."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A cleaned conversation: new texts by position, and the positions whose text was not reduced."""

    texts: Mapping[int, str]
    unreduced: frozenset[int] = frozenset()

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> Cleaned:
        """Return the contents of the generator's result."""
        texts = {int(turn["number"]): str(turn["text"]) for turn in result["turns"]}
        return cls(texts, frozenset(map(int, result["not_a_reduction"])))


def spoken_turns(dialogue: Dialogue, cleaned: Cleaned | None = None) -> tuple[Turn, ...]:
    """Return the turns with text of a conversation, which are counted and cut.

    After cleaning, each turn's extra has its `raw` text, its flag, and in `left_out` the utterances before it
    that became empty.
    """
    if cleaned is None:
        return tuple(turn for turn in dialogue.turns if spoken(turn))
    turns: list[Turn] = []
    empty: list[dict[str, str]] = []
    for place, turn in enumerate(dialogue.turns):
        if not spoken(turn):
            continue
        text = cleaned.texts.get(place, turn.text)
        if not words(text) and words(turn.text):
            empty.append({"speaker": turn.speaker, RAW: turn.text})
            continue
        extra: dict[str, Any] = {**turn.extra, RAW: turn.text}
        if place in cleaned.unreduced:
            extra[FLAGS] = ["not_a_reduction"]
        if empty:
            extra[LEFT_OUT] = empty
            empty = []
        turns.append(replace(turn, text=text, extra=extra))
    return tuple(turns)


def assembled(
    instance: Instance,
    conversation: Dialogue,
    turns: tuple[Turn, ...],
    *,
    cluster: str,
    metadata: Metadata | None = None,
    summary: str = "",
) -> Dialogue:
    """Return the dialogue of an instance, cut from the turns with text of its conversation."""
    first = instance.start - HISTORY
    r = turns[instance.start : instance.start + CONTINUATION]
    if first < 0 or len(r) < CONTINUATION:
        raise ValueError(f"{instance.key}: the conversation has {len(turns)} turns with text")
    origin = {
        "source": instance.source,
        "first_turn": first,
        "part": instance.part,
    }
    texts = {} if metadata is None else {name: metadata[name] for name in TEXTS}
    return Dialogue(
        id=instance.key,
        turns=turns[first : instance.start],
        participants=people(conversation, metadata),
        continuations=(Continuation(HUMAN, HUMAN, r),),
        cluster=cluster,
        language=conversation.language,
        summary=summary,
        metadata={**texts, **origin},
    )


def people(conversation: Dialogue, metadata: Metadata | None) -> tuple[Participant, ...]:
    """Return the participants as listed in M, if any.

    Names, roles, profiles and aliases that M lacks come from the source.
    """
    if metadata is None:
        return conversation.participants
    declared = {person.id: person for person in conversation.participants}
    participants: list[Participant] = []
    for person in metadata["participants"]:
        before = declared.get(person["id"], Participant(person["id"]))
        extra = {name: value for name, value in person.items() if name not in ("id", *_OWN)}
        participants.append(
            replace(
                before,
                name=before.name or person["name"],
                role=before.role or person["role"],
                extra={**before.extra, **extra},
            )
        )
    return tuple(participants)


# Statistics of a benchmark by source (CoCoEval, table 2), and the effect of cleaning.

# Dialogues in the native format, one per line: the same dialogues always give the same bytes.


def line(dialogue: Dialogue) -> str:
    """Return a dialogue with its continuations as one line of JSON, keys sorted, without a newline."""
    payload: dict[str, Any] = {
        "id": dialogue.id,
        "cluster": dialogue.cluster,
        "language": dialogue.language,
        "summary": dialogue.summary,
        "metadata": dict(dialogue.metadata),
        "participants": [_person(participant) for participant in dialogue.participants],
        "turns": [_turn(turn) for turn in dialogue.turns],
        "continuations": [_continuation(continuation) for continuation in dialogue.continuations],
    }
    return json.dumps(_without_nothing(payload), ensure_ascii=False, sort_keys=True)


def _person(person: Participant) -> dict[str, Any]:
    return _without_nothing(
        {
            "id": person.id,
            "name": person.name,
            "role": person.role,
            "profile": list(person.profile),
            "aliases": list(person.aliases),
            "extra": dict(person.extra),
        }
    )


def _turn(turn: Turn) -> dict[str, Any]:
    optional = _without_nothing(
        {
            "given": turn.given,
            "at": turn.at,
            "time": turn.time,
            "session": turn.session,
            "addressees": list(turn.addressees),
            "act": "" if turn.act == "message" else turn.act,
            "sees_history": turn.sees_history,
            "extra": dict(turn.extra),
        }
    )
    audience = {} if turn.audience is None else {"audience": list(turn.audience)}
    return {"speaker": turn.speaker, "text": turn.text, **optional, **audience}


def _continuation(continuation: Continuation) -> dict[str, Any]:
    optional = _without_nothing({"trial": continuation.trial, "condition": dict(continuation.condition)})
    return {
        "id": continuation.id,
        "system": continuation.system,
        "mode": continuation.mode,
        "turns": [_turn(turn) for turn in continuation.turns],
        **optional,
    }


def _without_nothing(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value or (value == 0 and value is not False)}


def tokenizer() -> str:
    """Return the name of the tokenizer."""
    return f"Penn Treebank rules (NLTK {version('nltk')})"


@cache
def _treebank() -> Any:
    from nltk.tokenize import NLTKWordTokenizer

    return NLTKWordTokenizer()


def tokens(text: str) -> int:
    """Return the number of tokens by Penn Treebank rules: words, parts of contractions, signs."""
    return len(_treebank().tokenize(text))


def visible_turns(dialogue: Dialogue) -> tuple[Turn, ...]:
    """Return the turns of x and r: the context and its continuations."""
    return (
        *dialogue.turns,
        *(turn for continuation in dialogue.continuations for turn in continuation.turns),
    )


def by_source(dialogues: Iterable[Dialogue]) -> dict[str, dict[str, Any]]:
    """Return statistics per source, sources sorted by name.

    These are instances by part, people listed and speaking (means over instances), turns, tokens per turn
    (mean over the turns of x and r), and flags.
    """
    dialogues_by_source: dict[str, list[Dialogue]] = {}
    for dialogue in dialogues:
        dialogues_by_source.setdefault(str(dialogue.metadata["source"]), []).append(dialogue)
    return {source: _of(dialogues_by_source[source]) for source in sorted(dialogues_by_source)}


def _of(dialogues: Sequence[Dialogue]) -> dict[str, Any]:
    turns = [turn for dialogue in dialogues for turn in visible_turns(dialogue)]
    parts = [dialogue.metadata["part"] for dialogue in dialogues]
    return {
        "instances": len(dialogues),
        "evaluation": parts.count("evaluation"),
        "train": parts.count("train"),
        "conversations": len({dialogue.cluster for dialogue in dialogues}),
        "participants_listed": fmean(len(dialogue.participants) for dialogue in dialogues),
        "participants_speaking": fmean(
            len({turn.speaker for turn in visible_turns(dialogue)}) for dialogue in dialogues
        ),
        "tokens_per_turn": fmean(tokens(turn.text) for turn in turns),
        "turns": len(turns),
        "not_a_reduction": sum("not_a_reduction" in turn.extra.get(FLAGS, ()) for turn in turns),
        "no_summary": sum(not dialogue.summary for dialogue in dialogues),
    }


def removed(before: Iterable[Turn], after: Iterable[Turn]) -> dict[str, Any]:
    """Return the words before and after cleaning, and the share removed (None where there were no words)."""
    old, new = counted(turn.text for turn in before), counted(turn.text for turn in after)
    return {"words_before": old, "words_after": new, "share_removed": (old - new) / old if old else None}


def share_of(removals: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the total of several results of `removed`."""
    rows = list(removals)
    old, new = (sum(row[name] for row in rows) for name in ("words_before", "words_after"))
    return {"words_before": old, "words_after": new, "share_removed": (old - new) / old if old else None}


def wilson(positive: float, n: int) -> tuple[float, float]:
    """Return Wilson's 95% interval for a share of n cases (n > 0)."""
    z = 1.959963984540054
    p = positive / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    return max(0.0, centre - half) if positive else 0.0, min(1.0, centre + half) if positive < n else 1.0
