"""Editing, copying and archiving a campaign."""

import pytest

from annotation.campaigns import campaign_actions as campaigns
from annotation.campaigns import editing
from annotation.errors import CampaignNotOpen, CampaignRefused
from annotation.models import Assignment, Campaign
from annotation.work import task_actions as labelling
from config.models import Event
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def by():
    return factories.user("rosa", researcher=True)


@pytest.fixture
def corpus():
    corpus = factories.corpus("talks")
    dialogue = factories.dialogue(corpus, "d", turns=2)
    factories.continuation(dialogue, "x", system="model-x", turns=[{"text": "one"}, {"text": "two"}])
    factories.continuation(dialogue, "y", system="model-y", turns=[{"text": "three"}])
    return corpus


def slots(campaign):
    return sorted(campaign.slots.values_list("task__position", "number"))


def test_a_draft_changes_in_every_part(corpus, by):
    draft = factories.campaign(corpus, by=by, opened=False)
    other = factories.corpus("letters")
    factories.dialogue(other, "e", turns=3, system="scribe")
    changes = {
        "name": "Second",
        "corpus": other,
        "scheme": "cocoeval_overall",
        "systems": [other.systems.get()],
        "include_self": True,
        "raters_per_item": 3,
        "lease_minutes": 5,
        "seed": 9,
        "shows": ["summary"],
    }
    made = editing.change(by=by, campaign=draft, **changes)
    made.refresh_from_db()
    assert {
        field: getattr(made, field) for field in changes if hasattr(made, field) and field != "systems"
    } == {field: value for field, value in changes.items() if field not in ("scheme", "systems")}
    assert made.scheme_version.scheme.key == "cocoeval_overall"
    assert [system.name for system in made.systems.all()] == ["scribe"]
    assert made.guidelines.get().text == made.scheme_version.guidelines
    told = Event.objects.get(verb="campaign: change").detail
    assert (told["corpus"], told["systems"], told["raters_per_item"]) == ("letters", ["scribe"], 3)


def test_guidelines_of_ones_own_stay_when_a_draft_asks_by_another_scheme(corpus, by):
    draft = factories.campaign(corpus, by=by, opened=False, guidelines="Be kind.")
    editing.change(by=by, campaign=draft, scheme="cocoeval_overall")
    assert draft.guidelines.get().text == "Be kind."


def test_a_change_of_nothing_leaves_no_entry(corpus, by):
    campaign = factories.campaign(corpus, by=by, name="Pilot")
    editing.change(by=by, campaign=campaign, name=" Pilot ", scheme="comperdial_turn", systems=[], seed=0)
    assert not Event.objects.filter(verb="campaign: change").exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [("scheme", "cocoeval_overall"), ("include_self", True), ("seed", 1), ("shows", ["summary"])],
)
def test_what_answers_depend_on_stays_once_a_campaign_was_opened(corpus, by, field, value):
    campaign = factories.campaign(corpus, by=by)
    with pytest.raises(CampaignRefused, match="opened campaign cannot change") as refusal:
        editing.change(by=by, campaign=campaign, **{field: value})
    assert refusal.value.field == field


def test_an_opened_campaign_changes_its_name_and_lease(corpus, by):
    campaign = factories.campaign(corpus, by=by)
    made = editing.change(by=by, campaign=campaign, name="Renamed", lease_minutes=5)
    assert (made.name, made.lease_minutes, made.state) == ("Renamed", 5, "open")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("change", "field", "problem"),
    [
        ({"name": ""}, "name", "Give the campaign a name"),
        ({"name": "Other"}, "name", "already"),
        ({"name": "with model-x"}, "name", "must not learn"),
        ({"scheme": "none"}, "scheme", "no scheme"),
        ({"raters_per_item": 101}, "raters_per_item", "between 1 and 100"),
        ({"lease_minutes": 0}, "lease_minutes", "a week"),
        ({"shows": ["nothing"]}, "shows", "nothing"),
        ({"overlap_raters": 5}, "overlap_share", "which share"),
        ({"overlap_share": 0.1}, "overlap_raters", "how many raters"),
        ({"overlap_raters": 5, "overlap_share": 1.5}, "overlap_share", "at most 1"),
        ({"overlap_raters": 5, "overlap_share": 0.5, "overlap_tasks": 2}, "overlap_tasks", "not both"),
        (
            {"overlap_raters": 2, "overlap_share": 0.5, "raters_per_item": 2},
            "overlap_raters",
            "more raters than",
        ),
    ],
)
def test_a_change_that_makes_no_sense_is_refused_beside_its_field(corpus, by, change, field, problem):
    draft = factories.campaign(corpus, by=by, opened=False)
    factories.campaign(corpus, by=by, opened=False, name="Other")
    with pytest.raises(CampaignRefused, match=problem) as refusal:
        editing.change(by=by, campaign=draft, **change)
    assert refusal.value.field == field


def test_raters_are_added_to_an_open_campaign_and_never_taken_away(corpus, by):
    campaign = factories.campaign(corpus, by=by, raters=1)
    editing.change(by=by, campaign=campaign, raters_per_item=3)
    assert slots(campaign) == [(position, number) for position in range(3) for number in (1, 2, 3)]
    with pytest.raises(CampaignRefused, match="can only grow once there are tasks: now 3"):
        editing.change(by=by, campaign=campaign, raters_per_item=2)
    assert campaign.slots.count() == 9


def test_who_had_done_everything_gets_nothing_twice_when_raters_are_added(corpus, by):
    ana, ben = factories.user("ana"), factories.user("ben")
    campaign = factories.campaign(
        corpus, by=by, annotators=[ana, ben], systems=[corpus.systems.get(name="model-y")]
    )
    _, hold = labelling.start(by=ana, campaign=campaign.pk)
    item = str(corpus.items.get(kind="turn", turn__text="three").pk)
    labelling.submit(by=ana, campaign=campaign.pk, assignment=hold.assignment, answers={item: {"overall": 4}})
    assert labelling.start(by=ben, campaign=campaign.pk)[1] is None
    editing.change(by=by, campaign=campaign, raters_per_item=2)
    assert labelling.start(by=ana, campaign=campaign.pk)[1] is None
    assert labelling.start(by=ben, campaign=campaign.pk)[1].task == hold.task


def test_a_copy_has_everything_but_the_work(corpus, by):
    ana, gone = factories.user("ana"), factories.user("gone")
    original = factories.campaign(
        corpus, by=by, name="First", annotators=[ana, gone], raters=2, seed=7, guidelines="Be kind.",
        systems=[corpus.systems.get(name="model-x")], overlap_raters=4, overlap_tasks=1,
    )  # fmt: skip
    labelling.start(by=ana, campaign=original.pk)
    gone.is_active = False
    gone.save()
    made = editing.copy(by=by, campaign=original, name="Second")
    same = (
        *("corpus_id", "scheme_version_id", "include_self", "raters_per_item", "lease_minutes", "occasion"),
        *("seed", "shows", "overlap_raters", "overlap_share", "overlap_tasks"),
    )
    assert [getattr(made, name) for name in same] == [getattr(original, name) for name in same]
    assert (made.name, made.state, made.created_by) == ("Second", "draft", by)
    assert [system.name for system in made.systems.all()] == ["model-x"]
    assert [(member.user, member.cursor, member.done) for member in made.members.all()] == [(ana, -1, 0)]
    assert [(kept.version, kept.text) for kept in made.guidelines.all()] == [(1, "Be kind.")]
    assert not made.tasks.exists()
    assert Assignment.objects.filter(campaign=original).count() == 1


def test_a_copy_needs_a_name_of_its_own(corpus, by):
    original = factories.campaign(corpus, by=by, name="First")
    with pytest.raises(CampaignRefused, match="already"):
        editing.copy(by=by, campaign=original, name="First")


def test_an_archived_campaign_takes_no_work_and_can_be_brought_back(corpus, by):
    ana = factories.user("ana")
    campaign = factories.campaign(corpus, by=by, annotators=[ana])
    _, hold = labelling.start(by=ana, campaign=campaign.pk)
    editing.archive(by=by, campaign=campaign)
    with pytest.raises(CampaignNotOpen):
        labelling.submit(by=ana, campaign=campaign.pk, assignment=hold.assignment, answers={})
    for refused in (campaigns.open, editing.archive):
        with pytest.raises(CampaignRefused, match="archived"):
            refused(by=by, campaign=campaign)
    with pytest.raises(CampaignRefused, match="archived"):
        editing.change(by=by, campaign=campaign, lease_minutes=5)
    editing.bring_back(by=by, campaign=campaign)
    assert Campaign.objects.get(pk=campaign.pk).state == "closed"
    campaigns.open(by=by, campaign=campaign)
    assert labelling.start(by=ana, campaign=campaign.pk)[1].assignment == hold.assignment


def test_a_campaign_that_is_not_archived_cannot_be_brought_back(corpus, by):
    draft = factories.campaign(corpus, by=by, opened=False)
    with pytest.raises(CampaignRefused, match="not archived"):
        editing.bring_back(by=by, campaign=draft)
    editing.archive(by=by, campaign=draft)
    editing.bring_back(by=by, campaign=draft)
    assert Campaign.objects.get(pk=draft.pk).state == "draft"
