"""Labels wait in a temporary table until all of a file is read: then they are placed as one set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from annotation.formats import Faults, ImportProblem, Rating, SourceRecord
from annotation.importing.sql import copy_rows, fresh_table
from annotation.models import Occasion
from annotation.records import HUMAN, Dialogue
from annotation.text.cells import looks_like_a_number, looks_like_nothing, number
from annotation.text.passages import stored
from config.planner import tell_planner

# What an import did.

COUNTS = ("dialogues", "turns", "continuations", "items", "labels", "missing")


@dataclass(slots=True)
class ImportResult:
    """Counts of what a file brought; where `created` is false, all of it was there already.

    `turns` and `continuations` count the dialogues' own ones too; `labels` includes the `missing` ones.
    `unchanged` counts labels of the file that were there already; `notes` say what was decided on the way.
    """

    corpus: str
    dialogues: int = 0
    turns: int = 0
    continuations: int = 0
    items: int = 0
    labels: int = 0
    missing: int = 0
    created: bool = True
    unchanged: int = 0
    notes: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """Return the counts alone."""
        return {name: getattr(self, name) for name in COUNTS}

    def as_dict(self) -> dict[str, str | int | bool]:
        """Return what `import_corpus` prints last."""
        return {"corpus": self.corpus, **self.counts(), "created": self.created}

    def as_answer(self) -> dict[str, Any]:
        """Return what the API answers and an upload keeps: with `unchanged` and `notes`."""
        return {**self.as_dict(), "unchanged": self.unchanged, "notes": self.notes}

    @classmethod
    def repeated(cls, corpus: str, counts: Mapping[str, int]) -> ImportResult:
        """Return the result of a file whose content was there already, with its first import's counts."""
        result = cls(corpus, created=False)
        for name in COUNTS:
            setattr(result, name, counts.get(name, 0))
        return result


NOTHING, NUMBER = "nothing", "number"
COLUMNS = {
    "line": "int4",
    "field": "text",
    "dialogue": "text",
    "continuation": "text",
    "position": "int4",
    "record_kind": "text",
    "record_key": "text",
    "question": "text",
    "scheme": "text",
    "occasion": "text",
    "rater_kind": "text",
    "rater_name": "text",
    "identified": "bool",
    "sample": "int4",
    "number": "float8",
    "text": "text",
    "doubt": "text",
    "missing": "text",
    "explanation": "text",
    "members": "jsonb",
    "shown": "jsonb",
    "evidence": "jsonb",
    "level": "text",
    "values": "jsonb",
    "turn_number": "int4",
    "counted": "bool",
}


def open_staging() -> None:
    """Make the empty table `import_label`."""
    columns = ", ".join(f'"{name}" {kind}' for name, kind in COLUMNS.items())
    fresh_table("import_label", f"(n bigint GENERATED ALWAYS AS IDENTITY, {columns})")


def stage(entries: Iterable[SourceRecord], faults: Faults) -> None:
    """Add the labels of a batch."""
    copy_rows("import_label", list(COLUMNS), list(COLUMNS.values()), _rows(entries, faults))


def close_staging() -> None:
    """Let the planner know the table."""
    tell_planner("import_label")


def staged() -> tuple[int, int]:
    """Return how many labels wait, and how many of them are missing answers."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), count(*) FILTER (WHERE missing <> '') FROM import_label")
        labels, missing = cursor.fetchone()
        return int(labels), int(missing)


def _rows(entries: Iterable[SourceRecord], faults: Faults) -> Iterator[tuple[Any, ...]]:
    for entry in entries:
        for rating in _ratings(entry):
            if rating.label.occasion not in ("", *Occasion.values):
                problem = ImportProblem(
                    f"{rating.label.occasion!r} is not one of {', '.join(Occasion.values)}",
                    field=rating.field.removesuffix("value") + "occasion",
                    line=entry.line,
                    file=entry.file,
                )
                faults.add(problem)
                continue
            yield (
                entry.line,
                rating.field,
                rating.dialogue,
                *_columns(rating),
                rating.level,
                list(rating.values),
                rating.turn_number,
                rating.counted,
            )


def _ratings(entry: SourceRecord) -> Iterator[Rating]:
    if isinstance(entry.record, Dialogue):
        for index, label in enumerate(entry.record.labels):
            own = f"labels[{index}].value" if entry.line else f"{label.question} of {entry.record.id}"
            yield Rating(entry.record.id, label, label.level, label.values, field=own)
    else:
        yield entry.record


def _doubt(value: float | str | None) -> str:
    """Return why a text may be no answer of its question: it is likely nothing, or a misspelt number."""
    if not isinstance(value, str):
        return ""
    if looks_like_nothing(value):
        return NOTHING
    return NUMBER if looks_like_a_number(value) and number(value) is None else ""


def _columns(rating: Rating) -> tuple[Any, ...]:
    label = rating.label
    number = None if label.value is None or isinstance(label.value, str) else float(label.value)
    return (
        label.continuation,
        label.turn,
        *(label.record or (None, None)),
        label.question,
        label.scheme,
        label.occasion,
        label.kind or HUMAN,
        label.rater,
        label.identified,
        label.sample,
        number,
        label.value if isinstance(label.value, str) else rating.raw,
        _doubt(label.value),
        label.missing,
        label.explanation,
        [list(member) for member in label.members] or None,
        list(label.shown) or None,
        stored(label.evidence),
    )
