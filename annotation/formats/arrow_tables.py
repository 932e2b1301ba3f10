"""Parquet and Feather files as tables, in batches; nested columns are flattened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

from annotation.formats.source import ImportProblem, Source
from annotation.formats.table_file import FEATHER, INDEX, PARQUET, Row, TableFile, as_text, flatten

BATCH_ROWS = 1_000
PARQUET_MARK, OLD_FEATHER_MARK, STREAM_MARK = b"PAR1", b"FEA1", b"\xff\xff\xff\xff"


def open_arrow_table(source: Source, start: bytes) -> TableFile:
    """Open a Parquet or Feather file, or a stream of Arrow batches, by its first bytes."""
    notes: list[str] = []
    with source.open_binary() as file:
        schema, batches = _read(file, start)
        first = next(batches, None)
    if doubled := sorted({name for name in schema.names if schema.names.count(name) > 1}):
        raise ImportProblem("is the name of two columns: give each its own", field=doubled[0])
    indexes = [field.name for field in schema if _is_index(field, first)]
    if indexes:
        notes.append(f"Columns that only number the rows were passed over: {', '.join(indexes)}.")
    names = [name for name in schema.names if name not in indexes]
    columns = tuple(path for name in names for path in _paths(name, schema.field(name).type))

    def read_rows() -> Iterator[tuple[int, Row]]:
        source.done = 0
        number = 0
        unreadable: dict[str, None] = {}
        with source.open_binary() as file:
            for batch in _read(file, start)[1]:
                cells = {name: _values(batch.column(name), name, unreadable) for name in names}
                for place in range(batch.num_rows):
                    number += 1
                    row = flatten({name: values[place] for name, values in cells.items()})
                    if any(cell is not None and cell != "" for cell in row.values()):
                        yield number, row
                source.done = min(file.tell(), source.total)
        if unreadable:
            notes.append(f"Columns with values that cannot be read as text: {', '.join(unreadable)}.")
        source.done = source.total

    medium = PARQUET if start.startswith(PARQUET_MARK) else FEATHER
    return TableFile(medium, columns, read_rows, notes=notes)


def read_objects(source: Source, path: Path | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the numbered rows of the file, or of one in a folder, as JSON objects; times become texts."""
    number, done = 0, source.done
    with source.open_binary(path) as file:
        for batch in _read(file, source.binary_start(path))[1]:
            cells = {name: _values(batch.column(name), name, {}) for name in batch.schema.names}
            for place in range(batch.num_rows):
                number += 1
                yield number, {name: _plain(values[place]) for name, values in cells.items()}
            source.done = min(done + file.tell(), source.total)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, str | bool | int | float) else as_text(value)


def _read(file: IO[bytes], start: bytes) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Return the columns of a file and its batches; raises ImportProblem, also while they are read."""
    try:
        if start.startswith(PARQUET_MARK):
            parquet = pa.parquet.ParquetFile(file)
            return parquet.schema_arrow, _checked(parquet.iter_batches(BATCH_ROWS))
        if start.startswith(OLD_FEATHER_MARK):
            table = pa.feather.read_table(file)
            return table.schema, _checked(table.to_batches(BATCH_ROWS))
        if start.startswith(STREAM_MARK):
            stream = pa.ipc.open_stream(file)
            return stream.schema, _checked(stream)
        arrow = pa.ipc.open_file(file)
        return arrow.schema, _checked(arrow.get_batch(place) for place in range(arrow.num_record_batches))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _broken(error) from None


def _checked(batches: Any) -> Iterator[pa.RecordBatch]:
    try:
        for batch in batches:
            yield from (batch.slice(start, BATCH_ROWS) for start in range(0, batch.num_rows, BATCH_ROWS))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _broken(error) from None


def _broken(error: BaseException) -> ImportProblem:
    return ImportProblem(f"is not a Parquet or Feather file that can be read ({type(error).__name__})")


def _is_index(field: pa.Field, first: pa.RecordBatch | None) -> bool:
    """Whether a column without a name numbers the rows, as pandas' index does."""
    if not INDEX.fullmatch(field.name):
        return False
    is_empty = first is not None and first.column(field.name).null_count == first.num_rows
    return bool(pa.types.is_integer(field.type) or pa.types.is_null(field.type)) or is_empty


def _paths(name: str, kind: pa.DataType) -> Iterator[str]:
    """Yield the paths of a column's cells, as `flatten` names them."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_struct(kind):
        for place in range(kind.num_fields):
            yield from _paths(f"{name}.{kind.field(place).name}", kind.field(place).type)
    elif _is_list(kind) and pa.types.is_struct(kind.value_type):
        for place in range(kind.value_type.num_fields):
            yield from _paths_in_list(f"{name}[].", kind.value_type.field(place))
    else:
        yield f"{name}[]" if _is_list(kind) else name


def _paths_in_list(before: str, field: pa.Field) -> Iterator[str]:
    yield from (before + path for path in _paths(field.name, field.type))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _values(column: pa.Array, name: str, unreadable: dict[str, None]) -> list[Any]:
    """Return a column's values; one whose values cannot be read never refuses the file."""
    try:
        if pa.types.is_float16(column.type) or pa.types.is_float32(column.type):
            return [value and float(value) for value in column.cast(pa.string()).to_pylist()]
        return list(column.to_pylist())
    except (pa.ArrowException, ValueError, OverflowError, TypeError, ImportError, KeyError):
        unreadable[name] = None
    try:
        return list(column.cast(pa.string()).to_pylist())
    except (pa.ArrowException, ValueError):
        return [None] * len(column)


__all__ = ["open_arrow_table", "read_objects"]
