"""Dialogues from files for the command `score`: MPCEval's own input format, and Concord's native JSONL.

What is no record of MPCEval's (`annotation.formats.mpceval_records`) is read as a native dialogue.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.formats import ImportProblem, Source, jsonl
from annotation.formats.decoding import kind_of
from annotation.formats.mpceval_records import TARGETS, dialogue, records
from annotation.records import Dialogue
from judges.metrics.kit.errors import InputRefused

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
            for line, raw in records(Source(file), file):
                yield _dialogue(raw, line, file, target)
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


def _dialogue(raw: Any, line: int | None, file: Path, target: str) -> Dialogue:
    try:
        if not isinstance(raw, dict):
            raise ImportProblem(f"must be an object, not {kind_of(raw)}")
        if record := dialogue(raw, file.stem, target):
            return record
        if target or "context" in raw:
            raise ImportProblem(f"has neither next_message nor {target or ' nor '.join(TARGETS)}")
        return jsonl.dialogue(raw)
    except ImportProblem as problem:
        raise problem.placed(line=line) from None
