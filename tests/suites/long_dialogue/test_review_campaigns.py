"""Campaigns on facts and questions of scripts: the questions, and the script's text on the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.campaigns import campaign_actions as campaigns
from annotation.campaigns import editing
from annotation.errors import CampaignRefused
from annotation.models import Campaign, Corpus, Item, Label, Record
from annotation.schemes import SCHEMES
from annotation.work import screens, task_answers
from annotation.work import task_actions as labelling
from tests import factories
from tests.suites.long_dialogue.examples import script
from tests.suites.long_dialogue.reviews import answer, brought, opened

pytestmark = pytest.mark.django_db

DRAFTS = [
    {
        "id": f"d{number}",
        "head": "Ana",
        "relation": "boss",
        "tail": "Ben",
        "session": session,
        "turns": [turn],
    }
    for number, (session, turn) in enumerate([("s1", 0), ("s4", 7), ("s5", 9)], start=1)
]


@pytest.fixture
def ana() -> User:
    return factories.user("ana")


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    facts = [*script()["facts"], *DRAFTS]
    return brought(tmp_path, script(facts=facts))


def screen_of(campaign: Campaign, number: int = 0) -> screens.Screen:
    return screens.campaign_preview(campaign, screens.preview_places(campaign)[number])


def test_drafts_are_asked_about_one_a_task_and_nothing_else(ana: User, corpus: Corpus) -> None:
    campaign = opened(corpus, "fact_review", ana)
    right: dict[str, Any] = {"right": 1}
    assert answer(campaign, ana, f2=right, d1=right, d2=right, d3=right) == ["f2", "d1", "d2", "d3"]
    assert set(Label.objects.values_list("item__kind", "question__key")) == {("fact", "right")}


@pytest.mark.parametrize(("status", "keys"), [("accepted", {"f1"}), ("all", {"f1", "f2", "d1", "d2", "d3"})])
def test_which_status_is_a_choice(ana: User, corpus: Corpus, status: str, keys: set[str]) -> None:
    campaign = opened(corpus, "fact_review", ana, record_status=status)
    assert set(campaign.tasks.values_list("item__record__key", flat=True)) == keys


def test_a_fact_that_was_superseded_is_not_asked_about(ana: User, corpus: Corpus) -> None:
    newer = Record.objects.get(key="d2")
    Record.objects.filter(key="d1").update(superseded_by=newer)
    campaign = opened(corpus, "fact_review", ana)
    assert "d1" not in campaign.tasks.values_list("item__record__key", flat=True)


def test_a_sample_is_drawn_by_the_seed_and_kept(ana: User, corpus: Corpus) -> None:
    first = opened(corpus, "fact_review", ana, sample_records=2)
    again = opened(corpus, "fact_review", ana, sample_records=2)
    keys = [set(one.tasks.values_list("item__record__key", flat=True)) for one in (first, again)]
    assert keys[0] == keys[1]
    assert len(keys[0]) == 2
    Record.objects.filter(key="d1").update(status="rejected")
    campaigns.pause(by=ana, campaign=first)
    campaigns.open(by=ana, campaign=first)
    assert first.tasks.count() == 2


def test_a_sample_larger_than_what_there_is_is_refused(ana: User, corpus: Corpus) -> None:
    with pytest.raises(CampaignRefused, match="there are only 4"):
        opened(corpus, "fact_review", ana, sample_records=5)


def test_other_schemes_draw_no_records(ana: User, corpus: Corpus) -> None:
    made = factories.campaign(factories.corpus(), opened=False)
    with pytest.raises(CampaignRefused, match="one by one"):
        editing.change(by=ana, campaign=made, sample_records=3)


def test_a_quiz_question_with_wordings_is_for_both_reviews_and_a_derived_one_for_neither(
    ana: User, corpus: Corpus
) -> None:
    for scheme in ("quiz_review", "style_review"):
        campaign = opened(corpus, scheme, ana, record_status="accepted")
        assert list(campaign.tasks.values_list("item__record__key", flat=True)) == ["q1"]


def test_a_fact_is_shown_with_its_session_and_the_turn_marked(ana: User, corpus: Corpus) -> None:
    screen = screen_of(opened(corpus, "fact_review", ana), 2)
    assert screen.card is not None
    assert screen.card.rows == (("Head", "Ana"), ("Relation", "boss"), ("Tail", "Ben"))
    (part,) = screen.parts
    assert part.heading == "session 4 · s4 · 1995-01-07"
    assert [(line.no, line.place) for line in part.lines] == [(7, "history"), (8, "marked")]
    assert dict(screen.offered)["people"] == ("Ana", "Ben", "Cara")
    assert "place of work" in dict(screen.offered)["relations"]


def test_a_question_is_shown_with_its_evidence_sessions_in_their_order(ana: User, tmp_path: Path) -> None:
    asked = script()["questions"][0] | {"evidence": ["s4", "s2"], "evidence_turns": [2], "evidence_all": True}
    corpus = brought(tmp_path, script(questions=[asked], question_sets=None))
    screen = screen_of(opened(corpus, "quiz_review", ana, record_status="accepted"))
    assert screen.card is not None
    assert dict(screen.card.rows)["Evidence"] == "session 2 (s2) and session 4 (s4)"
    assert [choice.text for choice in screen.card.choices if choice.is_answer] == ["red boots"]
    assert [part.heading for part in screen.parts] == [
        "session 2 · s2 · 1994-09",
        "session 4 · s4 · 1995-01-07",
    ]
    assert [name for name, _ in screen.named] == ["s2", "s4"]


def test_long_evidence_is_folded_after_its_first_session(ana: User, tmp_path: Path) -> None:
    turns = [
        {"speaker": "ana", "text": f"line {number}", "session": f"s{1 + number // 50}"}
        for number in range(250)
    ]
    asked = script()["questions"][0] | {"evidence": ["s2", "s4"], "styles": {}}
    corpus = brought(tmp_path, script(turns=turns, facts=[], questions=[asked], question_sets=None))
    screen = screen_of(opened(corpus, "quiz_review", ana, record_status="accepted"))
    assert [(len(part.lines), part.folded) for part in screen.parts] == [(50, False), (50, True)]


def test_of_a_long_script_only_the_turns_of_the_session_are_read(ana: User, tmp_path: Path) -> None:
    turns = [
        {"speaker": "ana", "text": f"line {number}", "session": f"s{1 + number // 400}"}
        for number in range(2_000)
    ]
    fact = script()["facts"][1] | {"turns": [1_201]}
    corpus = brought(tmp_path, script(turns=turns, facts=[fact], questions=[], question_sets=None))
    place = screens.preview_places(opened(corpus, "fact_review", ana))[0]
    with CaptureQueriesContext(
        connection,
    ) as queries:
        screen = screens.load_place(*place, [], True)
    assert len(screen.lines) == 400
    assert len(queries) == 2


def test_what_names_a_system_is_hidden_in_records_too(ana: User, tmp_path: Path) -> None:
    fact = script()["facts"][1] | {"tail": "gpt-4-turbo"}
    told = {
        "id": "x",
        "system": "gpt-4-turbo",
        "mode": "rollout",
        "turns": [{"speaker": "ana", "text": "Hm."}],
    }
    corpus = brought(tmp_path, script(facts=[fact], continuations=[told], questions=[], question_sets=None))
    screen = screen_of(opened(corpus, "fact_review", ana))
    assert screen.card is not None
    assert "gpt-4-turbo" not in screen.card.line


def test_evidence_pointed_at_on_the_screen_is_kept_as_turns_of_the_script(ana: User, corpus: Corpus) -> None:
    campaign = opened(corpus, "fact_review", ana)
    _, hold = labelling.start(by=ana, campaign=campaign.pk)
    assert hold is not None
    rows, _, _ = screens.turns_of(hold.task)
    assert [row.position for row in rows] == [6, 7]
    assert task_answers.places_of(hold.task).continuation == "self"


def test_the_work_page_shows_the_record(ana: User, corpus: Corpus, client: Client) -> None:
    campaign = opened(corpus, "fact_review", ana)
    client.force_login(ana)
    page = client.get(f"/work/{campaign.pk}/").content.decode()
    for piece in ("The fact", "roommate", "session 4", "offered-people", "turn marked"):
        assert piece in page
    assert "bakery on Monday" not in page


@pytest.mark.parametrize("key", ["fact_review", "quiz_review", "style_review"])
def test_schemes_about_records_have_a_preview(key: str) -> None:
    screen = screens.scheme_preview(SCHEMES[key], None)
    assert screen.card is not None
    assert screen.items == (1,)
    assert any(line.place == "marked" for line in screen.lines)


def test_a_scheme_is_previewed_on_a_corpus_with_records(corpus: Corpus) -> None:
    screen = screens.scheme_preview(SCHEMES["fact_review"], corpus)
    assert screen.card is not None
    assert screen.items == (Item.objects.get(record__key="f1").public,)


def replied(folder: Path, **told: Any) -> Corpus:
    """A script at which an agent answered one question, asked after turn 8."""
    known = {
        **{"question": "q1", "set": "first", "session": 4, "use": "ans_wo_time", "answerable": True},
        **{"key": "B", "answer": "red boots", "answers": ["boots"], "source": "quiz", "hops": 0},
        **{"choices": ["a hat", "red boots", "a coat", "gloves"], "evidence": [2], "evidence_all": False},
        **{"relations": [], "forms": [], "asker": "cara", "rule": "heard", "format": "natural"},
        **{"names": "original", "outcome": "text", "lenient": False},
    } | told
    turns = [
        {"speaker": "cara", "text": "What did I buy?", "at": 7, "given": True, "addressees": ["ana"]},
        {"speaker": "ana", "text": "Boots, I think.", "at": 7, "session": "s4", "extra": {"answer": known}},
    ]
    agent = {"id": "agent-1", "system": "agent", "mode": "static", "turns": turns}
    return brought(folder, script(continuations=[agent]))


def test_an_answer_is_shown_with_the_right_one_and_the_evidence_alone(ana: User, tmp_path: Path) -> None:
    campaign = opened(replied(tmp_path), "long_dialogue_answers", ana)
    screen = screen_of(campaign)
    assert screen.card is not None
    assert dict(screen.card.rows) == {
        "Right answer": "red boots", "Right, too": "boots", "Asked in": "session 4 · s4 · 1995-01-07",
    }  # fmt: skip
    assert [part.heading for part in screen.parts] == [
        "session 2 · s2 · 1994-09", "what was asked", "the reply, to be rated",
    ]  # fmt: skip
    assert [(line.who, line.text, line.place) for line in screen.lines] == [
        ("Cara", "Ana, I bought red boots.", "history"),
        ("Ana", "They suit you.", "history"),
        ("Cara", "What did I buy?", "given"),
        ("Ana", "Boots, I think.", "item"),
    ]
    assert "agent" not in f"{screen.card.line} {screen.parts}".replace("agenda", "")


def test_where_nothing_can_be_known_that_is_the_right_answer(ana: User, tmp_path: Path) -> None:
    campaign = opened(replied(tmp_path, key="E", evidence=[]), "long_dialogue_answers", ana)
    screen = screen_of(campaign)
    assert screen.card is not None
    assert screen.card.rows[0][1].startswith("I don't know")
    assert not any(choice.is_answer for choice in screen.card.choices)


def test_people_rate_answers_and_the_place_is_kept(ana: User, tmp_path: Path) -> None:
    campaign = opened(replied(tmp_path), "long_dialogue_answers", ana)
    _, hold = labelling.start(by=ana, campaign=campaign.pk)
    assert hold is not None
    rows, _, _ = screens.turns_of(hold.task)
    assert [(row.own, row.position) for row in rows] == [(True, 2), (True, 3), (False, 0), (False, 1)]
    item = str(screens.load(hold.task, assignment=hold.assignment).items[0])
    labelling.submit(by=ana, campaign=campaign.pk, assignment=hold.assignment, answers={item: {"right": 1}})
    label = Label.objects.get(question__key="right", rater__kind="human")
    assert (label.item.kind, label.item.cluster) == ("answer", "loaf/s4")
