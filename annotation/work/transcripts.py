"""Laying out a transcript for a rater: what came before, and what is rated.

Works on stored turns without a database. The context of a turn is the one that
`annotation.records.Dialogue.context` defines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

Place = Literal["history", "given", "item", "rated", "marked"]
GOES_ON = "the dialogue itself went on"


class Row(NamedTuple):
    """A turn as stored. `own` turns are the dialogue's, the others the continuation's; `turn` is its id."""

    own: bool
    position: int
    speaker: str
    text: str
    given: bool
    at: int | None
    item: int | None
    extra: Mapping[str, Any] | None = None
    turn: int = 0


class Line(NamedTuple):
    """One turn as shown. `item` is set where the turn itself is rated, not where a whole is.

    `pieces` are the text's parts with whether each is a transcription mark; empty where it has no marks.
    `line` counts the lines of the screen from 1: unlike `no` it is unique, and it says nothing about where a
    turn comes from. `how`, `private` and `heading` are worded by `annotation.text.happenings`; '' for a plain
    turn.
    """

    no: int
    who: str
    colour: int
    text: str
    place: Place
    item: int | None
    pieces: tuple[tuple[str, bool], ...] = ()
    how: str = ""
    private: str = ""
    heading: str = ""
    line: int = 0


class Part(NamedTuple):
    """A stretch of the transcript under one heading; an empty heading continues what is above.

    One that is `folded` is shown when it is asked for.
    """

    heading: str
    lines: tuple[Line, ...]
    folded: bool = False


Writer = Callable[[int, Row, Place], Line]
"""Makes the line for a turn, given its number as shown and its place."""


def one_turn(own: Sequence[Row], turns: Sequence[Row], mode: str, write: Writer) -> list[Part]:
    """Lay out the last of `turns` as the item, after the context that is its own."""
    *before, item = turns
    if mode == "static":
        at = _at(item, own)
        given = _given_before(turns, len(before))
        context = [*own[:at], *given]
    else:
        context = [*own, *before]
    lines = tuple(write(number + 1, row, "history") for number, row in enumerate(context))
    return [Part("", lines), Part("to be rated", (write(len(context) + 1, item, "item"),))]


def whole(
    own: Sequence[Row], turns: Sequence[Row], mode: str, place: Place, write: Writer, tagged: bool = True
) -> list[Part]:
    """Lay out all of a continuation: each turn is an `item` (`tagged` or rated), or all are `rated`."""
    if mode == "static":
        return _exchanges(own, turns, place, write)
    history = tuple(write(number + 1, row, "history") for number, row in enumerate(own))
    rated = tuple(
        write(len(own) + number + 1, row, "given" if row.given else place) for number, row in enumerate(turns)
    )
    return [Part("", history), Part("to be tagged" if place == "item" and tagged else "to be rated", rated)]


def _exchanges(own: Sequence[Row], turns: Sequence[Row], place: Place, write: Writer) -> list[Part]:
    """One part for each response: the history since the response before it, then the response.

    Read from the top without the responses, the parts are the history; a response that goes back in it
    starts again from its beginning.
    """
    responses = [index for index, row in enumerate(turns) if not row.given]
    parts, shown = [], 0
    for count, index in enumerate(responses):
        at = _at(turns[index], own)
        first = shown if at >= shown else 0
        given = _given_before(turns, index)
        lines = [
            *(write(number + 1, own[number], "history") for number in range(first, at)),
            *(write(at + number + 1, row, "given") for number, row in enumerate(given)),
            write(at + len(given) + 1, turns[index], place),
        ]
        heading = f"response {count + 1} of {len(responses)}"
        parts.append(Part(heading if count == 0 else f"{GOES_ON} · {heading}", tuple(lines)))
        shown = at
    return parts


def _given_before(turns: Sequence[Row], index: int) -> Sequence[Row]:
    """Return the given turns right before a static turn that answer the same point."""
    first = index
    while first and turns[first - 1].given and turns[first - 1].at == turns[index].at:
        first -= 1
    return turns[first:index]


def _at(row: Row, own: Sequence[Row]) -> int:
    return len(own) if row.at is None else min(row.at, len(own))
