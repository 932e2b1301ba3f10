"""Comparison of a bench's versions and drafts on the same items, with the bias of picking the best."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import numpy as np

from annotation.models import Item
from annotation.models.corpora import ITEM_PARTS
from calibration.errors import WorkbenchRefused
from calibration.ratings.scope import QuestionInfo
from calibration.reports.charts import Chart, Point
from calibration.reports.figures import worded
from calibration.reports.tables import PEOPLE
from calibration.reports.wording import counted
from calibration.statistics import Plan, Result
from calibration.statistics.analysis import mean_of
from calibration.statistics.core.ratings import CATEGORIES, Floats
from calibration.statistics.judges_compared import (
    ACCURACY,
    BestOf,
    Compared,
    Contender,
    best_of,
    compared_with,
    each_alone,
    references_of,
)
from calibration.studies import disagreements
from calibration.workbench.sheets import Judged, Sheet, judged_on, sheets, statistics_of, unanswered, why_none
from judges.drafts import benches
from judges.models import Bench

# Disagreements between a draft or judge and people on a bench, largest first.

DIRECTIONS = ("higher", "lower")


@dataclass(frozen=True)
class Difference:
    """Distance between a judge's first answer and people's answers, for one question on one item.

    `distance` is the mean over people of the difference in the scale's units (for categories: the proportion
    of people with another answer); `share` is the distance relative to the scale's width, by which questions
    are sorted together. `direction` is `higher` or `lower` for the judge against the people's mean, or empty.
    """

    sheet: Sheet
    row: int
    distance: float
    share: float
    direction: str
    system: str

    @property
    def item(self) -> int:
        """Id of the stored item."""
        return self.sheet.items[self.row]


def differences(
    sheet_list: Sequence[Sheet], judged: Judged, *, question: str = "", direction: str = "", system: str = ""
) -> list[Difference]:
    """Return a judge's differences from people, largest share of the scale first; optionally filtered."""
    rows = [
        row
        for sheet in sheet_list
        if question in ("", sheet.question.key)
        for row in _of(sheet, judged, item_systems(sheet.items))
        if direction in ("", row.direction) and system in ("", row.system)
    ]
    return sorted(rows, key=lambda row: (-row.share, row.sheet.question.position, row.row))


def systems_of(sheet_list: Sequence[Sheet]) -> list[str]:
    """Return the systems whose items are on the bench."""
    return sorted(set(_names([pk for sheet in sheet_list[:1] for pk in sheet.items]).values()))


def _of(sheet: Sheet, judged: Judged, systems: Sequence[str]) -> list[Difference]:
    readings, ratings = sheet.of(judged), sheet.ratings
    people = ratings.of_kind("human")
    if not readings or not people:
        return []
    compared = disagreements.comparison(ratings, readings[0].rater, PEOPLE)
    apart, gaps = disagreements.distances(compared), _gaps(sheet, readings[0].values)
    width = _width(sheet)
    return [
        Difference(
            sheet, row, float(apart[row]), float(apart[row]) / width, _direction(gaps[row]), systems[row]
        )
        for row in np.flatnonzero(apart > 0).tolist()
    ]


def _gaps(sheet: Sheet, values: Floats) -> Floats:
    """Return judge minus people's mean per item; NaN for unordered categories."""
    ratings = sheet.ratings
    if ratings.level == "nominal":
        return np.full(len(values), np.nan)
    return np.asarray(values - mean_of(ratings.values[:, list(ratings.of_kind("human"))]))


def _direction(gap: float) -> str:
    return "higher" if gap > 0 else "lower" if gap < 0 else ""


def _width(sheet: Sheet) -> float:
    ratings = sheet.ratings
    if ratings.level in CATEGORIES:
        return 1.0
    values = ratings.scale or ratings.values[~np.isnan(ratings.values)].tolist()
    return float(max(values) - min(values)) or 1.0


def item_systems(items: Sequence[int]) -> list[str]:
    """Return the system of each item."""
    names = _names(items)
    return [names[pk] for pk in items]


def _names(items: Sequence[int]) -> dict[int, str]:
    items_named = Item.objects.filter(pk__in=items).annotate(name=ITEM_PARTS["system_name"])
    return dict(items_named.values_list("pk", "name"))


# Agreement of the drafts of a bench with people, one after the other.

MOST_LINES = 4
"""Most questions drawn as lines; the others are in the tables."""


def line_of_drafts(bench: Bench, plan: Plan | None = None) -> Chart | None:
    """Return the agreement with people of each draft on dev, in the order of their numbers.

    A line for each of the first questions with people's answers. None for fewer than two drafts with a value.
    """
    drafts = [judge for judge in reversed(judged_on(bench)) if judge.draft is not None]
    rated = [sheet for sheet in sheets(bench, drafts) if not sheet.unanswered] if len(drafts) > 1 else []
    points = [point for sheet in rated[:MOST_LINES] for point in _points(sheet, plan or Plan(resamples=200))]
    if len({point.x for point in points if point.value is not None}) < 2:
        return None
    more = (
        f" {counted(len(rated) - MOST_LINES, 'more question')}: see Side by side."
        if len(rated) > MOST_LINES
        else ""
    )
    return Chart(
        "drafts",
        "Agreement with people, draft by draft",
        "Agreement with people on dev, 95% interval",
        tuple(points),
        x_axis="Draft",
        steps=True,
        top=1.0,
        caption=f"Each draft on the items that it was tried on.{more}",
    )


def _points(sheet: Sheet, plan: Plan) -> list[Point]:
    statistic = statistics_of(sheet)[0]
    numbers = {
        reading.rater: judge.draft.number
        for judge, reading in reversed(sheet.contenders)
        if judge.draft is not None
    }
    readings = [sheet.of(judge)[0] for judge in {judge.key: judge for judge, _ in sheet.contenders}.values()]
    figures = each_alone(sheet.ratings, readings, statistics=(statistic,), plan=plan)
    series = f"{sheet.question.title}, {worded(statistic).name}"
    return sorted(
        (
            Point(
                f"draft {numbers[reading.rater]}",
                series,
                result.value if result.ok else None,
                result.low,
                result.high,
                result.n_items,
                result.n_clusters,
                result.reason,
                x=float(numbers[reading.rater]),
            )
            for reading, against, result in figures
            if result.name == statistic and against == "people"
        ),
        key=lambda point: point.x or 0.0,
    )


PLAN = Plan(resamples=2000)
MANY = 5
"""Number of judges tried from which pages warn of picking the best of many."""
SHARE = 0.9
"""Proportion of the reference judge's items that a judge must have answered to count in the best of many."""


@dataclass(frozen=True)
class Row:
    """A judge's reading for one statistic: its value, and its difference from the reference judge's."""

    judged: Judged
    reading: Contender
    value: Result
    compared: Compared | None


@dataclass(frozen=True)
class Table:
    """A question for one statistic: the readings, and (for the first statistic) the bias of the best."""

    question: QuestionInfo
    statistic: str
    against: str
    rows: tuple[Row, ...]
    best: BestOf | None = None
    reason: str = ""

    @property
    def title(self) -> str:
        """Title of the statistic."""
        return "Accuracy" if self.statistic == ACCURACY else worded(self.statistic).name


@dataclass(frozen=True)
class SideBySide:
    """All judges of a bench against the reference; `tried` counts all judges ever tried on this dev part."""

    chosen: Judged | None
    judged: tuple[Judged, ...]
    tables: tuple[Table, ...]
    tried: int
    unanswered: tuple[str, ...] = ()

    @property
    def is_many(self) -> bool:
        """Whether enough judges were tried for the best to look better than it is."""
        return self.tried >= MANY


def side_by_side(bench: Bench, key: str = "", plan: Plan = PLAN) -> SideBySide:
    """Compare the judges of a bench; `key` names the reference judge.

    The default is the first that was tried. Each judge shown counts as tried from now on. Raises
    WorkbenchRefused for an unknown key.
    """
    judged = judged_on(bench)
    every = judged_on(bench, discarded=True)
    for judge in judged:
        _note(bench, judge)
    tried = benches.tried(bench)
    if not judged:
        return SideBySide(None, (), (), len(tried))
    selected = _selected_judge(judged, key)
    sheet_list = sheets(bench, every)
    rated = [sheet for sheet in sheet_list if not sheet.unanswered]
    tables = []
    for sheet in rated:
        readings = [(judge, contender) for judge, contender in sheet.contenders if judge in judged]
        comparisons = _comparisons(bench.protocol, readings, tried)
        tables += _tables(sheet, readings, selected, comparisons, plan)
    return SideBySide(selected, tuple(judged), tuple(tables), len(tried), tuple(unanswered(sheet_list)))


def _note(bench: Bench, judge: Judged) -> None:
    """Count a judge as tried if its spec names the bench's protocol; an imported judge has no prompt."""
    if _counts_as_tried(bench.protocol, judge):
        benches.note(bench=bench, spec=judge.rater.spec, name=judge.name)


def _counts_as_tried(protocol: str, judge: Judged) -> bool:
    return bool(judge.rater.spec.get("protocol") == protocol)


def _comparisons(protocol: str, readings: Sequence[tuple[Judged, Contender]], tried: AbstractSet[str]) -> int:
    """Return the number of comparisons with the reference.

    These are the table's, and one per judge that was tried but is not in the table.
    """
    identities = {
        benches.identity(judge.rater.spec) for judge, _ in readings if _counts_as_tried(protocol, judge)
    }
    return len(readings) - 1 + len(tried - identities)


def _selected_judge(judged: Sequence[Judged], key: str) -> Judged:
    if not key:
        drafts = [judge for judge in judged if judge.draft is not None]
        return drafts[-1] if drafts else judged[0]
    selected = next((judge for judge in judged if judge.key == key), None)
    if selected is None:
        raise WorkbenchRefused(f"This bench has nobody {key[:40]!r} who was tried.")
    return selected


def _tables(
    sheet: Sheet,
    readings: Sequence[tuple[Judged, Contender]],
    selected: Judged,
    comparisons: int,
    plan: Plan,
) -> list[Table]:
    if not readings:
        return []
    statistics = statistics_of(sheet)
    contenders = [contender for _, contender in readings]
    alone = {
        (id(contender), result.name, against): result
        for contender, against, result in each_alone(
            sheet.ratings, contenders, statistics=statistics, plan=plan
        )
    }
    if not alone:
        return [Table(sheet.question, statistics[0], "people", (), reason=why_none(sheet))]
    base = next((contender for judge, contender in readings if judge.key == selected.key), None)
    compared = _compared(sheet, contenders, base, statistics, comparisons, plan)
    statistic_names = dict.fromkeys((name, against) for _, name, against in alone)
    return [
        Table(
            sheet.question,
            name,
            against,
            tuple(
                Row(
                    judge,
                    contender,
                    replace(result, n_missing=sheet.missing(judge, contender, against)),
                    compared.get((id(contender), name, against)),
                )
                for judge, contender in readings
                if (result := alone.get((id(contender), name, against))) is not None
            ),
            _best(sheet, base, name, plan) if position == 0 else None,
        )
        for position, (name, against) in enumerate(statistic_names)
    ]


def _compared(
    sheet: Sheet,
    contenders: Sequence[Contender],
    base: Contender | None,
    statistics: Sequence[str],
    comparisons: int,
    plan: Plan,
) -> dict[tuple[int, str, str], Compared]:
    if base is None:
        return {}
    comparison = compared_with(
        sheet.ratings, contenders, base, statistics=statistics, plan=plan, tried=comparisons
    )
    return {(id(row.contenders[0]), row.statistic, row.reference): row for row in comparison.pairs}


def _best(sheet: Sheet, base: Contender | None, statistic: str, plan: Plan) -> BestOf | None:
    """Return the bias of the best among first readings that cover most of the reference's items."""
    references = references_of(sheet.ratings, statistic)
    if base is None or not references:
        return None
    least = SHARE * (~np.isnan(base.values)).sum()
    first = [contender for _, contender in sheet.contenders if contender.samples != "mean"]
    some = [contender for contender in first if (~np.isnan(contender.values)).sum() >= least]
    return best_of(sheet.ratings, some, statistic, references[0], plan)
