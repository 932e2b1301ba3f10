"""How far a draft agrees with people, question by question, so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from calibration.reading.census import QuestionInfo
from calibration.reports.figures import worded
from calibration.statistics import Plan, Result
from calibration.statistics.judges_compared import ACCURACY, Contender, each_alone
from calibration.workbench.sheets import Judged, Sheet

BY_LEVEL: dict[str, tuple[str, ...]] = {
    "binary": ("cohen_kappa", "mcc"),
    "nominal": ("cohen_kappa", "mcc"),
    "ordinal": ("cohen_kappa_quadratic", "spearman"),
    "interval": ("spearman", "pearson"),
    "ratio": ("spearman", "pearson"),
}
"""What tells agreement on each level; where an answer key rates, accuracy against it stands beside."""
PLAN = Plan(resamples=1000)


@dataclass(frozen=True)
class Agreement:
    """One figure of one reading of a draft (its first answers, or their mean) on one question."""

    question: QuestionInfo
    reading: Contender
    against: str
    result: Result

    @property
    def title(self) -> str:
        """What the statistic is called."""
        return "Accuracy" if self.result.name == ACCURACY else worded(self.result.name).name


def agreement(found: Sequence[Sheet], judged: Judged, plan: Plan = PLAN) -> list[Agreement]:
    """Return the figures of one who is judged; a question that has none says why in one.

    Questions that nobody answered are in `unanswered`.
    """
    return [row for sheet in found if not sheet.unanswered for row in _of(sheet, judged, plan)]


def unanswered(found: Sequence[Sheet]) -> list[str]:
    """Return the questions that neither people nor a key answered on these items."""
    return [sheet.question.title for sheet in found if sheet.unanswered]


def statistics_of(sheet: Sheet) -> tuple[str, ...]:
    """Return what is computed for a question: for people who are not identified, correlations alone."""
    return BY_LEVEL[sheet.question.level]


def _of(sheet: Sheet, judged: Judged, plan: Plan) -> list[Agreement]:
    readings = sheet.of(judged)
    if not readings:
        return []
    found = each_alone(sheet.ratings, readings, statistics=statistics_of(sheet), plan=plan)
    if found:
        return [
            Agreement(
                sheet.question,
                one,
                against,
                replace(result, n_missing=sheet.missing(judged, one, against)),
            )
            for one, against, result in found
        ]
    name = statistics_of(sheet)[0]
    result = Result(name, status="insufficient", reason=why_none(sheet), method=plan.method)
    return [Agreement(sheet.question, readings[0], "people", result)]


def why_none(sheet: Sheet) -> str:
    """Return why a question has no figure of agreement."""
    if sheet.anonymous:
        return (
            "the people are anonymous: agreement with each is not defined, and there is no mean of categories"
        )
    return "nobody has answered this question on these items"
