"""A refused file reports all its problems, up to twenty, and nothing is stored."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from annotation.formats.source import ImportProblem
from tests import factories
from tests.importing.helpers import TURNS, continuation, imported, label, line, refusal, written

pytestmark = pytest.mark.django_db
BAD = {"id": "bad", "turns": [{"speaker": "A", "text": 4}]}


def places(problem: ImportProblem) -> list[tuple[int | None, str]]:
    return [(one.line, one.field) for one in problem.all()]


def test_problems_of_every_kind_are_told_in_one_go(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        line("a", labels=[label(9)]),
        BAD,
        "{",
        line("a"),
        line("e", labels=[label(turn=7), label(occasion="never")]),
        line("f", labels=[label(3), label(3)]),
        line("g", continuations=[continuation("m", mode="static")]),
    )
    assert places(refusal(path)) == [
        (1, "labels[0].value"),
        (2, "turns[0].text"),
        (3, ""),
        (4, "id"),
        (5, "labels[1].occasion"),
        (5, "labels[0].turn"),
        (6, "labels[1].value"),
        (7, "continuations[0].turns[0].at"),
    ]


def test_a_dialogue_that_cannot_be_read_makes_no_problem_of_its_labels(tmp_path: Path) -> None:
    path = written(tmp_path, line("a"), {**BAD, "labels": [label(4)]})
    assert places(refusal(path)) == [(2, "turns[0].text")]


def test_no_more_than_twenty_are_told(tmp_path: Path) -> None:
    assert len(refusal(written(tmp_path, *[BAD] * 50)).all()) == 20
    labels = written(tmp_path, line("a", labels=[label(9, sample=n) for n in range(50)]))
    assert len(refusal(labels).all()) == 20


def test_what_contradicts_the_corpus_is_told_for_every_line(tmp_path: Path) -> None:
    imported(written(tmp_path, *(line(key, labels=[label(4)]) for key in "ab"), line("c")))
    other = [{"speaker": "A", "text": "Else"}, TURNS[1]]
    path = written(
        tmp_path, *(line(key, labels=[label(5)]) for key in "ab"), line("c", turns=other), name="more.jsonl"
    )
    assert places(refusal(path, into=True)) == [
        (1, "labels[0].value"),
        (2, "labels[0].value"),
        (3, "turns[0]"),
    ]


def test_the_rows_of_a_ratings_file_are_all_told(tmp_path: Path) -> None:
    imported(written(tmp_path, line("a")))
    rows = ["item,rater,value", "a/self/0,r,4", "a/self/9,r,4", "b/self/0,r,4", "a/self/1,,4", "a/self/1,r"]
    found = refusal(written(tmp_path, *rows, name="r.csv"), into=True, format="ratings-csv")
    assert places(found) == [(3, "item"), (4, "item"), (5, "rater"), (6, "")]


def test_the_command_prints_a_line_for_each(tmp_path: Path) -> None:
    path = written(tmp_path, line("a"), BAD, {**BAD, "id": 3})
    with pytest.raises(CommandError) as caught:
        call_command("import_corpus", path, "--name", "c", stdout=StringIO())
    assert str(caught.value).splitlines() == [
        "file.jsonl, line 2, field turns[0].text: must be a text, not a number",
        "file.jsonl, line 3, field id: must be a text, not a number",
    ]


def test_the_api_lists_them(tmp_path: Path) -> None:
    client = APIClient()
    client.force_authenticate(factories.user(researcher=True))
    with written(tmp_path, BAD, BAD).open("rb") as file:
        answer = client.post("/api/v1/imports/", {"file": file, "name": "c"})
    told = answer.json()
    assert (answer.status_code, told["line"]) == (400, 1)
    assert [problem["line"] for problem in told["problems"]] == [1, 2]
