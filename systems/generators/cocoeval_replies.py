"""Replies of `cocoeval_continuation`: their form, and reading them strictly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.text.cleaning import clean
from annotation.text.tokens import fold, spaced, words
from jobs.prompt import Unparseable
from judges.protocols.replies import json_object
from systems.generators.cocoeval_shown import Cast

WRITTEN = "generated_turns"
COPIES = ("previous_turns", "five_previous_turns")
"""What the list of copied turns is called: ours, and the paper's name for five."""
FIVE = 5
TURN_FIELDS = ("turn_number", "speaker", "content")
MANY_TIMES = 20
"""A turn of over so many times the usual length is flagged."""
RENUMBERED, BY_NAME, OVERLONG, COPY_DIFFERS = "renumbered", "speaker_by_name", "overlong", "copy_differs"

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a reply has to answer: the numbers of the turns, who may speak, and the turns to copy.

    `copies` are (number, speaker as shown, text) of the turns to repeat. `usual` is the median length in
    words per person, and `in_all` the median over all.
    """

    first: int
    count: int
    cast: Cast
    copies: tuple[tuple[int, str, str], ...] = ()
    usual: Mapping[str, float] | None = None
    in_all: float = 0.0


@dataclass(frozen=True, slots=True)
class Read:
    """What a reply says: (id of the speaker, text) per turn, and what deserves a look."""

    turns: tuple[tuple[str, str], ...]
    flags: tuple[str, ...] = ()


def copies_name(count: int) -> str:
    """Return what the list of so many copied turns is called."""
    return COPIES[count == FIVE]


def schema(copies: int) -> dict[str, Any]:
    """Return the JSON schema of a reply."""
    types = zip(TURN_FIELDS, ("integer", "string", "string"), strict=True)
    turn = _object({name: {"type": kind} for name, kind in types})
    names = [*([copies_name(copies)] if copies else []), WRITTEN]
    return _object({name: {"type": "array", "items": turn} for name in names})


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def form(asked: Asked) -> str:
    """Return the form of a reply as the prompt shows it."""
    lists = [f'  "{WRITTEN}": [{_entry(asked.first)}{", ..." if asked.count > 1 else ""}]']
    if asked.copies:
        more = ", ..." if len(asked.copies) > 1 else ""
        lists.insert(0, f'  "{copies_name(len(asked.copies))}": [{_entry(asked.copies[0][0])}{more}]')
    return "{\n" + ",\n".join(lists) + "\n}"


def _entry(number: int) -> str:
    return f'{{"turn_number": {number}, "speaker": "...", "content": "..."}}'


def written(asked: Asked, turns: Sequence[tuple[str, str]]) -> str:
    """Return the reply that says these turns: (speaker as shown, text) of each."""
    lists: dict[str, list[Entry]] = {}
    if asked.copies:
        lists[copies_name(len(asked.copies))] = [_turn(*copied) for copied in asked.copies]
    numbered = enumerate(turns, start=asked.first)
    lists[WRITTEN] = [_turn(number, speaker, text) for number, (speaker, text) in numbered]
    return json.dumps(lists, ensure_ascii=False)


def _turn(number: int, speaker: str, text: str) -> Entry:
    return dict(zip(TURN_FIELDS, (number, speaker, text), strict=True))


def read(reply: str, asked: Asked) -> Read:
    """Return the turns of a reply; raise Unparseable where it is not in the form that was asked for.

    A shifted run of numbers, a speaker who is named otherwise than by id, a text that is much longer than
    usual and copies that differ stand, each with a flag.
    """
    data = json_object(reply)
    copied = _copied(data, bool(asked.copies))
    if unknown := sorted(set(data) - {WRITTEN, *COPIES}):
        raise Unparseable(f"there is no field {unknown[0][:40]!r} in the form that was asked for")
    entries = _entries(data, asked.count)
    flags = [*_renumbered(entries, asked)]
    turns = []
    for number, entry in enumerate(entries, start=asked.first):
        who, by_name = _speaker(entry, number, asked.cast)
        text = _content(entry, number)
        flags += [f"{BY_NAME}: turn {number}"] if by_name else []
        flags += _overlong(text, number, who, asked)
        turns.append((who, text))
    flags += _differing(copied, asked)
    return Read(tuple(turns), tuple(flags))


def _copied(data: Mapping[str, Any], is_asked: bool) -> list[Any]:
    there = [name for name in COPIES if name in data]
    if len(there) > 1:
        raise Unparseable(f"the copied turns are there twice, as {' and as '.join(there)}")
    if not is_asked:
        if there:
            raise Unparseable(f"{there[0]}: no turns were to be copied")
        return []
    if not there or not isinstance(data[there[0]], list):
        raise Unparseable(f"the list {COPIES[1]} or {COPIES[0]} is missing")
    return list(data[there[0]])


def _entries(data: Mapping[str, Any], count: int) -> list[Entry]:
    value = data.get(WRITTEN)
    if not isinstance(value, list):
        raise Unparseable(f"the list {WRITTEN} is missing")
    if len(value) != count:
        raise Unparseable(f"{WRITTEN} has {len(value):,} turns, not {count}")
    for place, entry in enumerate(value):
        if not isinstance(entry, dict) or sorted(entry) != sorted(TURN_FIELDS):
            raise Unparseable(f"{WRITTEN}[{place}] is not an object of {', '.join(TURN_FIELDS)}")
    return value


def _renumbered(entries: Sequence[Entry], asked: Asked) -> list[str]:
    numbers = [entry["turn_number"] for entry in entries]
    for number in numbers:
        if not isinstance(number, int) or isinstance(number, bool):
            raise Unparseable(f"turn_number: {str(number)[:40]!r} is not a whole number")
    if numbers[0] == asked.first and numbers == _run(asked.first, asked.count):
        return []
    if numbers != _run(numbers[0], asked.count):
        shown = ", ".join(str(number)[:40] for number in numbers[:10])
        raise Unparseable(f"the turns are numbered {shown}, not {asked.first} and on without gaps")
    return [f"{RENUMBERED}: turn {asked.first} and on came as {str(numbers[0])[:40]} and on"]


def _run(first: int, count: int) -> list[int]:
    return list(range(first, first + count))


def _speaker(entry: Entry, number: int, cast: Cast) -> tuple[str, bool]:
    value = entry["speaker"]
    if not isinstance(value, str):
        raise Unparseable(f"turn {number}: the speaker is not a text")
    person, by_name = cast.find(value)
    if person is None:
        raise Unparseable(f"turn {number}: {value[:60]!r} is none, or not one alone, of the people listed")
    return person.id, by_name


def _content(entry: Entry, number: int) -> str:
    value = entry["content"]
    if not isinstance(value, str):
        raise Unparseable(f"turn {number}: the content is not a text")
    if not clean(value).strip():
        raise Unparseable(f"turn {number}: the content is empty")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise Unparseable(f"turn {number}: the content holds characters that are no text")
    return value


def _overlong(text: str, number: int, who: str, asked: Asked) -> list[str]:
    usual = (asked.usual or {}).get(who, asked.in_all)
    length = len(words(clean(text)))
    if not usual or length <= MANY_TIMES * usual:
        return []
    return [f"{OVERLONG}: turn {number} has {length:,} words, usual are {usual:g}"]


def _differing(copied: Sequence[Any], asked: Asked) -> list[str]:
    """Say how many of the copied turns are not those that were shown, in speaker or in text."""
    wanted = [(_who(speaker, asked.cast), spaced(text)) for _, speaker, text in asked.copies]
    found = [_said(entry, asked.cast) for entry in copied]
    same = sum(one == other for one, other in zip(wanted, found, strict=False))
    differ = max(len(wanted), len(found)) - same
    return [f"{COPY_DIFFERS}: {differ} of {len(wanted)} turns before turn {asked.first}"] if differ else []


def _said(entry: Any, cast: Cast) -> tuple[str, str] | None:
    if not isinstance(entry, dict):
        return None
    speaker, content = entry.get("speaker"), entry.get("content")
    if not isinstance(speaker, str) or not isinstance(content, str):
        return None
    return _who(speaker, cast), spaced(clean(content))


def _who(speaker: str, cast: Cast) -> str:
    """Return who is meant; somebody who is not in the list is known by what he or she is called."""
    person, _ = cast.find(speaker)
    return f"id {person.id}" if person else f"called {fold(speaker)}"
