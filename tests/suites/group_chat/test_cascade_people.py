"""People's answers in the Cascade report: in the agent's place, on conduct, on natural scripts."""

from __future__ import annotations

from typing import Any

import pytest

from annotation import scheme_store
from annotation.corpora import continuing
from annotation.models import Corpus, Item, Occasion, Rater, System
from annotation.records import Continuation
from annotation.scenario_records import PEOPLE, POINTS
from annotation.work import labels
from annotation.work.labels import Answer, record
from suites.group_chat import schemes as decisions
from suites.group_chat.scenarios.agents import AGENTS, decide
from suites.group_chat.scenarios.cascade import turn_of
from tests.suites.group_chat.scripts import launch
from tests.suites.group_chat.test_cascade_report import always, cell, families, played, report

pytestmark = pytest.mark.django_db


def person(corpus: Corpus, name: str) -> Rater:
    return labels.imported_rater(corpus=corpus, kind=Rater.Kind.HUMAN, name=name)


def say(rater: Rater, scheme: Any, answers: dict[tuple[Item, str], Any]) -> None:
    version = scheme_store.store(definition=scheme)
    questions = {question.key: question for question in version.questions.all()}
    given = [Answer(item.pk, questions[key], value, "") for (item, key), value in answers.items()]
    record(rater=rater, answers=given, occasion=Occasion.IMPORTED)


def points(corpus: Corpus) -> None:
    """Make the points of every scenario for people."""
    script = launch()
    turns = tuple(turn_of(one, "bot", script.turns[one.point]) for one in always("silent"))
    system = System.objects.create(corpus=corpus, name=PEOPLE)
    for dialogue in corpus.dialogues.all():
        made = Continuation(POINTS, PEOPLE, turns, "static", 0, {"mode": "explicit"})
        continuing.add(dialogue=dialogue, system=system, record=made)


def at(corpus: Corpus, scenario: str, point: int, system: str = PEOPLE) -> Item:
    return Item.objects.get(
        corpus=corpus,
        kind="decision",
        continuation__dialogue__key=scenario,
        continuation__system__name=system,
        turn__at=point + 1,
    )


def test_people_in_the_agents_place_are_no_system_but_the_ceiling(tmp_path) -> None:
    corpus = families(tmp_path)
    points(corpus)
    for name, act in (("ana", "silence"), ("bo", "silence"), ("cy", "message")):
        answers = {(at(corpus, "a-1", 0), "speak"): act, (at(corpus, "a-1", 4), "addressed"): "bot"}
        say(person(corpus, name), decisions.HUMAN, answers)
    made = report(corpus)
    assert cell(made, "people", "What to do", "People") == pytest.approx(2 / 3)
    assert cell(made, "people", "Whom the message is for", "People") == 1
    assert 0 <= cell(made, "people", "What to do", "Majority baseline") <= 1
    assert not any(PEOPLE in line["name"] for table in made["tables"] for line in table["rows"])
    assert not any(table["key"] == "contradicted" for table in made["tables"])


def test_a_key_that_most_of_three_people_contradict_is_listed(tmp_path) -> None:
    corpus = families(tmp_path)
    points(corpus)
    for name, act in (("ana", "message"), ("bo", "message"), ("cy", "silence")):
        say(person(corpus, name), decisions.HUMAN, {(at(corpus, "a-1", 0), "speak"): act})
    made = report(corpus)
    row = "a-1, turn 0: speak"
    assert cell(made, "contradicted", row, "The key says") == "silence"
    assert cell(made, "contradicted", row, "Most of those who differ say") == "message"
    assert cell(made, "contradicted", row, "People") == "2 of 3"
    assert any("contradict 1 keys" in one for one in made["guardrails"])


def test_two_people_contradict_no_key(tmp_path) -> None:
    corpus = families(tmp_path)
    points(corpus)
    for name in ("ana", "bo"):
        say(person(corpus, name), decisions.HUMAN, {(at(corpus, "a-1", 0), "speak"): "message"})
    assert not any(table["key"] == "contradicted" for table in report(corpus)["tables"])


@pytest.mark.exhaustive
def test_a_judges_conduct_stands_beside_peoples_and_out_of_the_headline(tmp_path) -> None:
    corpus = families(tmp_path)
    played(corpus, "kit", decide(AGENTS["oracle"], launch()))
    judge = labels.imported_rater(corpus=corpus, kind=Rater.Kind.JUDGE, name="strict")
    item = at(corpus, "a-1", 4, "kit")
    say(judge, decisions.CONDUCT, {(item, "face"): 5, (item, "leak"): 1})
    say(person(corpus, "ana"), decisions.CONDUCT, {(item, "face"): 2})
    say(person(corpus, "bo"), decisions.CONDUCT, {(item, "face"): 3})
    made = report(corpus, judge="strict")
    row = "kit (mode explicit)"
    assert cell(made, "conduct", row, "Face") == 5
    assert cell(made, "conduct", f"{row}, by people", "Face") == 2.5
    table = next(one for one in made["tables"] if one["key"] == "conduct")
    assert "not calibrated" in table["title"]
    assert cell(made, "verdicts", row, "Conduct: all") == "not calibrated"
    assert cell(made, "leaks", row, "By a judge, of those that reached CONDUCT") == 1
    assert cell(made, "leaks", row, "By canary, of those that reached CONDUCT") == 0


@pytest.mark.exhaustive
def test_how_natural_the_scripts_are_is_in_every_report(tmp_path) -> None:
    corpus = families(tmp_path)
    assert any("nobody has rated yet" in one for one in report(corpus)["guardrails"])
    ana = person(corpus, "ana")
    for dialogue, score in zip(corpus.dialogues.order_by("key"), (5, 4, 3), strict=True):
        item = Item.objects.get(kind="dialogue", continuation__dialogue=dialogue, continuation__key="self")
        say(ana, decisions.NATURALNESS, {(item, "natural"): score})
    assert any("4.00 of 5" in one and "over 3 scripts" in one for one in report(corpus)["guardrails"])


@pytest.mark.exhaustive
def test_a_trial_that_lacks_a_probed_decision_is_not_decided(tmp_path) -> None:
    corpus = families(tmp_path)
    right = decide(AGENTS["oracle"], launch())
    played(corpus, "kit", right, trial=0)
    played(corpus, "kit", tuple(one for one in right if one.point != 4), trial=1)
    made = report(corpus, k="1,2")
    row = "kit (mode explicit)"
    assert cell(made, "reliability", row, "Undecided trials") == 3
    assert cell(made, "reliability", row, "pass^1") == 1
    notes = next(one for one in made["tables"] if one["key"] == "reliability")["notes"]
    assert any("pass^2 lies between 0.00 and 1.00" in one for one in notes)


def test_differences_from_the_best_baseline_are_exact(tmp_path) -> None:
    corpus = families(tmp_path)
    played(corpus, "kit", decide(AGENTS["oracle"], launch()))
    made = report(corpus, k="1")
    best, row = made["best_baseline"], "kit (mode explicit)"
    for table, column in (
        ("restraint", "Balanced accuracy"),
        ("reliability", "pass^1"),
        ("accuracy", "Acts rightly"),
    ):
        own, other = cell(made, table, row, column), cell(made, table, f"baseline: {best}", column)
        assert cell(made, table, f"{row}, minus {best}", column) == pytest.approx(own - other)
