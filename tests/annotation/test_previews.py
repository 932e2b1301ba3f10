"""A preview shows the annotator's page unchanged, and stores nothing."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from django.db import connection
from django.urls import reverse

from annotation.kinds import WITH_TURN
from annotation.models import Assignment, Task
from annotation.scheme_store import questionnaire_from, questionnaire_of
from annotation.schemes import SCHEMES
from annotation.work import screens
from annotation.work import task_actions as work
from tests import factories

pytestmark = pytest.mark.django_db
SAID = "Here the next task would come"


@pytest.fixture
def corpus():
    corpus = factories.corpus("talks")
    for number in range(3):
        dialogue = factories.dialogue(
            corpus, f"d{number}", turns=2, metadata={"goal": "a goal", "mood": "dull"}
        )
        factories.continuation(dialogue, "x", system="Model-X1", turns=[{"text": "as Model-X1 I say"}])
    return corpus


@pytest.fixture
def rosa(client):
    rosa = factories.user("rosa", researcher=True)
    client.force_login(rosa)
    return rosa


def read_only() -> None:
    """Let the database refuse every change for the rest of the test."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET TRANSACTION READ ONLY")


def json_in(page: str, name: str):
    found = re.search(rf'<script id="{name}" type="application/json">(.*?)</script>', page, re.S)
    assert found
    return json.loads(found[1])


def preview(client, campaign, number=1):
    return client.get(reverse("campaign-preview-task", args=[campaign.pk, number]))


@pytest.mark.parametrize("state", ["draft", "open", "paused", "closed"])
def test_a_campaign_is_looked_through_in_any_state_and_nothing_is_written(client, rosa, corpus, state):
    campaign = factories.campaign(corpus, by=rosa, opened=state != "draft", guidelines="Be **fair**.")
    campaign.state = state
    campaign.save()
    read_only()
    outside = client.get(reverse("campaign-preview", args=[campaign.pk]))
    assert "The first 3 tasks" in outside.content.decode()
    page = preview(client, campaign, 2).content.decode()
    assert "<strong>fair</strong>" in page
    assert json_in(page, "state")["progress"]["text"] == "2 of 3"
    assert [json_in(page, "preview")[way] for way in ("previous", "next")] == [
        reverse("campaign-preview-task", args=[campaign.pk, number]) for number in (1, 3)
    ]
    assert SAID in json_in(page, "preview")["end"]["html"]
    assert preview(client, campaign, 4).status_code == 404


def test_a_preview_shows_the_tasks_that_opening_makes_in_their_order(rosa, corpus):
    campaign = factories.campaign(corpus, by=rosa, opened=False, seed=7)
    before = screens.preview_places(campaign)
    assert not Task.objects.exists()
    factories.campaigns.open(by=rosa, campaign=campaign)
    made = list(Task.objects.order_by("position").values_list("continuation_id", "item_id"))
    assert before == made == screens.preview_places(campaign)


def without_numbers(html: str) -> str:
    """A task's HTML without the numbers of its items, which are another assignment's each time."""
    return re.sub(r'data-item="\d+"', "", html)


def test_an_annotator_gets_the_same_page_and_is_told_no_more(client, rosa, corpus):
    ana = factories.user("ana")
    campaign = factories.campaign(corpus, by=rosa, annotators=[ana])
    previewed = preview(client, campaign).content.decode()
    client.force_login(ana)
    worked = client.get(reverse("work", args=[campaign.pk])).content.decode()
    assert without_numbers(json_in(previewed, "state")["html"]) == without_numbers(
        json_in(worked, "state")["html"]
    )
    assert json_in(previewed, "questions") == json_in(worked, "questions")
    told = unescape(previewed)
    assert "Model-X1" not in told
    assert "[name hidden]" in told
    assert ("a goal" in told, "dull" in told) == (True, False)


def test_a_preview_takes_no_task_from_an_annotator(client, rosa, corpus):
    campaign = factories.campaign(corpus, by=rosa, annotators=[rosa])
    preview(client, campaign)
    assert not Assignment.objects.exists()
    hold = work.start(by=rosa, campaign=campaign.pk)[1]
    assert (
        screens.load(hold.task).parts
        == screens.campaign_preview(campaign, screens.preview_places(campaign)[0]).parts
    )


@pytest.mark.exhaustive
def test_only_a_preview_may_stand_in_a_frame_and_it_reaches_no_server(client, rosa, corpus):
    campaign = factories.campaign(corpus, by=rosa, annotators=[rosa])
    inner = preview(client, campaign)
    assert inner["X-Frame-Options"] == "SAMEORIGIN"
    policy = inner["Content-Security-Policy"]
    assert "frame-ancestors 'self'" in policy
    assert "connect-src 'none'" in policy
    assert "form-action 'none'" in policy
    outer = client.get(reverse("campaign-preview", args=[campaign.pk]))
    assert "frame-src 'self'" in outer["Content-Security-Policy"]
    for page in (outer, client.get(reverse("work", args=[campaign.pk]))):
        assert page["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in page["Content-Security-Policy"]


def test_a_campaign_with_nothing_to_rate_says_so_instead(client, rosa):
    campaign = factories.campaign(factories.corpus(), by=rosa, opened=False)
    page = client.get(reverse("campaign-preview", args=[campaign.pk])).content.decode()
    assert "Nothing to rate yet" in page
    assert "<iframe" not in page


@pytest.mark.exhaustive
@pytest.mark.parametrize("key", SCHEMES)
def test_every_scheme_can_be_asked_beside_the_sample_and_beside_a_corpus(corpus, key):
    definition = SCHEMES[key]
    for chosen in (None, corpus, factories.corpus()):
        shown = screens.scheme_preview(definition, chosen)
        places = {line.place for part in shown.parts for line in part.lines}
        assert shown.items
        assert ("item" in places) == (definition.item_kind in WITH_TURN)
        assert len(shown.items) == 1 or definition.unit == "continuation"


@pytest.mark.exhaustive
def test_a_definition_asks_what_its_stored_version_asks():
    for key, definition in SCHEMES.items():
        stored = questionnaire_of(factories.scheme_version(key).pk)
        drafted = questionnaire_from(definition)
        assert [{**_fields(one), "id": 0} for one in stored.questions] == [
            _fields(one) for one in drafted.questions
        ]


def _fields(question):
    return {name: getattr(question, name) for name in type(question).__dataclass_fields__}


@pytest.mark.django_db
def test_programs_get_the_same_previews_and_leave_nothing(client) -> None:
    client.force_login(factories.user(researcher=True))
    corpus = factories.corpus()
    factories.dialogue(corpus, turns=3)
    campaign = factories.campaign(corpus, opened=False)
    address = f"/api/v1/campaigns/{campaign.pk}/preview/"
    told = client.get(address, {"task": 2}).json()
    assert (told["number"], told["of"], told["questions"][0]["key"]) == (2, 3, "overall")
    assert [line["text"] for part in told["task"]["parts"] for line in part["lines"]][:1] == ["turn 0"]
    assert [client.get(address, {"task": task}).status_code for task in (4, 21)] == [404, 400]
    question = {"key": "kind", "wording": "Was it kind?", "level": "binary"}
    scheme = {"key": "mine", "title": "Mine", "item_kind": "turn", "questions": [question]}
    sent = client.post("/api/v1/schemes/preview/", {"definition": scheme}, content_type="application/json")
    assert sent.json()["questions"][0]["wording"] == "Was it kind?"
    assert not Assignment.objects.exists()
