"""Dialogues from tables (CSV, TSV, Excel), renamed columns, and format detection from the content."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

import openpyxl
import pandas
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.corpora import import_file
from annotation.formats import FORMATS
from annotation.formats.corpus_format import guess, read_start
from annotation.models import Continuation, Import, Label, Turn, Upload
from jobs.models import Job
from tests import factories
from tests.corpora.import_page import import_by_page, send_file
from tests.importing.helpers import imported, label, line, refusal, written

pytestmark = pytest.mark.django_db

HEADER = ("dialogue", "speaker", "text", "continuation", "system", "at", "given", "time")
ROWS = [
    ("d1", "Ana", "Shall we, then?", "", "", "", "", "10:00"),
    ("d1", "Ben", 'He said "yes"\nand left', "", "", "", "", ""),
    ("d1", "Ben", "No.", "x-1", "model-x", "1", "", ""),
    ("d1", "Ana", "Oh", "y", "", "", "true", ""),
    ("d1", "Ben", "=SUM(A1)", "y", "", "", "", ""),
    ("d2", "Ana", "New", "", "bot", "", "", ""),
]


def table(path: Path, separator: str, rows: Sequence[Sequence[str]] = ROWS) -> Path:
    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if set(text) & set('",;\t\n') else text

    lines = [separator.join(map(cell, row)) for row in (HEADER[: len(rows[0])], *rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def workbook(path: Path, rows: Sequence[Sequence[Any]] = ROWS, header: Sequence[str] = HEADER) -> Path:
    book = openpyxl.Workbook()
    for row in (header, *rows):
        book.active.append([None if cell == "" else cell for cell in row])
    for cells in book.active.iter_rows():
        for cell in cells:
            if isinstance(cell.value, str):
                cell.data_type = "s"
    book.save(path)
    return path


def stored() -> list[tuple[str, str, str, str, list[tuple[str, str, bool, int | None]]]]:
    parts = Continuation.objects.select_related("dialogue", "system").order_by("dialogue__key", "key")
    return [
        (
            part.dialogue.key,
            part.key,
            part.system.name,
            part.mode,
            [(turn.speaker, turn.text, turn.given, turn.at) for turn in part.turns.order_by("position")],
        )
        for part in parts
    ]


EXPECTED = [
    (
        "d1", "self", "human", "rollout",
        [("Ana", "Shall we, then?", False, None), ("Ben", 'He said "yes"\nand left', False, None)],
    ),
    ("d1", "x-1", "model-x", "static", [("Ben", "No.", False, 1)]),
    ("d1", "y", "y", "rollout", [("Ana", "Oh", True, None), ("Ben", "=SUM(A1)", False, None)]),
    ("d2", "self", "bot", "rollout", [("Ana", "New", False, None)]),
]  # fmt: skip


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_dialogues_come_from_a_table_of_text(tmp_path: Path, separator: str) -> None:
    path = table(tmp_path / "t.csv", separator)
    assert guess(FORMATS, read_start(path)) == "turns-csv"
    imported(path, format="turns-csv")
    assert stored() == EXPECTED
    assert Turn.objects.get(text="Shall we, then?").extra == {"time": "10:00"}


def test_a_dialogue_may_have_continuations_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "dialogue,continuation,system,speaker,text\nd1,x,model-x,Ana,Hello\nd1,x,model-x,Ben,Hi\n"
    )
    imported(path, format="turns-csv")
    told = [("Ana", "Hello", False, None), ("Ben", "Hi", False, None)]
    assert [part for part in stored() if part[4]] == [("d1", "x", "model-x", "rollout", told)]


def test_dialogues_come_from_a_workbook(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx")
    assert guess(FORMATS, read_start(path)) == "turns-csv"
    imported(path, format="turns-csv")
    assert stored() == EXPECTED


def test_numbers_and_dates_of_a_workbook_are_texts_and_formulas_are_not_evaluated(tmp_path: Path) -> None:
    rows = [(1, "A", 3.0, datetime(2024, 5, 1, 9)), (1, "B", True, None), (None,) * 4, (1, "C", 2.5, "")]
    imported(workbook(tmp_path / "t.xlsx", rows, ("Dialogue", "speaker", "text", "time")), format="turns-csv")
    assert [turn.text for turn in Turn.objects.order_by("position")] == ["3", "true", "2.5"]
    assert Turn.objects.get(position=0).extra == {"time": "2024-05-01T09:00:00"}
    book = openpyxl.Workbook()
    for row in (("dialogue", "speaker", "text"), ("d", "A", "=1+1")):
        book.active.append(row)
    book.save(tmp_path / "formula.xlsx")
    assert refusal(tmp_path / "formula.xlsx", "f", format="turns-csv").field == "text"


def test_problems_of_a_table_are_told_by_row_and_column(tmp_path: Path) -> None:
    rows = [
        ("d1", "A", "", "", "", "", "", ""),
        ("", "A", "Hi", "", "", "", "", ""),
        ("d2", "A", "Hi", "", "", "x", "", ""),
        ("d3", "A", "Hi", "", "", "", "perhaps", ""),
        ("d4", "A", "Hi", "m", "one", "", "", ""),
        ("d4", "A", "Hi", "m", "two", "", "", ""),
        ("d5", "A", "Hi", "", "", "", "", ""),
        ("d6", "A", "Hi", "", "", "", "", ""),
        ("d5", "A", "Hi", "", "", "", "", ""),
    ]
    expected = [(2, "text"), (3, "dialogue"), (4, "at"), (5, "given"), (7, "system"), (10, "id")]
    for path, format in (
        (table(tmp_path / "t.csv", ",", rows), "turns-csv"),
        (workbook(tmp_path / "t.xlsx", rows), "turns-csv"),
    ):
        found = refusal(path, format=format)
        assert [(one.line, one.field) for one in found.all()] == expected


def test_a_table_without_a_needed_column_or_with_wide_rows_is_refused(tmp_path: Path) -> None:
    assert (
        refusal(written(tmp_path, "dialogue,text", "d,x", name="t.csv"), format="turns-csv").field
        == "speaker"
    )
    path = workbook(tmp_path / "t.xlsx", [("d", "A", "x", "more")], ("dialogue", "speaker", "text"))
    assert imported(path, format="turns-csv").notes[-1] == "Columns passed over: column 4."


def test_columns_of_other_names_are_passed_over_and_named(tmp_path: Path) -> None:
    path = written(tmp_path, "dialogue,speaker,text,mood", "d,A,Hi,glad", name="t.csv")
    assert imported(path, format="turns-csv").notes == ["Columns passed over: mood."]


def _archive(**parts: bytes) -> bytes:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return memory.getvalue()


def _with(original: Path, name: str, change: Any) -> bytes:
    with zipfile.ZipFile(original) as archive:
        return _archive(
            **{part: (change if part == name else bytes)(archive.read(part)) for part in archive.namelist()}
        )


SHEET = "xl/worksheets/sheet1.xml"


@pytest.mark.exhaustive
def test_hostile_workbooks_are_refused_in_a_line(tmp_path: Path) -> None:
    good = workbook(tmp_path / "good.xlsx")
    entity = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><worksheet>&a;</worksheet>'
    for content, reason in (
        (b"PK\x03\x04", "cannot be unpacked"),
        (b"", "the file is empty"),
        (_archive(**{"[Content_Types].xml": b"text", "xl/a": b""}), "is not an Excel workbook"),
        (_with(good, SHEET, lambda _: b"0" * (129 * 2**20)), "holds more than 128 MiB unpacked"),
        (_archive(**{"[Content_Types].xml": b""} | {f"xl/{n}": b"" for n in range(1001)}), "holds more than"),
        (_with(good, SHEET, lambda _: entity), "is not an Excel workbook"),
        (_with(good, SHEET, lambda xml: xml[: len(xml) // 2]), "is not an Excel workbook"),
        (_with(good, SHEET, lambda xml: xml.replace(b'r="3"', b'r="999999999"')), "has over 1,048,576 rows"),
    ):
        (tmp_path / "hostile.xlsx").write_bytes(content)
        assert reason in refusal(tmp_path / "hostile.xlsx", format="turns-csv").reason


MAIN = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
STRINGS = (
    b'<Override PartName="/xl/other.xml" ContentType="application/vnd.openxmlformats-officedocument'
    b'.spreadsheetml.sharedStrings+xml"/></Types>'
)


def bombs(good: Path) -> Iterator[tuple[str, bytes]]:
    """Small workbooks that hold much, each in another part."""
    with zipfile.ZipFile(good) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    types = parts["[Content_Types].xml"]
    cells, rows = b"<c/>" * 10_000_000, b"<row/>" * 1_100_000
    names = b'<definedName name="a">x</definedName>' * 1_000_000
    for part, change in (
        ("xl/styles.xml", {"xl/styles.xml": sheet_of(b"styleSheet", b"cellXfs", b"<xf/>" * 3_000_000)}),
        (
            "xl/other.xml",
            {
                "[Content_Types].xml": types.replace(b"</Types>", STRINGS),
                "xl/other.xml": b"<sst " + MAIN + b">" + b"<si/>" * 3_000_000 + b"</sst>",
            },
        ),
        ("xl/workbook.xml", {"xl/workbook.xml": parts["xl/workbook.xml"] + names}),
        ("[Content_Types].xml", {"[Content_Types].xml": types + b"<Default/>" * 1_000_000}),
        (SHEET, {SHEET: sheet_of(b"worksheet", b"sheetData", b"<row>" + cells + b"</row>")}),
        (SHEET, {SHEET: sheet_of(b"worksheet", b"sheetData", b'<row a="' + b"x" * 40_000_000 + b'"/>')}),
        ("over 1,048,576 rows", {SHEET: sheet_of(b"worksheet", b"sheetData", rows)}),
    ):
        yield part, _archive(**(parts | change))


def sheet_of(outer: bytes, inner: bytes, content: bytes) -> bytes:
    return b"<%s %s><%s>%s</%s></%s>" % (outer, MAIN, inner, content, inner, outer)


@pytest.mark.exhaustive
def test_a_small_workbook_that_holds_much_is_refused_before_objects_are_made_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(import_file, "MEMORY", 150 * 2**20)
    monkeypatch.setattr(import_file, "CPU_SECONDS", 40)
    good = workbook(tmp_path / "good.xlsx")
    bomb = tmp_path / "bomb.xlsx"
    for part, content in bombs(good):
        bomb.write_bytes(content)
        assert bomb.stat().st_size < 200_000
        reason = refusal(bomb, format="turns-csv").reason
        assert part in reason, reason
    assert imported(good, format="turns-csv").dialogues == 2


@pytest.mark.parametrize("part", ["xl/workbook.xml", "[Content_Types].xml"])
def test_a_part_that_is_read_as_a_whole_may_hold_less_than_the_rows(tmp_path: Path, part: str) -> None:
    good = workbook(tmp_path / "good.xlsx")
    (tmp_path / "full.xlsx").write_bytes(_with(good, part, lambda xml: xml + b"<x/>" * 100_000))
    assert f"too much in its part {part}" in refusal(tmp_path / "full.xlsx", format="turns-csv").reason


def test_what_a_sheet_says_of_its_size_is_not_believed(tmp_path: Path) -> None:
    good = workbook(tmp_path / "good.xlsx")
    huge = _with(
        good, SHEET, lambda xml: xml.replace(b'<dimension ref="A1:H7"', b'<dimension ref="A1:XFD1048576"')
    )
    assert b"XFD1048576" in zipfile.ZipFile(io.BytesIO(huge)).read(SHEET)
    good.write_bytes(huge)
    imported(good, format="turns-csv")
    assert stored() == EXPECTED


RATINGS = ("turn_id,who,fluency,coherence", "a/self/0,r,4,2", "a/self/1,r,5,1")


def test_columns_of_a_ratings_file_are_mapped_and_it_gives_another_question_again(
    tmp_path: Path,
) -> None:
    imported(written(tmp_path, line("a")))
    path = written(tmp_path, *RATINGS, name="r.csv")
    for question in ("fluency", "coherence"):
        mapping = {"item": "turn_id", "rater": "WHO", "value": question}
        for created in (True, False):
            result = imported(path, into=True, format="table", mapping=mapping, scheme="own")
            assert (result.created, result.labels) == (created, 2)
    answers = Label.objects.order_by("question__key", "pk").values_list("question__key", "number")
    assert list(answers) == [("coherence", 2), ("coherence", 1), ("fluency", 4), ("fluency", 5)]
    assert Import.objects.filter(format="table").count() == 2


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("mapping", "reason"),
    [
        ({"item": "nothing"}, "there is no column 'nothing'; the columns are turn_id, who"),
        ({"thing": "who"}, "'thing' is not a role"),
    ],
)
def test_a_mapping_that_does_not_fit_is_refused(tmp_path: Path, mapping: dict[str, str], reason: str) -> None:
    imported(written(tmp_path, line("a")))
    path = written(tmp_path, *RATINGS, name="r.csv")
    assert reason in refusal(path, into=True, format="table", mapping=mapping).reason
    problem = refusal(written(tmp_path, line("b"), name="b.jsonl"), "x", mapping=mapping)
    assert "takes no mapping" in problem.reason


def test_the_command_maps_columns_and_says_which_format_it_found(tmp_path: Path) -> None:
    imported(written(tmp_path, line("a")))
    path, out = written(tmp_path, *RATINGS, name="r.csv"), StringIO()
    options = [f"--map={part}" for part in ("item=turn_id", "rater=who", "value=fluency")]
    call_command("import_corpus", path, "--into", "c", *options, "--scheme", "own", stdout=out)
    assert "format: table (Any table, by its columns)" in out.getvalue()
    with pytest.raises(CommandError, match="is not like dialogue=conv_id"):
        call_command("import_corpus", path, "--into", "c", "--map", "item", stdout=out)


def test_the_api_maps_columns_and_says_which_format_it_found(tmp_path: Path) -> None:
    imported(written(tmp_path, line("a")))
    client = APIClient()
    client.force_authenticate(factories.user(researcher=True))
    mapping = json.dumps({"item": "turn_id", "rater": "who", "value": "fluency"})
    with written(tmp_path, *RATINGS, name="r.csv").open("rb") as file:
        sent = {"file": file, "into": "c", "mapping": mapping, "scheme": "own"}
        answer = client.post("/api/v1/imports/", sent)
    assert (answer.status_code, answer.json()["labels"], answer.json()["format"]) == (201, 2, "table")


def test_the_page_keeps_what_was_chosen_for_a_corrected_file(client: Client) -> None:
    client.force_login(factories.user(researcher=True))
    file = SimpleUploadedFile("t.tsv", b"dialogue\tspeaker\ttext\nd\tA\tHi\n")
    page = import_by_page(client, file, name="new", licence="CC0")
    assert "detected from the file's content" in page.content.decode()
    upload = Upload.objects.get()
    assert (upload.format, upload.guessed) == ("turns-csv", True)
    Job.objects.update(state="failed", error="f")
    upload.problems = [{"file": "t.tsv", "line": 2, "field": "text", "reason": "is empty"}]
    upload.save()
    assert f"?like={upload.pk}" in client.get(reverse("upload", args=[upload.pk])).content.decode()
    file.seek(0)
    again = send_file(client, file, f"?like={upload.pk}").content.decode()
    for kept in ('value="new"', 'value="CC0"'):
        assert kept in again
    client.force_login(factories.user(researcher=True))
    assert client.get(reverse("import-corpus") + f"?like={upload.pk}").status_code == 404


@pytest.mark.parametrize(
    ("content", "format"),
    [
        ('{"id": "d", "turns": []}', "jsonl"),
        ('{"id": "d", "messages": [{"role": "user", "content": "Hi"}]}', "messages"),
        ('{\n "meeting_transcripts": []}', "qmsum"),
        ('[{"context": "", "annotations": {}}]', "fed"),
        ('{"coh_1": [1], "coh_2": [2]}', "fed_gpt4"),
        ("item,rater,value\n", "ratings-csv"),
        ("\ufeffdialogue;speaker;text\n", "turns-csv"),
        ('{"item": "d", "rater": "r", "value": 1}\n', "ratings-csv"),
        ('{"name": "d", "score": 1}\n{"name": "e", "score": 2}\n', "table"),
        ("", "table"),
        ("prose", "table"),
    ],
)
def test_the_format_is_found_from_how_a_file_begins(tmp_path: Path, content: str, format: str) -> None:
    assert guess(FORMATS, read_start(written(tmp_path, content))) == format


@pytest.mark.exhaustive
def test_labels_in_dialogues_describe_the_scale_of_new_questions(tmp_path: Path) -> None:
    scale: dict[str, Any] = {"question": "warmth", "level": "ordinal", "values": [1, 2, 3]}
    imported(written(tmp_path, line(labels=[label(3, **scale)])))
    question = Label.objects.get().question
    assert (question.key, question.level, question.values) == ("warmth", "ordinal", [1, 2, 3])
    off = refusal(written(tmp_path, line(labels=[label(4, **scale)]), name="x.jsonl"), "x")
    assert "4 is not on the scale of warmth" in off.reason
    for field, value in (("level", "high"), ("values", 3), ("values", [True])):
        path = written(tmp_path, line(labels=[label(3, **{**scale, field: value})]), name="y.jsonl")
        assert refusal(path, "y").field == f"labels[0].{field}"


@pytest.mark.parametrize("separator", [";", "\t"])
def test_ratings_are_read_whatever_separates_their_columns(tmp_path: Path, separator: str) -> None:
    imported(written(tmp_path, line("d1")))
    rows = [separator.join(row) for row in (("item", "rater", "value"), ("d1/self/1", "ann", "4"))]
    path = written(tmp_path, *rows, name="r.csv")
    assert guess(FORMATS, read_start(path)) == "ratings-csv"
    assert imported(path, into=True, format="ratings-csv").labels == 1


def test_ratings_come_from_a_workbook(tmp_path: Path) -> None:
    imported(written(tmp_path, line("d1")))
    path = workbook(tmp_path / "r.xlsx", [("d1/self/1", "ann", 4)], ("item", "rater", "value"))
    assert guess(FORMATS, read_start(path)) == "ratings-csv"
    assert imported(path, into=True, format="ratings-csv").labels == 1


@pytest.mark.parametrize("medium", ["csv.gz", "zip", "parquet", "feather", "utf-16", "xlsx", "jsonl"])
def test_dialogues_come_from_every_kind_of_table(tmp_path: Path, medium: str) -> None:
    path = tmp_path / f"t.{medium}"
    text = table(tmp_path / "t.csv", ";")
    frame = pandas.read_csv(text, sep=";", dtype=str, keep_default_na=False)
    frame["unread"] = pandas.Timestamp("2024-01-01")
    if medium == "csv.gz":
        path.write_bytes(gzip.compress(text.read_bytes()))
    elif medium == "zip":
        path.write_bytes(_archive(**{"t.csv": text.read_bytes()}))
    elif medium == "parquet":
        frame.to_parquet(path)
    elif medium == "feather":
        frame.to_feather(path)
    elif medium == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif medium == "utf-16":
        path.write_text(text.read_text(), encoding="utf-16")
    else:
        workbook(path)
    assert guess(FORMATS, read_start(path)) == "turns-csv"
    imported(path, format="turns-csv")
    assert stored() == EXPECTED
