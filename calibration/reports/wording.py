"""Numbers and counts in words, the same on pages, in files and in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from annotation.kinds import KINDS
from annotation.text.display import number
from calibration.reports.results import Figure
from calibration.reports.snapshot import Snapshot

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def signed(value: float, digits: int = 2) -> str:
    """Format a number with its sign: +0.08, −0.02."""
    text = number(value, digits)
    return text if value < 0 or text.startswith("−") else f"+{text}"


PER_DOUBLING = {True: "probability per doubling", False: "points per doubling"}
"""Unit of a judge's length effect, of tags and of scores."""


def length_effect(value: float, unit: str, people: str) -> str:
    """Return `rates longer texts higher than people do: +0.20 points per doubling`."""
    way, size = "higher" if value > 0 else "lower", unit.removeprefix("probability ")
    return f"rates longer texts {way} than {people} do: {signed(value)} {size}"


def interval(entry: Figure) -> str:
    """Return `0.19 to 0.31`, or `no interval`; for bounds `lowest 0.19, highest 0.31`."""
    if entry.low is None:
        return "no interval"
    low, high = number(entry.low, entry.end_digits), number(entry.high, entry.end_digits)
    return f"lowest {low}, highest {high}" if entry.bounded else f"{low} to {high}"


def in_words(count: int) -> str:
    """Return small counts as words, larger ones with separators."""
    return NUMBERS[count] if 0 <= count < len(NUMBERS) else f"{count:,}"


def counted(count: int, singular: str, plural: str | None = None) -> str:
    """Return `1 turn` or `1,080 turns`."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def units(kind: str, count: int, *, pooled: bool = False) -> str:
    """Count the items of a kind in words: `1 turn`, `12 dialogues`."""
    singular, plural = KINDS[kind].singular, KINDS[kind].plural
    return counted(
        count,
        f"answer about {singular}s" if pooled else singular,
        f"answers about {plural}" if pooled else plural,
    )


def join_names(names: Sequence[str], most: int = 4) -> str:
    """Return `a, b and c`; beyond `most` names the rest are counted."""
    visible = list(names)
    if len(visible) > most:
        visible = [*visible[: most - 1], f"{len(names) - most + 1} more"]
    return (
        visible[0] if len(visible) == 1 else f"{', '.join(visible[:-1])} and {visible[-1]}" if visible else ""
    )


def without(alone: Sequence[str], elsewhere: Sequence[str] = ()) -> str:
    """Return ` (without dan, who shares no item with the others)`; empty if nobody is missing.

    `elsewhere` are those who answer on another scale.
    """
    if not alone and not elsewhere:
        return ""
    share, answer = "shares" if len(alone) == 1 else "share", "answers" if len(elsewhere) == 1 else "answer"
    parts = [f"{join_names(list(alone))}, who {share} no item with the others"] if alone else []
    parts += [f"{join_names(list(elsewhere))}, who {answer} on another scale"] if elsewhere else []
    return f" (without {'; without '.join(parts)})"


def narrowing(result: Snapshot) -> str:
    """Return `narrowed to system a, labels from 1 March 2026`; empty for a report of all labels.

    Where no label is left, it says so.
    """
    subset = result.definition.subset
    if not subset:
        return ""
    none = "" if result.answered else ": no label fits"
    return f"narrowed to {subset.in_words()}{none}"


@dataclass(frozen=True, slots=True)
class Crowd:
    """Wording for the raters that judges are compared with.

    `many` and `one` name them in sentences, `units` with a number (one, many), `own` is the possessive.
    """

    many: str
    one: str
    units: tuple[str, str]
    own: str

    def counted(self, count: int) -> str:
        """Return `1 person` or `5 anonymous slots`."""
        return counted(count, *self.units)

    def among(self, count: int) -> str:
        """Return `five people`, or `ratings in five anonymous slots`: a slot may be several people."""
        amount = f"{in_words(count)} {self.units[count != 1]}"
        return f"ratings in {amount}" if self is SLOTS else amount


PEOPLE = Crowd("people", "person", ("person", "people"), "people’s")
SLOTS = Crowd("people", "person", ("anonymous slot", "anonymous slots"), "people’s")
SIMULATED = Crowd(
    "simulated raters", "simulated rater", ("simulated rater", "simulated raters"), "simulated raters’"
)
MIXED = Crowd("people and simulated raters", "rater", ("rater", "raters"), "raters’")


class Somebody(Protocol):
    """Anyone who gave ratings."""

    @property
    def kind(self) -> str: ...
    @property
    def identified(self) -> bool: ...
    @property
    def simulated(self) -> bool: ...


def crowd_of(raters: Iterable[Somebody]) -> Crowd:
    """Return the wording for the human raters of a report."""
    humans = [rater for rater in raters if rater.kind == "human"]
    simulated = [rater for rater in humans if rater.simulated]
    if simulated:
        return SIMULATED if len(simulated) == len(humans) else MIXED
    return SLOTS if humans and not any(rater.identified for rater in humans) else PEOPLE
