"""Saving scenarios: new ones, replacing ones without decisions, and corrections of keys."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from annotation import records
from annotation.corpora import continuing, queries
from annotation.formats import ImportProblem
from annotation.formats.jsonl import dialogue
from annotation.models import Corpus, Dialogue, Item, Label, System, Turn
from suites.group_chat import editing
from suites.group_chat.editing import is_decided, record_of, rows, scenario_turns, state_of, text_of
from suites.group_chat.scenarios.probes import overview
from tests import factories
from tests.suites.group_chat.scripts import LAUNCH

pytestmark = pytest.mark.django_db


def launch(**changes: Any) -> records.Dialogue:
    return dialogue(deepcopy(LAUNCH) | deepcopy(changes))


@pytest.fixture
def corpus() -> Corpus:
    return factories.corpus("chats")


@pytest.fixture
def stored(corpus: Corpus) -> Dialogue:
    return editing.save(corpus=corpus, record=launch(), by=None).dialogue


def decide(stored: Dialogue) -> None:
    system = System.objects.create(corpus=stored.corpus, name="m")
    turns = (records.Turn("bot", "", at=1, act="silence"),)
    made = records.Continuation("m-0", "m", turns, mode="static")
    continuing.add(dialogue=stored, system=system, record=made)


def test_a_new_scenario_is_a_dialogue_with_items(corpus: Corpus, stored: Dialogue) -> None:
    assert record_of(stored) == launch()
    assert Item.objects.filter(continuation__dialogue=stored, kind="turn").count() == 5
    assert queries.counts([corpus])[corpus.pk]["turns"] == 5
    with pytest.raises(ImportProblem, match="has a dialogue 'launch-07' already"):
        editing.save(corpus=corpus, record=launch(), by=None)


def test_what_nothing_was_decided_on_is_rewritten_in_its_place(corpus: Corpus, stored: Dialogue) -> None:
    longer = launch(turns=[*LAUNCH["turns"], {"speaker": "sam", "text": "Bye."}], cluster="other")
    saved = editing.save(corpus=corpus, record=longer, by=None, opened=stored)
    assert (saved.dialogue.pk, saved.became) == (stored.pk, "rewritten")
    assert record_of(saved.dialogue) == longer
    counted = queries.counts([corpus])[corpus.pk]
    assert counted["turns"] == Turn.objects.count() == 6
    assert counted["items"] == Item.objects.count()
    again = editing.save(corpus=corpus, record=longer, by=None, opened=saved.dialogue)
    assert again.became == "unchanged"
    back = editing.save(corpus=corpus, record=launch(), by=None, opened=saved.dialogue)
    assert (back.became, record_of(back.dialogue)) == ("rewritten", launch())


def test_with_another_id_it_is_another_scenario_of_the_family(corpus: Corpus, stored: Dialogue) -> None:
    saved = editing.save(corpus=corpus, record=launch(id="launch-08"), by=None, opened=stored)
    assert saved.became == "created"
    assert {row.summary.dialogue.cluster for row in rows(corpus)} == {"launch"}
    assert overview([row.summary for row in rows(corpus)]).families == 1


def test_where_something_was_decided_the_script_stays_and_keys_are_corrected(
    corpus: Corpus, stored: Dialogue
) -> None:
    assert not is_decided(stored)
    decide(stored)
    assert is_decided(stored)
    with pytest.raises(ImportProblem, match="so it stays as it is"):
        editing.save(corpus=corpus, record=launch(summary="else"), by=None, opened=stored)
    labels = Label.objects.count()
    keys = {"2": {"attend": 0, "speak": {"silence": 1}}}
    saved = editing.save(corpus=corpus, record=launch(keys=keys), by=None, opened=stored)
    assert saved.became == "corrected"
    assert record_of(Dialogue.objects.get(pk=stored.pk)) == launch(keys=keys)
    assert Label.objects.count() == 2 * labels
    with pytest.raises(ImportProblem, match="so it stays as it is"):
        editing.save(corpus=corpus, record=launch(keys=keys, points=[0, 1, 2, 4]), by=None, opened=stored)


def test_who_has_not_seen_the_last_change_is_told(corpus: Corpus, stored: Dialogue) -> None:
    seen = state_of(record_of(stored))
    editing.save(corpus=corpus, record=launch(summary="a"), by=None, opened=stored, seen=seen)
    with pytest.raises(ImportProblem, match="somebody else saved"):
        editing.save(corpus=corpus, record=launch(summary="b"), by=None, opened=stored, seen=seen)


def test_a_scenario_is_shown_as_each_sees_it() -> None:
    joined = {"speaker": "sam", "text": "", "act": "join", "sees_history": True}
    turns = [*LAUNCH["turns"][:3], joined, *LAUNCH["turns"][3:]]
    raw = {"turns": turns, "probes": [], "common_ground": [], "secrets": []}
    keys = {"2": LAUNCH["keys"]["2"], "5": {"attend": 1, "speak": {"message": 1}}}
    lines = scenario_turns(launch(**raw, keys=keys))
    seen = {
        person.id: [{p.id: s for p, s in line.seen}[person.id] for line in lines]
        for person, _ in lines[0].seen
    }
    assert seen["bot"] == ["yes"] * 6
    assert seen["ole"] == ["yes", "yes", "no", "yes", "yes", "yes"]
    assert seen["sam"] == ["later", "later", "no", "yes", "yes", "yes"]
    assert [line.is_point for line in lines] == [True] * 6


def test_a_script_is_what_the_editor_begins_with(stored: Dialogue) -> None:
    assert text_of(record_of(stored)).startswith("id: launch-07\ncluster: launch\n")
