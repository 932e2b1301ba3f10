"""What a protocol reads of other raters: needs, and what is known of them about one case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal

Aggregate = Literal["mean", "median", "majority"]
Policy = Literal["whole", "leave_out"]
Value = float | str


@dataclass(frozen=True, slots=True)
class Known:
    """An answer of the rater that a need is bound to: `value` is None exactly when `missing` says why."""

    value: Value | None = None
    missing: str = ""


Given = Mapping[str, Mapping[int | None, Known]]
"""Per role and place (a turn's index, None for the dialogue): what is known."""


@dataclass(frozen=True, slots=True)
class Need:
    """Answers of another rater that a protocol reads; a run binds `role` to the rater when it starts.

    `question` is `scheme/key`. `aggregate` makes one value of a rater's samples, those without an answer left
    aside: `mean` and `median` of numbers, `majority` of any values (none where two are equally frequent).
    `missing` says what to do where a place has no value: the case goes without an answer as a `whole`, or the
    place is left out (`leave_out`), and only a case without any value goes without an answer.
    """

    role: str
    question: str
    aggregate: Aggregate = "mean"
    missing: Policy = "whole"

    def known(self, values: Sequence[Value | None], place: str, rater: str) -> Known:
        """Return what a rater's samples say about a place; the reason for a missing value names it."""
        present = [value for value in values if value is not None]
        if self.aggregate == "majority":
            return _majority(present, place, rater)
        numbers = [value for value in present if not isinstance(value, str)]
        if not numbers:
            return Known(missing=f"{place} has no score by {rater}")
        return Known(fmean(numbers) if self.aggregate == "mean" else median(numbers))

    def unmet(self, known: Mapping[int | None, Known]) -> str:
        """Return why a case cannot be judged with what is known, '' where it can."""
        reasons = [one.missing for one in known.values() if one.value is None]
        if not known:
            return f"nothing here could have an answer to {self.question}"
        return reasons[0] if reasons and (self.missing == "whole" or len(reasons) == len(known)) else ""


def _majority(present: Sequence[Value], place: str, rater: str) -> Known:
    most = Counter(present).most_common(2)
    if not most:
        return Known(missing=f"{place} has no answer by {rater}")
    if len(most) == 2 and most[0][1] == most[1][1]:
        return Known(missing=f"{place} has no majority among the answers by {rater}")
    return Known(most[0][0])
