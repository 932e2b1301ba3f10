"""How often behaviours occur by each judge, and corrected by what people said of a part of the items."""

from __future__ import annotations

from collections.abc import Sequence

from calibration.reading.definitions import Definition
from calibration.reading.ratings import SubjectData
from calibration.reports.snapshot import Figure, PrevalenceRow
from calibration.statistics import RatingError
from calibration.statistics.corrected_share import corrected_shares


def prevalence(subjects: Sequence[SubjectData], definition: Definition) -> tuple[PrevalenceRow, ...]:
    """Return a row per binary question and judge that answered items which people did not.

    Questions that cannot be read as ratings are left out; their question says why.
    """
    found: list[PrevalenceRow] = []
    for data in subjects:
        asked = data.subject.question
        if asked.level != "binary":
            continue
        try:
            ratings = data.ratings(definition.samples)
        except RatingError:
            continue
        for one in corrected_shares(ratings, definition.plan):
            everyone = (one.judge, *one.people)
            figures = tuple(
                Figure.of(result, raters=everyone, question=asked.title) for result in one.figures.values()
            )
            found.append(
                PrevalenceRow(
                    asked.ref,
                    asked.title,
                    asked.item_kind,
                    one.judge,
                    one.people,
                    figures,
                    one.n_labelled,
                    one.n_unlabelled,
                    one.n_divided,
                )
            )
    return tuple(found)
