"""Pages and API of written responses: what writers and researchers get, and when."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.campaigns import campaign_actions
from annotation.errors import CampaignRefused, SubmissionRefused
from annotation.models import Assignment, Campaign, Continuation
from annotation.work import check_actions, submissions
from config.models import Event
from suites.collecting.models import WrittenResponse
from suites.collecting.writing_plans import GUIDELINES
from tests import factories
from tests.suites.collecting.writing import begin, finish, fixed_corpus, reply, write_campaign

pytestmark = pytest.mark.django_db


def client_of(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def post(client: Client, route: str, *args: Any, **body: Any) -> Any:
    return client.post(reverse(route, args=args), json.dumps(body), content_type="application/json")


@pytest.fixture
def ana() -> User:
    return factories.user("ana")


@pytest.fixture
def rei() -> User:
    return factories.user("rei", researcher=True)


@pytest.fixture
def campaign(ana: User) -> Campaign:
    return write_campaign([ana], dialogues=1)


def everything(client: Client, campaign: Campaign, assignment: int) -> list[bytes]:
    """Return what all requests of a member answer that do not send a response."""
    pages = [
        client.get(reverse(name, args=args), follow=True).content
        for name, args in (
            ("write", [campaign.pk]),
            ("work", [campaign.pk]),
            ("work-task", [campaign.pk, assignment]),
            ("my-campaigns", []),
            ("my-submissions", []),
            ("api-my-campaigns", []),
            ("api-own-submissions", []),
        )
    ]
    posts = [
        post(client, name, *args, **body).content
        for name, args, body in (
            ("api-write", [campaign.pk], {}),
            ("api-work-next", [campaign.pk], {}),
            ("work-next", [campaign.pk], {}),
            ("work-reopen", [campaign.pk], {}),
            ("work-submit", [campaign.pk, assignment], {"answers": {}}),
            ("work-ask", [campaign.pk, assignment], {"line": 1, "text": "What is that?"}),
            ("work-note", [campaign.pk, assignment], {"line": 1, "comment": "odd"}),
        )
    ]
    return [*pages, *posts]


def test_the_real_reply_of_a_point_is_in_no_byte_before_the_response_is_stored(
    campaign: Campaign, ana: User
) -> None:
    client, own = client_of(ana), begin(ana, campaign)
    for number in (1, 2, 3):
        for content in everything(client, campaign, own.assignment):
            for later in range(number, 4):
                assert reply(0, later).encode() not in content
        sent = post(
            client,
            "write-send",
            campaign.pk,
            assignment=own.assignment,
            number=number,
            text=f"Text {number}.",
        )
        assert sent.json() == {"number": number, "is_last": number == 3, "real": ""}
        if number < 3:
            assert reply(0, number) in client.get(reverse("write", args=[campaign.pk])).content.decode()


def test_a_paused_campaign_shows_nothing_of_an_unfinished_dialogue(campaign: Campaign, ana: User) -> None:
    client, own = client_of(ana), begin(ana, campaign)
    campaign_actions.pause(by=factories.user(researcher=True), campaign=campaign)
    for content in everything(client, campaign, own.assignment):
        assert b"of dialogue 0" not in content


def test_a_member_comes_from_my_work_to_the_page_and_goes_on_after_a_reload(
    campaign: Campaign, ana: User
) -> None:
    client = client_of(ana)
    page = client.get(reverse("work", args=[campaign.pk]), follow=True)
    assert page.redirect_chain == [(reverse("write", args=[campaign.pk]), 302)]
    assert "1 of 3 responses" in page.content.decode()
    place = {"assignment": Assignment.objects.get().pk, "number": 1}
    assert post(client, "write-draft", campaign.pk, **place, text="I begin <b>").status_code == 200
    assert "I begin &lt;b&gt;</textarea>" in client.get(reverse("write", args=[campaign.pk])).content.decode()
    post(client, "write-send", campaign.pk, **place, text="I begin.")
    page = client.get(reverse("write", args=[campaign.pk]))
    assert "2 of 3 responses" in page.content.decode()
    assert "I begin" not in page.content.decode()


def test_a_second_tab_is_told_that_its_text_was_not_sent(campaign: Campaign, ana: User) -> None:
    client, own = client_of(ana), begin(ana, campaign)
    place = {"assignment": own.assignment, "number": 1}
    post(client, "write-send", campaign.pk, **place, text="From the first tab.")
    refusal = post(client, "write-send", campaign.pk, **place, text="From the second tab.")
    assert (refusal.status_code, refusal.json()["code"]) == (409, "writing_refused")
    assert WrittenResponse.objects.get().text == "From the first tab."


def test_after_the_last_dialogue_the_annotation_page_says_so(campaign: Campaign, ana: User) -> None:
    finish(ana, campaign)
    page = client_of(ana).get(reverse("write", args=[campaign.pk]), follow=True)
    assert page.redirect_chain == [(reverse("work", args=[campaign.pk]), 302)]
    assert page.status_code == 200
    submissions = client_of(ana).get(reverse("my-submissions"))
    assert submissions.status_code == 200


def test_whoever_skips_gets_the_next_dialogue(ana: User) -> None:
    campaign = write_campaign([ana], dialogues=2)
    client, own = client_of(ana), begin(ana, campaign)
    refusal = post(client, "write-skip", campaign.pk, assignment=own.assignment, number=1, text=" ")
    assert refusal.status_code == 422
    post(client, "write-skip", campaign.pk, assignment=own.assignment, number=1, text="Too sad.")
    assert begin(ana, campaign).assignment != own.assignment
    assert Assignment.objects.get(pk=own.assignment).skip_reason == "Too sad."


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"assignment": 1, "number": 1},
        {"assignment": "1", "number": 1, "text": "x"},
        {"assignment": 2**70, "number": 1, "text": "x"},
        {"assignment": 1, "number": 0, "text": "x"},
        {"assignment": 1, "number": 1, "text": 5},
    ],
)
def test_odd_requests_are_refused(campaign: Campaign, ana: User, body: dict[str, Any]) -> None:
    for route in ("write-send", "write-draft", "write-skip"):
        assert post(client_of(ana), route, campaign.pk, **body).status_code in (404, 422)


def test_nobody_writes_in_another_one_s_dialogue(campaign: Campaign, ana: User) -> None:
    own, other = begin(ana, campaign), factories.user("ben")
    campaign_actions.add_member(by=factories.user(researcher=True), campaign=campaign, user=other)
    refusal = post(
        client_of(other), "write-send", campaign.pk, assignment=own.assignment, number=1, text="Hello."
    )
    assert refusal.status_code in (403, 404)
    assert post(client_of(factories.user()), "api-write", campaign.pk).status_code == 404


def test_hostile_text_is_escaped_for_writers_and_researchers(ana: User, rei: User) -> None:
    campaign = write_campaign([ana], dialogues=1, plan={"show_real": True})
    own, bad = begin(ana, campaign), "<script>alert(1)</script>"
    post(client_of(ana), "write-send", campaign.pk, assignment=own.assignment, number=1, text=bad)
    pages = (
        client_of(ana).get(reverse("write", args=[campaign.pk])),
        client_of(rei).get(reverse("writing", args=[campaign.pk, own.assignment])),
    )
    for page in pages:
        assert bad not in page.content.decode()
        assert "&lt;script&gt;alert(1)" in page.content.decode()


def test_a_researcher_creates_a_campaign_on_the_page(ana: User, rei: User) -> None:
    corpus, client = fixed_corpus(), client_of(rei)
    annotation = client.get(reverse("corpus-annotation", args=[corpus.name])).content.decode()
    assert reverse("new-write-campaign", args=[corpus.name]) in annotation
    form = {
        "name": "Answers",
        "raters_per_item": 3,
        "personas": "own",
        "most_characters": 200,
        "guidelines": "",
        "consent": "",
        "scheme": "",
    }
    address = reverse("new-write-campaign", args=[corpus.name])
    assert client.get(address).status_code == 200
    assert client.post(address, {**form, "most_characters": 0}).status_code == 422
    assert client.post(address, form).status_code == 302
    campaign = Campaign.objects.get(name="Answers")
    assert (campaign.form, campaign.raters_per_item, campaign.writing_plan.personas) == ("write", 3, "own")
    assert Event.objects.filter(verb="campaign: create", by=rei).exists()
    for name in ("campaign", "edit-campaign", "writings"):
        assert client.get(reverse(name, args=[campaign.pk])).status_code == 200


@pytest.mark.parametrize("scheme", ["", "comperdial_dialogue"])
def test_guidelines_begin_with_what_writers_do_also_where_a_scheme_is_for_tests(
    rei: User, scheme: str
) -> None:
    corpus, client = fixed_corpus(), client_of(rei)
    address = reverse("new-write-campaign", args=[corpus.name])
    page = client.get(address).context["form"]
    values = {field.name: field.value() for field in page if field.value() is not None}
    assert client.post(address, values | {"name": "page", "scheme": scheme}).status_code == 302
    body = {"name": "api", "corpus": corpus.name} | ({"scheme": scheme} if scheme else {})
    assert (
        client.post(reverse("api-write-campaigns"), body, content_type="application/json").status_code == 201
    )
    texts = Campaign.objects.filter(name__in=("page", "api")).values_list("guidelines__text", flat=True)
    assert [text.replace("\r\n", "\n") for text in texts] == [GUIDELINES, GUIDELINES]


def test_researchers_follow_what_is_written(campaign: Campaign, ana: User, rei: User) -> None:
    finish(ana, campaign)
    client, own = client_of(rei), Assignment.objects.get()
    listing = client.get(reverse("writings", args=[campaign.pk])).content.decode()
    assert factories.called(ana, campaign) in listing
    assert "1 of 2" in listing
    page = client.get(reverse("writing", args=[campaign.pk, own.pk])).content.decode()
    assert "answer 2 by ana" in page
    assert reply(0, 2) in page
    rows = client.get(reverse("api-writings", args=[campaign.pk])).json()["results"]
    assert [(row["dialogue"], row["responses"], row["state"]) for row in rows] == [("d0", 3, "submitted")]
    row = client.get(reverse("api-writing", args=[campaign.pk, own.pk])).json()
    assert [text["real"] for text in row["texts"]] == [reply(0, number) for number in (1, 2, 3)]


RESEARCHERS_PAGES = (
    *("campaign", "edit-campaign", "submissions", "held", "campaign-notes", "campaign-messages"),
    *("campaign-checks", "campaign-rules", "participants"),
    *("campaign-watch", "campaign-report", "campaign-plan", "writings"),
)


@pytest.mark.parametrize("name", RESEARCHERS_PAGES)
def test_every_page_of_a_campaign_shows_one_without_questions(ana: User, rei: User, name: str) -> None:
    campaign = write_campaign([ana], dialogues=2)
    finish(ana, campaign)
    begin(ana, campaign)
    assert client_of(rei).get(reverse(name, args=[campaign.pk]), follow=True).status_code == 200


def test_what_was_written_is_neither_returned_nor_voided(campaign: Campaign, ana: User, rei: User) -> None:
    finish(ana, campaign)
    for action in (submissions.return_to_annotator, submissions.void):
        with pytest.raises(SubmissionRefused, match="stays there"):
            action(by=rei, assignment=Assignment.objects.get(), reason="No.")
    with pytest.raises(CampaignRefused, match="nothing can be repeated"):
        check_actions.set_up(by=rei, campaign=campaign, repeat_every=4)


def test_a_program_creates_and_a_program_writes(ana: User, rei: User) -> None:
    corpus, client = fixed_corpus(1, 2), client_of(rei)
    made = post(
        client, "api-write-campaigns", name="Answers", corpus=corpus.name, plan={"show_real": True}
    ).json()
    campaign = Campaign.objects.get(pk=made["id"])
    campaign_actions.change_members(by=rei, campaign=campaign, add=[ana])
    campaign_actions.open(by=rei, campaign=campaign)
    writer = client_of(ana)
    for number in (1, 2):
        place = post(writer, "api-write", campaign.pk).json()
        assert (place["state"], place["writing"]["number"]) == ("writing", number)
        own = place["writing"]["assignment"]
        post(writer, "api-write-draft", campaign.pk, own, number=number, text="A beginning")
        assert post(writer, "api-write", campaign.pk).json()["writing"]["draft"] == "A beginning"
        sent = post(writer, "api-write-send", campaign.pk, own, number=number, text=f"Text {number}.").json()
        assert sent == {"number": number, "total": 2, "text": f"Text {number}.", "real": reply(0, number)}
    assert post(writer, "api-write", campaign.pk).json() == {"state": "nothing", "writing": None}
    assert Continuation.objects.get(system__name="human 1").turns.count() == 2
