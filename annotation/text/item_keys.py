"""Item keys: `dialogue/continuation/turn`, or `dialogue/continuation` for a dialogue item.

Ids are free text, so `/` and `%` inside an id are written `%2F` and `%25`: a key always splits in one way.
"""

from __future__ import annotations

from annotation.kinds import KINDS, Place, kind_at

ESCAPES = (("%", "%25"), ("/", "%2F"))
"""What an id must not show, and how it is written; in this order."""


def item_key(dialogue: str, continuation: str, turn: int | None) -> str:
    """Return the key of an item. `turn` is 0-based, None for the dialogue item."""
    place = Place(dialogue, continuation, turn)
    return "/".join(map(_quote, kind_at(turn).written(place)))


def parse_item_key(key: str) -> tuple[str, str, int | None]:
    """Return (dialogue, continuation, turn) of a key; raise ValueError where it is not a key."""
    parts = [_unquote(part) for part in key.split("/")]
    for kind in KINDS.values():
        if place := kind.read(parts):
            return place.dialogue, place.continuation, place.turn
    forms = " or ".join(sorted({kind.key_form for kind in KINDS.values()}, key=len))
    raise ValueError(f"{key!r} is not an item key: expected {forms}")


def item_key_sql(dialogue: str, continuation: str, position: str) -> str:
    """Return the SQL of `item_key` from three columns (position null: no turn), `%` doubled as in queries."""
    quoted = f"{_quote_sql(dialogue)} || '/' || {_quote_sql(continuation)}"
    return f"{quoted} || coalesce('/' || {position}::text, '')"


def _quote(part: str) -> str:
    for character, written in ESCAPES:
        part = part.replace(character, written)
    return part


def _quote_sql(column: str) -> str:
    for pair in ESCAPES:
        character, written = (text.replace("%", "%%") for text in pair)
        column = f"replace({column}, '{character}', '{written}')"
    return column


def _unquote(part: str) -> str:
    for character, written in reversed(ESCAPES):
        part = part.replace(written, character)
    return part
