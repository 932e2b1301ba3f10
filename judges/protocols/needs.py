"""What a protocol reads of other raters: needs, and what is known of them about one case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal

UNMET = "a need was not met: nothing was asked"
"""The flag of calls that went without an answer for it; they are tried again when their run is resumed."""
WAITING = "waits for another rater"
"""The flag of calls that were answered without what an optional need will still say; they are tried again
when their run is resumed."""

Aggregate = Literal["mean", "median", "majority"]
Policy = Literal["whole", "leave_out"]
Value = float | str


@dataclass(frozen=True, slots=True)
class Known:
    """An answer of the rater that a need is bound to: `value` is None exactly when `missing` says why.

    `why` is the rater's own reason where it said that it has no answer.
    """

    value: Value | None = None
    missing: str = ""
    why: str = ""


Given = Mapping[str, Mapping[int | None, Known]]
"""Per role and place (a turn's index, None for the dialogue): what is known."""


@dataclass(frozen=True, slots=True)
class Need:
    """Answers of another rater that a protocol reads; a run binds `role` to the rater when it starts.

    `question` is `scheme/key`. `aggregate` makes one value of a rater's samples, those without an answer left
    aside: `mean` and `median` of numbers, `majority` of any values (none where two are equally frequent).
    `missing` says what to do where a place has no value: the case goes without an answer as a `whole`, or the
    place is left out (`leave_out`), and only a case without any value goes without an answer. An `optional`
    need may stay unbound and keeps nothing back: the protocol says what it makes of what is missing. `also`
    are further questions of the same scheme that the same rater answered, given as `role/key`.
    """

    role: str
    question: str
    aggregate: Aggregate = "mean"
    missing: Policy = "whole"
    optional: bool = False
    also: tuple[str, ...] = ()

    @property
    def read(self) -> dict[str, str]:
        """The keys of the questions that are read, by how they are given."""
        own = {self.role: self.question.partition("/")[2]}
        return own | {f"{self.role}/{key}": key for key in self.also}

    def known(
        self, values: Sequence[Value | None], place: str, rater: str, *, in_words: bool = False, why: str = ""
    ) -> Known:
        """Return what a rater's samples say about a place; the reason for a missing value names it.

        Of answers `in_words` the most frequent counts. `why` is the rater's own reason for having none.
        """
        present = [value for value in values if value is not None]
        if not present and why:
            return Known(missing=f"{place} has no score by {rater}", why=why)
        if self.aggregate == "majority" or in_words:
            return _majority(present, place, rater)
        numbers = [value for value in present if not isinstance(value, str)]
        if not numbers:
            return Known(missing=f"{place} has no score by {rater}")
        return Known(fmean(numbers) if self.aggregate == "mean" else median(numbers))

    def unmet(self, known: Mapping[int | None, Known]) -> str:
        """Return why a case cannot be judged with what is known, '' where it can."""
        if self.optional:
            return ""
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
