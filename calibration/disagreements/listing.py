"""Which items stand behind a figure, in the order in which they are worth reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calibration.disagreements import measure
from calibration.disagreements.measure import PEOPLE, Comparison
from calibration.disagreements.reading import RatedQuestion, asked
from calibration.errors import ItemsRefused
from calibration.models import Study
from calibration.statistics import RatingError


@dataclass(frozen=True)
class Listing:
    """A question, who is compared, and the rows of its ratings to read: farthest apart first.

    `both` counts the items that raters of a pair share, `differ` those on which some pair differs; `cell` is
    the chosen place of the table (row, column), None where all differing items are listed.
    """

    asked: RatedQuestion
    compared: Comparison
    first: str
    second: str
    cell: tuple[int, int] | None
    rows: tuple[int, ...]
    apart: Mapping[int, float]
    both: int
    differ: int

    def named(self, part: str) -> dict[str, str]:
        """Return the parameters that lead to this list."""
        named = {"question": self.asked.data.subject.question.ref, "a": self.first, "b": self.second}
        if part == "test":
            named["part"] = part
        if self.cell:
            named["cell"] = "{},{}".format(*self.cell)
        return named


def listing(study: Study, part: str, given: Mapping[str, str]) -> Listing:
    """Return the list that parameters name: `question`, `a`, `b` (raters, or PEOPLE, the default), `cell`.

    Raises DefinitionError or ItemsRefused where the study has no such question, KeyError for a stranger.
    """
    first, second = given.get("a") or PEOPLE, given.get("b") or PEOPLE
    try:
        read = asked(study, part, given.get("question", ""))
        compared = measure.comparison(read.ratings, first, second)
    except RatingError as error:
        raise ItemsRefused(str(error)) from error
    apart = measure.distances(compared)
    cell = _cell(given.get("cell", ""), compared)
    listed = apart > 0 if cell is None else measure.in_cell(compared, *cell)
    rows = np.flatnonzero(listed)
    ordered = rows[np.lexsort((np.array(read.items)[rows], -apart[rows]))]
    return Listing(
        read,
        compared,
        first,
        second,
        cell,
        tuple(ordered.tolist()),
        {int(row): float(apart[row]) for row in rows},
        int((~np.isnan(apart)).sum()),
        int((apart > 0).sum()),
    )


def _cell(text: str, compared: Comparison) -> tuple[int, int] | None:
    """Return the place `row,column` of the table, None where the text names none."""
    row, _, column = text.partition(",")
    if not (row.isdecimal() and column.isdecimal() and text.isascii() and len(text) < 40):
        return None
    size = len(compared.ratings.scale or ())
    return (int(row), int(column)) if int(row) < size and int(column) < size else None
