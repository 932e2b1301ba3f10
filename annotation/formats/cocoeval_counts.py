"""Replies of CoCoEval's judge that was run elsewhere: counts of behaviours without turns, one reply a line.

    {"dialogue": "d1", "continuation": "x-1", "rater": "gpt-x", "reply": {"repetition_explanation": "...",
     "repetition_count": 2, ...}}

The fields of the reply are those of the paper's prompt, a count and an explanation for each of the ten
behaviours; they may also stand beside the others, without `reply`. For interruptions the paper's own names
(`interruptions_count`) are read, too. A count that is null is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotation.formats.entry import Format, Rating, SourceRecord
from annotation.formats.fields import NAME_LIMIT, Fields, decode
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source
from annotation.records import SELF, LabelRecord
from annotation.schemes.cocoeval_counts import COUNT, KEYS, SCHEME

WHY = "_explanation"
PLACE = ("dialogue", "continuation", "rater", "kind", "sample", "reply")
PAPER_NAMES = {f"interruptions{ending}": f"interruption{ending}" for ending in (COUNT, WHY)}
"""What the paper's fields are called where that differs."""
FIELDS = frozenset(name.removesuffix(COUNT) + ending for name in KEYS for ending in (COUNT, WHY))
NO_COUNT = "no count given"
KINDS = ("judge", "human")


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield ten ratings for each line."""
    for line, content in source.lines():
        try:
            ratings = list(_ratings(decode(content)))
        except ImportProblem as problem:
            source.report(problem.placed(line=line))
            continue
        for rating in ratings:
            yield SourceRecord(rating, line)


def _ratings(content: Any) -> Iterator[Rating]:
    fields = Fields(content, "", FIELDS | PAPER_NAMES.keys() | frozenset(PLACE))
    reply = _reply(fields)
    dialogue, rater = fields.id("dialogue"), fields.id("rater", limit=NAME_LIMIT)
    continuation = fields.id("continuation", SELF)
    kind, sample = fields.choice("kind", KINDS, "judge"), fields.count("sample")
    for key in KEYS:
        if key not in reply.raw:
            raise reply.problem(key, "is missing: each behaviour has a count, null where there is none")
        count = reply.count(key, None)
        label = LabelRecord(
            rater=rater,
            kind=kind,
            continuation=continuation,
            turn=None,
            question=key,
            value=None if count is None else float(count),
            missing=NO_COUNT if count is None else "",
            sample=sample or 0,
            explanation=reply.text(key.removesuffix(COUNT) + WHY, ""),
            scheme=SCHEME.key,
        )
        yield Rating(dialogue, label, field=reply.at(key))


def _reply(fields: Fields) -> Fields:
    """Return the fields of the reply by our names: those of `reply`, else those that stand beside it."""
    path = "reply" if fields.has("reply") else ""
    raw = fields.object("reply") if path else {k: v for k, v in fields.raw.items() if k not in PLACE}
    if path and (stray := sorted(fields.raw.keys() - set(PLACE))):
        raise fields.problem(stray[0], "stands beside `reply`: it belongs inside, or all fields outside")
    known = Fields(raw, path, FIELDS | PAPER_NAMES.keys())
    for theirs, ours in PAPER_NAMES.items():
        if theirs in raw and ours in raw:
            raise known.problem(theirs, f"is there twice, also as {ours}")
    return Fields({PAPER_NAMES.get(key, key): value for key, value in raw.items()}, path, FIELDS)


FORMAT = Format(
    key="cocoeval_counts",
    title="Counts of CoCoEval's judge, run elsewhere",
    hint="JSONL: dialogue, continuation, rater and the judge's reply, counts without turns.",
    read=read,
    looks_like=lambda head: {"dialogue", "rater"} <= head.keys and bool({"reply", KEYS[0]} & head.keys),
    labels_only=True,
    schemes=(SCHEME.key,),
)
