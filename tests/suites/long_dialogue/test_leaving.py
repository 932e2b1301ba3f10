"""A script leaves whole in the native format and comes back as it was: by page, API and command."""

from __future__ import annotations

import csv
import hashlib
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.corpora import splits
from annotation.corpora.import_file import import_path
from annotation.models import Corpus, Dialogue, QuestionSet, Record
from config.models import Event
from suites.long_dialogue.editing.import_records import uses_of
from suites.long_dialogue.editing.name_maps import make_names
from suites.long_dialogue.editing.question_editing import supersede
from suites.long_dialogue.editing.sessions import change_session
from tests import factories
from tests.suites.long_dialogue.examples import script
from tests.suites.long_dialogue.test_native import bring, label

pytestmark = pytest.mark.django_db
TOLD = {"question": "q1", "key": "C", "outcome": "C", "format": "template"}
ANSWERS = {
    "id": "m-1",
    "system": "m",
    "mode": "static",
    "trial": 2,
    "condition": {"set": "first:1"},
    "turns": [
        {"speaker": "cara", "text": "What did I buy?", "at": 7, "given": True, "session": "s4"},
        {
            "speaker": "ana",
            "text": "(C)",
            "at": 7,
            "session": "s4",
            "addressees": ["cara"],
            "extra": {"answer": TOLD},
        },
    ],
}


def left(folder: Path, corpus: str = "loaf", *more: str) -> bytes:
    path = folder / f"{corpus}-out.jsonl"
    call_command("export_scripts", "--corpus", corpus, "--output", str(path), *more, stdout=StringIO())
    return path.read_bytes()


def back(folder: Path, content: bytes, corpus: str = "again") -> Corpus:
    path = folder / f"{corpus}-in.jsonl"
    path.write_bytes(content)
    import_path(path=path, name=path.name, format="jsonl", corpus=corpus, into=False, by=None)
    return Corpus.objects.get(name=corpus)


def edited(folder: Path, **changes: Any) -> Dialogue:
    """Return a script that was worked on: a date, names, a fact put right, and a set of other versions."""
    corpus = bring(folder, script(continuations=[ANSWERS], **changes))
    dialogue = corpus.dialogues.select_related("corpus").get()
    change_session(dialogue=dialogue, session="s2", kind="talk", by=None, date="1994-09-20", present=["Ben"])
    make_names(dialogue=dialogue, kind="swapped", seed=1, by=None, cast=["ana", "ben"])
    fact = Record.objects.get(key="f2")
    supersede(record=fact, content={**fact.content, "tail": "Ana"}, provenance={"by": "hand"}, by=None)
    return dialogue


def test_a_script_leaves_and_comes_back_as_it_was(tmp_path: Path) -> None:
    before = edited(tmp_path)
    told = left(tmp_path, "loaf", "--continuations")
    corpus = back(tmp_path, told)
    after = corpus.dialogues.get()
    assert left(tmp_path, "again", "--continuations") == told
    for name in ("key", "cluster", "participants", "script"):
        assert getattr(after, name) == getattr(before, name)
    ours, theirs = (
        list(
            Record.objects.filter(dialogue=one)
            .order_by("id")
            .values_list("kind", "key", "content", "status", "superseded_by__key")
        )
        for one in (before, after)
    )
    assert sorted(ours, key=str) == sorted(theirs, key=str)
    assert ("corrected", theirs[2][1]) == (theirs[1][3], theirs[1][4]), "what was put right is in its place"
    sets = [QuestionSet.objects.get(corpus=one.corpus) for one in (before, after)]
    assert sets[0].options == sets[1].options
    assert list(uses_of(sets[0], before.pk)) == list(uses_of(sets[1], after.pk))
    assert after.continuations.get(key="m-1").turns.get(position=1).extra == {
        "session": "s4",
        "addressees": ["cara"],
        "extra": {"answer": TOLD},
    }


def test_continuations_leave_where_they_are_wanted_alone(tmp_path: Path) -> None:
    edited(tmp_path)
    assert "continuations" not in json.loads(left(tmp_path))
    assert json.loads(left(tmp_path, "loaf", "--continuations"))["continuations"] == [ANSWERS]


@pytest.mark.exhaustive
def test_labels_of_facts_come_back_of_superseded_ones_too(tmp_path: Path) -> None:
    edited(tmp_path, labels=[label("fact", "f1"), label("fact", "f2", value=0)])
    out = tmp_path / "labels.csv"
    call_command("export_labels", corpus="loaf", format="csv", output=str(out), verbosity=0)
    back(tmp_path, left(tmp_path, "loaf", "--continuations"))
    import_path(path=out, name="labels.csv", format="ratings-csv", corpus="again", into=True, by=None)
    again = tmp_path / "again.csv"
    call_command("export_labels", corpus="again", format="csv", output=str(again), verbosity=0)
    ours, theirs = (
        [
            (row["item"], row["question"], row["value"])
            for row in csv.DictReader(path.read_text().splitlines())
            if row["rater"] == "r1"
        ]
        for path in (out, again)
    )
    assert ours == theirs
    assert {row[0] for row in theirs} == {"loaf//fact/f1", "loaf//fact/f2"}


def test_the_last_version_of_a_set_leaves_or_the_one_that_is_named(tmp_path: Path) -> None:
    corpus = bring(tmp_path, script())
    first = corpus.question_sets.get()
    newer = QuestionSet.objects.create(corpus=corpus, name="first", version=2, options={"seed": 5})
    asked = Record.objects.get(key="q1")
    made = {"corpus": corpus, "dialogue": asked.dialogue, "kind": "question", "set": newer}
    Record.objects.create(key="first@2:x", content={**asked.content, "origin": "first@2"}, **made)
    told = json.loads(left(tmp_path))
    assert [(one["name"], one["seed"], one["uses"]) for one in told["question_sets"]] == [("first@2", 5, [])]
    assert [one["id"] for one in told["questions"]] == ["q1", "first@2:x"]
    named = json.loads(left(tmp_path, "loaf", "--set", "first@1"))
    assert (named["question_sets"][0]["name"], len(named["question_sets"][0]["uses"])) == ("first", 2)
    assert [one["id"] for one in named["questions"]] == ["q1"]
    assert left(tmp_path, "loaf", "--set", "first:2") == left(tmp_path, "loaf", "--set", "first@2")
    none = json.loads(left(tmp_path, "loaf", "--without-sets"))
    assert "question_sets" not in none
    back(tmp_path, json.dumps(told).encode())
    assert left(tmp_path, "again") == left(tmp_path)
    assert first.uses.count() == 2


def test_a_version_that_comes_in_a_file_is_the_version_that_is_there(tmp_path: Path) -> None:
    corpus = bring(tmp_path, script())
    QuestionSet.objects.create(corpus=corpus, name="first", version=2, options={"seed": 5})
    told = script(facts=[*script()["facts"], {**script()["facts"][0], "id": "f3", "tail": "Cara"}])
    asked = told["question_sets"][0]
    told["question_sets"] = [{**asked, "name": "first@2", "seed": 5}]
    (tmp_path / "more.jsonl").write_text(json.dumps(told))
    import_path(path=tmp_path / "more.jsonl", format="jsonl", corpus="loaf", into=True, by=None)
    assert set(corpus.question_sets.values_list("name", "version")) == {("first", 1), ("first", 2)}
    assert [one.uses.count() for one in corpus.question_sets.order_by("version")] == [2, 2]


@pytest.mark.exhaustive
def test_several_scripts_leave_a_line_each_or_one_of_them(tmp_path: Path) -> None:
    bring(tmp_path, script(), script(id="crumb", question_sets=None))
    assert [json.loads(line)["id"] for line in left(tmp_path).splitlines()] == ["loaf", "crumb"]
    (line,) = left(tmp_path, "loaf", "--dialogue", "crumb").splitlines()
    assert json.loads(line)["id"] == "crumb"
    assert left(tmp_path, back(tmp_path, left(tmp_path)).name) == left(tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--dialogue", "nobody"], "no script 'nobody'"),
        (["--set", "second"], "no question set 'second'"),
        (["--output", "/nowhere/at/all"], "cannot be written"),
    ],
)
def test_what_is_not_there_is_said_in_a_line(tmp_path: Path, more: list[str], reason: str) -> None:
    bring(tmp_path, script())
    with pytest.raises(CommandError, match=reason):
        left(tmp_path, "loaf", *more)
    with pytest.raises(CommandError, match="no script in a corpus 'other'"):
        left(tmp_path, "other")


def test_answers_stay_while_nobody_has_opened_the_test_part(tmp_path: Path) -> None:
    corpus = edited(tmp_path).corpus
    splits.draw(corpus=corpus, by=None)
    left(tmp_path)
    with pytest.raises(CommandError, match="nobody has opened"):
        left(tmp_path, "loaf", "--continuations")


@pytest.mark.exhaustive
@pytest.mark.parametrize("route", ["script-file", "api-script-file"])
def test_pages_and_programs_get_the_same_file(tmp_path: Path, client: Client, route: str) -> None:
    dialogue = edited(tmp_path)
    client.force_login(factories.user("rea", researcher=True))
    address = reverse(route, args=[dialogue.corpus_id, dialogue.pk])
    answer = client.get(address, {"continuations": "true"})
    content = b"".join(answer)
    assert content == left(tmp_path, "loaf", "--continuations")
    assert answer["Content-Length"] == str(len(content))
    assert Event.objects.get(verb="export script").detail["sha256"] == hashlib.sha256(content).hexdigest()
    assert b"".join(client.get(address)) == left(tmp_path)
    lost = client.get(address, {"set": "second"})
    assert lost.status_code == (400 if route.startswith("api") else 302)


def test_the_page_of_a_script_offers_the_file(tmp_path: Path, client: Client) -> None:
    dialogue = edited(tmp_path)
    client.force_login(factories.user("rea", researcher=True))
    args = [dialogue.corpus_id, dialogue.pk]
    assert reverse("script-file", args=args) in client.get(reverse("script", args=args)).content.decode()
    assert Corpus.objects.count() == 1


def test_a_line_that_no_import_takes_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bring(tmp_path, script())
    monkeypatch.setattr("suites.long_dialogue.editing.export.MAX_LINE", 100)
    out, err = StringIO(), StringIO()
    path = tmp_path / "out.jsonl"
    call_command("export_scripts", corpus="loaf", output=str(path), stdout=out, stderr=err)
    assert json.loads(out.getvalue())["too_long"] == ["loaf"]
    assert "which no import takes" in err.getvalue()


@pytest.mark.parametrize(
    ("instead", "reason"),
    [("f9", "there is no 'f9'"), ("f1", "stands in for itself"), ("f2", "is not accepted")],
)
def test_what_stands_in_for_another_is_there(tmp_path: Path, instead: str, reason: str) -> None:
    facts = [dict(fact) for fact in script()["facts"]]
    facts[0] |= {"superseded_by": instead, "status": "accepted" if instead == "f2" else "corrected"}
    with pytest.raises(Exception, match=reason):
        bring(tmp_path, script(facts=facts))
