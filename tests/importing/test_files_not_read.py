"""Tests of files that people try and that are none of the formats: each is refused in a line with advice."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from annotation.corpora.table_readings import outline
from annotation.formats import FORMATS, ImportProblem, Source
from annotation.formats.corpus_format import NOT_READ, guess, read_start
from annotation.formats.table_reader import open_table

BEGINNINGS = {
    "{\\rtf1\\ansi Ana: hello}": "save it as plain text",
    "From ana@x.org Mon Jan  1 10:00:00 2024\nSubject: Lunch\n\nHi\n": "is e-mail",
    "Received: from x\nSubject: Lunch\n\nHi\n": "is e-mail",
    "<!DOCTYPE html><html><body>Hi</body></html>": "is a web page: export JSON",
    '<?xml version="1.0"?><Trans><Turn>Hi</Turn></Trans>': "is XML",
    'version: "3.1"\nstories:\n- story: happy\n': "export trackers",
    "SPEAKER call 1 0.00 1.20 <NA> <NA> ana <NA> <NA>\n": "not what is said",
    "301 Q0 FT-1 1 12.3 bm25\n301 Q0 FT-2 2 11.0 bm25\n": "has no ratings",
    "-- MySQL dump\nCREATE TABLE x (id int);\n": "export the table as CSV",
    "0:00\nhello everyone\n0:05\nwelcome back\n": "no line says who speaks",
}


@pytest.mark.parametrize("content", BEGINNINGS, ids=lambda content: content[:12])
def test_what_cannot_be_read_says_what_to_do(tmp_path: Path, content: str) -> None:
    path = tmp_path / "file"
    path.write_text(content)
    with pytest.raises(ImportProblem, match=BEGINNINGS[content]):
        guess(FORMATS, read_start(path))


@pytest.mark.parametrize(("start", "reason"), [(b"$FL2@(#) SPSS", "SPSS"), (b"RDX3\nX", "write.csv")])
def test_data_of_statistics_programs_are_refused_by_name(tmp_path: Path, start: bytes, reason: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(start + b"\0" * 100)
    with pytest.raises(ImportProblem, match=reason):
        open_table(Source(path))


@pytest.mark.parametrize("piece", ["-- ", "version: ", " ", "<a ", "a\t", "0:00\n", "From ", "--\n", "12 "])
def test_no_beginning_takes_long_to_recognise(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    start = time.process_time()
    for pattern, _ in NOT_READ:
        pattern.match(text)
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    "document",
    [
        {"experiment": "x", "dialogue_id": 4, "services": {"a": 1}},
        {"talks": [{"services": [{"who": "Ana", "say": "Hi"}]}, {"services": [{"who": "Ben", "say": "Ho"}]}]},
    ],
)
def test_an_unknown_json_document_names_its_keys_and_the_nearest_form(tmp_path: Path, document: Any) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps(document))
    try:
        profile = outline(Source(path)).profile
        text = " ".join(profile.notes) if profile else ""
    except ImportProblem as problem:
        text = problem.reason
    assert "is JSON with the keys" in text
