"""Item keys: `dialogue/continuation/turn`, or `dialogue/continuation` for a dialogue item.

Ids are free text, so `/` and `%` inside an id are written `%2F` and `%25`: a key always splits in one way.
"""

from __future__ import annotations


def item_key(dialogue: str, continuation: str, turn: int | None) -> str:
    """Return the key of an item. `turn` is 0-based, None for the dialogue item."""
    parts = [_quote(dialogue), _quote(continuation)]
    return "/".join(parts if turn is None else [*parts, str(turn)])


def parse_item_key(key: str) -> tuple[str, str, int | None]:
    """Return (dialogue, continuation, turn) of a key; raise ValueError where it is none."""
    parts = key.split("/")
    if len(parts) == 2:
        return _unquote(parts[0]), _unquote(parts[1]), None
    if len(parts) == 3 and parts[2].isascii() and parts[2].isdigit():
        return _unquote(parts[0]), _unquote(parts[1]), int(parts[2])
    raise ValueError(f"{key!r} is no item key: expected dialogue/continuation or dialogue/continuation/turn")


def _quote(part: str) -> str:
    return part.replace("%", "%25").replace("/", "%2F")


def _unquote(part: str) -> str:
    return part.replace("%2F", "/").replace("%25", "%")
