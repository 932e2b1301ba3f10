"""Which continuations of a dialogue share a context: what was said before the turns that continue it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile
from operator import attrgetter
from typing import NamedTuple

from django.db.models import Case, CharField, TextField, Value, When

from annotation.models import Continuation, Dialogue, Turn
from annotation.records import HUMAN, SELF
from calibration.errors import CompareRefused

Given = tuple[tuple[str, str], ...]


class _Row(NamedTuple):
    """A turn; speaker and text are read only of what nobody rates."""

    continuation: int
    position: int
    at: int | None
    given: bool
    is_context: bool
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A turn that continues a context: the first of a rollout, or one of a static continuation.

    `position` is its index within the continuation, `at` the number of turns of the history before it.
    `given` are the turns between the two that its system did not produce, as speaker and text: they are
    context. `name` is the continuation's key, with the index where it continues this context more than once.
    """

    continuation: Continuation
    position: int
    at: int
    given: Given = ()
    name: str = ""

    @property
    def is_human(self) -> bool:
        """Whether people wrote it."""
        return self.continuation.system.name.casefold() == HUMAN

    @property
    def is_rollout(self) -> bool:
        """Whether a whole continuation begins with it, which has metrics of its own."""
        return self.continuation.mode == Continuation.Mode.ROLLOUT and not self.continuation.is_self

    def is_called(self, name: str) -> bool:
        """Whether it is meant by a name: that of its continuation, or its own."""
        return name in (self.name, self.continuation.key)


@dataclass(frozen=True, slots=True)
class Context:
    """Two or more answers to the same turns, systems by name and people last."""

    at: int
    given: Given
    answers: tuple[Answer, ...]


def contexts(dialogue: Dialogue) -> list[Context]:
    """Return the contexts that two or more turns continue, shortest first and those with most answers before
    others of the same length; four queries.

    The dialogue's own turn is among the answers wherever another one continues the history before it.
    """
    parts = {part.pk: part for part in dialogue.continuations.select_related("system")}
    own = next((part for part in parts.values() if part.is_self), None)
    length = Turn.objects.filter(continuation=own).count() if own else 0
    found = list(_answers(parts, _rows(dialogue), length))
    if own is not None:
        found += _own(own, {answer.at for answer in found if not answer.given and answer.at < length})
    groups: dict[tuple[int, Given], list[Answer]] = defaultdict(list)
    for answer in found:
        groups[answer.at, answer.given].append(answer)
    shared = [Context(at, given, _named(group)) for (at, given), group in groups.items() if len(group) > 1]
    return sorted(shared, key=lambda one: (one.at, -len(one.answers), one.given))


def _rows(dialogue: Dialogue) -> list[_Row]:
    is_context = When(item__isnull=True, then=Value(True))
    texts = (
        Case(When(item__isnull=True, then=name), default=Value(""), output_field=kind())
        for name, kind in (("speaker", CharField), ("text", TextField))
    )
    rows = (
        Turn.objects.filter(continuation__dialogue=dialogue)
        .exclude(continuation__key=SELF)
        .order_by("continuation", "position")
        .values_list(
            "continuation", "position", "at", "given", Case(is_context, default=Value(False)), *texts
        )
    )
    return [_Row(*row) for row in rows]


def _answers(parts: dict[int, Continuation], rows: Iterable[_Row], length: int) -> Iterable[Answer]:
    for pk, group in groupby(rows, key=attrgetter("continuation")):
        turns = list(group)
        if parts[pk].mode == Continuation.Mode.STATIC:
            yield from _static(parts[pk], turns, length)
        else:
            before = list(takewhile(attrgetter("is_context"), turns))
            if len(before) < len(turns):
                yield Answer(parts[pk], len(before), length, _said(before))


def _static(part: Continuation, turns: Sequence[_Row], length: int) -> Iterable[Answer]:
    for place, turn in enumerate(turns):
        if turn.is_context:
            continue
        first = place
        while first and turns[first - 1].given and turns[first - 1].at == turn.at:
            first -= 1
        yield Answer(part, turn.position, min(turn.at or 0, length), _said(turns[first:place]))


def _said(rows: Iterable[_Row]) -> Given:
    return tuple((row.speaker, row.text) for row in rows)


def _own(own: Continuation, points: Collection[int]) -> list[Answer]:
    """Return the dialogue's own turns at some points, those that can be rated."""
    rows = Turn.objects.filter(continuation=own, position__in=points, item__isnull=False)
    return [Answer(own, at, at) for at in rows.order_by("position").values_list("position", flat=True)]


def _named(group: Sequence[Answer]) -> tuple[Answer, ...]:
    keys = [answer.continuation.key for answer in group]
    named = [
        replace(answer, name=key if keys.count(key) == 1 else f"{key}/{answer.position}")
        for answer, key in zip(group, keys, strict=True)
    ]
    return tuple(sorted(named, key=_order))


def _order(answer: Answer) -> tuple[bool, bool, str, str, int]:
    part = answer.continuation
    return answer.is_human, part.is_self, part.system.name, part.key, answer.position


# Which context of a dialogue is compared, and which of its continuations: those asked for, or the usual.

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
