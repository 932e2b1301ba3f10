"""No file breaks the import: hostile names and cells, bombs, deep nesting, and texts made to be slow."""

from __future__ import annotations

import copy
import gzip
import io
import json
import random
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.corpora import table_readings
from annotation.formats import FORMATS
from annotation.formats.chat_forms import plain_html
from annotation.formats.corpus_format import Head, guess, read_start
from annotation.formats.mapping import entries_of_yaml
from annotation.formats.source import Faults, ImportProblem, Source
from annotation.models import Corpus
from tests import factories
from tests.corpora.import_page import send_file
from tests.corpora.test_api import api

SECONDS = 10
"""Time for a file that is made to be slow: far more than any needs, on a busy machine."""
RIGHT_TO_LEFT = "\u202e"
HOSTILE = f'<script>alert(1)</script>{RIGHT_TO_LEFT}"><img src=x>'
UNITS = (
    *("[", '{"a":', '\\"', '"\\', " ", "\n", "\t", "a", "1", "a:", "Ana ", "10:10 ", "12/12/12 ", "<v a"),
    *("(a", "<a", "[a] ", "a __eou__ ", "* ", "- ", "1. ", '"a', RIGHT_TO_LEFT),
)
STARTS = {
    "JSON": '[{"text": "',
    "chat": "Ana: hello\nBen: hi\nAna: so\nBen: ",
    "zoom-chat": "10:01:23 From Ana to Everyone: hi\n10:01:24 From ",
    "whatsapp": "12/01/2024, 10:01 - Ana: hi\n12/01/2024, 10:02 - Ben: hi\n12/01/2024, 10:02 - ",
    "irc": "[10:01] <ana> hi\n[10:01] <ben> hi\n[10:01] ",
    "subtitles": "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n<v Ana>hi\n\n00:00:03.000 --> 00:00:04.000\n",
    "nothing": "",
}


def zipped(name: str, content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return packed.getvalue()


ROWS = b"item,ann,ben\n" + b"1,2,3\n" * 30_000_000
BOMBS = {
    "gzip": lambda: gzip.compress(ROWS, 1),
    "zip": lambda: zipped("a.csv", ROWS),
    "gzip in gzip": lambda: gzip.compress(gzip.compress(b"a,b\n" * 1000)),
    "zip in zip": lambda: zipped("a.zip", zipped("b.csv", b"a,b\n1,2\n")),
}


@pytest.fixture
def researcher(db: None) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(factories.user(researcher=True))
    return client


def sent(content: bytes, name: str = "f.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


@pytest.mark.parametrize("start", STARTS)
def test_a_text_that_is_made_to_be_slow_is_recognised_or_refused_in_seconds(start: str) -> None:
    slow = []
    for unit in UNITS:
        began = time.process_time()
        with suppress(ImportProblem):
            guess(FORMATS, Head((STARTS[start] + unit * 65_536)[:65_536].encode()))
        if time.process_time() - began > SECONDS:
            slow.append(unit)
    assert slow == []


@pytest.mark.parametrize(
    "unit", ["\n", " ", "a:", "[", "[1]", '"', "Ana ", "__eou__ ", "<a", "1 ", "-", "not ", "a_"]
)
def test_a_long_cell_and_a_long_header_are_described_in_seconds(
    tmp_path: Path, unit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    long = (unit * 100_000)[:100_000].replace('"', '""')
    path = tmp_path / "long.csv"
    path.write_text(
        f'item,ann,ben,note,"human q{long.strip()}b1","human q{long.strip()}b2"\n'
        f'1,1,2,"x{long}",1,"1{long}x"\n2,2,2,"{long}x",2,"x{long}(1"\n'
    )
    began = time.process_time()
    with suppress(CommandError):
        call_command("agree", str(path), "--describe")
    assert time.process_time() - began < SECONDS


def test_markup_that_never_ends_is_read_in_seconds() -> None:
    began = time.process_time()
    assert plain_html("<img" * 50_000).startswith("<img<img")
    assert time.process_time() - began < SECONDS


def test_a_file_whose_form_takes_long_to_recognise_is_one_line(
    monkeypatch: pytest.MonkeyPatch, db: None
) -> None:
    def spin(*_: Any) -> str:
        while True:
            pass

    monkeypatch.setattr(table_readings, "guess", spin)
    monkeypatch.setattr(table_readings, "CPU_SECONDS", 1)
    answer = api(researcher=True).post("/api/v1/imports/", {"file": sent(b"a,b\n1,2\n"), "name": "slow"})
    assert answer.status_code == 400
    assert answer.json()["reason"].startswith("takes more than 1 s of computing to read")


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_one_line_on_the_page_in_the_api_and_for_agree(
    researcher: Client, tmp_path: Path, bomb: str
) -> None:
    content = BOMBS[bomb]()
    page = send_file(researcher, sent(content))
    assert (page.status_code, len(page.context["problems"])) == (200, 1)
    for route, fields in (("imports/preview/", {}), ("imports/", {"name": "bomb"})):
        answer = api(researcher=True).post(f"/api/v1/{route}", {"file": sent(content), **fields})
        assert answer.status_code in (200, 400), answer.content
        assert len(answer.json().get("problems", ["the answer itself"])) == 1
    (tmp_path / "bomb").write_bytes(content)
    with pytest.raises(CommandError):
        call_command("agree", str(tmp_path / "bomb"))
    assert not Corpus.objects.exists()


def test_names_and_cells_of_a_file_are_text_on_its_preview(researcher: Client) -> None:
    cells = f'=HYPERLINK("x"),{HOSTILE}'.replace('"', '""')
    content = f'dialogue,speaker,text,"{HOSTILE.replace(chr(34), chr(34) * 2)}"\nd,a,hi,1\nd,b,"{cells}",2\n'
    page = send_file(
        researcher, sent(content.encode(), name=f"{HOSTILE}.csv".replace("/", ""))
    ).content.decode()
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "=HYPERLINK(" in page


@pytest.mark.parametrize(("n_columns", "is_read"), [(2_000, True), (5_001, False)])
def test_a_table_of_many_columns_has_a_preview_or_a_problem(
    researcher: Client, n_columns: int, is_read: bool
) -> None:
    header = ",".join(f"c{number}" for number in range(n_columns))
    row = ",".join("1" for _ in range(n_columns))
    page = send_file(researcher, sent(f"{header}\n{row}\n{row}\n".encode()))
    assert (page.status_code, bool(page.context["problems"])) == (200, not is_read)


def test_a_long_cell_is_cut_on_the_preview(researcher: Client) -> None:
    content = f"dialogue,speaker,text\nd,a,hi\nd,b,{'x' * 100_000}\n"
    page = send_file(researcher, sent(content.encode()))
    assert page.context["can_import"]
    assert len(page.content) < 90_000


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n",
        "text: " + "[" * 5000,
        "? " * 5000,
        "text: !!python/object/apply:os.system [id]\n",
    ],
    ids=["anchors", "nested", "keys", "objects"],
)
def test_a_mapping_made_to_grow_or_to_run_is_refused(text: str) -> None:
    with pytest.raises(ImportProblem):
        entries_of_yaml(text.encode())


WRONG = (None, 5, True, "x", "", [], {}, [None], [5], ["x"], [[]], [{}], {"a": None}, 1e400)
FORMS = Path(__file__).parents[1] / "importing" / "forms"


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value inside a JSON value."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield (*place, key)
        yield from places(part, (*place, key))


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", sorted(FORMS.glob("*.json*")), ids=lambda form: form.name)
def test_a_wrong_value_anywhere_in_a_form_is_read_or_refused(tmp_path: Path, form: Path) -> None:
    key, is_lines = form.stem.partition("--")[0], form.suffix == ".jsonl"
    text = form.read_text()
    document = [json.loads(line) for line in text.splitlines()] if is_lines else json.loads(text)
    choose = random.Random(form.name)
    paths = list(places(document))
    for path in choose.sample(paths, min(len(paths), 50)):
        changed = copy.deepcopy(document)
        holder = reduce(lambda value, part: value[part], path[:-1], changed)
        holder[path[-1]] = choose.choice(WRONG)
        file = tmp_path / form.name
        file.write_text("\n".join(map(json.dumps, changed)) if is_lines else json.dumps(changed))
        with suppress(ImportProblem):
            assert guess(FORMATS, read_start(file))
        with suppress(ImportProblem):
            assert all(entry.record for entry in FORMATS[key].read(Source(file, faults=Faults())))


def test_deep_json_is_a_problem_everywhere(researcher: Client, tmp_path: Path) -> None:
    for content in (b"[" * 100_000, b'{"a":' * 50_000, b"[" * 500 + b"]" * 500):
        page: Any = send_file(researcher, sent(content, name="f.json"))
        assert (page.status_code, len(page.context["problems"])) == (200, 1)
        answer = api(researcher=True).post(
            "/api/v1/imports/preview/", {"file": sent(content), "mapping": "["}
        )
        assert answer.status_code == 400
        (tmp_path / "f.json").write_bytes(content)
        with pytest.raises(CommandError):
            call_command("agree", str(tmp_path / "f.json"))
