"""Setting up and running a campaign, on pages and through the API."""

import pytest
from django.urls import reverse

from annotation.campaigns import campaign_actions as campaigns
from annotation.models import Assignment, Campaign
from annotation.people import accounts
from annotation.work import task_actions as labelling
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher(client):
    user = factories.user("rosa", researcher=True)
    client.force_login(user)
    return user


@pytest.fixture
def corpus():
    corpus = factories.corpus("talks")
    dialogue = factories.dialogue(corpus, turns=2)
    factories.continuation(dialogue, "x", system="model-x", turns=[{"text": "one"}])
    return corpus


@pytest.mark.exhaustive
def test_a_campaign_is_set_up_opened_paused_and_closed_from_its_pages(client, researcher, corpus):
    ana = factories.user("ana")
    assert client.get(reverse("new-campaign")).url == reverse("corpora")
    address = f"{reverse('new-campaign')}?corpus={corpus.pk}"
    assert "model-x" in client.get(address).content.decode()
    form = {
        "name": "Pilot",
        "scheme": "comperdial_turn",
        "raters_per_item": 1,
        "lease_minutes": 30,
        "seed": 0,
        "annotators": [ana.pk],
    }
    made = client.post(address, form)
    campaign = Campaign.objects.get(name="Pilot")
    assert made.url == reverse("campaign", args=[campaign.pk])
    assert "Opening makes 1 task for 1 rater each" in client.get(made.url).content.decode()
    for verb, state in [("open", "open"), ("pause", "paused"), ("open", "open"), ("close", "closed")]:
        client.post(reverse("campaign-state", args=[campaign.pk]), {"verb": verb})
        campaign.refresh_from_db()
        assert campaign.state == state
    assert "Pilot" in client.get(reverse("campaigns")).content.decode()


def test_a_form_with_a_mistake_says_what_is_wrong(client, researcher, corpus):
    address = f"{reverse('new-campaign')}?corpus={corpus.pk}"
    answer = client.post(address, {"name": "", "scheme": "none", "raters_per_item": 0})
    assert answer.status_code == 422
    assert not Campaign.objects.exists()


def test_people_join_and_leave_and_guidelines_change(client, researcher, corpus):
    campaign = factories.campaign(corpus, by=researcher)
    ana = factories.user("ana")
    client.post(reverse("campaign-members", args=[campaign.pk]), {"add": [ana.pk]})
    assert campaign.members.get().user == ana
    client.post(reverse("campaign-guidelines", args=[campaign.pk]), {"text": "Be kind.\r\nBe brief."})
    assert campaign.guidelines.order_by("-version").first().text == "Be kind.\nBe brief."
    client.post(reverse("campaign-members", args=[campaign.pk]), {"remove": [ana.pk]})
    assert not campaign.members.exists()


@pytest.mark.exhaustive
def test_a_campaign_whose_ratings_are_all_in_says_so_and_leads_to_its_report(client, researcher, corpus):
    ana = factories.user("ana")
    campaign = factories.campaign(corpus, by=researcher, annotators=[ana])
    address, said = reverse("campaign", args=[campaign.pk]), "All ratings are in"
    assert said not in client.get(address).content.decode()
    hold = labelling.start(by=ana, campaign=campaign.pk)[1]
    answers = {str(corpus.items.get(kind="turn", turn__text="one").pk): {"overall": 4}}
    labelling.submit(by=ana, campaign=campaign.pk, assignment=hold.assignment, answers=answers)
    page = client.get(address).content.decode()
    assert said in page
    assert f'<a href="{reverse("campaign-report", args=[campaign.pk])}">report' in page


def test_a_wrong_step_is_told_on_the_page(client, researcher, corpus):
    campaign = factories.campaign(corpus, by=researcher, opened=False)
    answer = client.post(reverse("campaign-state", args=[campaign.pk]), {"verb": "pause"}, follow=True)
    assert "Only an open campaign can be paused" in answer.content.decode()


def api(client, method, route, /, *args, **body):
    return getattr(client, method)(reverse(route, args=args), body, content_type="application/json")


@pytest.mark.exhaustive
def test_the_api_sets_a_campaign_up_and_runs_it(client, researcher, corpus):
    factories.user("ana")
    made = api(
        client,
        "post",
        "api-campaigns",
        name="Pilot",
        corpus="talks",
        scheme="comperdial_turn",
        systems=["model-x"],
        raters_per_item=1,
        annotators=["ana"],
    )
    assert made.status_code == 201, made.content
    number = made.json()["id"]
    assert (made.json()["state"], made.json()["systems"]) == ("draft", ["model-x"])
    assert api(client, "post", "api-campaign-state", number, verb="open").json()["state"] == "open"
    assert api(client, "put", "api-campaign-guidelines", number, text="Be kind.").json()["version"] == 1
    api(client, "post", "api-campaign-members", number, add=["rosa"], remove=["ana"])
    found = api(client, "get", "api-campaign", number).json()
    assert (found["counts"]["tasks"], found["annotators"], found["guidelines"]) == (1, ["rosa"], "Be kind.")
    assert api(client, "get", "api-campaigns").json()["count"] == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"corpus": "none"}, 400),
        ({"systems": ["none"]}, 400),
        ({"scheme": "none"}, 400),
        ({"raters_per_item": 0}, 422),
    ],
)
def test_the_api_refuses_a_campaign_that_makes_no_sense(client, researcher, corpus, change, status):
    body = {"name": "Pilot", "corpus": "talks", "scheme": "comperdial_turn"} | change
    assert api(client, "post", "api-campaigns", **body).status_code == status


@pytest.mark.exhaustive
def test_a_program_works_through_a_campaign_with_the_api(client, corpus):
    ana = factories.user("ana")
    campaign = factories.campaign(corpus, annotators=[ana])
    client.force_login(ana)
    assert api(client, "get", "api-my-campaigns").json()[0]["campaign"] == campaign.pk
    task = api(client, "post", "api-work-next", campaign.pk).json()["task"]
    assert [line["text"] for part in task["parts"] for line in part["lines"]] == ["turn 0", "turn 1", "one"]
    answers = {str(task["items"][0]): {"overall": 3}}
    place = (campaign.pk, task["assignment"])
    assert api(client, "post", "api-work-draft", *place, version=1, answers=answers).json() == {"version": 1}
    done = api(client, "post", "api-work-submit", *place, answers=answers).json()
    assert (done["status"], done["task"]) == ("submitted", None)
    again = api(client, "post", "api-work-reopen", campaign.pk).json()["task"]
    assert again["draft"]["answers"] == answers
    assert "text" in api(client, "get", "api-work-guidelines", campaign.pk).json()


@pytest.mark.exhaustive
def test_a_campaign_that_can_never_finish_says_so(client, researcher, corpus):
    ana, ben = factories.user("ana"), factories.user("ben")
    campaign = factories.campaign(corpus, by=researcher, raters=3, annotators=[ana, ben])
    address = reverse("campaign", args=[campaign.pk])
    api = f"/api/v1/campaigns/{campaign.pk}/"
    assert "Add 1 more annotator." in " ".join(client.get(address).content.decode().split())
    assert "too few annotators" in client.get(reverse("campaigns")).content.decode()
    assert client.get(api).json()["annotators_lacking"] == 1
    client.post(reverse("campaign-members", args=[campaign.pk]), {"add": [factories.user("cem").pk]})
    assert "can never finish" not in client.get(address).content.decode()
    assert "too few annotators" not in client.get(reverse("campaigns")).content.decode()
    assert client.get(api).json()["annotators_lacking"] == 0


@pytest.mark.exhaustive
def test_a_deactivated_annotator_does_not_count_and_one_who_submitted_and_left_does(
    client, researcher, corpus
):
    ana, ben = factories.user("ana"), factories.user("ben")
    campaign = factories.campaign(corpus, by=researcher, raters=2, annotators=[ana, ben])
    api = f"/api/v1/campaigns/{campaign.pk}/"
    accounts.deactivate(by=researcher, person=ben)
    assert client.get(api).json()["annotators_lacking"] == 1
    slot = campaign.slots.first()
    Assignment.objects.create(
        slot=slot,
        task=slot.task,
        campaign=campaign,
        user=ben,
        state="submitted",
        lease_expires="2030-01-01T00:00Z",
        submitted_at="2026-01-01T00:00Z",
    )
    campaigns.remove_member(by=researcher, campaign=campaign, user=ben)
    assert client.get(api).json()["annotators_lacking"] == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["campaigns", "corpus-annotation", "corpus-judges"])
def test_a_list_refreshes_itself(client, researcher, corpus, name):
    factories.campaign(corpus, by=researcher)
    address = reverse(name, args=[] if name == "campaigns" else [corpus.name])
    text = client.get(address).content.decode()
    assert 'id="list"' in text
    assert 'hx-trigger="every 5s"' in text
    assert f'hx-get="{address}"' in text
