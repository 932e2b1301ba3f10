"""Versions and drafts of a bench side by side on the same items, with what many trials do to the best."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import numpy as np

from calibration.errors import WorkbenchRefused
from calibration.reading.census import QuestionInfo
from calibration.reports.figures import worded
from calibration.statistics import Plan, Result
from calibration.statistics.best_of import BestOf, best_of
from calibration.statistics.judges_compared import (
    ACCURACY,
    Compared,
    Contender,
    compared_with,
    each_alone,
    references_of,
)
from calibration.workbench.agreement import statistics_of, unanswered, why_none
from calibration.workbench.sheets import Judged, Sheet, judged_on, sheets
from judges.drafts import trials
from judges.models import Bench

PLAN = Plan(resamples=2000)
MANY = 5
"""Judges tried from which on a page warns of the best of many."""
SHARE = 0.9
"""The share of the chosen one's items that a judge must have answered to count among the best of many."""


@dataclass(frozen=True)
class Row:
    """One reading of a judge on one statistic: its own value, and its difference from the chosen one's."""

    judged: Judged
    reading: Contender
    value: Result
    compared: Compared | None


@dataclass(frozen=True)
class Table:
    """A question on one statistic: the readings, and of the first statistic what the best overstates."""

    question: QuestionInfo
    statistic: str
    against: str
    rows: tuple[Row, ...]
    best: BestOf | None = None
    reason: str = ""

    @property
    def title(self) -> str:
        """What the statistic is called."""
        return "Accuracy" if self.statistic == ACCURACY else worded(self.statistic).name


@dataclass(frozen=True)
class SideBySide:
    """All judges of a bench beside the chosen one; `tried` were ever tried on this dev part, here or not."""

    chosen: Judged | None
    judged: tuple[Judged, ...]
    tables: tuple[Table, ...]
    tried: int
    unanswered: tuple[str, ...] = ()

    @property
    def is_many(self) -> bool:
        """Whether enough were tried for the best to look better than it is."""
        return self.tried >= MANY


def side_by_side(bench: Bench, key: str = "", plan: Plan = PLAN) -> SideBySide:
    """Put the judges of a bench side by side; `key` names the one that all are compared with.

    Without a key that is the first that was tried. Each judge shown counts as tried from now on. Raises
    WorkbenchRefused for a key of nobody.
    """
    judged = judged_on(bench)
    every = judged_on(bench, discarded=True)
    for one in judged:
        _note(bench, one)
    tried = trials.tried(bench)
    if not judged:
        return SideBySide(None, (), (), len(tried))
    chosen = _chosen(judged, key)
    found = sheets(bench, every)
    rated = [sheet for sheet in found if not sheet.unanswered]
    tables = []
    for sheet in rated:
        readings = [(one, contender) for one, contender in sheet.contenders if one in judged]
        comparisons = _comparisons(bench.protocol, readings, tried)
        tables += _tables(sheet, readings, chosen, comparisons, plan)
    return SideBySide(chosen, tuple(judged), tuple(tables), len(tried), tuple(unanswered(found)))


def _note(bench: Bench, one: Judged) -> None:
    """Count a judge as tried, where its spec says what it is: one that was imported has no prompt."""
    if _counts_as_tried(bench.protocol, one):
        trials.note(bench=bench, spec=one.rater.spec, name=one.name)


def _counts_as_tried(protocol: str, one: Judged) -> bool:
    return bool(one.rater.spec.get("protocol") == protocol)


def _comparisons(protocol: str, readings: Sequence[tuple[Judged, Contender]], tried: AbstractSet[str]) -> int:
    """Return how many comparisons with the chosen one there are: those of a table, and one for every judge
    that was tried and is not in it."""
    here = {trials.identity(one.rater.spec) for one, _ in readings if _counts_as_tried(protocol, one)}
    return len(readings) - 1 + len(tried - here)


def _chosen(judged: Sequence[Judged], key: str) -> Judged:
    if not key:
        drafts = [one for one in judged if one.draft is not None]
        return drafts[-1] if drafts else judged[0]
    found = next((one for one in judged if one.key == key), None)
    if found is None:
        raise WorkbenchRefused(f"This bench has nobody {key[:40]!r} who was tried.")
    return found


def _tables(
    sheet: Sheet,
    readings: Sequence[tuple[Judged, Contender]],
    chosen: Judged,
    comparisons: int,
    plan: Plan,
) -> list[Table]:
    if not readings:
        return []
    wanted = statistics_of(sheet)
    contenders = [contender for _, contender in readings]
    alone = {
        (id(one), result.name, against): result
        for one, against, result in each_alone(sheet.ratings, contenders, statistics=wanted, plan=plan)
    }
    if not alone:
        return [Table(sheet.question, wanted[0], "people", (), reason=why_none(sheet))]
    base = next((contender for one, contender in readings if one.key == chosen.key), None)
    compared = _compared(sheet, contenders, base, wanted, comparisons, plan)
    named = dict.fromkeys((name, against) for _, name, against in alone)
    return [
        Table(
            sheet.question,
            name,
            against,
            tuple(
                Row(
                    one,
                    contender,
                    replace(result, n_missing=sheet.missing(one, contender, against)),
                    compared.get((id(contender), name, against)),
                )
                for one, contender in readings
                if (result := alone.get((id(contender), name, against))) is not None
            ),
            _best(sheet, base, name, plan) if position == 0 else None,
        )
        for position, (name, against) in enumerate(named)
    ]


def _compared(
    sheet: Sheet,
    contenders: Sequence[Contender],
    base: Contender | None,
    wanted: Sequence[str],
    comparisons: int,
    plan: Plan,
) -> dict[tuple[int, str, str], Compared]:
    if base is None:
        return {}
    found = compared_with(sheet.ratings, contenders, base, statistics=wanted, plan=plan, tried=comparisons)
    return {(id(row.contenders[0]), row.statistic, row.reference): row for row in found.pairs}


def _best(sheet: Sheet, base: Contender | None, statistic: str, plan: Plan) -> BestOf | None:
    """Return what the best overstates among first readings that cover most of the chosen one's items."""
    references = references_of(sheet.ratings, statistic)
    if base is None or not references:
        return None
    least = SHARE * (~np.isnan(base.values)).sum()
    first = [one for _, one in sheet.contenders if one.samples != "mean"]
    some = [one for one in first if (~np.isnan(one.values)).sum() >= least]
    return best_of(sheet.ratings, some, statistic, references[0], plan)
