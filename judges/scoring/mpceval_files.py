"""Dialogues from files: Concord's native JSONL, and MPCEval's own input format.

MPCEval's records are told by their fields: `next_message` (with `next_speaker` and `context`) is a predicted
turn; `prediction`, `conversation` or the field that `target` names (with `context`) is a whole conversation.
Its turns are {"speaker", "utterance"}. Anything else is read as a native dialogue.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.formats import ImportProblem, Source, jsonl
from annotation.formats.decoding import decode, kind_of
from annotation.records import Continuation, Dialogue, Participant, Turn
from judges.metrics.kit.errors import InputRefused

PREDICTION = "prediction"
"""The continuation id of what MPCEval's records predict, and its system where none is named."""

TARGETS = (PREDICTION, "conversation")
IDS = ("dialogue_id", "conversation_id", "id")
SUFFIXES = (".json", ".jsonl")


def files(path: Path) -> list[Path]:
    """Return the file itself, or a folder's .json and .jsonl files in the order of their names."""
    if path.is_dir():
        found = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES and file.is_file())
        if not found:
            raise InputRefused(f"{path}: the folder holds no .json or .jsonl file")
        return found
    if not path.is_file():
        raise InputRefused(f"{path}: there is no such file")
    return [path]


def read(path: Path, target: str = "") -> Iterator[Dialogue]:
    """Yield the dialogues of a file or folder one by one; raise InputRefused with file, line and field."""
    for file in files(path):
        try:
            for place, raw in _records(file):
                yield _dialogue(raw, place, file, target)
        except ImportProblem as problem:
            raise InputRefused(str(problem.placed(file=file.name))) from None
        except OSError as error:
            raise InputRefused(f"{file}: {error.strerror or error}") from None


def count(path: Path) -> int:
    """Return how many records a file or folder holds, for a progress bar: lines, or documents."""
    total = 0
    for file in files(path):
        if file.suffix == ".json":
            total += 1
        else:
            with file.open("rb") as content:
                total += sum(1 for line in content if line.strip())
    return total


def _records(file: Path) -> Iterator[tuple[int | None, Any]]:
    """Yield (line, JSON value): each line of a .jsonl file, else the document or the elements of its list."""
    source = Source(file)
    if file.suffix != ".json":
        for line, content in source.lines():
            try:
                yield line, decode(content)
            except ImportProblem as problem:
                raise problem.placed(line=line) from None
        return
    document = decode(source.document(file))
    for raw in document if isinstance(document, list) else [document]:
        yield None, raw


def _dialogue(raw: Any, line: int | None, file: Path, target: str) -> Dialogue:
    try:
        if not isinstance(raw, dict):
            raise ImportProblem(f"must be an object, not {kind_of(raw)}")
        if "next_message" in raw:
            return _pair(raw, file)
        for field in (target,) if target else TARGETS:
            if field in raw:
                return _whole(raw, field, file)
        if target or "context" in raw:
            raise ImportProblem(f"has neither next_message nor {target or ' nor '.join(TARGETS)}")
        return jsonl.dialogue(raw)
    except ImportProblem as problem:
        raise problem.placed(line=line) from None


def _pair(raw: dict[str, Any], file: Path) -> Dialogue:
    """Return a predicted turn as a static continuation of one turn after its context."""
    cast = _Cast()
    context = _turns(raw, "context", cast)
    turn = Turn(cast.id(_text(raw, "next_speaker", "")), _text(raw, "next_message"), at=len(context))
    return _record(raw, file, cast, context, Continuation(PREDICTION, _system(raw), (turn,), mode="static"))


def _whole(raw: dict[str, Any], field: str, file: Path) -> Dialogue:
    """Return a whole conversation as a rollout after its context."""
    cast = _Cast()
    context = _turns(raw, "context", cast)
    turns = _turns(raw, field, cast)
    if not turns:
        raise ImportProblem("has no turns", field=field)
    return _record(raw, file, cast, context, Continuation(PREDICTION, _system(raw), turns))


def _record(
    raw: dict[str, Any], file: Path, cast: _Cast, turns: tuple[Turn, ...], continuation: Continuation
) -> Dialogue:
    """Return the dialogue, with the native fields `participants` and `agenda` where the record has them."""
    name = next((_text(raw, field) for field in IDS if raw.get(field) is not None), file.stem)
    extra = {field: raw[field] for field in ("participants", "agenda", "metadata") if raw.get(field)}
    native = jsonl.dialogue({"id": name, "turns": [], "labels": [], **extra})
    return Dialogue(
        id=name,
        turns=turns,
        participants=native.participants or cast.participants(),
        continuations=(continuation,),
        metadata=native.metadata,
        agenda=native.agenda,
    )


def _turns(raw: dict[str, Any], field: str, cast: _Cast) -> tuple[Turn, ...]:
    found = raw.get(field) or []
    if not isinstance(found, list):
        raise ImportProblem(f"must be a list, not {kind_of(found)}", field=field)
    turns = []
    for index, part in enumerate(found):
        if not isinstance(part, dict):
            raise ImportProblem(f"must be an object, not {kind_of(part)}", field=f"{field}[{index}]")
        key = "utterance" if "utterance" in part or "text" not in part else "text"
        speaker = _text(part, "speaker", "", f"{field}[{index}].")
        turns.append(Turn(cast.id(speaker), _text(part, key, None, f"{field}[{index}].")))
    return tuple(turns)


def _text(raw: dict[str, Any], key: str, default: str | None = None, path: str = "") -> str:
    value = raw.get(key, default)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        problem = f"must be a text, not {kind_of(value)}" if key in raw else "is missing"
        raise ImportProblem(problem, field=path + key)
    return value


def _system(raw: dict[str, Any]) -> str:
    return _text(raw, "system", PREDICTION) or PREDICTION


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
