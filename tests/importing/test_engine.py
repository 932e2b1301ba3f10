"""Imports into the database: atomic, recognised by content, adding without changing."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.corpora import import_file
from annotation.corpora.import_staging import ImportResult
from annotation.formats import source as sources
from annotation.models import Continuation, Corpus, Dialogue, Import, Item, Turn
from tests.importing.helpers import TURNS, census, continuation, imported, label, line, refusal, written

pytestmark = pytest.mark.django_db


def test_every_continuation_and_every_turn_that_is_not_given_becomes_an_item(tmp_path: Path) -> None:
    given = {
        "system": "m",
        "turns": [{"speaker": "A", "text": "So", "given": True}, {"speaker": "B", "text": "Yes"}],
    }
    result = imported(written(tmp_path, line(continuations=[given])))
    assert result.as_dict() == {
        "corpus": "c",
        "dialogues": 1,
        "turns": 4,
        "continuations": 2,
        "items": 5,
        "labels": 0,
        "missing": 0,
        "created": True,
    }
    items = {item.key for item in Item.objects.select_related("turn", "continuation__dialogue")}
    assert items == {"d1/self", "d1/self/0", "d1/self/1", "d1/m", "d1/m/1"}


def test_a_dialogue_keeps_what_its_line_says(tmp_path: Path) -> None:
    people = [
        {"id": "A", "name": "Ana", "role": "chair", "profile": ["calm"], "aliases": ["An"]},
        {"id": "B"},
    ]
    agenda = {
        "items": [{"id": "x", "text": "X"}],
        "edges": [],
        "start": "x",
        "terminal": "x",
        "success": [{"k": 1}],
    }
    turns = [{**TURNS[0], "time": "9:00", "audience": ["B"]}, TURNS[1]]
    record = line(
        cluster="k",
        language="en",
        summary="s",
        system="bot",
        metadata={"a": [1]},
        participants=people,
        agenda=agenda,
        turns=turns,
    )
    imported(written(tmp_path, record))
    stored = Dialogue.objects.get()
    assert (stored.cluster, stored.language, stored.summary, stored.metadata) == ("k", "en", "s", {"a": [1]})
    assert stored.participants[0] == people[0]
    assert stored.agenda == agenda
    assert Continuation.objects.get().system.name == "bot"
    assert [turn.extra for turn in Turn.objects.all()] == [{"time": "9:00", "audience": ["B"]}, None]


def test_a_dialogue_without_a_cluster_is_its_own(tmp_path: Path) -> None:
    imported(written(tmp_path, line()))
    assert Dialogue.objects.get().cluster == "d1"


def test_the_same_file_again_changes_nothing_and_reports_the_same_counts(tmp_path: Path) -> None:
    path = written(tmp_path, line(labels=[label()]))
    first = imported(path)
    before = census()
    for into in (False, True):
        again = imported(path, into=into)
        assert again.as_dict() == {**first.as_dict(), "created": False}
    assert census() == before


def test_another_file_for_an_existing_name_is_refused_with_the_way_out(tmp_path: Path) -> None:
    imported(written(tmp_path, line()))
    problem = refusal(written(tmp_path, line("d2")))
    assert "--into" in problem.reason


def test_into_needs_a_corpus_that_exists(tmp_path: Path) -> None:
    assert "no corpus 'c'" in refusal(written(tmp_path, line()), into=True).reason


@pytest.mark.parametrize("name", ["", " c", "a/b", "x" * 101, "a\nb", ".."])
def test_a_corpus_has_a_usable_name(tmp_path: Path, name: str) -> None:
    assert refusal(written(tmp_path, line()), name).field == "corpus"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("bad", "field"),
    [
        ('{"id": "d9", "turns": [', ""),
        (line("d0"), "id"),
        (line("d9", labels=[label(turn=2)]), "labels[0].turn"),
        (line("d9", labels=[label(continuation="x")]), "labels[0].continuation"),
        (line("d9", labels=[label(6)]), "labels[0].value"),
        (line("d9", labels=[label("good")]), "labels[0].value"),
        (line("d9", labels=[label(4.5)]), "labels[0].value"),
        (line("d9", labels=[label(), label(3)]), "labels[1].value"),
        (line("d9", labels=[label(occasion="never")]), "labels[0].occasion"),
        (line("d9", labels=[label(scheme="none")]), "question"),
        (line("d9", participants=[{"id": "A"}]), "turns[1].speaker"),
        ({"id": "d9", "labels": [label()]}, "turns"),
    ],
)
def test_one_bad_line_refuses_the_whole_file_by_its_number(tmp_path: Path, bad: object, field: str) -> None:
    good = [line(f"d{number}", labels=[label(2)]) for number in range(3)]
    problem = refusal(written(tmp_path, *good, bad))
    assert (problem.file, problem.line, problem.field) == ("file.jsonl", 4, field), str(problem)


def test_a_label_of_a_given_turn_is_refused(tmp_path: Path) -> None:
    given = line(turns=[{"speaker": "A", "text": "x", "given": True}], labels=[label()])
    assert "is given" in refusal(written(tmp_path, given)).reason


def test_an_id_is_found_twice_across_batches_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_file, "MAX_ENTRIES", 2)
    problem = refusal(written(tmp_path, *[line(f"d{number % 5}") for number in range(6)]))
    assert (problem.line, problem.reason) == (6, "the dialogue 'd0' is there twice, first on line 1")


def test_more_dialogues_continuations_and_labels_are_added_into_a_corpus(tmp_path: Path) -> None:
    imported(written(tmp_path, line()))
    more = written(
        tmp_path,
        {"id": "d1", "continuations": [continuation("m", "So")], "labels": [label(continuation="m")]},
        line("d2"),
        name="more.jsonl",
    )
    result = imported(more, into=True)
    assert result.counts() == {
        "dialogues": 1,
        "turns": 3,
        "continuations": 2,
        "items": 5,
        "labels": 1,
        "missing": 0,
    }
    assert Corpus.objects.get().imports.count() == 2


def test_an_existing_dialogue_may_be_repeated_but_not_changed(tmp_path: Path) -> None:
    imported(written(tmp_path, line(summary="s", continuations=[continuation()])))
    same = written(
        tmp_path, line(summary="s", continuations=[continuation(), continuation("n")]), name="same.jsonl"
    )
    assert imported(same, into=True).continuations == 1
    for changed, field in (
        (line(turns=TURNS[:1]), "turns[1]"),
        (line(summary="other"), "summary"),
        (line(system="bot"), "system"),
        (line(continuations=[continuation("m", "Other")]), "continuations[0].id"),
        (line(continuations=[continuation("n", trial=2)]), "continuations[0].id"),
    ):
        problem = refusal(written(tmp_path, changed, name="changed.jsonl"), into=True)
        assert problem.field == field


@pytest.mark.exhaustive
def test_added_continuations_answer_to_the_stored_history_and_people(tmp_path: Path) -> None:
    imported(written(tmp_path, line(participants=[{"id": "A"}, {"id": "B"}])))
    stranger = {"system": "m", "turns": [{"speaker": "C", "text": "x"}]}
    late = {"system": "m", "mode": "static", "turns": [{"speaker": "A", "text": "x", "at": 3}]}
    for part, field in (
        (stranger, "continuations[0].turns[0].speaker"),
        (late, "continuations[0].turns[0].at"),
    ):
        problem = refusal(written(tmp_path, {"id": "d1", "continuations": [part]}, name="x.jsonl"), into=True)
        assert (problem.line, problem.field) == (1, field)


def test_a_static_turn_without_history_has_the_point_zero(tmp_path: Path) -> None:
    part = {"system": "m", "mode": "static", "turns": [{"speaker": "A", "text": "x", "at": 1}]}
    assert (
        refusal(written(tmp_path, {"id": "d", "continuations": [part]})).field
        == "continuations[0].turns[0].at"
    )
    part["turns"][0]["at"] = 0  # type: ignore[index]
    assert imported(written(tmp_path, {"id": "d", "continuations": [part]})).items == 2


@pytest.mark.exhaustive
def test_the_number_of_queries_does_not_grow_with_the_file(tmp_path: Path) -> None:
    counts = []
    for number in (1, 50):
        lines = [line(f"d{one}", labels=[label()]) for one in range(number)]
        with CaptureQueriesContext(
            connection,
        ) as queries:
            imported(written(tmp_path, *lines, name=f"{number}.jsonl"), f"c{number}")
        counts.append(len(queries))
    assert counts[1] <= counts[0]


def test_the_planner_knows_what_a_large_import_brought(tmp_path: Path) -> None:
    turns = [{"speaker": "A", "text": f"So {n}"} for n in range(100)]
    imported(written(tmp_path, *(line(id=f"d{n}", turns=turns, labels=[]) for n in range(10))))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT reltuples FROM pg_class WHERE relname IN ('annotation_item', 'annotation_turn')"
        )
        assert min(row[0] for row in cursor.fetchall()) >= 1000


def test_progress_ends_at_the_end_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_file, "MAX_ENTRIES", 1)
    path = written(tmp_path, line("a"), line("b"))
    seen: list[tuple[int, int, int]] = []

    def note(done: int, total: int, result: ImportResult) -> None:
        seen.append((done, total, result.dialogues))

    imported(path, progress=note)
    size = path.stat().st_size
    assert seen == [(size // 2, size, 1), (size, size, 2)]


def test_a_name_for_a_temporary_file_is_what_people_read(tmp_path: Path) -> None:
    path = written(tmp_path, "{", name="upload-17")
    assert refusal(path, name="chats.jsonl").file == "chats.jsonl"


def test_limits_are_where_the_documentation_says() -> None:
    assert (sources.MAX_LINE, sources.MAX_DOCUMENT) == (16 * 2**20, 64 * 2**20)
    assert Import._meta.get_field("file_name").max_length == 300
