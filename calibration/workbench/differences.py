"""Where a draft or judge and people disagree on a bench, farthest apart first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import Item
from annotation.models.corpora import ITEM_PARTS
from calibration.disagreements import reading
from calibration.disagreements.reading import PEOPLE
from calibration.statistics.analysis import mean_of
from calibration.statistics.core.types import CATEGORIES, Floats
from calibration.workbench.sheets import Judged, Sheet

DIRECTIONS = ("higher", "lower")


@dataclass(frozen=True)
class Difference:
    """One question on one item: how far the judge's first answer is from the people's.

    `distance` is the mean over people of the difference in the scale's units (of categories: the share of
    people who said something else); `share` is it as a share of the scale's width, by which questions are
    sorted together. `direction` is `higher` or `lower` for the judge against the people's mean, or empty.
    """

    sheet: Sheet
    row: int
    distance: float
    share: float
    direction: str
    system: str

    @property
    def item(self) -> int:
        """The stored item."""
        return self.sheet.items[self.row]


def differences(
    found: Sequence[Sheet], judged: Judged, *, question: str = "", direction: str = "", system: str = ""
) -> list[Difference]:
    """Return where a judge differs from people, largest share of the scale first; filtered where asked."""
    rows = [
        one
        for sheet in found
        if question in ("", sheet.question.key)
        for one in _of(sheet, judged, item_systems(sheet.items))
        if direction in ("", one.direction) and system in ("", one.system)
    ]
    return sorted(rows, key=lambda one: (-one.share, one.sheet.question.position, one.row))


def systems_of(found: Sequence[Sheet]) -> list[str]:
    """Return the systems whose items are on the bench."""
    return sorted(set(_names([pk for sheet in found[:1] for pk in sheet.items]).values()))


def _of(sheet: Sheet, judged: Judged, systems: Sequence[str]) -> list[Difference]:
    readings, ratings = sheet.of(judged), sheet.ratings
    people = ratings.of_kind("human")
    if not readings or not people:
        return []
    compared = reading.comparison(ratings, readings[0].rater, PEOPLE)
    apart, gaps = reading.distances(compared), _gaps(sheet, readings[0].values)
    width = _width(sheet)
    return [
        Difference(
            sheet, row, float(apart[row]), float(apart[row]) / width, _direction(gaps[row]), systems[row]
        )
        for row in np.flatnonzero(apart > 0).tolist()
    ]


def _gaps(sheet: Sheet, values: Floats) -> Floats:
    """Return judge less people's mean per item, NaN for categories without an order."""
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
    found = Item.objects.filter(pk__in=items).annotate(name=ITEM_PARTS["system_name"])
    return dict(found.values_list("pk", "name"))
