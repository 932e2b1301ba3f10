"""Which context of a dialogue is compared, and which of its continuations: those asked for, or the usual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.errors import CompareRefused
from calibration.profiles.contexts import Answer, Context

MOST = 12
"""Columns of one table."""
USUAL = 6
"""Columns where none were named."""
LISTED = 12


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for: the number of turns before, continuations by name, which one to compare with, and
    one metric by its name or the rater's id. What is left out is chosen."""

    at: int | None = None
    continuations: tuple[str, ...] = ()
    against: str = ""
    metric: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """A context, the answers that are columns, and the place of the column that others are compared with."""

    context: Context
    answers: tuple[Answer, ...]
    against: int


def choose(dialogue: str, found: Sequence[Context], wanted: Wanted) -> Choice:
    """Return what is compared of a dialogue's contexts; raise CompareRefused for what cannot be.

    One continuation that is named alone stands first, with the usual others beside it. Others are compared
    with the first column unless another is named.
    """
    if not found:
        raise CompareRefused(
            f"no two continuations of {dialogue} share a context: import another system's, or another trial"
        )
    names = tuple(dict.fromkeys(wanted.continuations))
    context = _context(dialogue, found, wanted.at, names)
    answers = _columns(context, names)
    if len(answers) > MOST:
        raise CompareRefused(f"{len(answers)} continuations are too many for one table: name {MOST} at most")
    place = next((at for at, answer in enumerate(answers) if answer.is_called(wanted.against)), None)
    if wanted.against and place is None:
        columns = _listed([answer.name for answer in answers])
        raise CompareRefused(f"{wanted.against} is not among the continuations compared: {columns}")
    return Choice(context, answers, place or 0)


def _context(dialogue: str, found: Sequence[Context], at: int | None, names: Sequence[str]) -> Context:
    """Return the context with most answers of those that are meant, the first among equals."""
    there = [one for one in found if at is None or one.at == at]
    if not there:
        points = _listed([str(one) for one in dict.fromkeys(one.at for one in found)])
        raise CompareRefused(
            f"no two continuations of {dialogue} share the context of {at} turn{'s' * (at != 1)}; "
            f"they do after this many turns: {points}"
        )
    meant = [one for one in there if all(_holds(one, name) for name in names)]
    if not meant:
        raise CompareRefused(_not_shared(dialogue, there, at, names))
    return max(meant, key=lambda one: len(one.answers))


def _not_shared(dialogue: str, there: Sequence[Context], at: int | None, names: Sequence[str]) -> str:
    unknown = [name for name in names if not any(_holds(one, name) for one in there)]
    where = "" if at is None else f" after {at} turn{'s' * (at != 1)}"
    if unknown:
        known = _listed(list(dict.fromkeys(answer.name for one in there for answer in one.answers)))
        alone = f"{unknown[0]} shares no context with another continuation of {dialogue}{where}"
        return f"{alone}; these do: {known}"
    return f"{_listed(list(names))} share no context of {dialogue}{where}: other turns come before each"


def _holds(context: Context, name: str) -> bool:
    return any(answer.is_called(name) for answer in context.answers)


def _columns(context: Context, names: Sequence[str]) -> tuple[Answer, ...]:
    """Return the answers that are named; where that is one, or none, with the usual ones beside it.

    The dialogue's own turn is left out where another continuation is people's: it may well be the same turn.
    """
    named = dict.fromkeys(answer for name in names for answer in context.answers if answer.is_called(name))
    if len(named) > 1:
        return tuple(named)
    rest = [answer for answer in context.answers if answer not in named]
    people = [answer for answer in rest if answer.is_human]
    systems = [answer for answer in rest if not answer.is_human]
    room = USUAL - len(named)
    first = [*systems[: room - len(people[:1])], *people[:1]]
    more = [answer for answer in people[1:] if not answer.continuation.is_self]
    return (*named, *first, *more[: room - len(first)])


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more
