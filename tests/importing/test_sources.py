"""Files that no format reads: too long, not text, compressed, empty, missing."""

from __future__ import annotations

import gzip
import io
import tracemalloc
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import FORMATS, Faults, ImportProblem, Source
from annotation.formats.corpus_format import guess, read_start
from tests.importing.helpers import imported, line, refusal, written


def refused(path: Path, format: str = "jsonl") -> ImportProblem:
    with pytest.raises(ImportProblem) as caught:
        list(FORMATS[format].read(Source(path)))
    return caught.value


@pytest.mark.parametrize("format", list(FORMATS))
def test_an_empty_file_is_refused(tmp_path: Path, format: str) -> None:
    path = tmp_path / "empty.json"
    path.write_bytes(b"")
    assert refused(path, format).reason == "the file is empty"


TEXTS = ("dailydialog",)
"""Formats whose lines may be any text."""


@pytest.mark.exhaustive
@pytest.mark.django_db
@pytest.mark.parametrize(
    "content", [b"\x00\x01\x02", b"\xff\xff garbage", b"{", b"null", b"\n\n", b'"text"', b"{}", b"[]"]
)
def test_garbage_is_a_problem_of_its_import_in_every_format(tmp_path: Path, content: bytes) -> None:
    assert imported(written(tmp_path, line()), "talks").dialogues == 1
    path = tmp_path / "garbage.json"
    path.write_bytes(content)
    for key, format in FORMATS.items():
        if key in TEXTS and content in (b"null", b'"text"'):
            continue
        corpus = "talks" if format.labels_only else "garbage"
        assert refusal(path, corpus, format=key, into=format.labels_only).reason, key


def test_a_file_that_is_no_utf8_is_refused_at_its_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.jsonl"
    path.write_bytes(b'{"id": "a", "turns": [{"speaker": "A", "text": "x"}]}\n{"id": "caf\xe9"}\n')
    problem = refused(path)
    assert (problem.line, problem.reason) == (2, "is not UTF-8 at byte 11")


def test_a_line_of_a_hundred_megabytes_is_refused_without_being_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(b'{"id": "')
        file.seek(100 * 2**20)
        file.write(b'"}\n')
    tracemalloc.start()
    problem = refused(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (problem.line, problem.reason) == (1, "is longer than 16 MiB")
    assert peak < 60 * 2**20


def test_a_document_over_the_limit_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(100 * 2**20)
    assert "larger than 64 MiB" in refused(path, "fed").reason


def test_a_packed_line_is_never_unpacked_beyond_the_limit_of_a_line(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.jsonl", b"{" + b"0" * 50_000_000)
    for content in (gzip.compress(b"{" + b"0" * 50_000_000), packed.getvalue()):
        path = tmp_path / "packed"
        path.write_bytes(content)
        assert refused(path).reason == "is longer than 16 MiB"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"BZh9", "is a bzip2 file: unpack it first"),
        (b"7z\xbc\xaf\x27\x1c", "is a 7z archive"),
        (b"\xfd7zXZ\x00", "is an xz file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "such as .xls: save it as .xlsx or CSV"),
        (b"%PDF-1.7", "is a PDF"),
        (b"PAR1", "is a Parquet file, not text"),
        (b"\x80\x04\x95", "is a pickle"),
    ],
)
def test_other_packed_and_binary_files_are_refused_by_name(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "packed"
    path.write_bytes(content)
    assert reason in refused(path).reason


@pytest.mark.parametrize("form", ["gz", "zip", "utf-16", "utf-16-be"])
def test_lines_of_json_may_be_packed_or_utf16(tmp_path: Path, form: str) -> None:
    text = '{"id": "a", "turns": [{"speaker": "A", "text": "é"}]}\n'
    path = tmp_path / "packed"
    if form == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("x.jsonl", text)
    else:
        path.write_bytes(gzip.compress(text.encode()) if form == "gz" else text.encode(form))
    (entry,) = FORMATS["jsonl"].read(Source(path))
    assert entry.record.turns[0].text == "é"


def test_an_absent_path_and_a_device_are_refused(tmp_path: Path) -> None:
    for path, reason in (
        (tmp_path / "none", "no such file"),
        (Path("/dev/null"), "neither a file nor a folder"),
    ):
        with pytest.raises(ImportProblem, match=reason):
            Source(path)


def test_a_path_that_the_system_refuses_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ImportProblem, match="cannot be read: File name too long"):
        Source(tmp_path / ("x" * 5000))


def test_a_file_that_may_not_be_read_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "secret.jsonl"
    path.write_text("{}")
    monkeypatch.setattr(Path, "open", forbidden)
    with pytest.raises(ImportProblem, match="cannot be read: Permission denied"):
        Source(path)


def test_the_hash_of_a_file_follows_its_content_alone(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(b"same")
    second.write_bytes(b"same")
    assert Source(first).content_hash() == Source(second).content_hash()
    second.write_bytes(b"other")
    assert Source(first).content_hash() != Source(second).content_hash()


CHAT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


@pytest.mark.parametrize(
    "record",
    [
        {"messages": CHAT},
        {"prompt": "Hi", "chosen": "Hello", "rejected": "No"},
        {"id": 1, "text": "Hi", "label": ["polite"]},
        {"run_id": "r", "event_id": 0, "sample_id": "s", "type": "match", "data": {"correct": True}},
    ],
    ids=["messages", "preferences", "doccano", "openai-evals"],
)
def test_every_line_that_is_no_object_is_named(record: dict[str, Any], tmp_path: Path) -> None:
    path = written(tmp_path, record, '{"id": ', record, "[1]")
    source = Source(path, faults=Faults())
    with suppress(ImportProblem):
        list(FORMATS[guess(FORMATS, read_start(path))].read(source))
    assert source.faults is not None
    assert [problem.line for problem in source.faults.problems] == [2, 4]
