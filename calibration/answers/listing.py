"""The answers behind a report, one by one: narrowed by system, outcome, class, source and evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Q

from annotation.corpora import splits
from annotation.models import Corpus
from annotation.scripts.answers import Rule
from calibration.answers import reading
from calibration.answers.groups import varying
from calibration.answers.query import AnswersQuery, part_of
from calibration.answers.rows import MODEL, RETRIEVED, AnswerRow

RIGHT, WRONG, OPEN, FAILED = "right", "wrong", "open", "failed"
Test = Callable[[AnswerRow, Rule], bool]
NARROWED: dict[str, dict[str, Test]] = {
    "outcome": {
        RIGHT: lambda row, rule: row.right(rule) is True,
        WRONG: lambda row, rule: row.right(rule) is False,
        OPEN: lambda row, rule: row.right(rule) is None and not row.is_failed,
        FAILED: lambda row, rule: row.is_failed,
    },
    "class": {
        "answerable": lambda row, rule: row.answerable,
        "unanswerable": lambda row, rule: not row.answerable,
    },
    "source": {
        "quiz": lambda row, rule: row.source == "quiz",
        "tkg": lambda row, rule: row.source == "tkg",
    },
    "evidence": {
        state: lambda row, rule, state=state: row.retrieval == state  # type: ignore[misc]
        for state in RETRIEVED
    },
}
"""What a list is narrowed by, each with its values; every one of them leaves out what is not so."""


@dataclass(frozen=True)
class Listing:
    """The answers that are listed, in order of script and walk, and what they were narrowed by.

    `differ` are the settings in which they are not all alike, but for the model, which the system tells.
    """

    query: AnswersQuery
    part: str
    rows: Sequence[AnswerRow]
    systems: Sequence[str]
    differ: Sequence[str] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)


def listing(query: AnswersQuery, chosen: Mapping[str, str]) -> Listing:
    """Return the answers of a part, narrowed. Raises AnswersRefused for a test part that was not opened.

    ``chosen`` may name a `system`, and a value of each key of NARROWED; other values narrow nothing.
    """
    split, part = part_of(query)
    clusters = None if split is None else splits.clusters(split=split, part=part)
    judge = reading.judge_named(query.corpus, query.judge)
    items = reading.answers(query.corpus, clusters, part)
    systems = sorted(set(items.order_by().values_list("continuation__system__name", flat=True).distinct()))
    if system := chosen.get("system"):
        items = items.filter(continuation__system__name=system)
    tests = [values[chosen[key]] for key, values in NARROWED.items() if chosen.get(key) in values]
    rows = [
        row
        for row in reading.rows_of(items, judge, reading.spelt(query.corpus, query.sets))
        if all(test(row, query.rule) for test in tests)
    ]
    differ = [key for key in varying(rows) if key != MODEL]
    return Listing(query, part, rows, systems, differ, dict(chosen))


def is_locked(corpus: Corpus, item: int) -> bool:
    """Whether an answer is in a test part that nobody has opened yet."""
    hidden = splits.unopened(corpus).values("cluster")
    return reading.answers(corpus).filter(Q(pk=item) & splits.within(hidden)).exists()
