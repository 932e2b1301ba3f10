"""One record of MPCEval's prediction files: a context, and what a system predicted after it.

`next_message` (with `next_speaker` and `context`) is a predicted turn, and becomes a static continuation
whose one turn answers the whole context. `prediction`, `conversation` or a field that the caller names (with
`context`) is a whole conversation, and becomes a rollout. Turns are {"speaker", "utterance"}. Fields of other
names are passed over. Imports and the command `score` read records by this one function.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from annotation.formats import jsonl
from annotation.formats.decoding import decode, kind_of
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source
from annotation.records import Continuation, Dialogue, Participant, Turn

PREDICTION = "prediction"
"""The continuation id of what MPCEval's records predict, and its system where none is named."""

TARGETS = (PREDICTION, "conversation")
IDS = ("dialogue_id", "conversation_id", "id")
NATIVE = ("participants", "agenda", "metadata")
"""Fields that mean what they do in the native format."""
FIELDS = frozenset(
    [
        *(*TARGETS, *IDS, *NATIVE),
        *("context", "next_speaker", "next_message", "system", "given", "condition", "cluster", "language"),
    ]
)
"""All that are read."""


def is_pair(raw: Mapping[str, Any]) -> bool:
    """Whether a record is a predicted turn."""
    return "next_message" in raw


def target_of(raw: Mapping[str, Any], target: str = "") -> str | None:
    """Return the field of a record that holds a whole conversation, None where there is none."""
    return next((field for field in ((target,) if target else TARGETS) if field in raw), None)


def dialogue(raw: dict[str, Any], name: str, target: str = "") -> Dialogue | None:
    """Return the dialogue with its one continuation that a record is, None for a record of another form.

    `name` is the id of a record that has none. Raises ImportProblem by the path of the field.
    """
    cast = _Cast()
    if is_pair(raw):
        context = turns(raw, "context", cast)
        turn = Turn(cast.id(text(raw, "next_speaker", "")), text(raw, "next_message"), at=len(context))
        part = Continuation(PREDICTION, system(raw), (turn,), mode="static")
    elif field := target_of(raw, target):
        context = turns(raw, "context", cast)
        said = turns(raw, field, cast)
        if not said:
            raise ImportProblem("has no turns", field=field)
        part = Continuation(PREDICTION, system(raw), said)
    else:
        return None
    return _record(raw, name, cast, context, part)


def id_of(raw: Mapping[str, Any]) -> str:
    """Return what a record calls its dialogue, empty where it does not."""
    return next((text(raw, field) for field in IDS if raw.get(field) is not None), "")


def records(source: Source, file: Path) -> Iterator[tuple[int | None, Any]]:
    """Yield (line, JSON value): each line of a .jsonl file, else the document or the elements of its list."""
    if not source.called(file).endswith(".json"):
        for line, content in source.lines(file):
            try:
                yield line, decode(content)
            except ImportProblem as problem:
                raise problem.placed(line=line) from None
        return
    document = decode(source.document(file))
    for raw in document if isinstance(document, list) else [document]:
        yield None, raw


def _record(
    raw: dict[str, Any], name: str, cast: _Cast, context: tuple[Turn, ...], part: Continuation
) -> Dialogue:
    key = id_of(raw) or name
    extra = {field: raw[field] for field in NATIVE if raw.get(field)}
    native = jsonl.dialogue({"id": key, "turns": [], "labels": [], **extra})
    return Dialogue(
        id=key,
        turns=context,
        participants=native.participants or cast.participants(),
        continuations=(part,),
        metadata=native.metadata,
        agenda=native.agenda,
    )


def turns(raw: Mapping[str, Any], field: str, cast: _Cast) -> tuple[Turn, ...]:
    """Return a list of {"speaker", "utterance"} (or "text") as turns."""
    listed = raw.get(field) or []
    if not isinstance(listed, list):
        raise ImportProblem(f"must be a list, not {kind_of(listed)}", field=field)
    said = []
    for index, part in enumerate(listed):
        if not isinstance(part, dict):
            raise ImportProblem(f"must be an object, not {kind_of(part)}", field=f"{field}[{index}]")
        key = "utterance" if "utterance" in part or "text" not in part else "text"
        speaker = text(part, "speaker", "", f"{field}[{index}].")
        said.append(Turn(cast.id(speaker), text(part, key, None, f"{field}[{index}].")))
    return tuple(said)


def text(raw: Mapping[str, Any], key: str, default: str | None = None, path: str = "") -> str:
    """Return a field that is a text; `default` where it is absent or null."""
    value = raw.get(key, default)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        problem = f"must be a text, not {kind_of(value)}" if key in raw else "is missing"
        raise ImportProblem(problem, field=path + key)
    return value


def system(raw: Mapping[str, Any]) -> str:
    """Return who a record says predicted it, `prediction` where it does not."""
    return text(raw, "system", PREDICTION) or PREDICTION


class _Cast:
    """The speakers of a record. Spellings that differ in case, width or outer spaces are one speaker."""

    def __init__(self) -> None:
        self._spellings: dict[str, list[str]] = {}

    def id(self, name: str) -> str:
        """Return the speaker's first spelling; empty where nobody is named."""
        spellings = self._spellings.setdefault(unicodedata.normalize("NFKC", name).strip().casefold(), [])
        if name not in spellings:
            spellings.append(name)
        return spellings[0] if name.strip() else ""

    def participants(self) -> tuple[Participant, ...]:
        """Return who was named, with the other spellings as aliases."""
        named = (names for key, names in self._spellings.items() if key)
        return tuple(Participant(names[0], names[0].strip(), aliases=tuple(names[1:])) for names in named)
