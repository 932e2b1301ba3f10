"""Files of labels: a column for each rater, Excel, and CSV for Excel; by page, API and command."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Occasion
from calibration.errors import ExportRefused
from calibration.exports import writing
from calibration.exports.downloads import LABELS, WIDE, Order
from calibration.exports.parts import ExportPart
from calibration.exports.writing import FORMATS, write_workbook
from calibration.models import Export
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db


@pytest.fixture
def rated() -> World:
    """Two people and a judge who was asked twice, on two questions."""
    built = world("talks", dialogues=2, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], scheme="mixed")
    built.ask("note", "text", scheme="mixed")
    built.say("ann", "quality", [1.0, 2.0, None, 4.0])
    built.say("=cmd", "quality", [5.0], identified=False)
    built.say("ann", "note", ["=1+1", "two\nlines", "你好", "-x"])
    for sample in (0, 1):
        built.say("gpt", "quality", [3.0, 4.0], kind="judge", sample=sample)
    return built


def written(built: World, form: str, **choice: str) -> bytes:
    file = io.BytesIO()
    Order(LABELS, built.corpus, None, ExportPart(None, ""), form, choice=choice).write(file)
    return file.getvalue()


def wide(built: World) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(written(built, "csv", shape=WIDE).decode(), newline="")))


def test_a_wide_row_is_an_item_and_a_question_with_a_column_for_each_rater(rated: World) -> None:
    rows = wide(rated)
    assert list(rows[0])[-4:] == ["'=cmd [slot]", "ann [human]", "ann [human] missing", "gpt [judge]"]
    first = rows[0]
    assert (first["item"], first["question"], first["sample"]) == ("d0/self/0", "quality", "0")
    assert (first["dialogue"], first["continuation"], first["turn"], first["system"]) == (
        "d0",
        "self",
        "0",
        "human",
    )
    assert (first["text"], first["scheme"], first["level"]) == ("words 0", "mixed@1", "ordinal")
    assert (first["ann [human]"], first["'=cmd [slot]"], first["gpt [judge]"]) == ("1", "5", "3")


def test_repeated_answers_have_rows_of_their_own(rated: World) -> None:
    rows = [row for row in wide(rated) if (row["item"], row["question"]) == ("d0/self/0", "quality")]
    assert [(row["sample"], row["ann [human]"], row["gpt [judge]"]) for row in rows] == [
        ("0", "1", "3"),
        ("1", "", "3"),
    ]


def test_occasions_and_campaigns_have_rows_of_their_own(rated: World) -> None:
    rated.say("ann", "quality", [2.0], occasion=Occasion.MAIN)
    rows = [row for row in wide(rated) if (row["item"], row["question"]) == ("d0/self/0", "quality")]
    assert [(row["occasion"], row["sample"], row["ann [human]"]) for row in rows] == [
        ("imported", "0", "1"),
        ("imported", "1", ""),
        ("main", "0", "2"),
    ]


def test_a_missing_answer_has_its_reason(rated: World) -> None:
    (row,) = [r for r in wide(rated) if r["ann [human] missing"]]
    assert (row["item"], row["ann [human]"], row["ann [human] missing"]) == (
        "d1/self/0",
        "",
        "not applicable",
    )


def test_every_label_is_in_one_cell(rated: World) -> None:
    rows = wide(rated)
    columns = ["'=cmd [slot]", "ann [human]", "ann [human] missing", "gpt [judge]"]
    assert sum(bool(row[column]) for row in rows for column in columns) == 3 + 1 + 1 + 4 + 2 * 2


@pytest.mark.parametrize("shape", ["long", "wide"])
@pytest.mark.parametrize("form", list(FORMATS))
def test_the_same_labels_give_the_same_bytes(rated: World, form: str, shape: str) -> None:
    assert written(rated, form, shape=shape) == written(rated, form, shape=shape)


def test_csv_for_excel_has_the_mark_of_utf_8(rated: World) -> None:
    assert written(rated, "csv-excel") == b"\xef\xbb\xbf" + written(rated, "csv")


def sheet_of(content: bytes) -> list[list[Any]]:
    return [list(row) for row in openpyxl.load_workbook(io.BytesIO(content)).active.iter_rows()]


def test_texts_of_a_workbook_are_texts_and_numbers_are_numbers(rated: World) -> None:
    header, *rows = sheet_of(written(rated, "xlsx"))
    names = [cell.value for cell in header]
    by_question = {
        kind: [row[names.index("value")] for row in rows if row[names.index("question")].value == kind]
        for kind in ("note", "quality")
    }
    assert [cell.value for cell in by_question["note"]] == ["=1+1", "two\nlines", "你好", "-x"]
    assert {cell.data_type for cell in by_question["note"]} == {"s"}
    assert {cell.data_type for cell in by_question["quality"]} == {"n"}
    assert not any(cell.data_type == "f" for row in rows for cell in row)
    assert [cell.value for cell in sheet_of(written(rated, "xlsx", shape=WIDE))[0]][-4] == "=cmd [slot]"


def test_the_texts_of_a_wide_parquet_file_are_unchanged(rated: World) -> None:
    table = pq.read_table(io.BytesIO(written(rated, "parquet", shape=WIDE))).to_pylist()
    notes = [row["ann [human]"] for row in table if row["question"] == "note"]
    assert notes == ["=1+1", "two\nlines", "你好", "-x"]
    assert {row["turn"] for row in table} == {0, 1}


def test_a_text_that_a_cell_of_excel_cannot_hold_is_refused_and_not_cut(rated: World) -> None:
    rated.say("ben", "note", ["好" * 32_767])
    assert len(written(rated, "xlsx")) > 0
    rated.say("cid", "note", ["x" * 32_768])
    with pytest.raises(ExportRefused, match="holds 32,767 characters, and 'value' has one with 32,768"):
        written(rated, "xlsx")
    assert "x" * 32_768 in written(rated, "csv").decode()


def test_characters_of_two_units_count_twice() -> None:
    with pytest.raises(ExportRefused):
        write_workbook(io.BytesIO(), ["text"], [["🙂" * 16_384]], name="labels")


@pytest.mark.parametrize(
    ("columns", "rows", "reason"),
    [(3, 0, "holds 2 columns, not 3"), (1, 3, "holds 2 rows")],
)
def test_what_a_sheet_cannot_hold_is_refused(
    monkeypatch: pytest.MonkeyPatch, columns: int, rows: int, reason: str
) -> None:
    monkeypatch.setattr(writing, "MOST_COLUMNS", 2)
    monkeypatch.setattr(writing, "MOST_ROWS", 3)
    names = [f"c{n}" for n in range(columns)]
    with pytest.raises(ExportRefused, match=reason):
        write_workbook(io.BytesIO(), names, [[1] * columns] * rows, name="labels")


def test_numbers_beyond_excels_digits_are_texts() -> None:
    file = io.BytesIO()
    write_workbook(file, ["n"], [[0.1], [0.1 + 0.2], [True], [None]], name="labels")
    cells = [row[0] for row in sheet_of(file.getvalue())[1:]]
    assert [cell.value for cell in cells] == [0.1, "0.30000000000000004", True, None]


@pytest.mark.parametrize("shape", ["long", "wide"])
@pytest.mark.parametrize("form", list(FORMATS))
def test_page_api_and_command_write_the_same_file(
    researcher: Client, rated: World, tmp_path: Path, form: str, shape: str
) -> None:
    expected = written(rated, form, shape=shape)
    query = {"corpus": rated.corpus.pk, "shape": shape}
    page = researcher.get(reverse("export-labels", args=[form]), query)
    assert b"".join(page) == expected
    end = "-wide" if shape == "wide" else ""
    name = f'filename="labels-corpus-{rated.corpus.pk}{end}.{FORMATS[form].extension}"'
    assert name in page["Content-Disposition"]
    assert b"".join(researcher.get(reverse("api-export-labels", args=[form]), query)) == expected
    path = tmp_path / "labels"
    call_command(
        "export_labels", corpus="talks", format=form, shape=shape, output=str(path), stdout=io.StringIO()
    )
    assert path.read_bytes() == expected
    assert json.loads((tmp_path / "labels.manifest.json").read_text())["shape"] == shape
    assert [export.format for export in Export.objects.all()] == [form, form]


def test_the_page_offers_every_form_in_both_shapes(researcher: Client, rated: World) -> None:
    page = researcher.get(reverse("exports"), {"corpus": rated.corpus.pk}).content.decode()
    for form in FORMATS:
        address = f"{reverse('export-labels', args=[form])}?corpus={rated.corpus.pk}"
        assert f'"{address}"' in page
        assert f'"{address}&amp;shape=wide"' in page


def test_a_refusal_is_said_on_the_page_by_the_api_and_by_the_command(
    researcher: Client, rated: World
) -> None:
    rated.say("cid", "note", ["x" * 32_768])
    query = {"corpus": rated.corpus.pk}
    page = researcher.get(reverse("export-labels", args=["xlsx"]), query, follow=True)
    assert "take CSV or Parquet" in page.content.decode()
    answer = researcher.get(reverse("api-export-labels", args=["xlsx"]), query)
    assert (answer.status_code, "take CSV or Parquet" in answer.content.decode()) == (400, True)
    with pytest.raises(CommandError, match="take CSV or Parquet"):
        call_command("export_labels", corpus="talks", format="xlsx", output="/dev/null")


@pytest.mark.parametrize(("name", "status"), [("export-labels", 404), ("api-export-labels", 400)])
def test_an_unknown_shape_is_refused(researcher: Client, rated: World, name: str, status: int) -> None:
    answer = researcher.get(reverse(name, args=["csv"]), {"corpus": rated.corpus.pk, "shape": "round"})
    assert answer.status_code == status


@pytest.mark.parametrize("form", ["label-studio", "hugging-face"])
def test_the_command_writes_packages(researcher: Client, rated: World, tmp_path: Path, form: str) -> None:
    path = tmp_path / "package.zip"
    call_command("export_labels", corpus="talks", format=form, output=str(path), stdout=io.StringIO())
    sent = researcher.get(reverse("export-package", args=[form]), {"corpus": rated.corpus.pk})
    assert path.read_bytes() == b"".join(sent)


def test_a_package_has_no_shape(rated: World) -> None:
    with pytest.raises(CommandError, match="--shape: it is the shape of a file of labels"):
        call_command("export_labels", corpus="talks", format="label-studio", shape="wide")
