"""Scripts in the native format: import, errors, and export."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

from annotation.corpora import splits
from annotation.corpora.deletion import delete_corpus
from annotation.corpora.import_file import import_path
from annotation.formats import ImportProblem
from annotation.models import Corpus, Item, Label, QuestionSet, Record, Use
from annotation.text.references import place_of, record_key
from suites.long_dialogue.editing.import_records import uses_of
from tests import factories
from tests.suites.long_dialogue.examples import script

pytestmark = pytest.mark.django_db


def bring(folder: Path, *dialogues: dict[str, Any], corpus: str = "loaf", into: bool = False) -> Corpus:
    path = folder / f"{corpus}-{len(list(folder.iterdir()))}.jsonl"
    path.write_text("".join(json.dumps(dialogue) + "\n" for dialogue in dialogues))
    import_path(path=path, name=path.name, format="jsonl", corpus=corpus, into=into, by=None)
    return Corpus.objects.get(name=corpus)


def test_a_script_comes_with_its_facts_questions_and_uses(tmp_path: Path) -> None:
    corpus = bring(tmp_path, script())
    dialogue = corpus.dialogues.get()
    assert dialogue.script["main"] == "ana"
    assert [session["date"] for session in dialogue.script["sessions"]][1] == {"year": 1994, "month": 9}
    assert set(Record.objects.values_list("kind", "key", "status")) == {
        ("fact", "f1", "accepted"),
        ("fact", "f2", "draft"),
        ("question", "q1", "accepted"),
    }
    stored = QuestionSet.objects.get()
    assert stored.options == {"seed": 3, "policy": "body", "presence": True}
    assert {(use.session, use.key, use.sessions) for use in uses_of(stored, dialogue.pk)} == {
        ("s4", "C", ("s2",)),
        ("s1", "E", ("s2",)),
    }


def test_nobody_rates_a_script_as_a_whole_and_its_items_are_clustered_by_session(tmp_path: Path) -> None:
    bring(tmp_path, script())
    assert not Item.objects.filter(kind="dialogue").exists()
    turns = Item.objects.filter(kind="turn").order_by("turn__position")
    assert turns.count() == 10
    assert list(turns.values_list("cluster", flat=True))[::2] == [f"loaf/s{n}" for n in range(1, 6)]
    assert dict(Item.objects.exclude(record=None).values_list("record__key", "cluster")) == {
        "f1": "loaf/s1",
        "f2": "loaf/s4",
        "q1": "loaf/s2",
    }


def test_a_season_that_is_named_is_the_cluster(tmp_path: Path) -> None:
    sessions = [
        one | {"season": "first" if n < 3 else "second"} for n, one in enumerate(script()["sessions"])
    ]
    bring(tmp_path, script(sessions=sessions))
    assert set(Item.objects.values_list("cluster", flat=True)) == {"loaf/first", "loaf/second"}


def test_answers_are_the_turns_of_static_continuations_of_scripts(tmp_path: Path) -> None:
    answers = {
        "id": "m-1",
        "system": "m",
        "mode": "static",
        "turns": [
            {"speaker": "cara", "text": "What did I buy?", "at": 7, "given": True, "session": "s4"},
            {"speaker": "ana", "text": "(C)", "at": 7, "session": "s4"},
        ],
    }
    bring(tmp_path, script(continuations=[answers]))
    item = Item.objects.get(continuation__key="m-1")
    assert (item.kind, item.cluster, item.key) == ("answer", "loaf/s4", "loaf/m-1/1")
    with pytest.raises(IntegrityError, match="answers are the turns"), transaction.atomic():
        Item.objects.filter(pk=item.pk).update(kind="turn")


def test_the_sessions_of_a_script_are_split(tmp_path: Path) -> None:
    corpus = bring(tmp_path, script())
    split = splits.draw(corpus=corpus, by=None)
    assert set(split.clusters.values_list("cluster", flat=True)) == {f"loaf/s{n}" for n in range(1, 6)}


def label(kind: str, key: str, **more: Any) -> dict[str, Any]:
    told = {
        "rater": "r1",
        "kind": "human",
        "record": {"kind": kind, "key": key},
        "question": "right",
        "value": 1,
    }
    return told | {"level": "binary", "values": [0, 1]} | more


def test_labels_are_given_to_facts_and_questions(tmp_path: Path) -> None:
    bring(tmp_path, script(labels=[label("fact", "f1"), label("question", "q1", question="fine", value=0)]))
    assert set(Label.objects.values_list("item__record__key", "number")) == {("f1", 1.0), ("q1", 0.0)}
    assert {item.key for item in Item.objects.filter(labels__isnull=False)} == {
        "loaf//fact/f1",
        "loaf//question/q1",
    }


def test_a_label_about_a_fact_that_is_not_there_is_refused_by_its_field(tmp_path: Path) -> None:
    with pytest.raises(ImportProblem, match="has no fact 'f9'"):
        bring(tmp_path, script(labels=[label("fact", "f9")]))


def test_a_record_with_labels_is_never_changed(tmp_path: Path) -> None:
    bring(tmp_path, script(labels=[label("fact", "f1")]))
    rated, other = Record.objects.get(key="f1"), Record.objects.get(key="f2")
    Record.objects.filter(pk=rated.pk).update(status="rejected")
    Record.objects.filter(pk=other.pk).update(content={**other.content, "tail": "Ana"})
    with pytest.raises(IntegrityError, match="it has labels"), transaction.atomic():
        Record.objects.filter(pk=rated.pk).update(content={**rated.content, "tail": "Ana"})


def test_a_used_question_set_never_changes(tmp_path: Path) -> None:
    bring(tmp_path, script())
    with connection.cursor() as cursor:
        cursor.execute("UPDATE annotation_questionset SET used_at = now()")
    with pytest.raises(IntegrityError, match="never change"), transaction.atomic():
        Use.objects.all().update(key="A", answerable=True)
    with pytest.raises(IntegrityError, match="it stays"), transaction.atomic():
        QuestionSet.objects.all().delete()


@pytest.mark.parametrize("kind", ["turn", "dialogue", "answer", "pair"])
def test_only_kinds_of_records_have_a_record(tmp_path: Path, kind: str) -> None:
    bring(tmp_path, script())
    with pytest.raises(IntegrityError), transaction.atomic():
        Item.objects.filter(record__key="f1").update(kind=kind)


def test_the_record_of_an_item_is_of_its_dialogue_and_kind(tmp_path: Path) -> None:
    bring(tmp_path, script())
    with pytest.raises(IntegrityError, match="another kind"), transaction.atomic():
        Item.objects.filter(record__key="f1").update(kind="question")


@pytest.mark.parametrize("dialogue", ["loaf", "a/b", "100%", "a//b", "%2F"])
@pytest.mark.parametrize("key", ["f1", "x/y", "50%", "a//b", "first:f12+f3:past-present"])
def test_keys_of_records_are_read_as_they_were_written(dialogue: str, key: str) -> None:
    place = place_of(record_key(dialogue, ("fact", key)))
    assert (place.dialogue, place.record, place.continuation) == (dialogue, ("fact", key), "")


@pytest.mark.exhaustive
def test_a_file_may_add_facts_to_a_script_that_is_there(tmp_path: Path) -> None:
    corpus = bring(tmp_path, script(facts=script()["facts"][:1]))
    bring(tmp_path, script(), into=True)
    assert corpus.records.filter(kind="fact").count() == 2
    changed = [script()["facts"][0] | {"tail": "Cara"}]
    with pytest.raises(ImportProblem, match="another fact 'f1' already"):
        bring(tmp_path, script(facts=changed), into=True)


def changed_session(**fields: Any) -> list[dict[str, Any]]:
    first, *rest = script()["sessions"]
    return [first | fields, *rest]


REFUSED = [
    ({"main": "dora"}, "neither a participant nor a speaker"),
    ({"sessions": []}, "a script needs a session"),
    ({"sessions": changed_session(date="1994-13-01")}, "no date"),
    ({"sessions": changed_session(date=None)}, "is missing"),
    ({"sessions": changed_session(date={"year": 1994, "day": 3})}, "a day needs a month"),
    ({"sessions": changed_session(id="s2")}, "'s2' is there twice"),
    ({"sessions": changed_session(present=["dora"])}, "'dora' is not the id of a participant"),
    ({"sessions": list(reversed(script()["sessions"]))}, "comes before that of the turn above it"),
    ({"turns": [{"speaker": "ana", "text": "Hm."}]}, "is missing"),
    ({"facts": [script()["facts"][0] | {"session": "s9"}]}, "there is no session 's9'"),
    ({"facts": [script()["facts"][0] | {"turns": [2]}]}, "turn 2 is not of the session 's1'"),
    (
        {"questions": [script()["questions"][0] | {"answer": "a tie"}]},
        "must have the answer 'a tie' among them",
    ),
    ({"questions": [script()["questions"][0] | {"choices": ["a", "b", "red boots"]}]}, "must be 4 texts"),
    ({"questions": [script()["questions"][0] | {"evidence": ["s9"]}]}, "there is no session 's9'"),
    ({"questions": []}, "there is no question 'q1'"),
    ({"kind": None}, "belongs to a dialogue whose kind is 'longform'"),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("changes", "reason"), REFUSED)
def test_what_does_not_fit_is_refused_with_its_field_and_nothing_is_kept(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ImportProblem, match=reason):
        bring(tmp_path, script(**changes))
    assert not Corpus.objects.exists()


@pytest.mark.exhaustive
def test_labels_of_records_leave_by_their_keys_and_come_back(tmp_path: Path) -> None:
    bring(tmp_path, script(labels=[label("fact", "f1"), label("question", "q1")]))
    out = tmp_path / "labels.csv"
    call_command("export_labels", corpus="loaf", format="csv", output=str(out), verbosity=0)
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert {(row["item"], row["cluster"], row["system"]) for row in rows} == {
        ("loaf//fact/f1", "loaf/s1", ""),
        ("loaf//question/q1", "loaf/s2", ""),
    }
    bring(tmp_path, script(), corpus="again")
    result = import_path(
        path=out, name="labels.csv", format="ratings-csv", corpus="again", into=True, by=None
    )
    assert result.labels == 2
    assert set(
        Label.objects.filter(item__corpus__name="again").values_list("item__record__key", flat=True)
    ) == {
        "f1",
        "q1",
    }


def test_deleting_the_corpus_takes_records_sets_and_uses_along(tmp_path: Path) -> None:
    corpus = bring(tmp_path, script(labels=[label("fact", "f1")]))
    with connection.cursor() as cursor:
        cursor.execute("UPDATE annotation_questionset SET used_at = now()")
    boss = factories.user("boss", administrator=True)
    delete_corpus(corpus=corpus, by=boss, confirmation="loaf")
    assert not any(model.objects.exists() for model in (Record, Use, QuestionSet))
