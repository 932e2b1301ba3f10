"""A script survives export and import in the native format unchanged: by page and API."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
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


@pytest.fixture
def rea(client: Client) -> Client:
    client.force_login(factories.user("rea", researcher=True))
    return client


def sent(rea: Client, dialogue: Dialogue, route: str = "api-script-file", **query: Any) -> Any:
    return rea.get(reverse(route, args=[dialogue.corpus_id, dialogue.pk]), query)


def left(rea: Client, corpus: str = "loaf", **query: Any) -> bytes:
    """The files of a corpus's scripts, one after another."""
    rows = Dialogue.objects.filter(corpus__name=corpus).order_by("pk")
    return b"".join(sent(rea, row, **query).getvalue() for row in rows)


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


def test_a_script_leaves_and_comes_back_as_it_was(tmp_path: Path, rea: Client) -> None:
    before = edited(tmp_path)
    told = left(rea, continuations=True)
    corpus = back(tmp_path, told)
    after = corpus.dialogues.get()
    assert left(rea, "again", continuations=True) == told
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


def test_continuations_leave_where_they_are_wanted_alone(tmp_path: Path, rea: Client) -> None:
    edited(tmp_path)
    assert "continuations" not in json.loads(left(rea))
    assert json.loads(left(rea, continuations=True))["continuations"] == [ANSWERS]


@pytest.mark.exhaustive
def test_labels_of_facts_come_back_of_superseded_ones_too(tmp_path: Path, rea: Client) -> None:
    edited(tmp_path, labels=[label("fact", "f1"), label("fact", "f2", value=0)])
    out = tmp_path / "labels.csv"
    call_command("export_labels", corpus="loaf", format="csv", output=str(out), verbosity=0)
    back(tmp_path, left(rea, continuations=True))
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


def test_the_last_version_of_a_set_leaves_or_the_one_that_is_named(tmp_path: Path, rea: Client) -> None:
    corpus = bring(tmp_path, script())
    first = corpus.question_sets.get()
    newer = QuestionSet.objects.create(corpus=corpus, name="first", version=2, options={"seed": 5})
    asked = Record.objects.get(key="q1")
    made = {"corpus": corpus, "dialogue": asked.dialogue, "kind": "question", "set": newer}
    Record.objects.create(key="first@2:x", content={**asked.content, "origin": "first@2"}, **made)
    told = json.loads(left(rea))
    assert [(one["name"], one["seed"], one["uses"]) for one in told["question_sets"]] == [("first@2", 5, [])]
    assert [one["id"] for one in told["questions"]] == ["q1", "first@2:x"]
    named = json.loads(left(rea, set="first@1"))
    assert (named["question_sets"][0]["name"], len(named["question_sets"][0]["uses"])) == ("first", 2)
    assert [one["id"] for one in named["questions"]] == ["q1"]
    assert left(rea, set="first:2") == left(rea, set="first@2")
    none = json.loads(left(rea, without_sets=True))
    assert "question_sets" not in none
    back(tmp_path, json.dumps(told).encode())
    assert left(rea, "again") == left(rea)
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
def test_several_scripts_leave_a_line_each(tmp_path: Path, rea: Client) -> None:
    corpus = bring(tmp_path, script(), script(id="crumb", question_sets=None))
    assert [json.loads(line)["id"] for line in left(rea).splitlines()] == ["loaf", "crumb"]
    (line,) = sent(rea, corpus.dialogues.get(key="crumb")).getvalue().splitlines()
    assert json.loads(line)["id"] == "crumb"
    assert left(rea, back(tmp_path, left(rea)).name) == left(rea)


@pytest.mark.exhaustive
def test_what_is_not_there_is_said_in_a_line(tmp_path: Path, rea: Client) -> None:
    loaf = bring(tmp_path, script()).dialogues.get()
    refused = sent(rea, loaf, set="second")
    assert (refused.status_code, refused.json()["field"]) == (400, "set")
    assert refused.json()["detail"] == "There is no question set 'second'."
    other = factories.corpus("other")
    assert rea.get(reverse("api-script-file", args=[loaf.corpus_id, loaf.pk + 1])).status_code == 404
    assert rea.get(reverse("api-script-file", args=[other.pk, loaf.pk])).status_code == 404


def test_answers_stay_while_nobody_has_opened_the_test_part(tmp_path: Path, rea: Client) -> None:
    dialogue = edited(tmp_path)
    splits.draw(corpus=dialogue.corpus, by=None)
    assert left(rea)
    refused = sent(rea, dialogue, continuations=True)
    assert (refused.status_code, refused.json()["field"]) == (400, "continuations")
    assert "nobody has opened" in refused.json()["detail"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("route", ["script-file", "api-script-file"])
def test_pages_and_programs_get_the_same_file(tmp_path: Path, rea: Client, route: str) -> None:
    dialogue = edited(tmp_path)
    answer = sent(rea, dialogue, route, continuations="true")
    content = answer.getvalue()
    assert answer["Content-Length"] == str(len(content))
    assert Event.objects.get(verb="export script").detail["sha256"] == hashlib.sha256(content).hexdigest()
    assert content == left(rea, continuations=True)
    assert sent(rea, dialogue, route).getvalue() == left(rea)
    lost = sent(rea, dialogue, route, set="second")
    assert lost.status_code == (400 if route.startswith("api") else 302)


def test_the_page_of_a_script_offers_the_file(tmp_path: Path, rea: Client) -> None:
    dialogue = edited(tmp_path)
    args = [dialogue.corpus_id, dialogue.pk]
    assert reverse("script-file", args=args) in rea.get(reverse("script", args=args)).content.decode()
    assert Corpus.objects.count() == 1


def test_a_line_that_no_import_takes_is_told(
    tmp_path: Path, rea: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaf = bring(tmp_path, script()).dialogues.get()
    for most, warned in ((10**6, False), (100, True)):
        monkeypatch.setattr("suites.long_dialogue.editing.export.MAX_LINE", most)
        answer = sent(rea, loaf)
        assert answer.getvalue()
        assert ("which no import takes" in answer.get("Concord-Warning", "")) is warned


@pytest.mark.parametrize(
    ("instead", "reason"),
    [("f9", "there is no 'f9'"), ("f1", "stands in for itself"), ("f2", "is not accepted")],
)
def test_what_stands_in_for_another_is_there(tmp_path: Path, instead: str, reason: str) -> None:
    facts = [dict(fact) for fact in script()["facts"]]
    facts[0] |= {"superseded_by": instead, "status": "accepted" if instead == "f2" else "corrected"}
    with pytest.raises(Exception, match=reason):
        bring(tmp_path, script(facts=facts))
