"""Tables in several files: a file for each rater of the same items, or the parts of one table."""

from __future__ import annotations

import csv
import gzip
import json
import zipfile
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.corpora import uploads
from annotation.formats import FORMATS
from annotation.formats.corpus_format import guess, read_start
from annotation.formats.folders import one_path
from annotation.formats.source import Source
from annotation.models import Corpus, Dialogue, Import, Label, Turn, Upload
from tests.corpora.import_page import import_by_page, post_preview, send_file
from tests.corpora.test_api import api

FIXTURES = Path(__file__).parents[1] / "importing" / "forms"
pytestmark = pytest.mark.django_db
MAP = [
    part
    for role in ("dialogue=conv", "turn=turn", "speaker=who", "text=utterance", "label:Help=helpful")
    for part in ("--map", role)
]
Rows = list[dict[str, Any]]
SCORES = {"anna": "351423", "ben": "341523", "gpt-4o": "251433"}
"""Answers about the bot's turns, two in each dialogue, by the file's name."""


def turns(scores: str, dialogues: str = "pqr") -> Rows:
    """Rows of turns, those of the bot rated."""
    rows: Rows = []
    answers = iter(scores)
    for dialogue in dialogues:
        for turn in range(4):
            speaker, says = (("user", "I ask about"), ("bot", "I can tell about"))[turn % 2]
            text = f"{says} {dialogue} at {turn}"
            cells = {"conv": dialogue, "turn": turn, "who": speaker, "utterance": text}
            rows.append({**cells, "helpful": next(answers) if turn % 2 else ""})
    return rows


def csv_of(rows: Rows) -> bytes:
    text = StringIO()
    writer = csv.DictWriter(text, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def lines_of(rows: Rows) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def workbook_of(rows: Rows) -> bytes:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    for cells in (list(rows[0]), *(list(row.values()) for row in rows)):
        sheet.append(cells)
    content = BytesIO()
    book.save(content)
    return content.getvalue()


def raters(write: Any = csv_of, suffix: str = "csv") -> dict[str, bytes]:
    """Files of one rater each, by name."""
    return {f"{name}.{suffix}": write(turns(scores)) for name, scores in SCORES.items()}


def folder(tmp_path: Path, files: dict[str, bytes]) -> Path:
    place = tmp_path / "raters"
    for name, content in files.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return place


def zip_of(files: dict[str, bytes]) -> bytes:
    content = BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return content.getvalue()


def sent(files: dict[str, bytes]) -> list[SimpleUploadedFile]:
    return [SimpleUploadedFile(name, content) for name, content in files.items()]


def command(*arguments: str | Path) -> list[str]:
    out = StringIO()
    call_command("import_corpus", *map(str, arguments), "--name", "c", stdout=out)
    return out.getvalue().splitlines()


def labels() -> dict[str, str]:
    """Answers of each rater about the dialogues p, q, r, in one text."""
    found: dict[str, str] = {}
    rows = Label.objects.order_by("item__turn__continuation__dialogue__key", "item__turn__position")
    for name, value in rows.values_list("rater__name", "number"):
        found[name] = found.get(name, "") + f"{value:g}"
    return found


KINDS = {
    "csv": raters(),
    "jsonl": raters(lines_of, "jsonl"),
    "excel": raters(workbook_of, "xlsx"),
    "excel beside csv": {**raters(), "ben.xlsx": workbook_of(turns(SCORES["ben"]))},
    "gzip": {f"{name}.gz": gzip.compress(content) for name, content in raters().items()},
    "a folder each": {f"{name}/labels.csv": csv_of(turns(scores)) for name, scores in SCORES.items()},
}
KINDS["excel beside csv"].pop("ben.csv")


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_one_rater_each_become_labels_of_raters_named_after_them(tmp_path: Path, kind: str) -> None:
    lines = command(folder(tmp_path, KINDS[kind]))
    assert (Dialogue.objects.count(), Turn.objects.count()) == (3, 12)
    assert labels() == SCORES
    assert set(Label.objects.filter(rater__kind="judge").values_list("rater__name", flat=True)) == {"gpt-4o"}
    assert any("Each file is of one rater" in line for line in lines)


def test_the_command_takes_several_files(tmp_path: Path) -> None:
    command(*sorted(folder(tmp_path, raters()).iterdir()))
    assert labels() == SCORES
    assert Import.objects.get().file_name == "3 files: anna.csv, ben.csv, gpt-4o.csv"


def test_the_command_takes_a_zip_of_several_files(tmp_path: Path) -> None:
    packed = tmp_path / "all.zip"
    packed.write_bytes(zip_of({"README.md": b"# Labels", **raters()}))
    command(packed)
    assert labels() == SCORES


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_packed", [False, True])
def test_the_page_shows_and_imports_files_of_one_rater_each(
    at_once: None, researcher: Client, is_packed: bool
) -> None:
    files = sent({"all.zip": zip_of(raters())}) if is_packed else sent(raters())
    page = send_file(researcher, files).content.decode()
    assert "3 files about the same items (anna, ben, gpt-4o), by conv." in page
    assert "anna 3 · ben 3 · gpt-4o (judge) 2" in page
    for file in files:
        file.seek(0)
    import_by_page(researcher, files, name="c")
    assert labels() == SCORES
    assert not uploads.stored_file(Upload.objects.latest("pk")).exists()


def test_a_program_sends_files_of_one_rater_each() -> None:
    client = api(researcher=True)
    first, *more = sent(raters())
    preview = client.post("/api/v1/imports/preview/", {"file": first, "more": more}).json()
    assert preview["mapping"]["rater"] == "file"
    assert (len(preview["dialogues"]), len(preview["dialogues"][0]["labels"])) == (3, 6)
    for file in (first, *more):
        file.seek(0)
    answer = client.post("/api/v1/imports/", {"file": first, "more": more, "name": "c"})
    assert (answer.status_code, answer.json()["labels"]) == (201, 18)
    assert labels() == SCORES


def test_files_with_other_items_are_the_parts_of_one_table(tmp_path: Path) -> None:
    parts = {f"part-{n}.csv": csv_of(turns("123123", keys)) for n, keys in enumerate(("abc", "def"))}
    lines = command(folder(tmp_path, parts), *MAP)
    assert Dialogue.objects.count() == 6
    assert labels() == {"part": "123123" * 2}
    assert any("2 files are the parts of one table" in line for line in lines)


def test_files_without_a_column_of_dialogues_are_one_dialogue_each(tmp_path: Path) -> None:
    rows = {name: turns("12", name) for name in "xy"}
    files = {f"talk-{name}.csv": csv_of([{k: row[k] for k in ("who", "utterance")} for row in rows[name]])
             for name in "xy"}  # fmt: skip
    command(folder(tmp_path, files))
    assert set(Dialogue.objects.values_list("key", flat=True)) == {"talk-x", "talk-y"}


REFUSED = {
    "the same id for other texts": (
        {"a.csv": csv_of(turns("123123")), "b.csv": csv_of([{**r, "utterance": f"No, {n}."} for n, r in
                                                        enumerate(turns("123123"))])},
        "b.csv, field conv: conv '",
    ),
    "other columns": (
        {"a.csv": csv_of(turns("123123")), "b.csv": b"name,age,town\nann,4,x\n"},
        "b.csv: has the columns name, age, town, and a.csv has conv, turn, who, utterance, helpful",
    ),
    "no file that is read": ({"a.doc": b"x"}, "the folder holds no .json file"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_files_that_are_not_one_table_are_refused_in_a_line(tmp_path: Path, case: str) -> None:
    files, reason = REFUSED[case]
    with pytest.raises(CommandError) as refused:
        command(folder(tmp_path, files))
    assert reason in str(refused.value)
    assert not Corpus.objects.exists()


def test_files_that_share_some_items_are_asked_about(tmp_path: Path) -> None:
    keys = {"r1": "abcdefg", "r2": "ghijklm", "r3": "gmnopqr"}
    files = {f"{name}.csv": csv_of(turns("12312312312312", own)) for name, own in keys.items()}
    out = StringIO()
    with pytest.raises(CommandError, match="say what the columns are"):
        call_command("import_corpus", str(folder(tmp_path, files)), "--name", "c", stdout=out)
    assert "3 files: 2 of 18 conv are in several of them: is each of one rater" in out.getvalue()
    assert "--map rater=file" in out.getvalue()


def test_problems_and_rows_left_out_name_the_file(tmp_path: Path) -> None:
    files = raters()
    files["ben.csv"] = files["ben.csv"].replace(b"I ask about q at 2", b"")
    files["cy.csv"] = csv_of(turns("135135")).replace(b"5\n", b"9\n")
    place = folder(tmp_path, files)
    scale = [
        "--map",
        "dialogue=conv",
        "--map",
        "turn=turn",
        "--map",
        "speaker=who",
        "--map",
        "text=utterance",
    ]
    scale += ["--map", "label:Help=helpful", "--map", "scale:Help=1,2,3,4,5", "--map", "level:Help=ordinal"]
    with pytest.raises(CommandError) as refused:
        command(place, *scale)
    assert "cy.csv, line 13" in str(refused.value)
    out = StringIO()
    call_command("import_corpus", str(place), *scale, "--name", "c", "--skip-bad-rows", stdout=out)
    left = next(tmp_path.glob("raters.left-out.csv")).read_text().splitlines()
    assert left[0] == "why_left_out,conv,turn,who,utterance,helpful,file"
    assert any("line 13 of cy.csv" in line for line in left)
    assert all(".csv" in line.partition(",")[0] for line in left[1:])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"../a.csv": b"x,y\n1,2\n", "b.csv": b"x,y\n1,2\n"}, "has a file outside of the archive"),
        ({"a.csv": b"x" * (uploads.MOST_FILES + 1), "b.csv": b"x,y\n"}, "unpacked"),
    ],
)
def test_an_archive_is_unpacked_within_limits(
    researcher: Client, monkeypatch: pytest.MonkeyPatch, content: dict[str, bytes], reason: str
) -> None:
    monkeypatch.setattr("annotation.formats.folders.MOST_UNPACKED", uploads.MOST_FILES)
    page = send_file(researcher, sent({"all.zip": zip_of(content)}))
    assert (page.status_code, reason in page.content.decode()) == (422, True)
    refused = api(researcher=True).post(
        "/api/v1/imports/", {"file": sent({"all.zip": zip_of(content)}), "name": "c"}
    )
    assert (refused.status_code, reason in refused.json()["reason"]) == (400, True)
    assert not Upload.objects.exists()


def test_the_column_of_files_can_be_something_other_than_the_rater(researcher: Client) -> None:
    page = send_file(researcher, sent(raters()))
    post_preview(researcher, page, "preview", **{"role-5": "metadata"})
    assert Upload.objects.get().mapping["metadata"] == "file"


def test_a_zip_of_a_folder_is_read_as_the_folder_and_one_of_a_file_and_pictures_as_the_file(
    tmp_path: Path,
) -> None:
    for form in (path for path in FIXTURES.iterdir() if path.is_dir()):
        files = {
            str(file.relative_to(FIXTURES)): file.read_bytes() for file in form.rglob("*") if file.is_file()
        }
        packed = tmp_path / f"{form.name}.zip"
        packed.write_bytes(zip_of(files))
        key = form.name.partition("--")[0]
        with one_path([packed]) as path:
            assert guess(FORMATS, read_start(path)) == key
            records = [entry.record for entry in FORMATS[key].read(Source(path))]
        assert records == [entry.record for entry in FORMATS[key].read(Source(form))]
    chat = (FIXTURES / "whatsapp.txt").read_bytes()
    packed.write_bytes(zip_of({"_chat.txt": chat, "photo.jpg": b"\xff\xd8"}))
    with one_path([packed]) as path:
        assert (path.is_file(), guess(FORMATS, read_start(path))) == (True, "whatsapp")


def test_files_of_systems_are_not_taken_for_raters(tmp_path: Path) -> None:
    files = {}
    for name in ("model-a", "model-b"):
        rows = [{"id": n, "question": f"What is number {n} of these?"} for n in range(12)]
        rows = [
            {**row, "output": f"{name} says it is {row['id']} or so.", "score": row["id"] % 4 + 1}
            for row in rows
        ]
        files[f"{name}.csv"] = csv_of(rows)
    out = StringIO()
    with pytest.raises(CommandError, match="correct the line above"):
        call_command("agree", str(folder(tmp_path, files)), stdout=out)
    assert "with another output in each: is each of one rater, of one system" in out.getvalue()


def test_files_of_questions_with_raters_in_columns_are_questions(tmp_path: Path) -> None:
    rows = [{"id": f"i{n}", "ann1": n % 3 + 1, "ann2": (n + n // 7) % 3 + 1} for n in range(20)]
    files = {f"{name}.csv": csv_of(rows) for name in ("fluency", "safety")}
    out = StringIO()
    call_command("agree", str(folder(tmp_path, files)), "--json", stdout=out)
    figures = json.loads(out.getvalue())["statistics"]
    assert {figure["question"] for figure in figures} == {"fluency", "safety"}
    assert {rater for figure in figures for rater in figure["raters"]} == {"ann1", "ann2"}
