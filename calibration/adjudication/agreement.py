"""Agreement of raters with adjudicators' decisions: per rater, with the majority, and overturned majorities.

Cases were picked because raters disagree, so these figures say nothing about raters in general. The control
sample, drawn at random from items on which people agree, is reported separately.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibration.adjudication import cases as material
from calibration.adjudication.cases import CONTROL, TITLES, Settings, strict_majority
from calibration.models import AdjudicationDecision, AdjudicationRound
from calibration.ratings.scope import QuestionInfo
from calibration.reports.figures import worded
from calibration.statistics import Plan, Ratings, Result, analyse
from calibration.statistics.core.ratings import Floats, codes

DECISIONS = "the decisions"
MAJORITY = "the people’s majority"
WARNING = (
    "These items were picked because answers differ: they are no random sample, and the figures say how "
    "disagreements were decided, not how good raters are."
)
BY_LEVEL: dict[str, tuple[str, ...]] = {
    "binary": ("percent_agreement", "cohen_kappa"),
    "nominal": ("percent_agreement", "cohen_kappa"),
    "ordinal": ("percent_agreement", "cohen_kappa_quadratic"),
    "interval": ("spearman", "pearson"),
    "ratio": ("spearman", "pearson"),
}
PLAN = Plan(resamples=1000)


@dataclass(frozen=True)
class Row:
    """Agreement of one rater, or of the majority, with the decisions: a result per statistic of the level."""

    rater: str
    results: tuple[Result, ...]


@dataclass(frozen=True)
class Overturned:
    """Cases picked by one rule: how many are decided, lack a majority, and were decided against the majority.

    `stands` is the proportion of majorities that were upheld, with its interval.
    """

    rule: str
    decided: int
    without_majority: int
    undecidable: int
    overturned: int
    stands: Result

    @property
    def title(self) -> str:
        """Title of the rule."""
        return TITLES.get(self.rule, self.rule)


@dataclass(frozen=True)
class QuestionReport:
    """Report on one question: agreement on picked and control cases, and overturned majorities by rule."""

    question: QuestionInfo
    titles: tuple[str, ...]
    picked: tuple[Row, ...]
    control: tuple[Row, ...]
    by_rule: tuple[Overturned, ...]
    n_decided: int


@dataclass(frozen=True)
class Report:
    """Report on all questions of a round; `locked` counts decisions on an unopened test part."""

    questions: tuple[QuestionReport, ...]
    locked: int

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {
            "warning": WARNING,
            "locked": self.locked,
            "questions": [
                {
                    "question": report.question.key,
                    "decided": report.n_decided,
                    "picked": _rows(report.picked),
                    "control": _rows(report.control),
                    "by_rule": [
                        {
                            "rule": rule.rule,
                            "decided": rule.decided,
                            "without_majority": rule.without_majority,
                            "cannot_be_decided": rule.undecidable,
                            "overturned": rule.overturned,
                            "majority_stands": rule.stands.as_dict(),
                        }
                        for rule in report.by_rule
                    ],
                }
                for report in self.questions
            ],
        }


def _rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [{"rater": row.rater, "results": [result.as_dict() for result in row.results]} for row in rows]


@dataclass(frozen=True, slots=True)
class _Decided:
    """Outcome of a settled case: its value (None if it cannot be decided), and the rules that picked it."""

    value: float | str | None
    picked: tuple[str, ...]


def report(adjudication_round: AdjudicationRound, plan: Plan = PLAN) -> Report:
    """Return the raters' agreement with the settled cases of a round, computed from the current labels."""
    decided = _decided(adjudication_round)
    read = material.read(
        corpus=adjudication_round.corpus,
        campaign=adjudication_round.campaign,
        version=adjudication_round.scheme_version,
        settings=Settings(everything=True),
        takes_locked=False,
    )
    questions = []
    seen = 0
    for question_answers in read.questions:
        own = {
            item: decided[item, question_answers.question.id]
            for item in question_answers.items
            if (item, question_answers.question.id) in decided
        }
        seen += len(own)
        if own:
            questions.append(_question(question_answers, own, plan))
    return Report(tuple(questions), len(decided) - seen)


def _decided(adjudication_round: AdjudicationRound) -> dict[tuple[int, int], _Decided]:
    rows = (
        AdjudicationDecision.objects.filter(
            round=adjudication_round, state="decided", case__settled_at__isnull=False
        )
        .order_by("pk")
        .values_list("case__item_id", "case__question_id", "case__picked", "label__number", "label__text")
    )
    return {
        (item, question): _Decided(number if text is None else text, tuple(picked))
        for item, question, picked, number, text in rows
    }


def _question(
    question_answers: material.QuestionAnswers, own: dict[int, _Decided], plan: Plan
) -> QuestionReport:
    ratings = _with_decisions(question_answers, own)
    cases = [own.get(item) for item in question_answers.items]
    is_control = np.array([case is not None and CONTROL in case.picked for case in cases])
    is_picked = np.array([case is not None and CONTROL not in case.picked for case in cases])
    rules = [key for key in TITLES if any(case is not None and key in case.picked for case in cases)]
    return QuestionReport(
        question_answers.question,
        tuple(worded(name).name for name in BY_LEVEL[question_answers.question.level]),
        _agreement(ratings, is_picked, plan),
        _agreement(ratings, is_control, plan),
        tuple(_overturned(key, ratings, cases, plan) for key in rules),
        len(own),
    )


def _with_decisions(question_answers: material.QuestionAnswers, own: dict[int, _Decided]) -> Ratings:
    """Return the ratings with two columns added: the decisions and the people's majority."""
    ratings = question_answers.answered.ratings
    values: Floats = np.full(ratings.n_items, np.nan)
    for row, item in enumerate(question_answers.items):
        decision = own.get(item)
        if decision is not None and decision.value is not None:
            value = decision.value
            values[row] = ratings.names.index(str(value)) if ratings.names else float(value)
    majority = strict_majority(ratings)
    with_majority = ratings.with_column(MAJORITY, majority, on_scale=True)
    return with_majority.with_column(DECISIONS, values, on_scale=True)


def _agreement(ratings: Ratings, rows: Any, plan: Plan) -> tuple[Row, ...]:
    if not rows.any():
        return ()
    analysis = analyse(
        _rows_of(ratings, rows), statistics=BY_LEVEL[ratings.level], against=DECISIONS, plan=plan
    )
    by_rater: dict[str, list[Result]] = {}
    for entry in analysis.pairs:
        by_rater.setdefault(entry.raters[1], []).append(entry.result)
    order = [MAJORITY, *(name for name in ratings.raters if name not in (MAJORITY, DECISIONS))]
    return tuple(Row(name, tuple(by_rater[name])) for name in order if name in by_rater)


def _overturned(key: str, ratings: Ratings, cases: Sequence[_Decided | None], plan: Plan) -> Overturned:
    hit = np.array([case is not None and key in case.picked for case in cases])
    majority = ratings.values[:, ratings.column(MAJORITY)]
    decision = ratings.values[:, ratings.column(DECISIONS)]
    both = hit & ~np.isnan(majority) & ~np.isnan(decision)
    pair = ratings.take([ratings.column(DECISIONS), ratings.column(MAJORITY)])
    if both.any():
        analysis = analyse(
            _rows_of(pair, both), statistics=("percent_agreement",), against=DECISIONS, plan=plan
        )
        stands = analysis.pairs[0].result
    else:
        stands = Result(
            "percent_agreement", status="insufficient", reason="no case with a majority is decided", method=""
        )
    return Overturned(
        key,
        int(hit.sum()),
        int((hit & np.isnan(majority)).sum()),
        int((hit & np.isnan(decision)).sum()),
        int((both & (majority != decision)).sum()),
        stands,
    )


def _rows_of(ratings: Ratings, rows: Any) -> Ratings:
    """Return the ratings of the selected items only."""
    positions = np.flatnonzero(rows)
    return replace(
        ratings,
        values=ratings.values[positions],
        items=tuple(ratings.items[row] for row in positions),
        clusters=codes(ratings.clusters[positions]),
        systems=None,
        continuations=None,
        weights=ratings.weights_of(positions),
    )
