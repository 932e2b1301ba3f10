"""The key is a rater: its answers come with the decisions, and a corrected key is another rater."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction

from annotation.corpora import continuing
from annotation.corpora.import_file import import_path
from annotation.formats import ImportProblem
from annotation.models import Corpus, Dialogue, Item, Label, Rater, System
from annotation.records import Continuation
from judges.runs.material import load
from suites.group_chat.answer_keys import correct
from suites.group_chat.scenarios.agents import AGENTS, decide
from suites.group_chat.scenarios.cascade import turn_of
from tests.suites.group_chat.scripts import LAUNCH, launch

pytestmark = pytest.mark.django_db

STATIC = {
    "id": "kit-1",
    "system": "kit",
    "mode": "static",
    "condition": {"mode": "explicit"},
    "turns": [
        {"at": 1, "speaker": "bot", "text": "", "act": "silence"},
        {
            "at": 5,
            "speaker": "bot",
            "text": "Best ask Mia.",
            "addressees": ["ole"],
            "extra": {
                "decision": {"mode": "explicit", "attend": True, "addressed": ["bot"], "ground": "answer"}
            },
        },
    ],
}


def stored(tmp_path: Any, **fields: Any) -> Corpus:
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps(deepcopy(LAUNCH) | fields) + "\n", encoding="utf-8")
    import_path(path=path, format="jsonl", corpus="Set", into=False, by=None)
    return Corpus.objects.get(name="Set")


def answers(rater: Rater) -> dict[tuple[int, str], Any]:
    rows = Label.objects.filter(rater=rater, superseded_at=None).select_related("question", "item__turn")
    return {
        (row.item.turn.at - 1, row.question.key): row.missing
        or (row.text if row.number is None else row.number)
        for row in rows
    }


def test_decisions_come_with_the_answers_of_the_key(tmp_path) -> None:
    corpus = stored(tmp_path, continuations=[STATIC])
    assert set(corpus.items.values_list("kind", flat=True)) == {"turn", "dialogue", "decision"}
    rater = Rater.objects.get(kind="key")
    assert rater.name.startswith("key:Set:")
    assert answers(rater) == {
        (0, "attend"): 0,
        (0, "speak"): "silence",
        (4, "attend"): 1,
        (4, "speak"): "message",
        (4, "addressed"): "bot",
        (4, "target"): "ole",
        (4, "ground"): "answer",
    }


def test_what_an_agent_declared_survives_storing(tmp_path) -> None:
    corpus = stored(tmp_path)
    dialogue = launch()
    decisions = decide(AGENTS["oracle"], dialogue)
    turns = tuple(turn_of(one, "bot", dialogue.turns[one.point]) for one in decisions)
    system = System.objects.create(corpus=corpus, name="oracle")
    made = continuing.add(
        dialogue=corpus.dialogues.get(),
        system=system,
        record=Continuation("oracle-0", "oracle", turns, "static", 0, {"mode": "explicit"}),
    )
    material = load([made.pk])[made.pk]
    assert material.continuation.turns == turns
    assert material.dialogue.scenario == dialogue.scenario
    assert len(answers(Rater.objects.get(kind="key"))) == 13
    assert set(Item.objects.filter(continuation=made).values_list("kind", flat=True)) == {
        "dialogue",
        "decision",
    }


def test_a_turn_item_of_a_decision_is_refused_by_the_database(tmp_path) -> None:
    stored(tmp_path, continuations=[STATIC])
    with pytest.raises(IntegrityError, match="decisions are the turns"), transaction.atomic():
        Item.objects.filter(kind="decision").update(kind="turn")
    with pytest.raises(IntegrityError, match="decisions are the turns"), transaction.atomic():
        Item.objects.filter(kind="turn").update(kind="decision")


def test_labels_of_a_file_find_the_decisions(tmp_path) -> None:
    label = {"rater": "ann", "continuation": "kit-1", "turn": 1, "question": "speak", "value": "message"}
    corpus = stored(tmp_path, continuations=[STATIC], labels=[label | {"scheme": "cascade_human"}])
    found = Label.objects.get(rater__name="ann", item__corpus=corpus)
    assert (found.item.kind, found.question.version.scheme.key) == ("decision", "cascade_human")


def test_a_corrected_key_is_another_rater_and_the_old_labels_stay(tmp_path) -> None:
    corpus = stored(tmp_path, continuations=[STATIC])
    first = Rater.objects.get(kind="key")
    before = answers(first)
    probes = deepcopy(LAUNCH["probes"])
    probes[1]["key"]["target"] = ["ole", "mia"]
    correct(dialogue=corpus.dialogues.get(), changes={"probes": probes}, by=None)
    second = Rater.objects.exclude(pk=first.pk).get(kind="key")
    assert answers(first) == before
    assert answers(second) == before | {(4, "target"): "mia;ole"}


def test_a_correction_that_an_import_would_refuse_changes_nothing(tmp_path) -> None:
    corpus = stored(tmp_path, continuations=[STATIC])
    before = Dialogue.objects.get().scenario
    with pytest.raises(ImportProblem, match="'olaf' is not the id of a participant"):
        correct(dialogue=corpus.dialogues.get(), changes={"keys": {"2": wrong_target()}}, by=None)
    assert Dialogue.objects.get().scenario == before
    assert Rater.objects.filter(kind="key").count() == 1


def wrong_target() -> dict[str, Any]:
    return {"attend": 1, "speak": {"message": 1}, "target": ["olaf"]}


def test_a_key_that_accepts_several_answers_names_none(tmp_path) -> None:
    both = {"attend": 1, "speak": {"message": 1, "silence": 1}, "target": {"any_of": [["ole"], ["sam"]]}}
    stored(tmp_path, keys={"2": {"free": True}, "3": both}, continuations=[STATIC | {"turns": [at_four()]}])
    rater = Rater.objects.get(kind="key")
    assert answers(rater) == {
        (3, "attend"): 1,
        (3, "speak"): "several answers are right",
        (3, "target"): "several answers are right",
    }


def at_four() -> dict[str, Any]:
    return {"at": 4, "speaker": "bot", "text": "Noted.", "act": "message"}


def test_the_same_scenario_imported_twice_changes_nothing_and_another_key_is_refused(tmp_path) -> None:
    stored(tmp_path)
    again = tmp_path / "again.jsonl"
    again.write_text(json.dumps(LAUNCH) + "\n", encoding="utf-8")
    import_path(path=again, format="jsonl", corpus="Set", into=False, by=None)
    assert Dialogue.objects.count() == 1
    other = deepcopy(LAUNCH)
    other["keys"]["3"] = {"attend": 1, "speak": {"message": 1}}
    again.write_text(json.dumps(other) + "\n", encoding="utf-8")
    with pytest.raises(ImportProblem, match="scenario: differs from what the corpus has"):
        import_path(path=again, format="jsonl", corpus="Set", into=True, by=None)


def test_the_observed_metric_rates_decisions_and_no_turns(tmp_path) -> None:
    stored(tmp_path, continuations=[STATIC])
    call_command("run_metrics", "--metrics", "cascade_observed@explicit", "--corpus", "Set", "--quiet")
    rater = Rater.objects.get(kind="metric")
    told = answers(rater)
    assert told[4, "speak"] == "message"
    assert told[4, "stage_address"] == 1
    assert told[4, "competence"] == 1
    assert told[4, "turn_score"] == "waits for a judge"
    assert told[0, "failed_at"] == "none"
    kinds = Label.objects.filter(rater=rater).values_list("item__kind", flat=True)
    assert set(kinds) == {"decision"}
