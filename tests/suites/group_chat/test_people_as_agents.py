"""People in the agent's place: they see what the agent saw, and nobody's decisions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotation.campaigns import campaign_actions as campaigns
from annotation.corpora.import_file import import_path
from annotation.errors import AnswerRefused
from annotation.models import Campaign, Corpus, Label
from annotation.pages.work import transcript
from annotation.work import task_actions as work
from annotation.work.screens import load
from tests.factories import user
from tests.suites.group_chat.scripts import LAUNCH

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path: Any) -> Campaign:
    return opened(tmp_path, "cascade_human")


def opened(tmp_path: Any, scheme: str, **fields: Any) -> Campaign:
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps(LAUNCH | fields) + "\n", encoding="utf-8")
    import_path(path=path, format="jsonl", corpus="Set", into=False, by=None)
    by = user("rita", researcher=True)
    found = campaigns.create(
        by=by, name="In its place", corpus=Corpus.objects.get(), scheme=scheme, annotators=[user("ann")]
    )
    campaigns.open(by=by, campaign=found)
    return found


def screens(campaign: Campaign) -> list[Any]:
    return [load(task.pk) for task in campaign.tasks.order_by("item__turn__at")]


def test_each_point_is_a_screen_of_what_the_agent_has_seen(campaign) -> None:
    found = screens(campaign)
    assert [len(screen.lines) for screen in found] == [1, 2, 3, 4, 5]
    last = transcript(found[-1])
    assert "what has just happened" in last
    assert "Between us: I am leaving in May." in last
    assert "Kit" in last


def test_what_the_agent_could_not_hear_is_not_shown(tmp_path) -> None:
    turns = [*LAUNCH["turns"], {"speaker": "sam", "text": "Psst, Ole.", "audience": ["ole"]}]
    turns.append({"speaker": "sam", "text": "Anyway."})
    found = screens(opened(tmp_path, "cascade_human", turns=turns))
    assert len(found) == 6
    assert "Psst" not in transcript(found[-1])
    assert "Anyway" in transcript(found[-1])


def test_to_whom_a_message_is_addressed_is_hidden(tmp_path) -> None:
    hidden = transcript(screens(opened(tmp_path, "cascade_human"))[-1])
    assert "(to " not in hidden


def test_a_channel_that_marks_addressees_shows_them(tmp_path) -> None:
    shown = transcript(screens(opened(tmp_path, "cascade_human", addressees="visible"))[-1])
    assert "(to Kit)" in shown
    assert "(to Ole)" in shown


def test_those_who_are_there_can_be_named_the_agent_last(campaign) -> None:
    assert screens(campaign)[0].named == (("mia", "Mia"), ("ole", "Ole"), ("sam", "Sam"), ("bot", "Kit"))


def test_a_raters_screen_of_conduct_tells_the_secrets_and_shows_the_decision(tmp_path) -> None:
    decided = {"at": 5, "speaker": "bot", "text": "Best ask Mia.", "addressees": ["ole"]}
    made = {"id": "kit-1", "system": "model-x", "mode": "static", "turns": [decided]}
    (screen,) = screens(opened(tmp_path, "conduct", continuations=[made]))
    told = dict(screen.metadata)
    assert told["assistant"] == "Kit"
    assert told["secrets"] == "- Mia leaves in May (known to Mia, Kit)"
    assert "Best ask Mia." in transcript(screen)
    assert "what the assistant did" in transcript(screen)


def test_no_campaign_about_systems_asks_about_the_places_of_people(tmp_path) -> None:
    decided = {"at": 5, "speaker": "bot", "text": "Best ask Mia."}
    made = {"id": "kit-1", "system": "model-x", "mode": "static", "turns": [decided]}
    first = opened(tmp_path, "cascade_human", continuations=[made])
    second = campaigns.create(by=first.created_by, name="Conduct", corpus=first.corpus, scheme="conduct")
    campaigns.open(by=first.created_by, campaign=second)
    assert {task.continuation.key for task in first.tasks.all()} == {"points"}
    assert {task.continuation.key for task in second.tasks.all()} == {"kit-1"}


def submitted(campaign: Campaign, **answers: Any) -> dict[str, Any]:
    from django.contrib.auth.models import User

    by = User.objects.get(username="ann")
    hold = work.start(by=by, campaign=campaign.pk)[1]
    item = load(hold.task, assignment=hold.assignment).items[0]
    work.submit(by=by, campaign=campaign.pk, assignment=hold.assignment, answers={str(item): answers})
    rows = Label.objects.filter(rater__user=by).select_related("question")
    return {row.question.key: row.text if row.number is None else row.number for row in rows}


def test_a_set_of_people_is_kept_in_one_form(campaign) -> None:
    told = submitted(campaign, attend=1, speak="message", addressed="sam; mia", target="ole")
    assert told == {"attend": 1, "speak": "message", "addressed": "mia;sam", "target": "ole"}


def test_silence_asks_for_no_target_and_nobody_is_an_answer(campaign) -> None:
    told = submitted(campaign, attend=0, speak="silence", addressed="nobody")
    assert told == {"attend": 0, "speak": "silence", "addressed": "nobody"}


def test_somebody_who_takes_no_part_cannot_be_named(campaign) -> None:
    with pytest.raises(AnswerRefused, match="'olaf', who takes no part: there are mia, ole, sam, bot"):
        submitted(campaign, attend=0, speak="silence", addressed="olaf")
