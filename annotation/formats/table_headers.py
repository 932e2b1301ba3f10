"""Headers of tables: which columns have a name, and the rows by these columns, for CSV and Excel."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise

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


def titles_of_text(rows: Sequence[Line]) -> int:
    """Return how many lines with titles or remarks stand above the header of a text.

    They have text in their first cell alone, or at most half as many cells as the header; nearly all rows
    below it are as long as it.
    """
    texts = [list(map(_text, row)) for row in rows]
    if not texts:
        return 0
    usual = Counter(map(len, texts)).most_common(1)[0][0]
    titles = next((place for place, row in enumerate(texts) if 2 * len(row) > usual), 0)
    if not titles and len(texts[0]) > 2 and not any(texts[0][1:]):
        titles = title_rows(texts)
        if any(not row[0] or any(row[1:]) for row in texts[:titles]):
            return 0
    header, below = texts[titles], texts[titles + 1 :]
    names = [cell for cell in header if cell]
    is_header = len(names) > 1 and len(set(names)) == len(names) and not any(map(INTEGER.fullmatch, names))
    if len(names) == 2 and (rows[titles][-1] or "").startswith(" "):  # sentences with a comma
        is_header = False
    n_alike = sum(len(row) == len(header) for row in below)
    return titles if titles <= MAX_TITLES and is_header and below and 10 * n_alike >= 9 * len(below) else 0


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


# Tables without a header: their first line is data.

NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?")
RELEVANCE = re.compile(r"\S+\s+(?:0|Q0)\s+\S+\s+-?\d+\s*")
"""A line of TREC's relevance judgments: topic, iteration, document, relevance."""


def names_without_header(rows: Sequence[Line]) -> list[str]:
    """Return names for the columns of a table whose first line is data, [] for a table with a header.

    A first line is data if its cells occur again below them, or are numbers above numbers; sentences beside
    them are data, too. Three columns of which two are crossed are rater, item and label; others are called by
    their place.
    """
    rows = rows[: max(100, MOST_CELLS // len(rows[0]))]
    first, *rest = [list(map(_text, row)) for row in rows if len(row) == len(rows[0])] or [[]]
    rest = [row for row in rest if row != first]
    if len(first) < 2 or len(rest) < 2:
        return []
    n_numbers = n_again = n_sentences = 0
    for place, cell in enumerate(first):
        below = {row[place] for row in rest} - {""}
        is_numeric = bool(below) and all(map(NUMBER.fullmatch, below))
        if cell and is_numeric and not NUMBER.fullmatch(cell):
            return []
        n_numbers += bool(cell) and is_numeric
        n_again += not is_numeric and len(cell) <= LONGEST_VALUE and cell in below
        n_sentences += len(cell.split()) > 2 and cell not in below
    n_cells = sum(map(bool, first))
    is_matrix = n_numbers == n_cells and not _increases(first)
    if not is_matrix and (not n_again or n_numbers + n_again + n_sentences < max(2, n_cells / 2)):
        return []
    names = [f"column {place + 1}" for place in range(len(first))]
    return _crossed([first, *rest]) if len(first) == 3 and n_again else names


LONGEST_VALUE = 40
MOST_CELLS = 20_000
"""Cells that are compared with those of the first line."""


def _increases(cells: Sequence[str]) -> bool:
    """Whether numbers are in order, as the numbers of items in a header are."""
    numbers = [float(cell.replace(",", ".")) for cell in cells if cell]
    return all(before < after for before, after in pairwise(numbers))


def _crossed(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of three columns: rater and item where each occurs with several others, once."""
    names = [f"column {place + 1}" for place in range(3)]
    sizes = [len({row[place] for row in rows}) for place in (0, 1)]
    pairs = {(row[0], row[1]) for row in rows}
    if len(pairs) == len(rows) >= 2 * max(sizes) and sizes[0] != sizes[1]:
        names = ["rater", "item", "label"] if sizes[0] < sizes[1] else ["item", "rater", "label"]
    return names


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
