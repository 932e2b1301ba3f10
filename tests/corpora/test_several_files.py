"""Data sets of several files, and options about a file, through the page, the API and the command."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.corpora import uploads
from annotation.formats import FORMATS
from annotation.formats.corpus_format import COMMON, SETTINGS
from annotation.models import Continuation, Corpus, Import, Upload
from annotation.pages.imports import ImportForm
from tests.corpora.conftest import work_off
from tests.corpora.import_page import import_by_page, post_preview, send_file
from tests.corpora.test_api import api

pytestmark = pytest.mark.django_db

UTTERANCE = {
    "id": "1",
    "conversation_id": "c.tsv",
    "text": "A?",
    "speaker": "p",
    "meta": {},
    "reply-to": None,
}
PARTS = {
    "utterances.jsonl": UTTERANCE,
    "conversations.json": {"c.tsv": {"meta": {"num_chats": 1, "correct_ratio": 1.0}}},
    "speakers.json": {"p": {"meta": {"finalanswer": "A"}}},
}
PAIR = {"dialogue_id": "d", "context": [], "next_speaker": "Ana", "next_message": "Hello"}
CASES = {"1": [{"speaker": "a", "utterance": "x", "listener": [], "emotion": "joy"}]}


def sent(name: str, content: Any) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, json.dumps(content).encode())


def parts() -> list[SimpleUploadedFile]:
    return [sent(name, content) for name, content in PARTS.items()]


@pytest.mark.django_db(transaction=True)
def test_a_page_takes_the_files_of_a_data_set_together(at_once: None, researcher: Client) -> None:
    answer = import_by_page(researcher, parts(), name="d")
    upload = Upload.objects.get()
    assert (upload.state, upload.format, upload.guessed) == ("done", "delidata", True)
    assert upload.file_name == "3 files: conversations.json, speakers.json, utterances.jsonl"
    assert "utterances.jsonl" in answer.content.decode()
    assert Corpus.objects.get().dialogues.get().metadata["correct_ratio"] == 1.0
    assert not uploads.stored_file(upload).exists()


@pytest.mark.django_db(transaction=True)
def test_stored_parts_are_private_and_cleared_away(researcher: Client) -> None:
    import_by_page(researcher, parts(), name="d")
    folder = uploads.stored_file(Upload.objects.get())
    assert (folder.is_dir(), folder.stat().st_mode & 0o077) == (True, 0)
    work_off()
    assert not folder.exists()


@pytest.mark.parametrize(
    ("files", "format", "reason"),
    [
        (
            [sent("a.jsonl", {}), sent("b.jsonl", {})],
            "jsonl",
            "2 files were sent; the format jsonl is one file",
        ),
        ([sent("a.json", {}), sent("a.json", {})], "iq2", "was sent twice"),
        ([sent("a.json", {}), sent("b.exe", {})], "iq2", "its files end in"),
    ],
)
def test_files_that_make_no_data_set_are_refused(
    researcher: Client, files: list[SimpleUploadedFile], format: str, reason: str
) -> None:
    page = send_file(researcher, files)
    if page.status_code == 200:
        page = post_preview(researcher, page, "preview", format=format)
    assert reason in page.content.decode()
    for one in files:
        one.seek(0)
    fields = {"file": files[0], "more": files[1:], "name": "d", "format": format}
    refused = api(researcher=True).post("/api/v1/imports/", fields)
    assert (refused.status_code, reason in refused.json()["reason"]) == (400, True)
    assert not Corpus.objects.exists()


def test_a_program_sends_the_other_files_as_more() -> None:
    first, *more = parts()
    told = api(researcher=True).post("/api/v1/imports/", {"file": first, "more": more, "name": "d"})
    assert (told.status_code, told.json()["format"], told.json()["dialogues"]) == (201, "delidata", 1)
    assert Import.objects.get().file_name.startswith("3 files: ")


@pytest.mark.parametrize("name", ["../../x.json", "/etc/x.json", "a/../../x.json"])
def test_a_part_is_written_into_its_own_folder_whatever_its_name(tmp_path: Path, name: str) -> None:
    first, other = sent("a.json", {}), sent("b.json", {})
    other._name = name  # a multipart parser that did not take the folder away
    uploads.check_names([first, other])
    uploads.write([first, other], tmp_path / "in")
    assert sorted(file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*.json")) == [
        "in/a.json",
        "in/x.json",
    ]


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_page_names_the_system_and_the_half_that_was_given(at_once: None, researcher: Client) -> None:
    for system in ("x", "y"):
        fields = {"name": "c", "system": system, "given": "speaker"}
        if system == "y":
            fields = {**fields, "into": "c", "given": ""}
        import_by_page(researcher, sent("p.jsonl", PAIR), **fields)
    assert set(Continuation.objects.values_list("key", "system__name")) == {
        ("x (speaker given)", "x"),
        ("y", "y"),
    }
    like = Upload.objects.order_by("pk")[0].pk
    again = send_file(researcher, sent("p.jsonl", PAIR), f"?like={like}").content.decode()
    assert 'value="x"' in again
    assert '<option value="speaker" selected>' in again


@pytest.mark.parametrize(
    ("setting", "value", "reason"),
    [
        (
            "system",
            "x",
            "is not a setting of the format mpdd, which takes fold_names, rated",
        ),
        ("min_turns", "0", "must be a whole number from 1 to 10000"),
        ("min_turns", "many", "must be a whole number from 1 to 10000"),
    ],
)
def test_a_setting_that_does_not_fit_is_refused_everywhere(
    researcher: Client, tmp_path: Path, setting: str, value: str, reason: str
) -> None:
    fields = {"name": "d", "format": "mpdd", setting: value}
    page = send_file(researcher, sent("dialogue.json", CASES))
    page = post_preview(researcher, page, "preview", **fields)
    if setting == "system":  # the page offers the settings of the format alone
        assert 'name="system"' not in page.content.decode()
    else:
        assert reason in page.content.decode()
    told = api(researcher=True).post("/api/v1/imports/", {**fields, "file": sent("dialogue.json", CASES)})
    assert (told.status_code, setting in told.content.decode()) == (400, True)
    path = tmp_path / "dialogue.json"
    path.write_text(json.dumps(CASES))
    with pytest.raises(CommandError, match=f"field {setting}: {reason}"):
        command(str(path), "--format", "mpdd", "--name", "d", f"--{setting.replace('_', '-')}", value)
    assert not Corpus.objects.exists()


def command(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("import_corpus", *arguments, stdout=out)
    return out.getvalue().splitlines()


@pytest.mark.exhaustive
def test_a_command_and_a_program_say_the_same(tmp_path: Path) -> None:
    path = tmp_path / "dialogue.json"
    path.write_text(json.dumps({**CASES, "2": CASES["1"] * 2}))
    lines = command(str(path), "--name", "a", "--min-turns", "2")
    assert (lines[0].startswith("format: mpdd"), json.loads(lines[-1])["dialogues"]) == (True, 1)
    fields = {"file": sent("dialogue.json", json.loads(path.read_text())), "name": "b", "min_turns": "2"}
    assert api(researcher=True).post("/api/v1/imports/", fields).json()["dialogues"] == 1
    assert [one.file_settings for one in Import.objects.all()] == [{"min_turns": 2}] * 2


def test_the_page_offers_the_settings_of_the_format(researcher: Client) -> None:
    for format in FORMATS.values():
        fields = ImportForm(format=format.key).fields
        boxes = {"rated", "judges", "sheet", "skip_bad_rows"}
        assert {key for key in SETTINGS if key in fields} == {*COMMON, *format.settings} - boxes
    page = researcher.get(reverse("import-corpus")).content.decode()
    assert re.search(r'<input type="file" name="file"[^>]* multiple', page)


def test_a_file_replaces_what_an_upload_that_was_rolled_back_left(tmp_path: Path) -> None:
    place = tmp_path / "1"
    files = [SimpleUploadedFile(name, b"item,answer") for name in ("a.csv", "b.csv")]
    uploads.write(files, place)
    uploads.write(files[:1], place)
    assert place.read_bytes() == b"item,answer"
    uploads.write(files, place)
    assert sorted(file.name for file in place.iterdir()) == ["a.csv", "b.csv"]
