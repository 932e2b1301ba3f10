"""Corpus import: 10,000 dialogues of ten turns; its rate as a share of a plain COPY of the same rows.

The plain COPY writes the imported rows (dialogues, continuations, turns, items, labels) back into the same
tables, with their indexes, foreign keys and triggers: the minimum that PostgreSQL needs to store them. The
import also reads, checks and hashes the file. A COPY into tables without any constraint is measured beside
it.

The same dialogues as a CSV, one row a turn, are imported beside it. `--csv-turns N` measures a CSV of N turns
alone, with the peak memory of the importing process and of its reader.

The same is measured with labels, three per dialogue, into an empty database and into a database that already
has as many dialogues and labels: the share of the second should equal that of the first.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF
from typing import Any

from benchmarks import _home

TURNS = 10
LABELS = 3
TABLES = ("annotation_dialogue", "annotation_continuation", "annotation_turn", "annotation_item")
WITH_LABELS = (*TABLES, "annotation_label")
GOAL = 0.5
TEXT = "This is what is said in turn {turn} of dialogue {number}, about as long as most turns of a chat are."
Rows = dict[str, list[bytes]]


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the benchmark and return its figures."""
    parser = argparse.ArgumentParser(prog="benchmarks import_corpus", description=__doc__)
    parser.add_argument("--dialogues", type=int, default=10_000, help="dialogues in the file (10,000)")
    parser.add_argument("--repeats", type=int, default=3, help="times each is done; the best counts (3)")
    parser.add_argument("--csv-turns", type=int, default=0, help="turns of a CSV that is measured alone")
    options = parser.parse_args(list(argv))
    if options.csv_turns:
        return _csv_alone(options.csv_turns)
    with _home.home() as folder:
        path = folder / "dialogues.jsonl"
        _write(path, options.dialogues)
        imported = _best(lambda: _import(path), options.repeats, before=_empty)
        rows = {table: _copied_out(table) for table in TABLES}
        bare = _best(lambda: _copy_in(rows), options.repeats, before=_empty)
        table = folder / "turns.csv"
        _write_csv(table, options.dialogues)
        as_csv = _best(lambda: _import(table, "turns-csv"), options.repeats, before=_empty)
        loose = _best(lambda: _copy_in(rows, prefix="loose_"), options.repeats, before=_loose_tables)
        size = path.stat().st_size
        labelled = _with_labels(folder, options.dialogues, options.repeats)
    turns = options.dialogues * TURNS
    return {
        "dialogues": options.dialogues,
        "turns": turns,
        "megabytes": round(size / 1e6, 1),
        "seconds": round(imported, 3),
        "turns_per_second": round(turns / imported),
        "bare_copy_seconds": round(bare, 3),
        "copy_without_constraints_seconds": round(loose, 3),
        "csv": {"seconds": round(as_csv, 3), "share_of_json_lines": round(imported / as_csv, 3)},
        "with_labels": labelled,
        "headline": {
            "name": "import rate as a share of a bare COPY",
            "value": round(bare / imported, 3),
            "goal": GOAL,
            "better": "higher",
        },
    }


def _csv_alone(turns: int) -> dict[str, Any]:
    """Measure the import of one large CSV."""
    with _home.home() as folder:
        table = folder / "turns.csv"
        _write_csv(table, turns // TURNS)
        began = time.perf_counter()
        _import(table, "turns-csv")
        seconds = time.perf_counter() - began
        size = table.stat().st_size
    own, readers = (resource.getrusage(kind).ru_maxrss >> 10 for kind in (RUSAGE_SELF, RUSAGE_CHILDREN))
    return {
        "turns": turns,
        "megabytes": round(size / 1e6, 1),
        "seconds": round(seconds, 1),
        "peak_megabytes": {"import": own, "reader": readers},
        "headline": {"name": "seconds", "value": round(seconds, 1), "goal": 90, "better": "lower"},
    }


def _write_csv(path: Path, dialogues: int) -> None:
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["dialogue", "speaker", "text"])
        for number in range(dialogues):
            for turn in range(TURNS):
                rows.writerow([f"dialogue {number}", "AB"[turn % 2], TEXT.format(turn=turn, number=number)])


def _with_labels(folder: Path, dialogues: int, repeats: int) -> dict[str, Any]:
    """Measure imports with labels, into an empty database and into a database that already has as much."""
    path = folder / "labelled.jsonl"
    _write(path, dialogues, labels=LABELS)
    _empty()
    _import(path)
    earlier = {table: _copied_out(table) for table in WITH_LABELS}

    def grown() -> None:
        _empty()
        _copy_in(earlier)
        _execute(f"ANALYZE {', '.join(WITH_LABELS)}")

    figures = {}
    for name, before in (("empty database", _empty), ("grown database", grown)):
        before()
        last = {table: _last_id(table) for table in WITH_LABELS}
        imported = _best(lambda: _import(path), repeats, before=before)
        rows = {table: _copied_out(table, after=last[table]) for table in WITH_LABELS}
        bare = _best(lambda: _copy_in(rows), repeats, before=before)  # noqa: B023 (called before the next)
        figures[name] = {
            "seconds": round(imported, 3),
            "bare_copy_seconds": round(bare, 3),
            "share": round(bare / imported, 3),
        }
    return figures


def _write(path: Path, dialogues: int, *, labels: int = 0) -> None:
    with path.open("w") as file:
        for number in range(dialogues):
            turns = [
                {"speaker": "AB"[turn % 2], "text": TEXT.format(turn=turn, number=number)}
                for turn in range(TURNS)
            ]
            given = [_label(number, turn) for turn in range(labels)]
            file.write(json.dumps({"id": f"dialogue {number}", "turns": turns, "labels": given}) + "\n")


def _label(number: int, turn: int) -> dict[str, Any]:
    rater = f"person {(number + turn) % 12}"
    return {"rater": rater, "turn": turn, "question": "overall", "scheme": "comperdial_turn", "value": 3}


def _import(path: Path, format: str = "jsonl") -> None:
    from annotation.corpora.import_file import import_path

    import_path(path=path, format=format, corpus="benchmark", into=False, by=None)


def _empty() -> None:
    """Delete all dialogues and release the import that brought them; the corpus and its system stay."""
    _execute(f"TRUNCATE {', '.join(TABLES)} CASCADE", "UPDATE annotation_import SET content_hash = id::text")
    _execute("UPDATE annotation_corpus SET name = 'earlier ' || id WHERE name = 'benchmark'")


def _loose_tables() -> None:
    for table in TABLES:
        _execute(f"DROP TABLE IF EXISTS loose_{table}", f"CREATE TABLE loose_{table} (LIKE {table})")


def _execute(*statements: str) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def _last_id(table: str) -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(f"SELECT coalesce(max(id), 0) FROM {table}")
        return int(cursor.fetchone()[0])


def _copied_out(table: str, *, after: int = 0) -> list[bytes]:
    """Return a table's rows with an id above `after`, in COPY format."""
    from django.db import connection

    statement = f"COPY (SELECT * FROM {table} WHERE id > {after}) TO STDOUT (FORMAT BINARY)"
    with connection.cursor() as cursor, cursor.cursor.copy(statement) as copy:
        return [bytes(block) for block in copy]


def _copy_in(rows: Rows, prefix: str = "") -> None:
    """Write the rows back, all tables in one transaction."""
    from django.db import connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # as in the import: keys are checked per row
        for table, blocks in rows.items():
            with cursor.cursor.copy(f"COPY {prefix}{table} FROM STDIN (FORMAT BINARY)") as copy:
                for block in blocks:
                    copy.write(block)


def _best(act: Callable[[], None], repeats: int, *, before: Callable[[], None]) -> float:
    """Return the shortest of several runs, in seconds, each after the same preparation."""
    seconds = []
    for _ in range(max(1, repeats)):
        before()
        began = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - began)
    return min(seconds)
