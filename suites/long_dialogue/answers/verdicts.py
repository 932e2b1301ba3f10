"""Verdicts of an Answers report: each row's accuracy against guessing, always (E), and no memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibration.statistics import Result
from calibration.statistics.core.ratings import Floats, Ints
from suites.long_dialogue.answers.figures import CHANCE, Answers, Figure, RowFigures
from suites.long_dialogue.answers.rows import MEMORY, SUFFICIENT, held_with_oracle, less
from suites.long_dialogue.scripts.answers import Rule
from suites.reports import Cell, Line, Table
from suites.verdicts import Comparison, Verdict, Wording, verdict

GUESSING, ALWAYS_E, WITHOUT = "guessing", "always (E)", "the same model without memory"
NO_MEMORY, OPEN = "no_memory", "open"
VERDICTS = "verdicts"
"""Key of the table of verdicts."""
WORDING = Wording(
    score="accuracy",
    cluster="session",
    clusters="sessions",
    add="Ask questions in more sessions.",
    complete="Name a judge for answers that no rule decides, and repeat failed calls.",
    read="Read the wrong answers one by one.",
)
RULE = (
    "The verdict compares the accuracy with guessing among five letters, with always choosing (E), and with "
    "the same model without memory if it was asked the same questions."
)


@dataclass(frozen=True)
class RowVerdict:
    """A row of a report with its verdict; `scored` is the share of its answers with a score."""

    row: RowFigures
    verdict: Verdict
    scored: Result

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data, with the row's system, condition and script."""
        group = self.row.group
        return {
            "system": group.system,
            "condition": dict(group.condition),
            "script": group.script,
            **self.verdict.as_dict(),
            "scored": self.scored.value,
        }


def row_verdicts(answers: Answers, rows: Sequence[RowFigures], rule: Rule) -> tuple[RowVerdict, ...]:
    """Return the verdict of each row, the most accurate first."""
    verdicts = [
        RowVerdict(row, verdict(list(_comparisons(answers, row.group.rows, rule)), WORDING), _scored(row))
        for row in rows
    ]
    return tuple(sorted(verdicts, key=_order))


def _order(row: RowVerdict) -> float:
    value = row.row.accuracy.value
    return 1.0 if value is None else -value


def _scored(row: RowFigures) -> Result:
    n, n_missing = row.counts.asked, row.accuracy.result.n_missing
    return Result(
        "scored",
        (n - n_missing) / n,
        n_items=n,
        n_missing=n_missing,
        reason="no interval: counted, not sampled",
    )


def _comparisons(answers: Answers, own: Ints, rule: Rule) -> Iterator[Comparison]:
    """Yield the paired differences of a row from each baseline that its questions allow."""
    right, rows = answers.right[rule], answers.sheet.rows
    if all(rows[at].format != OPEN for at in own):
        yield _comparison(answers, GUESSING, lambda filled: (own, filled[own] - CHANCE), right, own)
    yield _comparison(
        answers, ALWAYS_E, lambda filled: (own, filled[own] - answers.unknowable[own]), right, own
    )
    others = np.array(
        [at for at, row in enumerate(rows) if row.condition(MEMORY) == NO_MEMORY], dtype=np.int64
    )
    if np.isin(own, others).any():
        return
    places, _ = less(rows, own, others, right, held_with_oracle)
    if len(places):
        yield _comparison(
            answers, WITHOUT, lambda filled: less(rows, own, others, filled, held_with_oracle), right, own
        )


def _comparison(
    answers: Answers,
    name: str,
    differences: Callable[[Floats], tuple[Ints, Floats]],
    right: Floats,
    own: Ints,
) -> Comparison:
    """Return a comparison; `differences` gives the answers compared and their differences, from scores.

    A missing answer of the row counts as wrong or right, one of the baseline as the opposite.
    """
    is_own = np.isin(np.arange(len(right)), own)

    def mean(missing: float) -> Result:
        filled = np.where(np.isnan(right), np.where(is_own, missing, 1 - missing), right)
        places, values = differences(filled)
        return answers.sheet.figure("difference", places, values).result

    return Comparison(name, mean(np.nan), mean(0.0), mean(1.0))


def table(rows: Sequence[RowVerdict]) -> Table:
    """Return the verdicts with accuracy, evidence in the prompt, abstention, and the share with a score."""
    heads = (
        "Verdict",
        "Accuracy",
        "Sufficient evidence",
        "Abstention: precision",
        "Abstention: recall",
        "Scored",
    )
    lines = tuple(Line(row.row.label, _cells(row)) for row in rows)
    return Table(VERDICTS, "Verdicts", heads, lines, (*map(_sentence, rows), RULE))


def _cells(row: RowVerdict) -> tuple[Cell, ...]:
    figures = row.row
    return (
        row.verdict.title,
        figures.accuracy,
        figures.retrieval[SUFFICIENT]["share"],
        figures.abstention["precision"],
        figures.abstention["recall"],
        Figure(row.scored),
    )


def _sentence(row: RowVerdict) -> str:
    """Return the verdict of a row with its reason and the next step."""
    parts = (f"{row.row.label}: {row.verdict.title}.", row.verdict.sentence, row.verdict.next_step)
    return " ".join(filter(None, parts))
