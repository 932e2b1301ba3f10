"""Item keys: `dialogue/continuation/turn`, or `dialogue/continuation` for a dialogue item.

Ids are free text, so `/` and `%` inside an id are written `%2F` and `%25`: a key always splits in one way.
"""

from __future__ import annotations

from annotation.kinds import KINDS, Place, kind_at


def item_key(dialogue: str, continuation: str, turn: int | None) -> str:
    """Return the key of an item. `turn` is 0-based, None for the dialogue item."""
    place = Place(dialogue, continuation, turn)
    return "/".join(map(_quote, kind_at(turn).written(place)))


def parse_item_key(key: str) -> tuple[str, str, int | None]:
    """Return (dialogue, continuation, turn) of a key; raise ValueError where it is none."""
    parts = [_unquote(part) for part in key.split("/")]
    for kind in KINDS.values():
        if place := kind.read(parts):
            return place.dialogue, place.continuation, place.turn
    forms = " or ".join(sorted({kind.key_form for kind in KINDS.values()}, key=len))
    raise ValueError(f"{key!r} is no item key: expected {forms}")


def _quote(part: str) -> str:
    return part.replace("%", "%25").replace("/", "%2F")


def _unquote(part: str) -> str:
    return part.replace("%2F", "/").replace("%25", "%")
