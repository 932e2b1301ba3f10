"""Tables of any kind are read as rows of texts by column; whatever was guessed about them is noted."""

from __future__ import annotations

import gzip
import json
import zipfile
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy
import openpyxl
import pandas
import pyarrow
import pyarrow.ipc
import pytest

from annotation.formats.source import Faults, ImportProblem, Source
from annotation.formats.table_file import Row, TableFile, as_text
from annotation.formats.table_reader import open_table
from annotation.text.table_cells import decimal_commas

ROWS = [(2, {"id": "1", "text": "Hi, you"}), (3, {"id": "2", "text": "é; |"})]


def opened(folder: Path, content: str | bytes, **settings: str) -> TableFile:
    path = folder / "table"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return open_table(Source(path, settings=settings))


def read(folder: Path, content: str | bytes, **settings: str) -> list[tuple[int, Row]]:
    return list(opened(folder, content, **settings).rows())


def refused(folder: Path, content: str | bytes) -> str:
    with pytest.raises(ImportProblem) as caught:
        read(folder, content)
    return str(caught.value)


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
def test_the_separator_follows_from_the_content(tmp_path: Path, separator: str) -> None:
    content = 'id,text\n1,"Hi, you"\n2,"é; |"\n'.replace('"Hi, you"', '"Hi# you"')
    content = content.replace(",", separator).replace("#", ",")
    assert read(tmp_path, content) == ROWS


def test_excel_may_name_the_separator_in_a_line_of_its_own(tmp_path: Path) -> None:
    assert read(tmp_path, "sep=;\na;b\n1,5;x,y\n") == [(3, {"a": "1,5", "b": "x,y"})]


def test_a_table_may_have_one_column(tmp_path: Path) -> None:
    rows = [(2, {"text": "Hello, world"}), (4, {"text": "Hi, you"})]
    assert read(tmp_path, 'text\nHello, world\n\n"Hi, you"\n') == rows


def test_quotation_marks_of_a_table_with_tabs_may_be_part_of_the_text(tmp_path: Path) -> None:
    table = opened(tmp_path, 'id\ttext\n1\t"Hello," she said\n2\t"\n')
    assert [row["text"] for _, row in table.rows()] == ['"Hello," she said', '"']
    assert table.notes == ["Quotation marks were read as part of the text."]


@pytest.mark.parametrize(
    ("encoding", "note"),
    [
        ("utf-8", []),
        ("utf-8-sig", []),
        ("utf-16", ["Read as UTF-16."]),
        ("utf-16-le", ["Read as UTF-16."]),
        ("utf-16-be", ["Read as UTF-16."]),
        ("cp1252", ["Read as Windows-1252; another encoding can be set."]),
        ("latin-1", ["Read as Windows-1252; another encoding can be set."]),
    ],
)
def test_the_encoding_follows_from_the_content_and_a_guess_is_noted(
    tmp_path: Path, encoding: str, note: list[str]
) -> None:
    table = opened(tmp_path, 'id,text\n1,"Hi, you"\n2,é; |\n'.encode(encoding))
    assert list(table.rows()) == ROWS
    assert table.notes == note


def test_other_encodings_are_guessed_from_much_text_and_can_be_set(tmp_path: Path) -> None:
    russian = "id,text\n" + "1,Привет, как дела? Всё хорошо\n".replace(", ", " ") * 5
    assert read(tmp_path, russian.encode("cp1251"))[0][1]["text"] == "Привет как дела? Всё хорошо"
    assert read(tmp_path, "id,text\n1,è\n".encode("mac_roman"), encoding="mac_roman") == [
        (2, {"id": "1", "text": "è"})
    ]
    with pytest.raises(ImportProblem, match="is no encoding"):
        read(tmp_path, "id,text\n", encoding="klingon")


def test_a_damaged_character_of_a_utf8_text_is_refused_with_its_line(tmp_path: Path) -> None:
    content = "id,text\n1,café über\n2,".encode() + b"\xff\n"
    assert refused(tmp_path, content) == "line 3: is not UTF-8 at byte 2"


def test_rows_and_columns_of_commas_alone_are_passed_over(tmp_path: Path) -> None:
    table = opened(tmp_path, "item,value,,\na,1,,\n,,,\nb,2,,,,\n")
    assert list(table.rows()) == [(2, {"item": "a", "value": "1"}), (4, {"item": "b", "value": "2"})]


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "__index_level_0__"])
def test_the_index_of_pandas_is_no_column(tmp_path: Path, name: str) -> None:
    table = opened(tmp_path, f"{name},item\n0,a\n1,b\n")
    assert table.columns == ("item",)
    shown = name or "column 1"
    assert table.notes == [f"Columns that only number the rows were passed over: {shown}."]


def test_a_column_without_a_name_that_has_texts_is_called_by_its_place(tmp_path: Path) -> None:
    table = opened(tmp_path, ",ann1\nd1/0,3\nd1/1,4\n")
    assert table.columns == ("column 1", "ann1")
    assert table.notes == ["Columns without a name are called by their place: column 1."]


def test_a_name_is_there_twice_only_if_one_of_its_columns_is_empty(tmp_path: Path) -> None:
    assert read(tmp_path, "a,a,b\n,1,2\n") == [(2, {"a": "1", "b": "2"})]
    assert refused(tmp_path, "a,a,b\n3,1,2\n").startswith("line 1, field a: is the name of two columns")


def test_text_that_comes_late_in_an_empty_column_is_refused(tmp_path: Path) -> None:
    content = "a,\n" + "1,\n" * 1000 + "2,late\n"
    assert "line 1002: has text in column 2, which has no name" in refused(tmp_path, content)


def test_rows_of_another_length_are_reported_by_line(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_text("a,b\n1,2\n1,2,3\n1\n4,5\n")
    source = Source(path, faults=(faults := Faults()))
    assert [line for line, _ in open_table(source).rows()] == [2, 5]
    assert [(problem.line, problem.reason) for problem in faults.problems] == [
        (3, "has 3 columns, the first line 2"),
        (4, "has 1 columns, the first line 2"),
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "the file is empty"),
        ("id,text\n1,a\0b\n", "line 2: holds a NUL character"),
        ('id,text\n1,"unfinished\n', "line 2: is not valid CSV"),
        ("[1, 2]", "object 1 of the list must be an object, not a number"),
        ("[]", "is a JSON document, and no list of objects"),
        ("id,text\n1," + "x" * 200_000, "field larger than field limit"),
    ],
)
def test_text_that_is_no_table_is_one_line(tmp_path: Path, content: str, reason: str) -> None:
    assert reason in refused(tmp_path, content)


def test_three_rows_of_headers_are_names_with_their_wordings(tmp_path: Path) -> None:
    marks = '"{""ImportId"":""startDate""}","{""ImportId"":""QID1""}"'
    table = opened(tmp_path, f'StartDate,Q1\nStart Date,"How good, really?"\n{marks}\n2024,5\n')
    assert table.wordings == {"StartDate": "Start Date", "Q1": "How good, really?"}
    assert list(table.rows()) == [(4, {"StartDate": "2024", "Q1": "5"})]


def test_json_lines_are_flattened_and_their_columns_are_the_union(tmp_path: Path) -> None:
    lines = [{"id": 1.0, "m": [{"role": "u", "text": "x"}, {"role": "a"}]}, {"meta": {"tags": ["p", "q"]}}]
    table = opened(tmp_path, "\n\n".join(map(json.dumps, lines)))
    assert table.columns == ("id", "m[].role", "m[].text", "meta.tags[]")
    assert list(table.rows()) == [
        (1, {"id": "1", "m[].role": ["u", "a"], "m[].text": ["x", None]}),
        (3, {"meta.tags[]": ["p", "q"]}),
    ]


def test_fields_that_come_late_are_noted(tmp_path: Path) -> None:
    table = opened(tmp_path, '{"a": 1}\n' * 1000 + '{"a": 2, "b": 3}\n')
    assert len(list(table.rows())) == 1001
    assert table.notes == ["Fields that only occur after line 1,000 were passed over: b."]


def test_rows_may_be_the_objects_of_a_json_document(tmp_path: Path) -> None:
    rows = [(1, {"a": "1"}), (2, {"a": None})]
    assert read(tmp_path, '[\n{"a": 1}, {"a": NaN}]') == rows
    table = opened(tmp_path, '{"version": 1, "data": [{"a": 1}, {"a": null}]}')
    assert list(table.rows()) == rows
    assert table.notes == ["The rows are the objects of `data`."]


def test_a_document_with_turns_is_one_row(tmp_path: Path) -> None:
    chat = '{"id": "c", "messages": [{"role": "user", "content": "Hi"}]}'
    row = {"id": "c", "messages[].role": ["user"], "messages[].content": ["Hi"]}
    assert read(tmp_path, chat) == read(tmp_path, chat.replace(",", ",\n")) == [(1, row)]
    assert read(tmp_path, f'{{"conversations": [{chat}]}}') == [(1, row)]


@pytest.mark.parametrize("name", ["gz", "zip"])
def test_a_packed_table_is_read_like_the_file_in_it(tmp_path: Path, name: str) -> None:
    content = 'id,text\n1,"Hi, you"\n2,é; |\n'.encode()
    path = tmp_path / "packed"
    if name == "gz":
        path.write_bytes(gzip.compress(content))
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("folder/", "")
            archive.writestr("folder/t.csv", content)
            archive.writestr("__MACOSX/._t.csv", "")
    assert list(open_table(Source(path)).rows()) == ROWS


def test_an_archive_of_several_files_says_so(tmp_path: Path) -> None:
    path = tmp_path / "several.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "a,b\n")
        archive.writestr("b.csv", "a,b\n")
    with pytest.raises(ImportProblem, match=r"is a zip archive of 2 files \(a.csv, b.csv"):
        open_table(Source(path))


def test_packed_content_is_limited_in_size(tmp_path: Path) -> None:
    assert "holds more than 64 MiB unpacked" in refused(tmp_path, gzip.compress(b"0\n" * 50_000_000))
    assert "and so is the file in it" in refused(tmp_path, gzip.compress(gzip.compress(b"a,b\n")))
    assert "cannot be unpacked" in refused(tmp_path, gzip.compress(b"a,b\n" * 1000)[:40])


def test_rows_left_out_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_text("a,b\n1,2\n3,4\n")
    source = Source(path)
    source.left_out[""] = {2: "why"}
    table = open_table(source)
    assert [line for line, _ in table.rows()] == [3]
    assert [line for line, _ in table.read_rows()] == [2, 3]


def test_cells_are_texts_as_people_write_them() -> None:
    values = [1, 4.0, 2.5, True, None, float("nan"), {"a": 1}, b"x", b"\xff", 1e300]
    assert list(map(as_text, values)) == [
        *("1", "4", "2.5", "true", None, None, '{"a": 1}', "x", None, "1e+300"),
    ]


def workbook(path: Path, sheets: dict[str, list[tuple[Any, ...]]], *merged: str) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    for cells in merged:
        sheet.merge_cells(cells)
    book.save(path)
    return path


def test_a_workbook_is_read_from_its_first_sheet_with_a_table_or_the_named_one(tmp_path: Path) -> None:
    cover = [("Ratings of March",), ("see the next sheet",)]
    path = workbook(tmp_path / "cover.xlsx", {"Read me": cover, "Data": [("a", "b"), (1, 2)]})
    assert open_table(Source(path)).columns == ("a", "b")
    path = workbook(tmp_path / "t.xlsx", {"Notes": [], "Data": [("a",), (1,)], "More": [("b",), (2.5,)]})
    table = open_table(Source(path))
    assert (table.medium, table.columns, table.sheets) == ("xlsx", ("a",), ("Notes", "Data", "More"))
    assert table.notes == ["Read the sheet 'Data', and not Notes, More."]
    assert list(table.rows()) == [(2, {"a": "1"})]
    assert list(open_table(Source(path, settings={"sheet": "More"})).rows()) == [(2, {"b": "2.5"})]
    with pytest.raises(ImportProblem, match="there is no sheet 'Other'; there are Notes, Data, More"):
        open_table(Source(path, settings={"sheet": "Other"}))
    with pytest.raises(ImportProblem, match="the sheet 'Notes' is empty"):
        open_table(Source(path, settings={"sheet": "Notes"}))
    with pytest.raises(ImportProblem, match="has no sheet with cells"):
        open_table(Source(workbook(tmp_path / "empty.xlsx", {"Notes": []})))


def test_titles_empty_rows_and_empty_columns_of_a_workbook_are_passed_over(tmp_path: Path) -> None:
    rows: list[tuple[Any, ...]] = [
        ("Ratings of May",),
        (),
        (None, "item", "when", None, "value"),
        (None, "a", datetime(2024, 5, 1), None, 4.0),
        (),
        (None, "b", datetime(2024, 5, 1, 9, 30), None, True),
    ]
    table = open_table(Source(workbook(tmp_path / "t.xlsx", {"Sheet": rows})))
    assert table.columns == ("item", "when", "value")
    assert table.notes == ["Rows above the header passed over: 1."]
    assert list(table.rows()) == [
        (4, {"item": "a", "when": "2024-05-01", "value": "4"}),
        (6, {"item": "b", "when": "2024-05-01T09:30:00", "value": "true"}),
    ]


def test_merged_cells_of_a_workbook_are_filled_down(tmp_path: Path) -> None:
    rows = [("dialogue", "text"), ("d1", "a"), (None, "b"), (None, "c"), ("d2", "d")]
    table = open_table(Source(workbook(tmp_path / "t.xlsx", {"Sheet": rows}, "A2:A4")))
    assert [row["dialogue"] for _, row in table.rows()] == ["d1", "d1", "d1", "d2"]


@pytest.mark.parametrize("medium", ["parquet", "feather", "arrow", "parquet.gz"])
def test_parquet_and_feather_are_read_whatever_their_types(tmp_path: Path, medium: str) -> None:
    frame = pandas.DataFrame(
        {
            "item": pandas.Categorical(["a", "b"]),
            "value": [4.0, None],
            "when": pandas.to_datetime(["2024-05-01T10:00:00", None]),
            "turns": [[{"role": "u", "text": "x"}, {"role": "a", "text": None}], []],
            "meta": [{"model": "m", "tags": ["p"]}, None],
            "score": numpy.array([0.1, 2], dtype="float32"),
            "image": [b"\xff\xfe", b"x"],
            "odd": [Decimal("1.50"), None],
        },
        index=[3, 7],
    )
    path = tmp_path / f"t.{medium}"
    if medium == "feather":
        frame.reset_index(drop=True).to_feather(path)
    elif medium == "arrow":
        table = pyarrow.Table.from_pandas(frame)
        with path.open("wb") as file, pyarrow.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
    else:
        frame.to_parquet(path)
        if medium == "parquet.gz":
            path.write_bytes(gzip.compress(path.read_bytes()))
    table = open_table(Source(path))
    assert table.columns == (
        *("item", "value", "when", "turns[].role", "turns[].text", "meta.model", "meta.tags[]"),
        *("score", "image", "odd"),
    )
    first, second = (row for _, row in table.rows())
    assert first == {
        **{"item": "a", "value": "4", "when": "2024-05-01T10:00:00", "odd": "1.50", "score": "0.1"},
        **{"turns[].role": ["u", "a"], "turns[].text": ["x", None], "image": None},
        **{"meta.model": "m", "meta.tags[]": ["p"]},
    }
    assert (second["value"], second["score"], second["image"]) == (None, "2", "x")


def test_a_parquet_file_that_was_cut_off_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pandas.DataFrame({"a": [1]}).to_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ImportProblem, match="is not a Parquet or Feather file that can be read"):
        open_table(Source(path))


def test_objects_of_a_document_may_be_named_by_their_keys(tmp_path: Path) -> None:
    table = opened(tmp_path, '{"d1": {"text": "x", "n": 1}, "d2": {"text": "y", "n": 2}}')
    assert [row for _, row in table.rows()] == [
        {"key": "d1", "text": "x", "n": "1"},
        {"key": "d2", "text": "y", "n": "2"},
    ]


@pytest.mark.parametrize(
    ("values", "is_decimal"),
    [
        (["3,5", "4", "", "NA", "0,25"], True),
        (["1,234", "3,5"], True),
        (["0,125"], True),
        (["1.234,5", "-2,0"], True),
        (["1,234"], False),
        (["1,234", "12,345"], False),
        (["1,234,567"], False),
        (["1,234.5"], False),
        (["3,5", "3.5"], False),
        (["3,5", "good"], False),
        (["1,2,3"], False),
        (["4", "5"], False),
        ([], False),
    ],
)
def test_decimal_commas_are_certain_or_none(values: list[str], is_decimal: bool) -> None:
    assert decimal_commas(values) is is_decimal


def test_titles_above_the_header_of_a_csv_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("My study of bots,,\nJune,,\n,,\nitem,Anna,Ben\n1,3,4\n2,2,5\n")
    table = open_table(Source(path))
    assert table.columns == ("item", "Anna", "Ben")
    assert table.notes == ["Rows above the header passed over: 1, 2."]
    assert [(line, dict(row)) for line, row in table.rows()] == [
        (5, {"item": "1", "Anna": "3", "Ben": "4"}),
        (6, {"item": "2", "Anna": "2", "Ben": "5"}),
    ]
    path.write_text("item,,\n1,3,4\n2,2,5\n")
    assert "item" in open_table(Source(path)).columns


@pytest.mark.parametrize(
    ("titles", "line"),
    [("Ratings (wave 2)\n", 3), ("# by a tool\n# on Monday\n", 4), ("From our lab, June\n\n", 4)],
)
def test_a_title_above_the_header_needs_no_commas(tmp_path: Path, titles: str, line: int) -> None:
    table = opened(tmp_path, titles + "id,Anna,Ben,Cleo\na,3,4,4\nb,2,5,1\n")
    assert next(iter(table.rows())) == (line, {"id": "a", "Anna": "3", "Ben": "4", "Cleo": "4"})
    assert table.notes[0].startswith("Rows above the header passed over: 1")


@pytest.mark.parametrize(
    "content", ["Hello\nWell, yes\nNo, never\n", "a,b\nc,5,6\nd,7,8\n", "rater,1,2\nAnna,3,3\nBen,1,2\n"]
)
def test_lines_that_are_no_titles_stay(tmp_path: Path, content: str) -> None:
    assert opened(tmp_path, content).columns[0] == content[: len(opened(tmp_path, content).columns[0])]


def test_names_of_columns_may_stand_in_brackets(tmp_path: Path) -> None:
    assert read(tmp_path, "[id],[label]\n1,yes\n") == [(2, {"[id]": "1", "[label]": "yes"})]


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("".join(f"c{n % 3}\t{n // 3}\tv{n % 2}\n" for n in range(12)), ("rater", "item", "label")),
        ("".join(f"t{n // 3}\tc{n % 3}\tv{n % 2}\n" for n in range(12)), ("item", "rater", "label")),
        ("2,1,2\n3,3,4\n2,2,2\n", ("column 1", "column 2", "column 3")),
        ("d1,good,4\nd2,bad,1\nd3,good,5\n", ("column 1", "column 2", "column 3")),
        ("A\tHow are you?\nB\tFine\nA\tGood to hear\n", ("column 1", "column 2")),
    ],
)
def test_a_table_without_a_header_has_all_of_its_rows(
    tmp_path: Path, content: str, columns: tuple[str, ...]
) -> None:
    table = opened(tmp_path, content)
    assert table.columns == columns
    assert len(list(table.rows())) == content.count("\n")
    assert table.notes == [f"The first line is data, not a header: columns are called {', '.join(columns)}."]


@pytest.mark.parametrize(
    "content", ["1,2,3\n1,2,2\n3,2,3\n", ",yes,no\nyes,4,1\nno,2,5\n", "a,b\nx,a\ny,b\n", "a,b\na,b\n1,2\n"]
)
def test_a_header_whose_names_recur_stays_a_header(tmp_path: Path, content: str) -> None:
    assert not any("not a header" in note for note in opened(tmp_path, content).notes)


def test_relevance_judgments_are_ratings_of_a_topic_and_a_document(tmp_path: Path) -> None:
    table = opened(tmp_path, "301 0 FT-1 1\n301 0 FT-2  0\n302 0 FT-1 2\n")
    assert [row for _, row in table.rows()] == [
        {"item": "301 FT-1", "relevance": "1"},
        {"item": "301 FT-2", "relevance": "0"},
        {"item": "302 FT-1", "relevance": "2"},
    ]


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_broken_archive_is_refused_in_a_line_whatever_packed_it(tmp_path: Path, method: int) -> None:
    path = tmp_path / "ratings.zip"
    lines = "".join(f"i{number},r,{number * 7919 % 9973}\n" for number in range(5000))
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("ratings.csv", f"item,rater,value\n{lines}")
    content = bytearray(path.read_bytes())
    content[200:3000] = bytes(number * 31 % 251 for number in range(2800))
    path.write_bytes(content)
    with pytest.raises(ImportProblem, match="cannot be unpacked"):
        list(open_table(Source(path)).rows())
