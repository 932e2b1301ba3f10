"""Typed, bounded access to the fields of a JSON object; errors name the path of the field."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, TypeVar

import orjson

from annotation.formats.source import ImportProblem
from annotation.records import SELF, Dialogue, Passage, SaidKind, Turn
from annotation.text import references
from annotation.text.table_cells import kind_of_rater

# Strict JSON: content that is not JSON, not UTF-8, not finite or not storable is refused with its place.

MAX_DEPTH = 32
NAN = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|\bNaN\b', re.DOTALL)
"""A text, or a NaN outside of texts."""
NOT_NUMBERS = ("NaN", "Infinity", "-Infinity", "inf", "-inf", "nan")


def decode(content: bytes) -> Any:
    """Parse a JSON text; NaN, infinities, lone surrogates and NUL characters are refused."""
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise _explained(content, error) from None
    if b"\\u0000" in content:
        plain(value, "", depth=200)
    return value


def decode_text(content: bytes) -> str:
    """Return a text in UTF-8; another encoding and NUL characters are refused."""
    try:
        return str(plain(content.decode(), ""))
    except UnicodeDecodeError as error:
        raise ImportProblem(f"is not UTF-8 at byte {error.start}") from None


def decode_python(content: bytes) -> Any:
    """Parse JSON as written by Python's own `json`: NaN, used for a missing value, becomes null.

    Everything else that is not JSON is refused as in `decode`.
    """
    if b"NaN" in content:
        content = NAN.sub(lambda match: b"null" if match[0] == b"NaN" else match[0], content)
    return decode(content)


def _explained(content: bytes, error: orjson.JSONDecodeError) -> ImportProblem:
    """Explain the error in a text, with its line where the text has several."""
    try:
        content.decode()
    except UnicodeDecodeError as undecodable:
        line = content.count(b"\n", 0, undecodable.start) + 1 if b"\n" in content else None
        return ImportProblem(f"is not UTF-8 at byte {undecodable.start}", line=line)
    line = error.lineno if b"\n" in content else None
    place = f" at character {error.colno}"
    rest = str(error.doc)[error.pos : error.pos + 10]
    if rest.startswith(NOT_NUMBERS) or error.msg.startswith("number is infinity"):
        reason = f"NaN and infinite numbers are not JSON{place}; write null with a reason instead"
        return ImportProblem(reason, line=line)
    return ImportProblem(f"is not valid JSON{place}: {error.msg}", line=line)


def plain(value: Any, path: str, *, depth: int = MAX_DEPTH) -> Any:
    """Check that a free-form value can be stored; refuse NUL characters and nesting below `depth` levels."""
    if depth < 0:
        raise ImportProblem("is nested too deeply", field=path)
    if isinstance(value, str):
        if "\0" in value:
            raise ImportProblem("holds a NUL character, which cannot be stored", field=path)
    elif isinstance(value, dict):
        for key, part in value.items():
            plain(key, path, depth=depth)
            plain(part, f"{path}.{key}" if path else key, depth=depth - 1)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            plain(part, f"{path}[{index}]", depth=depth - 1)
    return value


def is_number(value: Any) -> bool:
    """Whether a value is a finite number; true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
T = TypeVar("T", dict[str, Any], list[Any], str)


def kind_of(value: Any) -> str:
    """Name a JSON value's type for a message."""
    return KINDS.get(type(value), "a number")


def require(
    value: Any, kind: type[T], field: str = "", expected: str = "", *, file: str = "", filled: bool = False
) -> T:
    """Require a value of this kind, not empty where `filled`; messages name it `expected`."""
    if not isinstance(value, kind) or (filled and not value):
        reason = f"must be {expected or KINDS[kind]}, not {kind_of(value)}"
        raise ImportProblem(reason, field=field, file=file)
    return value


def number_or_none(value: Any, field: str, expected: str = "a number") -> float | None:
    """Return a finite number, None for null."""
    if value is not None and not is_number(value):
        raise ImportProblem(f"must be {expected}, not {kind_of(value)}", field=field)
    return None if value is None else float(value)


# Consistency rules between the parts of a dialogue, for all formats.

SpokenTurn = tuple[str, str]
"""Speaker and text."""
QUOTED_LENGTH = 60
"""Maximum characters quoted from a turn."""


def check_speakers(dialogue: Dialogue) -> None:
    """Refuse a speaker, addressee or listener who is not one of the declared participants."""
    participant_ids = {participant.id for participant in dialogue.participants}
    if not participant_ids:
        return
    _check_turns(dialogue.turns, "turns", participant_ids)
    for index, continuation in enumerate(dialogue.continuations):
        _check_turns(continuation.turns, f"continuations[{index}].turns", participant_ids)


def _check_turns(turns: Iterable[Turn], path: str, participant_ids: set[str]) -> None:
    for index, turn in enumerate(turns):
        if turn.speaker not in participant_ids:
            raise _stranger(turn.speaker, f"{path}[{index}].speaker", participant_ids)
        for role in ("addressees", "audience"):
            for name in getattr(turn, role) or ():
                if name not in participant_ids:
                    raise _stranger(name, f"{path}[{index}].{role}", participant_ids)


def _stranger(name: str, path: str, participant_ids: set[str]) -> ImportProblem:
    names = ", ".join(sorted(participant_ids)[:12])
    return ImportProblem(f"{name!r} is not the id of a participant (those are {names})", field=path)


def refuse_other_turns(
    ours: Sequence[SpokenTurn], theirs: Sequence[SpokenTurn], owner: str, *, field: str = "turns"
) -> None:
    """Refuse turns, as (speaker, text), that differ from those of their `owner`; the message quotes both."""
    for index, (mine, other) in enumerate(zip_longest(ours, theirs)):
        if mine != other:
            reason = f"turn {index} is {_quoted(mine)}, but that {owner} is {_quoted(other)}"
            raise ImportProblem(reason, field=f"{field}[{index}]")


def _quoted(turn: SpokenTurn | None) -> str:
    if turn is None:
        return "not there"
    speaker, text = turn
    short = text if len(text) <= QUOTED_LENGTH else text[:QUOTED_LENGTH] + "..."
    return f"{speaker[:QUOTED_LENGTH]!r} saying {short!r}"


def check_static(dialogue: Dialogue, history: int) -> None:
    """Refuse a static turn without a point in a history of `history` turns, and a rollout turn with one."""
    for index, continuation in enumerate(dialogue.continuations):
        for position, turn in enumerate(continuation.turns):
            path = f"continuations[{index}].turns[{position}].at"
            if continuation.mode == "rollout" and turn.at is not None:
                raise ImportProblem("only turns of a static continuation have a point `at`", field=path)
            if continuation.mode == "static" and turn.at is None:
                raise ImportProblem(
                    "is missing: how many turns of the history does this turn see?", field=path
                )
            if turn.at is not None and turn.at > history:
                raise ImportProblem(f"is {turn.at}, but the history has {history} turns", field=path)


ID_LIMIT = 300
NAME_LIMIT = 200


class Fields:
    """An object at a path. Every method takes a field's key and raises `ImportProblem` with its full path.

    Fields that are not `allowed` are refused; without it any field is accepted.
    """

    __slots__ = ("path", "raw")

    def __init__(self, raw: Any, path: str = "", allowed: frozenset[str] | None = None) -> None:
        if type(raw) is not dict:
            raise ImportProblem(f"must be an object, not {kind_of(raw)}", field=path)
        self.raw: dict[str, Any] = raw
        self.path = path
        if allowed is not None and not raw.keys() <= allowed:
            self._refuse_unknown(allowed)

    def _refuse_unknown(self, allowed: frozenset[str]) -> None:
        unknown = sorted(self.raw.keys() - allowed)[0]
        close = difflib.get_close_matches(unknown, allowed, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(sorted(allowed))}"
        raise self.problem(unknown, f"is not a field of the format; {hint}")

    def problem(self, key: str, reason: str) -> ImportProblem:
        """Build the problem of a field, to be raised."""
        return ImportProblem(reason, field=self.at(key))

    def at(self, key: str) -> str:
        """Return the full path of a field."""
        return f"{self.path}.{key}" if self.path else key

    def has(self, key: str) -> bool:
        """Whether the field is present and not null."""
        return self.raw.get(key) is not None

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text; `default` where it is absent or null, refused where there is no default."""
        value = self.raw.get(key, default)
        if type(value) is str:
            return value
        if value is None and default is not None:
            return default
        raise self._wrong(key, "a text")

    def text_or_number(self, key: str) -> str:
        """Return a text, or a number in its written form; empty where it is absent or null."""
        value = self.raw.get(key)
        return str(value) if is_number(value) else self.text(key, "")

    def id(self, key: str, default: str | None = None, limit: int = ID_LIMIT) -> str:
        """Return a name or id: without space around it, not empty, not over the limit."""
        value = self.text(key, default).strip()
        if not value and default != "":
            raise self.problem(key, "is empty")
        if len(value) > limit:
            raise self.problem(key, f"is longer than {limit} characters")
        return value

    def count(self, key: str, default: int | None = 0) -> int | None:
        """Return a whole number from 0 to 2^31 - 1."""
        value = self.raw.get(key, default)
        if value is None and default is None:
            return None
        if type(value) is not int or not 0 <= value < 2**31:
            raise self._wrong(key, "a whole number from 0")
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        """Return true or false."""
        value = self.raw.get(key, default)
        if type(value) is not bool:
            raise self._wrong(key, "true or false")
        return value

    def choice(self, key: str, choices: tuple[str, ...], default: str) -> Any:
        """Return one of the choices."""
        value = self.raw.get(key, default)
        if value not in choices:
            raise self.problem(key, f"must be one of {', '.join(choices)}")
        return value

    def rater_kind(self) -> SaidKind:
        """Return the kind of a rater, empty where it is not declared."""
        text = self.text("kind", "").strip()
        try:
            return kind_of_rater(text) if text else ""
        except ValueError as error:
            raise self.problem("kind", str(error)) from None

    def object(self, key: str) -> dict[str, Any]:
        """Return a free-form object, empty where it is absent."""
        value = self.raw.get(key)
        if value is None:
            return {}
        if type(value) is not dict:
            raise self._wrong(key, "an object")
        plain(value, self.at(key))
        return value

    def items(self, key: str) -> Iterator[tuple[str, Any]]:
        """Yield (path, element) of a list; nothing where it is absent or null."""
        value = self.raw.get(key)
        if value is None:
            return
        if type(value) is not list:
            raise self._wrong(key, "a list")
        path = self.at(key)
        for index, element in enumerate(value):
            yield f"{path}[{index}]", element

    def objects(self, key: str, allowed: frozenset[str]) -> Iterator[Fields]:
        """Yield the objects of a list, each with these fields; nothing where it is absent or null."""
        return (Fields(element, path, allowed) for path, element in self.items(key))

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts as a tuple, empty where it is absent."""
        values = []
        for path, element in self.items(key):
            if type(element) is not str:
                raise ImportProblem(f"must be a text, not {kind_of(element)}", field=path)
            values.append(element)
        return tuple(values)

    def _wrong(self, key: str, expected: str) -> ImportProblem:
        if key not in self.raw:
            return self.problem(key, "is missing")
        return self.problem(key, f"must be {expected}, not {kind_of(self.raw[key])}")


# Evidence of a label in files: [{"continuation", "turn", "start", "end"}].

PASSAGE_FIELDS = frozenset(references.FIELDS)


def evidence(entries: Iterable[tuple[str, Any]], own: str, path: str) -> tuple[Passage, ...]:
    """Parse (path, element) entries into passages, in order and each once.

    `own` is the label's continuation, the default for entries that name none. Whether the turns exist is
    checked once the label is placed. Raises ImportProblem.
    """
    passages = references.in_order(
        _passage(Fields(element, place, PASSAGE_FIELDS), own) for place, element in entries
    )
    if len(passages) > references.MOST:
        raise ImportProblem(f"has {len(passages)} places; at most {references.MOST} are taken", field=path)
    return passages


def _passage(fields: Fields, own: str) -> Passage:
    continuation, turn = fields.id("continuation", own), fields.count("turn", None)
    if continuation not in (own, SELF):
        raise fields.problem("continuation", f"must be {own!r}, or {SELF!r} for the dialogue's own turns")
    if turn is None:
        raise fields.problem("turn", "is missing")
    start, end = fields.count("start", None), fields.count("end", None)
    if (start is None) != (end is None):
        raise fields.problem("end" if end is None else "start", "is missing: name both, or neither")
    if start is not None and end is not None and start >= end:
        raise fields.problem("end", f"must be after the start, {start}, not {end}")
    return Passage(continuation, turn, start, end)
