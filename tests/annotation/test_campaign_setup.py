"""Editing, copying and archiving campaigns, on pages, through the API and by command."""

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest
from django.core.management import CommandError
from django.urls import reverse

from annotation import scheme_actions
from annotation.models import Campaign
from annotation.schemes import SCHEMES
from config.models import Event
from tests import factories
from tests.api_command import api as command_line

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher(client):
    user = factories.user("rosa", researcher=True)
    client.force_login(user)
    return user


@pytest.fixture
def corpus():
    corpus = factories.corpus("talks")
    for key in "abcd":
        dialogue = factories.dialogue(
            corpus, key, turns=2, metadata={"topic": "tea" if key < "d" else "rain"}
        )
        factories.continuation(dialogue, "x", system="model-x", turns=[{"text": f"one of {key}"}])
    return corpus


def api(client, method, route, /, *args, **body):
    return getattr(client, method)(reverse(route, args=args), body, content_type="application/json")


def as_shown(client, address):
    """Return what a browser would send of the form on a page, unchanged."""
    form = client.get(address).context["form"]
    shown = {name: form[name].value() for name in form.fields}
    return {
        name: value.strftime("%Y-%m-%dT%H:%M") if hasattr(value, "strftime") else value
        for name, value in shown.items()
        if value is not None and value is not False
    }


def test_a_draft_is_changed_on_its_page_and_one_that_was_opened_in_what_does_no_harm(
    client, researcher, corpus
):
    ana = factories.user("ana")
    draft = factories.campaign(corpus, by=researcher, opened=False, annotators=[ana], name="First")
    address = reverse("edit-campaign", args=[draft.pk])
    assert f'href="{address}"' in client.get(reverse("campaign", args=[draft.pk])).content.decode()
    shown = as_shown(client, address)
    changed = {"name": "Second", "seed": 4, "annotators": [], "overlap_raters": 3, "overlap_percent": 25}
    assert client.post(address, shown | changed).status_code == 302
    draft.refresh_from_db()
    assert (draft.name, draft.seed, draft.overlap_raters, draft.overlap_share) == ("Second", 4, 3, 0.25)
    assert not draft.members.exists()
    client.post(reverse("campaign-state", args=[draft.pk]), {"verb": "open"})
    shown = as_shown(client, address)
    assert "seed" not in shown
    assert client.post(address, shown | {"raters_per_item": 2, "seed": 9}).status_code == 302
    draft.refresh_from_db()
    assert (draft.raters_per_item, draft.seed, draft.slots.count()) == (2, 4, 3 * 2 + 3)


@pytest.mark.exhaustive
def test_a_draft_keeps_the_version_of_a_scheme_that_it_asks_also_when_that_is_archived(
    client, researcher, corpus
):
    definition = replace(SCHEMES["comperdial_turn"], key="mine", guidelines="Be kind.")
    asked = scheme_actions.create(by=researcher, definition=definition)
    draft = factories.campaign(corpus, "mine", by=researcher, opened=False)
    scheme_actions.save(by=researcher, definition=replace(definition, guidelines="Be brief."), seen=None)
    scheme_actions.archive(by=researcher, scheme=asked.scheme)
    address = reverse("edit-campaign", args=[draft.pk])
    shown = as_shown(client, address)
    assert shown["scheme"] == "mine@1"
    assert client.post(address, shown | {"name": "Second"}).status_code == 302
    draft.refresh_from_db()
    assert (draft.name, draft.scheme_version) == ("Second", asked)
    assert client.post(address, shown | {"scheme": "cocoeval_overall"}).status_code == 302
    assert client.post(address, shown).status_code == 422
    draft.refresh_from_db()
    assert draft.scheme_version.scheme.key == "cocoeval_overall"


@pytest.mark.exhaustive
def test_a_refused_change_is_told_beside_its_field(client, researcher, corpus):
    campaign = factories.campaign(corpus, by=researcher, raters=2)
    address = reverse("edit-campaign", args=[campaign.pk])
    for changed, field in [
        ({"raters_per_item": 1}, "raters_per_item"),
        ({"overlap_percent": 10}, "overlap_raters"),
    ]:
        answer = client.post(address, as_shown(client, address) | changed)
        assert answer.status_code == 422
        assert list(answer.context["form"].errors) == [field]


@pytest.mark.exhaustive
def test_a_draft_is_moved_to_another_corpus_on_its_page(client, researcher, corpus):
    other = factories.corpus("letters")
    factories.dialogue(other, turns=2)
    draft = factories.campaign(corpus, by=researcher, opened=False)
    address = reverse("edit-campaign", args=[draft.pk])
    assert f'value="{other.pk}">letters' in client.get(address).content.decode()
    there = f"{address}?corpus={other.pk}"
    assert client.post(there, as_shown(client, there)).status_code == 302
    draft.refresh_from_db()
    assert draft.corpus == other


@pytest.mark.exhaustive
def test_a_campaign_is_copied_archived_and_brought_back_on_its_page(client, researcher, corpus):
    campaign = factories.campaign(corpus, by=researcher, name="First")
    made = client.post(reverse("copy-campaign", args=[campaign.pk]), {"name": "First again"})
    copy = Campaign.objects.get(name="First again")
    assert made.url == reverse("edit-campaign", args=[copy.pk])
    assert (
        "already"
        in client.post(
            reverse("copy-campaign", args=[campaign.pk]), {"name": "First"}, follow=True
        ).content.decode()
    )
    state = reverse("campaign-state", args=[campaign.pk])
    client.post(state, {"verb": "archive"})
    listed = client.get(reverse("campaigns")).content.decode()
    assert ">First again<" in listed
    assert ">First<" not in listed
    assert ">First<" in client.get(reverse("campaigns") + "?archived=1").content.decode()
    assert ">First<" not in client.get(reverse("new-study")).content.decode()
    page = client.get(reverse("campaign", args=[campaign.pk])).content.decode()
    assert 'value="bring-back"' in page
    assert 'value="open"' not in page
    client.post(state, {"verb": "bring-back"})
    assert ">First<" in client.get(reverse("campaigns")).content.decode()


@pytest.mark.exhaustive
def test_an_archived_campaign_is_not_among_anybodys_tasks(client, researcher, corpus):
    campaign = factories.campaign(corpus, by=researcher, annotators=[researcher], name="First")
    assert "First" in client.get(reverse("my-campaigns")).content.decode()
    api(client, "post", "api-campaign-state", campaign.pk, verb="archive")
    assert "First" not in client.get(reverse("my-campaigns")).content.decode()
    assert api(client, "get", "api-my-campaigns").json() == []


@pytest.mark.exhaustive
def test_what_happened_under_an_earlier_name_stays_on_the_page(client, researcher, corpus):
    campaign = factories.campaign(corpus, by=researcher, name="First")
    api(client, "patch", "api-campaign", campaign.pk, name="Second")
    factories.campaign(corpus, by=researcher, name="First", opened=False)
    events = client.get(reverse("campaign", args=[campaign.pk])).context["events"]
    assert [event.verb for event, _ in events] == ["campaign: change", "campaign: open", "campaign: create"]


@pytest.mark.exhaustive
def test_the_api_changes_copies_and_archives_a_campaign(client, researcher, corpus):
    ana, ben = factories.user("ana"), factories.user("ben")
    campaign = factories.campaign(corpus, by=researcher, annotators=[ana], name="First", raters=1)
    told = {
        "raters_per_item": 2,
        "overlap_raters": 3,
        "overlap_share": 0.5,
        "annotators": ["ben"],
        "guidelines": "Hm.",
    }
    found = api(client, "patch", "api-campaign", campaign.pk, **told).json()
    assert {name: found[name] for name in told} == told
    assert found["counts"]["slots"] == 2 * 2 + 2 * 3
    refused = api(client, "patch", "api-campaign", campaign.pk, seed=5)
    assert (refused.status_code, refused.json()["code"]) == (422, "campaign_refused")
    copy = api(client, "post", "api-copy-campaign", campaign.pk, name="Second")
    assert (copy.status_code, copy.json()["state"], copy.json()["annotators"]) == (
        201,
        "draft",
        [ben.username],
    )
    assert api(client, "post", "api-campaign-state", campaign.pk, verb="archive").json()["state"] == "closed"
    assert [row["name"] for row in api(client, "get", "api-campaigns").json()["results"]] == ["Second"]
    archived = client.get(reverse("api-campaigns"), {"archived": "true"}).json()["results"]
    assert [row["name"] for row in archived] == ["First"]
    assert client.get(reverse("api-campaigns"), {"archived": "perhaps"}).status_code == 400


def test_a_campaign_is_set_up_and_run_from_the_command_line(corpus, tmp_path):
    factories.user("rosa", researcher=True)
    factories.user("ana")
    run = partial(command_line, account="rosa")
    file = tmp_path / "pilot.yaml"
    file.write_text(
        "name: Pilot\ncorpus: talks\nscheme: comperdial_turn\nsystems: [model-x]\nannotators: [ana]\n"
        "raters_per_item: 1\noverlap_raters: 2\noverlap_share: 0.25\n"
    )
    made = run("POST", "campaigns/", f"@{file}")
    assert (made["state"], made["systems"], made["annotators"]) == ("draft", ["model-x"], ["ana"])
    pilot = f"campaigns/{made['id']}/"
    assert run("POST", f"{pilot}state/", "verb=open")["state"] == "open"
    assert run("GET", pilot)["counts"]["slots"] == 5
    run("PATCH", pilot, "overlap_raters=5")
    assert run("PATCH", pilot, "raters_per_item=3")["raters_per_item"] == 3
    assert run("GET", pilot)["counts"]["slots"] == 3 * 3 + 5
    assert run("POST", f"{pilot}copy/", "name=Main")["name"] == "Main"
    run("POST", f"{pilot}state/", "verb=archive")
    assert [row["name"] for row in run("GET", "campaigns/")["results"]] == ["Main"]
    assert [row["name"] for row in run("GET", "campaigns/", "archived=true")["results"]] == ["Pilot"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[", "neither JSON nor YAML"),
        ("- 1", "dictionary"),
        ("name: x\ncolour: red", "There is no field colour here"),
        ("name: x\ncorpus: none\nscheme: comperdial_turn", "corpus: "),
        ("name: x\ncorpus: talks\nscheme: comperdial_turn\nraters_per_item: 0", "Raters per item"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_in_a_line(corpus, tmp_path, text, problem):
    factories.user("rosa", researcher=True)
    file = tmp_path / "pilot.yaml"
    file.write_text(text)
    with pytest.raises(CommandError, match=problem) as refusal:
        command_line("POST", "campaigns/", f"@{file}", account="rosa")
    assert "\n" not in str(refusal.value)
    assert not Campaign.objects.exists()


@pytest.mark.exhaustive
def test_saving_a_draft_as_it_is_changes_nothing(client, researcher, corpus):
    told = {"overlap_raters": 3, "overlap_share": 1 / 3, "sample_dialogues": 2, "sample_by": "system"}
    told |= {"deadline": datetime(2031, 5, 4, 3, 2, 1, tzinfo=UTC), "most_tasks": 4, "consent": "I agree."}
    draft = factories.campaign(corpus, by=researcher, opened=False, **told)
    address = reverse("edit-campaign", args=[draft.pk])
    assert client.post(address, as_shown(client, address)).status_code == 302
    assert not Event.objects.filter(verb="campaign: change").exists()
    assert Campaign.objects.values().get(pk=draft.pk) == {
        field.attname: getattr(draft, field.attname) for field in Campaign._meta.concrete_fields
    }
    assert draft.consents.get().text == "I agree."
