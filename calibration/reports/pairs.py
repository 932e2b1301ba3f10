"""Every rater with every other on one question, by one statistic of two raters; which ones there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.reports.figures import HUMAN, JUDGE, QuestionFigures, figures, worded
from calibration.reports.snapshot import Figure, Snapshot
from calibration.reports.tables import behind, label
from calibration.statistics import STATISTICS
from calibration.statistics.analysis import MEAN_OF_PEOPLE

FEWEST = 3


@dataclass(frozen=True)
class Matrix:
    """A question's figures of one statistic between identified people and judges, the upper triangle filled.

    `ordered`: the rater of the row is the reference, the order matters.
    """

    ref: str
    question: str
    key: str
    statistic: str
    ordered: bool
    names: list[str]
    rows: list[tuple[str, list[tuple[Figure | None, str]]]]


@dataclass(frozen=True)
class Pairs:
    """The questions and statistics that a matrix may be chosen of, and the one that is shown."""

    questions: list[tuple[str, str]]
    statistics: list[tuple[str, str]]
    shown: Matrix


def pairs(result: Snapshot, question: str = "", statistic: str = "") -> Pairs | None:
    """Return the matrix of a question (by its reference) and statistic; None where no question has one.

    One that there is none of gives the first question, and the statistic that stands for agreement on its
    scale.
    """
    found = _with_pairs(result)
    if not found:
        return None
    title, chosen = next((pair for pair in found if pair[1].data.ref == question), found[0])
    offered = _statistics(chosen)
    key = statistic if statistic in dict(offered) else _headline(chosen, offered)
    return Pairs([(q.data.ref, heading) for heading, q in found], offered, _matrix(title, chosen, key))


def matrices(result: Snapshot) -> list[Matrix]:
    """Return, per question, the matrix of the statistic that stands for agreement: what files print."""
    return [_matrix(title, q, _headline(q, _statistics(q))) for title, q in _with_pairs(result)]


def _with_pairs(result: Snapshot) -> list[tuple[str, QuestionFigures]]:
    questions = label(figures(result))
    return [(title, q) for title, q in questions if len(_names(q)) >= FEWEST and _statistics(q)]


def _names(question: QuestionFigures) -> list[str]:
    return [*question.names(HUMAN, identified_only=True), *question.names(JUDGE)]


def _statistics(question: QuestionFigures) -> list[tuple[str, str]]:
    """Return the statistics of two raters that were computed of a question, in the order of the table."""
    there = {entry.name for entry in question.data.pairs if MEAN_OF_PEOPLE not in entry.raters}
    return [(key, worded(key).name) for key in STATISTICS if key in there]


def _headline(question: QuestionFigures, offered: Sequence[tuple[str, str]]) -> str:
    return question.headline if question.headline in dict(offered) else offered[0][0]


def _matrix(title: str, question: QuestionFigures, key: str) -> Matrix:
    names = _names(question)
    entries = {
        frozenset(e.raters): e
        for e in question.data.pairs
        if e.name == key and MEAN_OF_PEOPLE not in e.raters
    }
    rows = [
        (
            a,
            [
                (entries.get(frozenset((a, b))) if j > i else None, behind(question, a, b))
                for j, b in enumerate(names)
            ],
        )
        for i, a in enumerate(names)
    ]
    ordered = not STATISTICS[key].symmetric
    return Matrix(question.data.ref, title, key, worded(key).name, ordered, names, rows[:-1])
