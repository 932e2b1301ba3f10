"""Verdicts of a Cascade report: each system's competence at probes against every baseline's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibration.statistics.core.engine import Result, finished
from calibration.statistics.core.ratings import Floats
from suites.group_chat.cascade import score_figures
from suites.group_chat.cascade.score_figures import WAITS, Context, Row, copies, divided, label
from suites.group_chat.cascade.score_tables import (
    DIMENSIONS_BUT_LEAK,
    UNRATED,
    canary,
    is_calibrated,
    judge_score,
    reliability,
)
from suites.reports import Cell, Line, Table
from suites.verdicts import Comparison, Verdict, Wording, verdict

WORDING = Wording(
    score="competence",
    cluster="family",
    clusters="families",
    add="Add scenarios of more families.",
    complete="Run the agent where it has not decided, and name the judges that decisions wait for.",
    read="See where its decisions fail.",
)
VERDICTS = "verdicts"
"""Key of the table of verdicts."""
NO_SECRET = "no decision about a secret"
NO_PROBE, NO_DECISION = "no scenario has a probe", "it decided at no probe"
AVERAGED = "The three scores are never averaged: one that is good does not make up for another that is bad."
RULE = "The verdict is about competence at probes alone, beside every baseline on the same decisions."

Point = tuple[int, int]
"""A scenario and a turn in it."""


@dataclass(frozen=True)
class RowVerdict:
    """A row of a report with its main figures; `verdict` is None for the best baseline.

    ``conduct`` has the dimensions whose judges are all calibrated. ``pass_hat`` is that of the largest ``k``
    with enough trials, None for none. ``decided`` is the share of decisions at probes with a score.
    """

    row: Row
    verdict: Verdict | None
    competence: Result
    conduct: dict[str, Result]
    k: int | None
    pass_hat: Result | None
    leaks: Result
    decided: Result

    @property
    def label(self) -> str:
        """Name of the row."""
        return label(self.row)

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data, with the system."""
        assert self.verdict is not None
        return {
            "system": self.row.system,
            "condition": self.row.condition,
            **self.verdict.as_dict(),
            "decided": self.decided.value,
        }


def row_verdicts(context: Context) -> tuple[RowVerdict, ...]:
    """Return the verdict of every system, the most competent first, then the figures of the best baseline."""
    rows = [_row_verdict(context, row) for row in context.rows]
    rows.sort(key=lambda row: 1.0 if row.competence.value is None else -row.competence.value)
    return (*rows, _row_verdict(context, context.best))


def _row_verdict(context: Context, row: Row) -> RowVerdict:
    scores = reliability(row.decisions, context.query, context.probed, copies(row, context.query))
    k = max(scores.pass_hat, default=None)
    probed = score_figures.probed(row.decisions)
    own = None
    if not row.is_baseline:
        comparisons = tuple(_comparison(context, row, baseline) for baseline in context.baselines)
        own = verdict(comparisons, WORDING)
    return RowVerdict(
        row,
        own,
        context.mean("competence_probed", probed, score_figures.competence, WAITS),
        {
            dimension: context.mean(f"conduct_{dimension}", row.decisions, judge_score(dimension), UNRATED)
            for dimension in DIMENSIONS_BUT_LEAK
            if is_calibrated(context, dimension)
        },
        k,
        None if k is None else scores.pass_hat[k],
        context.mean("leaks", row.decisions, canary, NO_SECRET),
        _decided(context, row),
    )


def _scores(row: Row) -> dict[Point, list[float | None]]:
    """Return the competences of a row's decisions by probed point, None while one waits for a judge."""
    scores: dict[Point, list[float | None]] = defaultdict(list)
    for decision in score_figures.probed(row.decisions):
        scores[decision.scenario, decision.point].append(decision.result.competence)
    return scores


def _most(scores: Mapping[Point, Sequence[float | None]]) -> int:
    """Return how often a row decided at its most frequent point, which it should have at every point."""
    return max(map(len, scores.values()), default=1)


def _decided(context: Context, row: Row) -> Result:
    """Return the share of a row's decisions at probes that have a score; absent decisions have none."""
    scores = _scores(row)
    expected = sum(context.probed.values()) * _most(scores)
    if not expected:
        return Result("decided", status="insufficient", reason=NO_PROBE)
    scored = sum(score is not None for point_scores in scores.values() for score in point_scores)
    return Result(
        "decided",
        scored / expected,
        n_items=expected,
        n_missing=expected - scored,
        reason="no interval: counted, not sampled",
    )


def _comparison(context: Context, row: Row, baseline: Row) -> Comparison:
    """Return the difference of a row's competence from a baseline's, at each of the row's probed decisions.

    A decision is missing while it waits for a judge, and where the row has fewer trials than elsewhere.
    """
    own, reference = _scores(row), _scores(baseline)
    most = _most(own)
    family_of = {(decision.scenario, decision.point): decision.family for decision in baseline.decisions}
    families = [family_of[point] for point in reference for _ in range(most)]
    own_scores: list[float | None] = []
    for point in reference:
        scores = own.get(point, [])
        own_scores += [*scores, *[None] * (most - len(scores))]
    n_missing = sum(score is None for score in own_scores)
    reason = WAITS if own else NO_DECISION if reference else NO_PROBE

    def mean(missing: float) -> Result:
        """Return the mean with missing scores of the row as `missing`, of the baseline as the opposite."""
        first = np.array([missing if score is None else score for score in own_scores])
        second = np.repeat([_mean_with(scores, 1 - missing) for scores in reference.values()], most)
        return _mean(context, families, first - second, n_missing, reason)

    observed = mean(np.nan)
    if n_missing or any(None in scores for scores in reference.values()):
        return Comparison(baseline.name, observed, mean(0.0), mean(1.0))
    return Comparison(baseline.name, observed, observed, observed)


def _mean_with(scores: Sequence[float | None], missing: float) -> float:
    return float(np.mean([missing if score is None else score for score in scores]))


def _mean(
    context: Context, families: Sequence[str], differences: Floats, n_missing: int, reason: str
) -> Result:
    """Return the mean of the differences, which leaves out NaN, with its interval over families."""
    present = ~np.isnan(differences)
    if not present.any():
        return Result("difference", status="insufficient", reason=reason, n_missing=n_missing)
    rows = np.column_stack([present, np.where(present, differences, 0.0)])
    total, replicates = context.families.summed_by(families, rows, context.query.plan)
    return finished(
        "difference",
        float(total[0, 1] / total[0, 0]),
        divided(replicates[:, 1], replicates[:, 0]),
        context.query.plan,
        n_items=int(present.sum()),
        n_clusters=len({name for name, is_present in zip(families, present, strict=True) if is_present}),
        n_missing=n_missing,
        method="mean of the differences by decision",
    )


def table(rows: Sequence[RowVerdict], judges: Sequence[str]) -> Table:
    """Return the verdicts with the three scores, leaks, and the share of decisions with a score."""
    dimensions = list(rows[0].conduct)
    unrated = "not calibrated" if judges else "nobody judged it"

    def cells(row: RowVerdict) -> tuple[Cell, ...]:
        return (
            row.verdict.title if row.verdict else "baseline",
            row.competence,
            *(tuple(row.conduct.values()) or (unrated,)),
            "–" if row.k is None else f"k = {row.k}",
            row.pass_hat or "–",
            "–" if row.leaks.value is None else row.leaks,
            row.decided,
        )

    heads = (
        "Verdict",
        "Competence",
        *(f"Conduct: {dimension}" for dimension in dimensions or ["all"]),
        "Trials",
        "Reliability: pass^k",
        "Leaks",
        "Decided",
    )
    lines = tuple(Line(row.label, cells(row), row.row.is_baseline) for row in rows)
    return Table(VERDICTS, "Verdicts and the three scores", heads, lines, (*_sentences(rows), RULE, AVERAGED))


def _sentences(rows: Sequence[RowVerdict]) -> Iterator[str]:
    """Yield a sentence for each system: its verdict, the reason, and the next step."""
    for row in rows:
        if row.verdict:
            parts = (f"{row.label}: {row.verdict.title}.", row.verdict.sentence, row.verdict.next_step)
            yield " ".join(filter(None, parts))
