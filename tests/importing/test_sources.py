"""Files that no format reads: too long, not text, compressed, empty, missing."""

from __future__ import annotations

import gzip
import io
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from annotation.formats import FORMATS, ImportProblem, Source


def refused(path: Path, format: str = "jsonl") -> ImportProblem:
    with pytest.raises(ImportProblem) as caught:
        list(FORMATS[format].read(Source(path)))
    return caught.value


@pytest.mark.parametrize("format", list(FORMATS))
def test_an_empty_file_is_refused(tmp_path: Path, format: str) -> None:
    path = tmp_path / "empty.json"
    path.write_bytes(b"")
    assert refused(path, format).reason == "the file is empty"


@pytest.mark.exhaustive
@pytest.mark.parametrize("format", list(FORMATS))
@pytest.mark.parametrize(
    "content", [b"\x00\x01\x02", b"\xff\xff garbage", b"{", b"null", b"\n\n", b'"text"', b"{}", b"[]"]
)
def test_garbage_is_a_problem_for_every_format(tmp_path: Path, format: str, content: bytes) -> None:
    path = tmp_path / "garbage.json"
    path.write_bytes(content)
    with pytest.raises(ImportProblem):
        list(FORMATS[format].read(Source(path)))


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


def test_compressed_files_are_refused_by_name_and_never_unpacked(tmp_path: Path) -> None:
    bomb = gzip.compress(b"0" * 50_000_000)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.jsonl", b"0" * 50_000_000)
    for content, name in ((bomb, "gzip"), (packed.getvalue(), "zip"), ("{}".encode("utf-16"), "UTF-16")):
        path = tmp_path / f"packed-{name}"
        path.write_bytes(content)
        assert name in refused(path).reason


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
