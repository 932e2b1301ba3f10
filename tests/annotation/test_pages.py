"""Permissions of pages, the content sent to a browser, and the cost of a request."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.campaigns import campaign_actions as campaigns
from annotation.corpora.properties import set_has_marks
from annotation.models import Assignment
from annotation.work import own_work
from annotation.work import task_actions as labelling
from tests import factories

pytestmark = pytest.mark.django_db

SYSTEM, CONTINUATION = "Parrot-9", "from-Parrot-9-run-2"
RESEARCHER_PAGES = ["campaigns", "new-campaign"]


@pytest.fixture
def ana():
    return factories.user("ana")


@pytest.fixture
def campaign(ana):
    """One exchange by a system whose name turns up wherever it could."""
    corpus = factories.corpus()
    dialogue = factories.dialogue(
        corpus,
        "d",
        turns=2,
        participants=[
            {"id": "A", "name": "Ana"},
            {"id": "Parrot-9", "role": "a parrot-9", "profile": ["PARROT-9!"]},
        ],
        metadata={"model": "x", "made by": "parrot-9", "topic": "birds"},
        summary="Ana talks to Parrot-9.",
    )
    lines = [
        {"speaker": SYSTEM, "text": "I am Parrot-9 and I like <b>seeds</b>."},
        {"text": "Me too {laugh}."},
    ]
    factories.continuation(dialogue, CONTINUATION, system=SYSTEM, turns=lines)
    return factories.campaign(corpus, annotators=[ana])


def post(client, route, /, *args, **body):
    return client.post(reverse(route, args=args), json.dumps(body), content_type="application/json")


def answers_of(assignment, value=4):
    return {str(Assignment.objects.get(pk=assignment).task.item_id): {"overall": value}}


def test_the_systems_name_is_nowhere_in_what_an_annotator_receives(client, ana, campaign):
    client.force_login(ana)
    received = [client.get(reverse("my-campaigns")), client.get(reverse("work", args=[campaign.pk]))]
    received.append(client.get(reverse("work-guidelines", args=[campaign.pk])))
    for _ in range(2):
        assignment = Assignment.objects.get(user=ana, state="leased").pk
        draft = {"version": 1, "answers": answers_of(assignment)}
        received.append(post(client, "work-draft", campaign.pk, assignment, **draft))
        received.append(post(client, "work-submit", campaign.pk, assignment, answers=answers_of(assignment)))
        assert received[-1].status_code == 200
    received.append(post(client, "work-reopen", campaign.pk))
    received.append(client.get(reverse("work-task", args=[campaign.pk, assignment])))
    received.append(post(client, "api-work-next", campaign.pk))
    received.append(post(client, "api-work-reopen", campaign.pk))
    for response in received:
        everything = response.content.decode() + str(response.headers)
        assert "parrot" not in everything.casefold(), response.request["PATH_INFO"]
    assert "birds" in received[1].content.decode()


def test_a_transcript_is_text_and_its_marks_can_be_hidden(client, ana, campaign):
    client.force_login(ana)
    client.get(reverse("work", args=[campaign.pk]))
    assignment = Assignment.objects.get(user=ana)
    answer = post(client, "work-submit", campaign.pk, assignment.pk, answers=answers_of(assignment.pk))
    html = answer.json()["html"]
    assert "{laugh}" in html
    assert "line-mark" not in html
    set_has_marks(by=None, corpus=campaign.corpus, has_marks=True)
    html = post(client, "work-next", campaign.pk).json()["html"]
    assert "&lt;b&gt;seeds&lt;/b&gt;" in html
    assert '<span class="line-mark">{laugh}</span>' in html


@pytest.mark.parametrize("name", RESEARCHER_PAGES)
def test_annotators_do_not_see_the_researchers_pages(client, ana, name):
    client.force_login(ana)
    assert client.get(reverse(name)).status_code == 403


def test_annotators_can_neither_see_nor_change_a_campaign(client, ana, campaign):
    client.force_login(ana)
    assert client.get(reverse("campaign", args=[campaign.pk])).status_code == 403
    for name in ("campaign-state", "campaign-members", "campaign-guidelines"):
        assert (
            client.post(reverse(name, args=[campaign.pk]), {"verb": "close", "text": "x"}).status_code == 403
        )
    for name in ("api-campaign-state", "api-campaign-members"):
        assert post(client, name, campaign.pk, verb="close").status_code == 403
    assert client.get(reverse("api-campaigns")).status_code == 403
    campaign.refresh_from_db()
    assert campaign.state == "open"


@pytest.mark.exhaustive
@pytest.mark.parametrize("who", ["annotator", "researcher"])
def test_who_is_not_in_a_campaign_finds_nothing_there(client, ana, campaign, who):
    assignment = labelling.start(by=ana, campaign=campaign.pk)[1].assignment
    client.force_login(factories.user(researcher=who == "researcher"))
    assert client.get(reverse("work", args=[campaign.pk])).status_code == 404
    assert client.get(reverse("work-task", args=[campaign.pk, assignment])).status_code == 404
    assert client.get(reverse("work-guidelines", args=[campaign.pk])).status_code == 404
    answers = answers_of(assignment)
    bodies = {
        "submit": {"answers": answers},
        "draft": {"answers": answers, "version": 5},
        "skip": {"reason": "x"},
    }
    for prefix in ("work", "api-work"):
        for name, body in bodies.items():
            assert post(client, f"{prefix}-{name}", campaign.pk, assignment, **body).status_code == 404
        assert post(client, f"{prefix}-next", campaign.pk).status_code == 404
        assert post(client, f"{prefix}-reopen", campaign.pk).status_code == 404
    assert Assignment.objects.get(pk=assignment).draft == {}


def test_who_is_not_signed_in_is_sent_to_the_sign_in_page(client, campaign):
    for name in ("work", "campaign"):
        assert client.get(reverse(name, args=[campaign.pk])).status_code == 302
    assert client.get(reverse("my-campaigns")).status_code == 302
    assert post(client, "work-submit", campaign.pk, 1).status_code == 302
    assert post(client, "api-work-next", campaign.pk).status_code in (401, 403)


def test_a_post_without_its_token_is_refused(campaign, ana):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(ana)
    assert post(client, "work-next", campaign.pk).status_code == 403


def test_a_refusal_is_json_with_one_line(client, ana, campaign):
    client.force_login(ana)
    assignment = labelling.start(by=ana, campaign=campaign.pk)[1].assignment
    refused = post(client, "work-submit", campaign.pk, assignment, answers={})
    assert (refused.status_code, refused.json()["code"]) == (422, "answer_refused")
    campaigns.pause(by=ana, campaign=campaign)
    refused = post(client, "work-submit", campaign.pk, assignment, answers=answers_of(assignment))
    assert (refused.status_code, refused.json()["code"]) == (409, "not_open")
    assert "paused" in client.get(reverse("work", args=[campaign.pk])).content.decode()


def _submit_queries(client, ana, dialogues, turns=4):
    corpus = factories.corpus()
    for _ in range(dialogues):
        factories.dialogue(corpus, turns=turns)
    campaign = factories.campaign(corpus, annotators=[ana])
    assignment = client.get(reverse("work", args=[campaign.pk])).context["state"]["task"]["assignment"]
    assignment = post(client, "work-submit", campaign.pk, assignment, answers=answers_of(assignment)).json()[
        "task"
    ]
    answers = answers_of(assignment["assignment"])
    with CaptureQueriesContext(connection) as captured:
        answer = post(client, "work-submit", campaign.pk, assignment["assignment"], answers=answers)
    assert answer.json()["task"]
    return [query["sql"] for query in captured if "SAVEPOINT" not in str(query["sql"])]


@pytest.mark.exhaustive
def test_a_submit_with_the_next_task_takes_nine_queries_whatever_the_corpus(client, ana):
    client.force_login(ana)
    small = _submit_queries(client, ana, dialogues=1)
    large = _submit_queries(client, ana, dialogues=60)
    long = _submit_queries(client, ana, dialogues=2, turns=60)
    assert len(small) == len(large) == len(long) == 9, (small, large, long)


def test_an_annotators_list_says_what_to_do_when_it_is_empty(client, ana):
    client.force_login(ana)
    assert "adds you to a campaign" in client.get(reverse("my-campaigns")).content.decode()


def test_progress_counts_what_is_done_and_what_is_left(ana, campaign):
    seat, hold = labelling.start(by=ana, campaign=campaign.pk)
    assert own_work.progress(seat=seat, hold=hold)[:2] == (0, 2)
    outcome = labelling.submit(
        by=ana, campaign=campaign.pk, assignment=hold.assignment, answers=answers_of(hold.assignment)
    )
    assert own_work.progress(seat=outcome.seat, hold=outcome.next)[:2] == (1, 1)
