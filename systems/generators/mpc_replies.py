"""Replies of `mpc_conversation`: a list of turns, or one turn; strict in form, free in what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.records import Turn
from annotation.text.words import fold
from jobs.prompt import Unparseable
from judges.protocols.replies import json_value
from systems.generators.base import array, fields, message, speaker
from systems.generators.named_cast import Cast, Member

SPEAKER, MESSAGE, ADDRESSEE = "speaker", "message", "addressee"
EVERYBODY = frozenset(["all", "everybody", "everyone"])
UNKNOWN_SPEAKER, UNKNOWN_ADDRESSEE, EXTRA_FIELD = "unknown_speaker", "unknown_addressee", "extra_field"
LISTED = 10
Read = tuple[Turn, tuple[str, ...]]
"""A turn, and names of flags about it."""


def names(addressees: bool) -> tuple[str, ...]:
    """Return the fields of a turn."""
    return (SPEAKER, MESSAGE, ADDRESSEE) if addressees else (SPEAKER, MESSAGE)


def conversation(reply: str, cast: Cast, *, addressees: bool) -> list[Read]:
    """Return the turns of a reply; raise Unparseable for one without a list, an empty message or a field that
    is missing."""
    entries = array(reply)
    if not entries:
        raise Unparseable("the list has no turns")
    return [_turn(entry, number, cast, addressees) for number, entry in enumerate(entries, start=1)]


def next_turn(reply: str, number: int, cast: Cast, *, addressees: bool) -> Read:
    """Return the one turn of a reply, the `number`th that is written; raise Unparseable as `conversation`."""
    return _turn(json_value(reply), number, cast, addressees)


def _turn(entry: Any, number: int, cast: Cast, addressees: bool) -> Read:
    where = f"turn {number}"
    wanted = names(addressees)
    told = fields(entry, wanted, where)
    who, flags = _speaker(told, where, cast)
    text = message(told[MESSAGE], f"{where}: the message")
    to: tuple[str, ...] = ()
    if addressees:
        to, more = _addressees(told[ADDRESSEE], where, who, cast)
        flags += more
    if set(told) - set(wanted):
        flags.append(EXTRA_FIELD)
    return Turn(who, text, addressees=to), tuple(flags)


def _speaker(told: Mapping[str, Any], where: str, cast: Cast) -> tuple[str, list[str]]:
    name = speaker(told[SPEAKER], f"{where}: the speaker")
    member = _member(name, cast)
    return (member.id, []) if member else (name, [UNKNOWN_SPEAKER])


def _addressees(value: Any, where: str, who: str, cast: Cast) -> tuple[tuple[str, ...], list[str]]:
    """Return whom a turn is addressed to: nobody, somebody, or all others. An unlisted name stays."""
    if not isinstance(value, str):
        raise Unparseable(f"{where}: the addressee is not a text")
    if not value.strip():
        return (), []
    name = speaker(value, f"{where}: the addressee")
    if (member := _member(name, cast)) is not None:
        return (member.id,), []
    if fold(name) in EVERYBODY:
        return tuple(one.id for one in cast.members if one.id != who), []
    return (name,), [UNKNOWN_ADDRESSEE]


def flags_told(found: Mapping[str, Sequence[int]]) -> tuple[str, ...]:
    """Return flags with the turns that have them: `unknown_speaker: turns 3, 7`."""
    told = []
    for name, turns in sorted(found.items()):
        more = f" and {len(turns) - LISTED:,} more" if len(turns) > LISTED else ""
        numbers = ", ".join(map(str, turns[:LISTED]))
        told.append(f"{name}: {'turn' if len(turns) == 1 else 'turns'} {numbers}{more}")
    return tuple(told)


def _member(name: str, cast: Cast) -> Member | None:
    """Return who is listed under a name; nobody where it may be several."""
    try:
        return cast.find(name)
    except Unparseable:
        return None
