"""Exports contain every label once, and importing them gives the same labels."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from annotation.corpora.import_file import import_path
from annotation.models import Corpus, Label, Occasion
from annotation.text.table_cells import guarded, unguarded
from calibration.exports import labels as exports
from calibration.exports.writing import FORMATS, write
from calibration.models import Export
from calibration.ratings.scope import of_corpus
from tests.calibration.world import World, world

HOSTILE = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\tindented",
    "\rreturn",
    "\nline",
    "'quoted",
    "''=twice",
    "plain, with a comma",
    'with "quotes"',
    "two\nlines",
    "\\backslash \\n and \\\\",
    "ünïcödé 漢字 🙂",
    " blanks ",
]


@pytest.mark.parametrize("text", [*HOSTILE, "", "'", "'tis"])
def test_guarding_a_cell_loses_nothing(text: str) -> None:
    assert unguarded(guarded(text)) == text


@pytest.mark.parametrize("text", HOSTILE[:9])
def test_a_guarded_cell_begins_with_nothing_a_spreadsheet_evaluates(text: str) -> None:
    assert guarded(text)[0] == "'"


def _bytes(corpus: Corpus, form: str) -> bytes:
    file = io.BytesIO()
    write(exports.labels(of_corpus(corpus)), form, file)
    return file.getvalue()


def _rows(corpus: Corpus) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(_bytes(corpus, "csv").decode(), newline="")))


@pytest.fixture
def rated() -> World:
    """People, a judge with two samples, all kinds of values, and texts that a spreadsheet would evaluate."""
    built = world("talks", dialogues=2, turns=8)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], scheme="mixed")
    built.ask("act", "nominal", ["=ask", "-tell", "'hm"], scheme="mixed")
    built.ask("note", "text", scheme="mixed")
    built.ask("score", "interval", scheme="mixed")
    built.say("ann", "quality", [1.0, 2.0, None, 4.0])
    built.say("=cmd", "quality", [5.0], identified=False)
    built.say("ann", "act", ["=ask", "-tell", "'hm"])
    built.say("ann", "note", HOSTILE)
    built.say("ann", "score", [0.1, -1.5, 1e-300, 123456789.123456789])
    for sample in (0, 1):
        built.say("gpt", "quality", [3.0, 4.0], kind="judge", sample=sample)
    return built


@pytest.mark.django_db
def test_numbers_stay_numbers_and_texts_are_guarded(rated: World) -> None:
    rows = _rows(rated.corpus)
    values = {
        (row["rater"], row["question"], row["turn"]): row["value"] for row in rows if row["item"][:2] == "d0"
    }
    assert values["ann", "quality", "0"] == "1"
    assert values["ann", "score", "1"] == "-1.5"
    assert float(values["ann", "score", "3"]) == 123456789.123456789
    assert values["ann", "act", "0"] == "'=ask"
    assert "'=cmd" in {row["rater"] for row in rows}


@pytest.mark.django_db
def test_a_missing_answer_is_an_empty_cell_with_its_reason(rated: World) -> None:
    (row,) = [row for row in _rows(rated.corpus) if row["missing"]]
    assert (row["value"], row["missing"]) == ("", "not applicable")


@pytest.mark.django_db
def test_importing_an_export_gives_the_same_labels_back(rated: World, tmp_path: Path) -> None:
    rated.say("ann", "quality", {rated.turns[4]: 2.0}, occasion=Occasion.IMPORTED)
    path = tmp_path / "labels.csv"
    path.write_bytes(_bytes(rated.corpus, "csv"))
    copy = world("copy", dialogues=2, turns=8)
    import_path(path=path, format="ratings-csv", corpus="copy", into=True, by=None)
    assert list(_content(copy.corpus)) == list(_content(rated.corpus))


def _content(corpus: Corpus) -> Iterator[tuple[Any, ...]]:
    labels = Label.objects.filter(item__corpus=corpus, superseded_at=None).select_related(
        "item__continuation__dialogue", "item__turn", "question__version__scheme", "rater"
    )
    return iter(
        sorted(
            (
                label.item.key,
                label.question.version.scheme.key,
                label.question.key,
                label.rater.kind,
                label.rater.name,
                label.rater.identified,
                label.sample,
                repr(label.value),
                label.missing,
                label.explanation,
            )
            for label in labels
        )
    )


@pytest.mark.django_db
def test_exporting_twice_gives_the_same_bytes(rated: World) -> None:
    for form in ("csv", "jsonl"):
        assert _bytes(rated.corpus, form) == _bytes(rated.corpus, form)


@pytest.mark.django_db
def test_jsonl_holds_the_values_as_they_are(rated: World) -> None:
    lines = [json.loads(line) for line in _bytes(rated.corpus, "jsonl").splitlines()]
    notes = {line["value"] for line in lines if line["question"] == "note"}
    assert notes == set(HOSTILE)
    assert {type(line["value"]) for line in lines if line["question"] == "quality"} == {int, type(None)}


@pytest.mark.django_db
def test_parquet_holds_the_same_labels(rated: World) -> None:
    table = pq.read_table(io.BytesIO(_bytes(rated.corpus, "parquet"))).to_pylist()
    lines = [json.loads(line) for line in _bytes(rated.corpus, "jsonl").splitlines()]
    assert len(table) == len(lines)
    for row, line in zip(table, lines, strict=True):
        assert (row["item"], row["rater"], row["turn"]) == (line["item"], line["rater"], line["turn"])
        number = line["value"] if isinstance(line["value"], int | float) else None
        assert row["value_number"] == number
        if number is None:
            assert row["value"] == line["value"]


@pytest.mark.django_db
def test_types_of_parquet_columns_do_not_depend_on_the_answers(rated: World) -> None:
    built = world("numbers", dialogues=1, turns=3)
    built.ask("quality", "ordinal", [1, 2, 3])
    built.say("ann", "quality", [1.0, None, 3.0])
    numbers, mixed = (
        pq.read_table(io.BytesIO(_bytes(corpus, "parquet"))) for corpus in (built.corpus, rated.corpus)
    )
    assert numbers.schema.equals(mixed.schema)
    assert (str(numbers["value"].type), str(numbers["value_number"].type)) == ("string", "double")
    assert numbers["value"].to_pylist() == ["1", None, "3"]
    assert numbers["value_number"].to_pylist() == [1.0, None, 3.0]


@pytest.mark.django_db
def test_a_revised_answer_is_exported_once_as_it_is_now(rated: World) -> None:
    rated.say("ann", "quality", {rated.turns[0]: 5.0})
    mine = [
        r
        for r in _rows(rated.corpus)
        if (r["rater"], r["question"], r["item"]) == ("ann", "quality", "d0/self/0")
    ]
    assert [row["value"] for row in mine] == ["5"]


@pytest.mark.django_db
def test_training_labels_are_not_exported(rated: World) -> None:
    before = len(_rows(rated.corpus))
    rated.say("ann", "quality", {rated.turns[0]: 5.0}, occasion=Occasion.TRAINING)
    assert len(_rows(rated.corpus)) == before


@pytest.mark.django_db
def test_a_completed_export_is_logged_with_the_hash_of_its_bytes(rated: World) -> None:
    query = exports.labels(of_corpus(rated.corpus))
    blocks = exports.stream(query=query, form="csv", corpus=rated.corpus, by=None)
    assert not Export.objects.exists()
    content = b"".join(blocks)
    logged = Export.objects.get()
    assert logged.sha256 == hashlib.sha256(content).hexdigest()
    assert logged.rows == len(_rows(rated.corpus))


@pytest.mark.django_db
@pytest.mark.parametrize("form", list(FORMATS))
def test_a_corpus_without_labels_exports_nothing_but_the_head(form: str) -> None:
    built = world(dialogues=1, turns=1)
    content = _bytes(built.corpus, form)
    assert content.count(b"\n") == 1 if form == "csv" else len(content) >= 0
    assert exports.labels(of_corpus(built.corpus)).count() == 0
