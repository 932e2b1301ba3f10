"""Headers of tables: which columns have a name, and the rows by these columns, for CSV and Excel."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from annotation.formats.crowd_tables import form_of
from annotation.formats.source import ImportProblem, Source
from annotation.formats.table_file import INDEX, Cells, Row

INTEGER = re.compile(r"\d+(?:\.0)?")
IMPORT_ID = '{"ImportId"'
"""Beginning of the cells of Qualtrics' third row of headers."""


Line = Sequence[str | None]
MAX_TITLES = 30
"""Rows above the header, at most."""


def title_rows(rows: Sequence[Line]) -> int:
    """Return how many rows stand above the header: the first row with text in most columns."""
    filled = [sum(map(bool, map(_text, cells))) for cells in rows]
    most = max(filled)
    first = next(place for place, count in enumerate(filled) if 2 * count > most)
    return first if first <= MAX_TITLES else 0


def titles_note(numbers: Iterable[int]) -> str:
    """Return the note on rows above the header."""
    return f"Rows above the header passed over: {', '.join(map(str, numbers))}."


@dataclass(slots=True)
class Header:
    """A name for each cell of a row, None for cells that are not read; those at `empty` have no text."""

    names: list[str | None]
    empty: list[int] = field(default_factory=list)
    wordings: dict[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that are read."""
        return tuple(name for name in self.names if name is not None)


def read_header(names: Line, rows: Sequence[Line], line: int, notes: list[str]) -> Header:
    """Return the columns of a header, by the first `rows` below it.

    Columns without a name are passed over where they are empty or number the rows, as pandas' index does, and
    else called by their place. A name that is there twice is refused, unless all of its columns but one are
    empty.
    """
    header = Header([])
    indexes, nameless = [], []
    for place, cell in enumerate(names):
        name = _text(cell)
        if not INDEX.fullmatch(name):
            header.names.append(name)
            continue
        texts = [text for row in rows if (text := _text_at(row, place))]
        title = name or f"column {place + 1}"
        if not texts:
            header.empty.append(place)
        elif all(map(INTEGER.fullmatch, texts)):
            indexes.append(title)
        else:
            nameless.append(title)
        header.names.append(title if texts and not all(map(INTEGER.fullmatch, texts)) else None)
    _number_repeated(header)
    for name in dict.fromkeys(header.columns):
        if header.names.count(name) > 1:
            _leave_out_empty(name, header, rows, line)
    if indexes:
        notes.append(f"Columns that only number the rows were passed over: {', '.join(indexes)}.")
    if nameless:
        notes.append(f"Columns without a name are called by their place: {', '.join(nameless)}.")
    if wordings := _wordings(header.names, rows):
        header.wordings = wordings
    return header


def _text(cell: str | None) -> str:
    return cell.strip() if cell else ""


def _text_at(row: Line, place: int) -> str:
    return _text(row[place]) if place < len(row) else ""


def _number_repeated(header: Header) -> None:
    """Number the questions that a survey asks again, as pandas does: `Polite?`, `Polite?.1`, `Polite?.2`."""
    form = form_of(header.columns)
    if form is None or not form.is_survey:
        return
    counts: Counter[str] = Counter()
    for place, name in enumerate(header.names):
        if name is not None:
            header.names[place] = f"{name}.{counts[name]}" if counts[name] else name
            counts[name] += 1


def _leave_out_empty(name: str, header: Header, rows: Sequence[Line], line: int) -> None:
    """Pass over the empty ones of columns with the same name; refuse more than one with text."""
    places = [place for place, other in enumerate(header.names) if other == name]
    filled = [place for place in places if any(_text_at(row, place) for row in rows)] or places[:1]
    if len(filled) > 1:
        raise ImportProblem("is the name of two columns: give each its own", line=line, field=name)
    for place in places:
        if place not in filled:
            header.names[place] = None
            header.empty.append(place)


def _wordings(names: Line, rows: Sequence[Line]) -> dict[str, str]:
    """Return the wordings in the second of Qualtrics' three rows of headers, {} for other tables."""
    marks = [text for cell in rows[1] if (text := _text(cell))] if len(rows) > 1 else []
    if not marks or not all(text.startswith(IMPORT_ID) for text in marks):
        return {}
    return {name: _text(cell) for name, cell in zip(names, rows[0], strict=False) if name}


def rows_by_column(source: Source, header: Header, rows: Iterable[Cells]) -> Iterator[tuple[int, Row]]:
    """Yield the rows below the header by column; a row with more or fewer cells is reported."""
    width = len(header.names)
    places = [(name, place) for place, name in enumerate(header.names) if name is not None]
    columns = header.columns
    is_plain = len(columns) == width
    left_out = source.left_out.setdefault("", {})
    for line, cells in islice(rows, 2 if header.wordings else 0, None):
        if line in left_out:
            yield line, {name: cells[place] for name, place in places if place < len(cells)}
        elif len(cells) < width or any(map(_text, cells[width:])):
            source.report(ImportProblem(f"has {len(cells)} columns, the first line {width}", line=line))
        elif is_plain:
            yield line, dict(zip(columns, cells, strict=False))
        elif any(_text(cells[place]) for place in header.empty):
            place = next(place for place in header.empty if _text(cells[place]))
            reason = f"has text in column {place + 1}, which has no name of its own and was empty before"
            source.report(ImportProblem(reason, line=line))
        elif any(_text(cells[place]) for _, place in places):
            yield line, {name: cells[place] for name, place in places}
