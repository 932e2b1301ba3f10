"""A truncated export is refused by command, page and API, wherever it was cut off."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.models import Label, Upload
from calibration.exports.labels import labels, stream
from calibration.models import Export
from calibration.ratings.scope import of_corpus
from tests import factories
from tests.calibration.world import World, world
from tests.corpora.import_page import import_by_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def rated() -> World:
    """Two dialogues rated by one person."""
    built = world(dialogues=2, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3])
    built.say("ann", "quality", [1.0, 2.0, 3.0, 1.0])
    return built


@pytest.fixture
def exported(rated: World, tmp_path: Path) -> Path:
    """The labels of that corpus as a file, and a copy of the dialogues without labels."""
    path = tmp_path / "labels.csv"
    call_command("export_labels", "--corpus", "talks", "--output", str(path), stdout=io.StringIO())
    world("copy", dialogues=2, turns=2)
    return path


def _import(path: Path, *more: str) -> None:
    arguments = [str(path), "--format", "ratings-csv", "--into", "copy", *more]
    call_command("import_corpus", *arguments, stdout=io.StringIO())


def _cut(path: Path) -> None:
    """Take the last row off, at its beginning."""
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def _kept() -> int:
    return Label.objects.filter(item__corpus__name="copy").count()


def test_an_export_has_a_manifest_with_its_rows_and_hash(exported: Path) -> None:
    told = json.loads(Path(f"{exported}.manifest.json").read_text())
    assert (told["rows"], told["format"]) == (4, "csv")
    assert told["sha256"] == hashlib.sha256(exported.read_bytes()).hexdigest()


def test_a_whole_file_is_imported_beside_its_manifest(exported: Path) -> None:
    _import(exported)
    assert _kept() == 4


def test_the_command_refuses_a_file_that_was_cut_off(exported: Path) -> None:
    _cut(exported)
    with pytest.raises(CommandError, match=r"labels\.csv, field sha256: was cut off or changed"):
        _import(exported)
    assert _kept() == 0


def test_the_command_takes_the_hash_itself(exported: Path) -> None:
    Path(f"{exported}.manifest.json").unlink()
    with pytest.raises(CommandError, match="was cut off or changed"):
        _import(exported, "--sha256", "0" * 64)
    with pytest.raises(CommandError, match="is not a SHA-256"):
        _import(exported, "--sha256", "12")
    _import(exported, "--sha256", hashlib.sha256(exported.read_bytes()).hexdigest().upper())
    assert _kept() == 4


@pytest.mark.parametrize("content", ["", "[]", "{}", "[" * 9000, '{"sha256": 1}', "\x00"])
def test_a_broken_manifest_is_one_line(exported: Path, content: str) -> None:
    Path(f"{exported}.manifest.json").write_text(content)
    with pytest.raises(CommandError, match=r"labels\.csv\.manifest\.json: holds no sha256"):
        _import(exported)


@pytest.mark.exhaustive
def test_the_api_refuses_a_file_that_was_cut_off(exported: Path) -> None:
    client = APIClient()
    client.force_authenticate(factories.user(researcher=True))
    sha256 = hashlib.sha256(exported.read_bytes()).hexdigest()
    for status in (201, 200):
        file = SimpleUploadedFile("labels.csv", exported.read_bytes())
        fields = {"file": file, "format": "ratings-csv", "into": "copy", "sha256": sha256}
        assert client.post("/api/v1/imports/", fields).status_code == status
    _cut(exported)
    file = SimpleUploadedFile("labels.csv", exported.read_bytes())
    refused = client.post("/api/v1/imports/", {**fields, "file": file})
    assert (refused.status_code, refused.json()["field"]) == (400, "sha256")


def test_the_page_refuses_a_file_that_was_cut_off(exported: Path, client: Client) -> None:
    client.force_login(factories.user(researcher=True))
    sha256 = hashlib.sha256(exported.read_bytes()).hexdigest()
    _cut(exported)
    file = SimpleUploadedFile("labels.csv", exported.read_bytes())
    answer = import_by_page(client, file, "?into=copy", sha256=sha256)
    assert answer.status_code == 422
    assert "was cut off or changed" in answer.content.decode()
    assert Upload.objects.get().state == "waiting"


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("address", ["api-export-labels", "export-labels"])
def test_a_download_says_its_rows_and_hash_ahead_and_has_a_manifest(
    rated: World, client: Client, form: str, address: str
) -> None:
    client.force_login(factories.user(researcher=True))
    asked = {"corpus": rated.corpus.pk}
    answer = client.get(reverse(address, args=[form]), asked, headers={"accept-encoding": "gzip"})
    content = answer.getvalue()  # type: ignore[attr-defined]
    assert answer["Content-Length"] == str(len(content))
    assert answer["Concord-Rows"] == "4"
    export = Export.objects.get()
    told = client.get(reverse("export-manifest", args=[export.pk])).json()
    assert (told["rows"], told["sha256"]) == (4, hashlib.sha256(content).hexdigest())


def test_a_download_that_is_not_read_to_its_end_is_not_logged(rated: World) -> None:
    download = stream(query=labels(of_corpus(rated.corpus)), form="csv", corpus=rated.corpus, by=None)
    next(iter(download))
    download.close()
    assert not Export.objects.exists()
