"""A campaign whose tasks are drawn by what judges said, with known probabilities."""

from __future__ import annotations

import csv
import io

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from annotation.campaigns import campaign_actions as campaigns
from annotation.campaigns import editing, sampling
from annotation.corpora import splits
from annotation.errors import CampaignRefused
from annotation.models import Campaign, Corpus, Label, SampledItem
from annotation.work import screens
from annotation.work import task_actions as labelling
from calibration.ratings import scope
from judges.runs import selection
from tests import factories
from tests.annotation.test_ordering import judge, person, say

pytestmark = pytest.mark.django_db

LOW = {"rule": "at_most", "limit": 2, "share": 1}
REST = {"rule": "rest", "share": 0.5}


@pytest.fixture
def corpus() -> Corpus:
    """Twenty dialogues of one turn, of which a judge scores four 1, four 2, ... and four 5."""
    corpus = factories.corpus("talks")
    for number in range(20):
        factories.dialogue(corpus, f"d{number:02}", turns=1)
    say(judge(), corpus, **{f"d{number:02}": number % 5 + 1 for number in range(20)})
    return corpus


def queue(*strata, judges=("judge",), question="overall", **more):
    return {"judges": list(judges), "question": question, "strata": list(strata), **more}


def reviewing(corpus, *strata, opened=False, scheme="comperdial_turn", seed=0, **more):
    return factories.campaign(corpus, scheme, opened=opened, seed=seed, review=queue(*strata, **more))


def tasks(campaign):
    return sorted(campaign.tasks.values_list("continuation__dialogue__key", flat=True))


def strata_of(campaign):
    facts = sampling.describe(campaign)
    assert facts is not None
    return {row["stratum"]: (row["items"], row["sample"], row["probability"]) for row in facts["strata"]}


def test_items_are_drawn_by_stratum_and_stored_with_their_probabilities(corpus: Corpus) -> None:
    campaign = reviewing(corpus, LOW, REST, seed=3)
    expected = {"score at most 2": (8, 8, 1.0), "rest": (12, 6, 0.5)}
    assert strata_of(campaign) == expected
    campaigns.open(by=factories.user(researcher=True), campaign=campaign)
    campaign.refresh_from_db()
    assert strata_of(campaign) == expected
    inclusion = sampling.inclusion(campaign)
    assert inclusion is not None
    assert len(inclusion) == campaign.tasks.count() == 14
    assert set(campaign.tasks.values_list("item", flat=True)) == set(inclusion)
    scores = dict(Label.objects.filter(rater__kind="judge").values_list("item", "number"))
    for item, place in inclusion.items():
        assert place == ((1.0, "score at most 2") if scores[item] <= 2 else (0.5, "rest"))
    assert sum(1 / probability for probability, _ in inclusion.values()) == 20


def test_the_same_seed_draws_the_same_and_another_one_others(corpus: Corpus) -> None:
    first, second, other = (reviewing(corpus, LOW, REST, opened=True, seed=seed) for seed in (1, 1, 2))
    assert tasks(first) == tasks(second) != tasks(other)
    assert {"d00", "d01", "d05", "d06"} < set(tasks(first)) & set(tasks(other))


def test_a_queue_is_drawn_once_whatever_the_judge_says_later(corpus: Corpus) -> None:
    by = factories.user(researcher=True)
    campaign = reviewing(corpus, LOW, {"rule": "rest", "share": 0}, opened=True)
    before, sizes = tasks(campaign), strata_of(campaign)
    Label.objects.filter(rater__kind="judge").update(superseded_at=campaign.created_at)
    campaigns.close(by=by, campaign=campaign)
    campaigns.open(by=by, campaign=campaign)
    campaign = Campaign.objects.get(pk=campaign.pk)
    assert (tasks(campaign), strata_of(campaign)) == (before, sizes)
    item = corpus.items.exclude(pk__in=sampling.inclusion(campaign) or ()).first()
    with pytest.raises(IntegrityError, match="drawn once"), transaction.atomic():
        SampledItem.objects.create(campaign=campaign, item=item, probability=0.5)
    copied = editing.copy(by=by, campaign=campaign, name="another")
    assert copied.review_strata is None
    assert copied.review == campaign.review


def test_a_worker_that_dies_while_the_campaign_opens_leaves_nothing_drawn(corpus: Corpus) -> None:
    campaign = reviewing(corpus, LOW, REST)

    def die(done: int, total: int) -> None:
        if done:
            raise SystemExit

    with pytest.raises(SystemExit):
        campaigns.open(by=factories.user(researcher=True), campaign=campaign, progress=die)
    campaign = Campaign.objects.get(pk=campaign.pk)
    assert (campaign.state, campaign.review_strata, campaign.tasks.count()) == ("draft", None, 0)
    assert sampling.inclusion(campaign) is None
    campaigns.open(by=factories.user(researcher=True), campaign=campaign)
    assert len(sampling.inclusion(campaign) or ()) == campaign.tasks.count() == 14


def test_a_stratum_of_which_nothing_is_drawn_is_outside_the_population(corpus: Corpus) -> None:
    facts = sampling.describe(reviewing(corpus, LOW))
    assert facts is not None
    assert (facts["population"], facts["left_out"], facts["items"]) == (8, 12, 8)
    assert facts["strata"][-1] | {"sd_from": ""} == {
        **{"stratum": "rest", "items": 12, "sample": 0, "probability": None, "sd": None, "sd_from": ""}
    }


def test_several_judges_disagree_and_samples_of_one_differ(corpus: Corpus) -> None:
    say(judge("other"), corpus, d00=5, d01=[2, 3], d02=3, d03=4)
    campaign = reviewing(
        corpus,
        {"rule": "unsure", "share": 1},
        {"rule": "disagree", "limit": 2, "share": 1},
        judges=("judge", "other"),
        opened=True,
    )
    assert tasks(campaign) == ["d00", "d01"]


def test_missing_answers_are_a_stratum_and_superseded_ones_and_those_of_checks_are_none(
    corpus: Corpus,
) -> None:
    first = Label.objects.filter(rater__kind="judge", item__continuation__dialogue__key="d07")
    first.update(superseded_at=corpus.created_at)
    campaign = reviewing(corpus, {"rule": "missing", "share": 1}, opened=True)
    assert tasks(campaign) == ["d07"]


def test_a_test_part_that_nobody_has_opened_is_outside(corpus: Corpus) -> None:
    by = factories.user(researcher=True)
    split = splits.draw(corpus=corpus, by=by, test_share=0.5)
    closed = set(split.clusters.filter(part="test").values_list("cluster", flat=True))
    campaign = reviewing(corpus, {"rule": "rest", "share": 1})
    facts = sampling.describe(campaign)
    assert facts is not None
    assert (facts["unopened"], facts["population"]) == (len(closed), 20 - len(closed))
    campaigns.open(by=by, campaign=campaign)
    assert closed
    assert not closed & set(tasks(campaign))


def test_a_total_is_divided_by_the_errors_of_a_pilot(corpus: Corpus) -> None:
    strata = ({"rule": "at_most", "limit": 3}, {"rule": "rest"})
    even = reviewing(corpus, *strata, total=10)
    assert strata_of(even) == {"score at most 3": (12, 6, 0.5), "rest": (8, 4, 0.5)}
    neyman = reviewing(corpus, *strata, total=9, allocation="neyman")
    facts = sampling.describe(neyman)
    assert facts is not None
    assert "needs 5 items" in facts["refusal"]
    with pytest.raises(CampaignRefused, match="needs 5 items"):
        campaigns.open(by=factories.user(researcher=True), campaign=neyman)
    say(person(), corpus, d00=1, d01=2, d02=3, d05=1, d06=2, d07=4)
    say(person(), corpus, d03=1, d04=5, d08=4, d09=1, d13=1)
    neyman = Campaign.objects.get(pk=neyman.pk)
    assert strata_of(neyman) == {"score at most 3": (12, 2, 1 / 6), "rest": (8, 7, 0.875)}
    facts = sampling.describe(neyman)
    assert facts is not None
    assert [row["sd_from"] for row in facts["strata"]] == ["6 rated items", "5 rated items"]


def test_a_task_of_a_whole_continuation_asks_only_about_the_drawn_turns() -> None:
    corpus, rosa, ana = factories.corpus(), factories.user(researcher=True), factories.user("ana")
    factories.dialogue(corpus, "d0", turns=6)
    version = factories.scheme_version("cocoeval_behaviours")
    question = version.questions.filter(level="binary").first()
    assert question is not None
    items = list(corpus.items.filter(kind="turn").order_by("turn__position"))
    for number, item in enumerate(items):
        value = float(number in (1, 4))
        Label.objects.create(item=item, question=question, rater=judge(), occasion="imported", number=value)
    campaign = reviewing(
        corpus, {"rule": "flagged", "share": 1}, scheme="cocoeval_behaviours", question=question.key
    )
    places = ["given", "item", "given", "given", "item", "given"]
    preview = screens.campaign_preview(campaign, screens.preview_places(campaign)[0])
    assert [line.place for line in preview.lines] == places
    campaigns.open(by=rosa, campaign=campaign)
    campaigns.add_member(by=rosa, campaign=campaign, user=ana)
    _, hold = labelling.start(by=ana, campaign=campaign.pk)
    assert hold is not None
    screen = screens.load(hold.task, True, hold.assignment, ("turn",))
    assert [line.place for line in screen.lines] == places
    every = {str(item): {question.key: 1} for item in screen.items}
    labelling.submit(by=ana, campaign=campaign.pk, assignment=hold.assignment, answers=every)
    rated = Label.objects.filter(rater__user=ana).values_list("item", flat=True)
    assert set(rated) == {items[1].pk, items[4].pk}
    campaign.refresh_from_db()
    assert set(scope.items_of(scope.of_campaign(campaign))) == {items[1], items[4]}
    assert set(selection.items(selection.Selection(corpus, campaign=campaign), "turn")) == {
        items[1],
        items[4],
    }


REFUSED = [
    (queue(REST, judges=["nobody"]), "No judge “nobody” has answered"),
    (queue(REST, question="unasked"), "has no question “unasked”"),
    (queue({"rule": "flagged", "share": 1}), "yes-no question"),
    (queue({"rule": "at_most", "share": 1}), "needs its score"),
]


@pytest.mark.parametrize(("review", "why"), REFUSED)
def test_an_invalid_queue_is_refused_by_page_and_api_in_one_sentence(
    client, corpus: Corpus, review: dict[str, object], why: str
) -> None:
    client.force_login(factories.user(researcher=True))
    draft = factories.campaign(corpus, opened=False)
    answer = client.patch(
        reverse("api-campaign", args=[draft.pk]), {"review": review}, content_type="application/json"
    )
    assert answer.status_code == 422
    assert why in answer.json()["detail"]


def test_a_queue_cannot_be_combined_with_another_sample(corpus: Corpus) -> None:
    for more in ({"sample_dialogues": 3}, {"sample_apart": 0.5, "apart_judge": "judge"}):
        with pytest.raises(CampaignRefused, match="not both"):
            factories.campaign(corpus, opened=False, review=queue(REST), **more)


def test_a_draft_that_moves_to_another_corpus_loses_its_queue(corpus: Corpus) -> None:
    other = factories.corpus("other")
    factories.dialogue(other, turns=1)
    campaign = reviewing(corpus, LOW, REST)
    editing.change(by=factories.user(researcher=True), campaign=campaign, corpus=other)
    campaign.refresh_from_db()
    assert (campaign.corpus, campaign.review) == (other, None)


def test_the_api_sets_shows_and_removes_a_queue(client, corpus: Corpus) -> None:
    client.force_login(factories.user(researcher=True))
    body = {"name": "reviewed", "corpus": "talks", "scheme": "comperdial_turn", "review": queue(LOW, REST)}
    made = client.post(reverse("api-campaigns"), body, content_type="application/json")
    assert made.status_code == 201
    address = reverse("api-campaign", args=[made.json()["id"]])
    answer = client.get(address).json()
    assert answer["review"]["strata"] == [LOW | {"limit": 2.0, "share": 1.0}, REST]
    assert [row["probability"] for row in answer["sample"]["strata"]] == [1.0, 0.5]
    changed = client.patch(address, {"review": None}, content_type="application/json")
    assert (changed.json()["review"], changed.json()["sample"]) == (None, None)
    campaign = reviewing(corpus, LOW, opened=True)
    refused = client.patch(
        reverse("api-campaign", args=[campaign.pk]), {"review": None}, content_type="application/json"
    )
    assert refused.status_code == 422
    assert "cannot change" in refused.json()["detail"]


FORM = {
    "name": "reviewed",
    "scheme": "comperdial_turn",
    "raters_per_item": 1,
    "lease_minutes": 60,
    "seed": 5,
    "review_judges": ["judge"],
    "review_question": "overall",
    "review_strata_rule": ["at_most", "rest", ""],
    "review_strata_limit": ["2", "", ""],
    "review_strata_size": ["all", "50%", ""],
}


def test_the_form_shows_the_strata_before_anything_is_saved_and_saves_them(client, corpus: Corpus) -> None:
    client.force_login(factories.user(researcher=True))
    address = f"{reverse('new-campaign')}?corpus={corpus.pk}"
    shown = client.post(address, FORM | {"do": "review"})
    assert shown.status_code == 200
    rows = [(row[0], *row[1]) for row in shown.context["review"]["rows"]]
    assert rows == [("score at most 2", "8", "8", "1"), ("rest", "12", "6", "0.5")]
    assert "14 items of 14 dialogues would be drawn, by seed 5" in shown.content.decode()
    assert not Campaign.objects.exists()
    assert client.post(address, FORM | {"do": "create"}).status_code == 302
    campaign = Campaign.objects.get()
    assert campaign.review == queue(
        {"rule": "at_most", "limit": 2.0, "share": 1.0}, {"rule": "rest", "share": 0.5}
    )
    edited = client.get(reverse("edit-campaign", args=[campaign.pk]))
    assert edited.context["form"].initial["review_strata"] == [("at_most", "2", "all"), ("rest", "", "50%")]
    page = client.get(reverse("campaign", args=[campaign.pk])).content.decode()
    assert "Review queue" in page
    assert "Estimates speak of the 20 items" in page


def test_the_form_changes_a_queue_by_total_and_shows_why_it_cannot_be_drawn(client, corpus: Corpus) -> None:
    client.force_login(factories.user(researcher=True))
    campaign = reviewing(corpus, LOW, REST)
    address = reverse("edit-campaign", args=[campaign.pk])
    total = FORM | {"review_strata_size": ["all", "", ""], "review_total": 5}
    shown = client.post(address, total | {"do": "review"})
    assert "too small" in shown.context["review"]["refusal"]
    assert client.post(address, total | {"review_total": 11}).status_code == 302
    campaign.refresh_from_db()
    assert strata_of(campaign) == {"score at most 2": (8, 8, 1.0), "rest": (12, 3, 0.25)}
    wrong = client.post(address, total | {"review_strata_size": ["many", "", ""]})
    assert wrong.context["form"].errors["review_strata"] == ["Stratum 1: “many” is not a number."]


def test_annotators_do_not_see_what_the_judge_said(client, corpus: Corpus) -> None:
    ana = factories.user("ana")
    campaign = factories.campaign(corpus, annotators=[ana], review=queue(LOW, REST))
    client.force_login(ana)
    for address in (reverse("my-campaigns"), reverse("work", args=[campaign.pk])):
        page = client.get(address, follow=True).content.decode()
        assert "score at most" not in page
        assert "probability" not in page.lower()
    work = client.post(reverse("api-work-next", args=[campaign.pk])).content.decode()
    assert "score at most" not in work
    assert "stratum" not in work


def test_labels_of_the_campaign_are_exported_with_their_probability_and_stratum(
    client, corpus: Corpus
) -> None:
    client.force_login(factories.user(researcher=True))
    campaign, other = reviewing(corpus, LOW, REST, opened=True), factories.campaign(corpus)
    columns = {}
    for place in (campaign, other):
        answer = client.get(reverse("api-export-labels", args=["csv"]), {"campaign": place.pk})
        columns[place] = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    rows = columns[campaign]
    design = {(row["value"], row["inclusion_probability"], row["stratum"]) for row in rows}
    low = {("1", "1", "score at most 2"), ("2", "1", "score at most 2")}
    assert design == low | {(value, "0.5", "rest") for value in ("3", "4", "5")}
    assert len(rows) == 14
    assert "stratum" not in columns[other][0]
