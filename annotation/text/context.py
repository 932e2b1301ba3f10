"""What is known of a dialogue beside its turns, rendered once for people, judges and generators.

Nested values are printed to any depth as indented lines, a list on one line where its elements are short.
Nothing is left out silently: an entry that would name a system reads `[hidden]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from annotation.records import Dialogue, Participant
from annotation.text.blinding import WITHHELD
from annotation.text.happenings import Names
from annotation.text.views import View

SHORT = 40
INDENT = "  "

NamedText = tuple[str, str]
"""A name and a value; the lines of a value are indented among themselves."""


class Person(NamedTuple):
    """A speaker as introduced to raters; `colour` tells them apart."""

    name: str
    colour: int
    role: str = ""
    profile: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    extra: tuple[NamedText, ...] = ()


class Context(NamedTuple):
    """What is known of a dialogue, as shown."""

    people: tuple[Person, ...]
    metadata: tuple[NamedText, ...]
    agenda: tuple[str, ...]
    summary: str


def context(dialogue: Dialogue, names: Names, view: View) -> Context:
    """Return what a view shows of a dialogue beside its turns."""
    shown = {key: value for key, value in dialogue.metadata.items() if view.shows_entry(str(key))}
    agenda = dialogue.agenda.items.values() if dialogue.agenda and view.shows_part("agenda") else ()
    return Context(
        people=tuple(_person(person, names, view) for person in dialogue.participants),
        metadata=entries(shown, view),
        agenda=tuple(view.about(str(text)) for text in agenda),
        summary=view.about(dialogue.summary) if view.shows_part("summary") else "",
    )


def entries(values: Mapping[str, Any], view: View) -> tuple[NamedText, ...]:
    """Return named values as (name, value) texts; empty ones are left out."""
    found = ((_name(key, view), _lines(value, view, str(key))) for key, value in values.items())
    return tuple((name, "\n".join(lines)) for name, lines in found if lines)


def entry_lines(found: Sequence[NamedText]) -> list[str]:
    """Return named values as lines: `name: value`, or the name with its value indented below."""
    return [line for name, value in found for line in _under(name, value.split("\n"))]


def person_lines(person: Person) -> list[str]:
    """Return what is known of a speaker as lines."""
    lines = [f"{person.name} ({person.role})" if person.role else person.name]
    if person.aliases:
        lines += _under("also called", [", ".join(person.aliases)])
    for text in person.profile:
        lines += [INDENT + line for line in text.split("\n")]
    lines += [INDENT + line for line in entry_lines(person.extra)]
    return lines


def fact_lines(found: Context) -> list[str]:
    """Return metadata, agenda and summary as lines."""
    lines = entry_lines(found.metadata)
    if found.agenda:
        lines.append("agenda:")
        lines += [INDENT + line for text in found.agenda for line in _element(text.split("\n"))]
    if found.summary:
        lines += _under("summary", found.summary.split("\n"))
    return lines


def _person(person: Participant, names: Names, view: View) -> Person:
    return Person(
        name=names.of(person.id),
        colour=names.colour(person.id),
        role=view.line(person.role) if view.shows_part("participants.role") else "",
        profile=tuple(map(view.about, person.profile)) if view.shows_part("participants.profile") else (),
        aliases=tuple(map(view.line, person.aliases)) if view.shows_part("participants.aliases") else (),
        extra=entries(person.extra, view) if view.shows_part("participants.extra") else (),
    )


def _name(key: Any, view: View) -> str:
    return view.line(str(key)).replace("_", " ")


def _lines(value: Any, view: View, key: str = "") -> list[str]:
    """Return a value as lines, none where there is nothing in it."""
    if value in (None, "", [], {}):
        return []
    if key and view.withholds(key):
        return [WITHHELD]
    if isinstance(value, Mapping):
        return entry_lines(entries(value, view))
    if isinstance(value, list | tuple):
        return _list_lines([lines for lines in (_lines(part, view) for part in value) if lines], value)
    if isinstance(value, bool):
        return ["true" if value else "false"]
    return view.about(str(value)).split("\n")


def _list_lines(elements: list[list[str]], value: Sequence[Any]) -> list[str]:
    is_plain = not any(isinstance(part, Mapping | list | tuple) for part in value)
    if is_plain and all(len(lines) == 1 and len(lines[0]) <= SHORT for lines in elements):
        texts = [lines[0] for lines in elements]
        mark = "; " if any("," in text for text in texts) else ", "
        return [mark.join(texts)] if texts else []
    return [line for lines in elements for line in _element(lines)]


def _element(lines: Sequence[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield ("- " if number == 0 else INDENT) + line


def _under(name: str, lines: Sequence[str]) -> list[str]:
    if len(lines) == 1 and not lines[0].startswith("- "):
        first = lines[0]
        return [f"{name}: {first}"]
    return [f"{name}:", *(INDENT + line for line in lines)]
