"""Files and imports for the tests of importing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.corpora.import_file import import_path
from annotation.corpora.import_staging import ImportResult
from annotation.formats import FORMATS
from annotation.formats.corpus_format import guess, read_start
from annotation.formats.source import ImportProblem, Source
from annotation.models import Continuation, Corpus, Dialogue, Import, Item, Label, Rater, Scheme, System, Turn

TURNS = [{"speaker": "A", "text": "Hello"}, {"speaker": "B", "text": "Hi"}]


def line(key: str = "d1", **fields: Any) -> dict[str, Any]:
    """Return a dialogue of two turns in the native format."""
    return {"id": key, "turns": TURNS, **fields}


def continuation(system: str = "m", *texts: str, **fields: Any) -> dict[str, Any]:
    """Return a rollout in the native format."""
    return {
        "system": system,
        "turns": [{"speaker": "A", "text": text} for text in texts or ("So",)],
        **fields,
    }


def label(value: Any = 4, turn: int | None = 0, **fields: Any) -> dict[str, Any]:
    """Return a label of rater `r` on `overall` in the native format."""
    return {"rater": "r", "turn": turn, "question": "overall", "value": value, **fields}


def written(folder: Path, *lines: Any, name: str = "file.jsonl") -> Path:
    """Write lines to a file, as JSON unless they are texts."""
    path = folder / name
    path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines))
    return path


def imported(
    path: Path, corpus: str = "c", *, format: str = "jsonl", into: bool = False, **options: Any
) -> ImportResult:
    """Import a file without a user."""
    return import_path(path=path, format=format, corpus=corpus, into=into, by=None, **options)


def refusal(path: Path, corpus: str = "c", **options: Any) -> ImportProblem:
    """Import a file that must be refused, check that nothing changed, and return the problem."""
    before = census()
    with pytest.raises(ImportProblem) as caught:
        imported(path, corpus, **options)
    assert census() == before
    return caught.value


def census() -> dict[str, int]:
    """Count the rows of every table that an import writes."""
    tables = (Corpus, Import, System, Dialogue, Continuation, Turn, Item, Label, Rater, Scheme)
    return {table.__name__: table.objects.count() for table in tables}


def read_file(path: Path, format: str = "", **options: Any) -> tuple[list[Any], list[str]]:
    """Return the records of a file, read in the form that its content has or in this one, and the notes."""
    source = Source(path, **options)
    reader = FORMATS[format or guess(FORMATS, read_start(path))]
    return [entry.record for entry in reader.read(source)], source.all_notes()


def reading_problem(path: Path, format: str = "", **options: Any) -> ImportProblem:
    """Return the problem of a file that cannot be read."""
    with pytest.raises(ImportProblem) as caught:
        read_file(path, format, **options)
    return caught.value
