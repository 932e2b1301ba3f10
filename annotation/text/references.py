"""Written and stored form of item keys, and of evidence passages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.kinds import KINDS, Member, Place, RecordKey, kind_at, kind_comparing
from annotation.records import SELF, Passage

# Item keys: `dialogue/continuation/turn`, or `dialogue/continuation` for a dialogue item.
#
# A comparison's key names all members, in its own order, with `/+/` between them: `dialogue/one/+/another` or
# `dialogue/one/2/+/another/0`. A turn's number is all digits and the key of one item never has a `+` in the
# place of its turn, so every key is unambiguous, whatever the ids look like. A record of a dialogue has an
# empty continuation id: `dialogue//fact/key`.
#
# Ids are free text, so `/` and `%` inside an id are written `%2F` and `%25`: a key always splits in one way.

ESCAPES = (("%", "%25"), ("/", "%2F"))
"""Characters that must not appear in an id, with their escapes; in this order."""


def item_key(dialogue: str, continuation: str, turn: int | None) -> str:
    """Return the key of an item. `turn` is 0-based, None for the dialogue item."""
    place = Place(dialogue, continuation, turn)
    return "/".join(map(quote, kind_at(turn).key_parts(place)))


def record_key(dialogue: str, record: RecordKey) -> str:
    """Return the key of a dialogue's record item, by the record's kind and key."""
    return "/".join(map(quote, KINDS[record[0]].key_parts(Place(dialogue, "", record=record))))


def key_of_item(dialogue: str, continuation: str, turn: int | None, kind: str, record: str | None) -> str:
    """Return the key of an item without members, from the columns that `ITEM_PARTS` reads."""
    return item_key(dialogue, continuation, turn) if record is None else record_key(dialogue, (kind, record))


def members_key(dialogue: str, members: Sequence[Member]) -> str:
    """Return the key of an item with members, in their order; of one member, that member's own key."""
    (continuation, turn), *others = members
    kind = kind_comparing(len(members)) or kind_at(turn)
    return "/".join(map(quote, kind.key_parts(Place(dialogue, continuation, turn, tuple(others)))))


def place_of(key: str) -> Place:
    """Parse a key into its place, with all its members; raise ValueError where it is not a key."""
    parts = [_unquote(part) for part in key.split("/")]
    for kind in KINDS.values():
        if len(parts) > 1 and (place := kind.read(parts)):
            return place
    kinds = sorted(KINDS.values(), key=lambda kind: (kind.compares, kind.has_record, len(kind.key_form)))
    forms = " or ".join(dict.fromkeys(kind.key_form for kind in kinds))
    raise ValueError(f"{key!r} is not an item key: expected {forms}")


def parse_item_key(key: str) -> tuple[str, str, int | None]:
    """Parse a key into (dialogue, continuation, turn); raise ValueError unless it is a single item's key."""
    place = place_of(key)
    if place.others:
        raise ValueError(f"{key!r} compares several: name one continuation, or a turn of it")
    if place.record:
        raise ValueError(f"{key!r} is a record of a dialogue: name a continuation, or a turn of it")
    return place.dialogue, place.continuation, place.turn


def item_key_sql(dialogue: str, continuation: str, position: str) -> str:
    """Return the SQL of `item_key` from three columns (position null: no turn), `%` doubled as in queries."""
    quoted = f"{_quote_sql(dialogue)} || '/' || {_quote_sql(continuation)}"
    return f"{quoted} || coalesce('/' || {position}::text, '')"


def record_key_sql(dialogue: str, kind: str, key: str) -> str:
    """Return the SQL of `record_key` from three columns, `%` doubled as in queries."""
    return f"{_quote_sql(dialogue)} || '//' || {kind} || '/' || {_quote_sql(key)}"


def members_key_sql(item: str, dialogue: str) -> str:
    """Return the SQL of `members_key` from an item's id and its dialogue's key; null without members."""
    member = f"{_quote_sql('mc.key')} || coalesce('/' || mu.position::text, '')"
    return f"""(SELECT {_quote_sql(dialogue)} || '/' || string_agg({member}, '/+/' ORDER BY mm.number)
      FROM annotation_itemmember mm JOIN annotation_continuation mc ON mc.id = mm.continuation_id
      LEFT JOIN annotation_turn mu ON mu.id = mm.turn_id WHERE mm.item_id = {item})"""  # noqa: S608  (own SQL)


def quote(part: str) -> str:
    """Return an id as a part of a key."""
    for character, escape in ESCAPES:
        part = part.replace(character, escape)
    return part


def _quote_sql(column: str) -> str:
    for pair in ESCAPES:
        character, escape = (text.replace("%", "%%") for text in pair)
        column = f"replace({column}, '{character}', '{escape}')"
    return column


def _unquote(part: str) -> str:
    for character, escape in reversed(ESCAPES):
        part = part.replace(escape, character)
    return part


# Evidence passages, as stored and exported: in reading order, without duplicates.

MOST = 100
"""Maximum number of passages per answer."""
FIELDS = ("continuation", "turn", "start", "end")


def in_order(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Return passages in reading order, the dialogue's own turns first, each once."""
    return tuple(sorted(set(passages), key=_place))


def stored(passages: Iterable[Passage]) -> list[dict[str, Any]] | None:
    """Return passages as stored with a label and written in files; None where there are none."""
    return [{name: getattr(passage, name) for name in FIELDS} for passage in in_order(passages)] or None


def read(rows: Iterable[Mapping[str, Any]] | None) -> tuple[Passage, ...]:
    """Parse the passages stored with a label."""
    return tuple(
        Passage(row["continuation"], row["turn"], row.get("start"), row.get("end")) for row in rows or ()
    )


def quoted(passage: Passage, text: str) -> str:
    """Return the words of a passage, from its turn's stored text."""
    return text[passage.start : passage.end]


def _place(passage: Passage) -> tuple[Any, ...]:
    start, end = passage.start, passage.end
    return (
        passage.continuation != SELF,
        passage.continuation,
        passage.turn,
        -1 if start is None else start,
        -1 if end is None else end,
    )
