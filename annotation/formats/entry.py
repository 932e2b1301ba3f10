"""What a format yields, and what the table of formats holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from annotation.formats.head import Head
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source
from annotation.records import Dialogue, LabelRecord


@dataclass(frozen=True, slots=True)
class Rating:
    """A label for an item of the corpus: one line of a file that holds labels alone.

    `level` and `values` describe the question's scale, for a question that the corpus does not know yet.
    `raw` is a number as it was written, for a question that is answered in words after all.

    `turn_number` is the number that annotators see beside the turn, from 1; it places a label whose `turn` is
    not known. With `counted`, the label's turn is read from 0 and the file does not say that it is so.
    """

    dialogue: str
    label: LabelRecord
    level: str = ""
    values: tuple[float | str, ...] = ()
    raw: str | None = None
    field: str = "value"
    turn_number: int | None = None
    counted: bool = False


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A record with the 1-based line that it came from; None in a file that is one JSON document."""

    record: Dialogue | Rating
    line: int | None = None
    file: str = ""


def entries(
    source: Source, lines: Iterable[tuple[int, Any]], record: Callable[[Any], Dialogue | Rating]
) -> Iterator[SourceRecord]:
    """Yield the record of each line; what is wrong with one is told to the source."""
    for line, content in lines:
        try:
            entry = SourceRecord(record(content), line)
        except ImportProblem as problem:
            source.report(problem.placed(line=line))
        else:
            yield entry


@dataclass(frozen=True, slots=True)
class Format:
    """An import format. `read` yields entries one by one.

    A problem after which it can go on is reported to the source; the others are raised. `looks_like` says
    whether a file may be of this format, by how it begins. `columns` are what a file may name otherwise.
    `settings` are what a user may say of a file (`annotation.formats.settings`). A `packed` file is larger
    inside than it looks. A `folder` format reads several files as one. An `exact` format's dialogues have
    the turns that the corpus has, even where it names none.

    `labels_only` formats add labels to a corpus that is there already. `schemes` are the built-in schemes
    that the format's own labels use; no other file's labels are taken for theirs unasked.
    """

    key: str
    title: str
    hint: str
    read: Callable[[Source], Iterator[SourceRecord]]
    looks_like: Callable[[Head], bool]
    labels_only: bool = False
    folder: bool = False
    schemes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    packed: bool = False
    exact: bool = False
