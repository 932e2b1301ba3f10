"""Campaigns that ask about the turns of some speakers only."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.urls import reverse

from annotation import scheme_actions
from annotation.campaigns import campaign_actions as campaigns
from annotation.campaigns import editing, sampling, tasks
from annotation.corpora import queries
from annotation.errors import AnswerRefused, CampaignRefused
from annotation.models import Campaign, Item, Label
from annotation.schemes import files
from annotation.work import check_actions, screens
from annotation.work import task_actions as labelling
from calibration.ratings import scope
from judges.runs.selection import Selection, items
from tests import factories
from tests.api_command import api

pytestmark = pytest.mark.django_db

PEOPLE = [{"id": "A", "name": "Ana", "role": "customer"}, {"id": "B", "name": "Ben", "role": "assistant"}]


TAGS = {
    "scheme": "tags",
    "title": "Tags",
    "item_kind": "turn",
    "unit": "continuation",
    "questions": [{"key": "rude", "wording": "Rude", "level": "binary", "values": [0, 1], "group": "Tags"}],
}


@pytest.fixture
def rosa():
    rosa = factories.user("rosa", researcher=True)
    scheme_actions.create(by=rosa, definition=files.definition_from(TAGS))
    return rosa


@pytest.fixture
def ana():
    return factories.user("ana")


@pytest.fixture
def corpus():
    corpus = factories.corpus("support")
    for key in ("d1", "d2"):
        factories.dialogue(corpus, key, turns=4, participants=PEOPLE)
    return corpus


def campaign_of(corpus, rosa, scheme="comperdial_turn", **options):
    options = {"raters_per_item": 1} | options
    return campaigns.create(by=rosa, name=f"of {scheme}", corpus=corpus, scheme=scheme, **options)


def rated_texts(campaign):
    rows = campaign.tasks.filter(item__isnull=False).values_list("item__turn__text", flat=True)
    return sorted(set(rows))


@pytest.mark.parametrize("speaker", ["B", "assistant"])
def test_only_the_turns_of_the_speakers_become_tasks(corpus, rosa, speaker):
    campaign = campaign_of(corpus, rosa, speakers=[speaker])
    assert tasks.count(campaign) == 4
    campaigns.open(by=rosa, campaign=campaign)
    assert rated_texts(campaign) == ["turn 1", "turn 3"]


def test_a_screen_with_all_turns_asks_about_those_of_the_speakers(corpus, rosa, ana):
    campaign = campaign_of(corpus, rosa, TAGS["scheme"], speakers=["assistant"], annotators=[ana])
    campaigns.open(by=rosa, campaign=campaign)
    _, hold = labelling.start(by=ana, campaign=campaign.pk)
    screen = screens.load(hold.task, True, hold.assignment, ("turn",))
    assert [line.place for line in screen.lines] == ["given", "item", "given", "item"]
    assert len(screen.items) == 2
    preview = screens.campaign_preview(campaign, screens.preview_places(campaign)[0])
    assert [line.place for line in preview.lines] == [line.place for line in screen.lines]
    others = Item.objects.get(turn__text="turn 0", continuation__dialogue__key="d1")
    with pytest.raises(AnswerRefused, match="not part of this task"):
        labelling.submit(
            by=ana, campaign=campaign.pk, assignment=hold.assignment, answers={str(others.pk): {}}
        )
    labelling.submit(by=ana, campaign=campaign.pk, assignment=hold.assignment, answers={})
    assert set(Label.objects.values_list("item__turn__speaker", flat=True)) == {"B"}


def test_judges_reports_and_checks_of_the_campaign_leave_out_the_same_turns(corpus, rosa):
    campaign = campaign_of(corpus, rosa, TAGS["scheme"], speakers=["assistant"])
    campaigns.open(by=rosa, campaign=campaign)
    asked = set(Item.objects.filter(kind="turn", turn__speaker="B"))
    assert set(items(Selection(corpus, campaign), "turn")) == asked
    assert set(scope.items_of(scope.of_campaign(campaign)).filter(kind="turn")) == asked
    spot = (Item.objects.filter(kind="turn").first().continuation_id, None)
    assert [item.turn.speaker for item in check_actions.items_at(campaign, spot)] == ["B", "B"]


def test_a_sample_is_drawn_from_dialogues_with_turns_of_the_speakers(corpus, rosa):
    alone = factories.dialogue(corpus, "d0", turns=1, participants=PEOPLE)
    campaign = campaign_of(corpus, rosa, speakers=["assistant"], sample_dialogues=2)
    assert alone.pk not in sampling.dialogues(campaign)


def test_a_static_response_by_others_is_left_out_of_the_screen(corpus, rosa):
    dialogue = factories.dialogue(corpus, "d3", turns=3, participants=PEOPLE)
    lines = [{"text": "by B", "speaker": "B", "at": 1}, {"text": "by A", "speaker": "A", "at": 2}]
    factories.continuation(dialogue, "x", system="model-x", mode="static", turns=lines)
    campaign = campaign_of(
        corpus, rosa, TAGS["scheme"], systems=[corpus.systems.get(name="model-x")], speakers=["B"]
    )
    screen = screens.campaign_preview(campaign, screens.preview_places(campaign)[0])
    assert [line.text for line in screen.lines if line.place == "item"] == ["by B"]
    assert "by A" not in [line.text for line in screen.lines]


def test_speakers_that_nobody_is_or_that_do_not_apply_are_refused(corpus, rosa):
    with pytest.raises(CampaignRefused, match="Nobody speaks as “assistent” in support") as refused:
        campaign_of(corpus, rosa, speakers=["assistant", "assistent"])
    assert refused.value.field == "speakers"
    with pytest.raises(CampaignRefused, match="single turns"):
        campaign_of(corpus, rosa, "comperdial_dialogue", speakers=["assistant"])
    assert not Campaign.objects.exists()


def test_speakers_are_fixed_once_the_campaign_opens_and_another_corpus_forgets_them(corpus, rosa):
    campaign = campaign_of(corpus, rosa, speakers=["assistant"])
    other = factories.corpus("other")
    factories.dialogue(other, turns=2)
    assert editing.change(by=rosa, campaign=campaign, corpus=other).speakers == []
    editing.change(by=rosa, campaign=campaign, corpus=corpus, speakers=["customer"])
    campaigns.open(by=rosa, campaign=campaign)
    with pytest.raises(CampaignRefused, match="speakers of an opened campaign cannot change"):
        editing.change(by=rosa, campaign=campaign, speakers=[])


def test_the_database_refuses_speakers_without_a_name(corpus, rosa):
    campaign = campaign_of(corpus, rosa)
    for wrong in ("ARRAY[NULL]::text[]", "ARRAY['']"):
        with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"UPDATE annotation_campaign SET speakers = {wrong} WHERE id = %s", [campaign.pk])


def test_roles_come_before_names_and_many_names_are_no_choice(corpus):
    assert queries.speakers(corpus) == ["assistant", "customer"]
    crowd = factories.corpus("crowd")
    factories.dialogue(crowd, turns=0)
    lines = [{"text": str(number), "speaker": f"s{number}"} for number in range(queries.MOST_SPEAKERS + 1)]
    factories.continuation(crowd.dialogues.get(), "x", system="x", turns=lines)
    assert queries.speakers(crowd) == []


def test_the_page_chooses_the_bots_turns_at_first(client, rosa, corpus):
    client.force_login(rosa)
    form = client.get(f"{reverse('new-campaign')}?corpus={corpus.pk}").context["form"]
    assert form["speakers"].value() == ["assistant"]
    assert [value for value, _ in form.fields["speakers"].choices] == ["assistant", "customer"]


def test_the_api_sets_and_shows_speakers(rosa, corpus):
    chosen = ("name=Bot", "corpus=support", "scheme=comperdial_turn", 'speakers:=["assistant"]')
    made = api("POST", "/api/v1/campaigns/", *chosen, account="rosa")
    assert made["speakers"] == ["assistant"]
    address = f"/api/v1/campaigns/{made['id']}/"
    assert api("PATCH", address, "speakers:=[]", account="rosa")["speakers"] == []
