"""Effort of a plan: raters per item, ratings, hours and cost, from the pilot's answers and times."""

from __future__ import annotations

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment
from annotation.work import task_actions as labelling
from calibration.models import Study
from calibration.statistics import Plan, Ratings
from calibration.statistics.planning import crowds, ratings_an_item, thinned
from calibration.studies.plans import PlanTiming, effort, timed
from tests import factories

SECONDS = {"ana": 20, "ben": 30, "cem": 40}


def ratings_of(values: list[list[float]]) -> Ratings:
    n_items, n_raters = np.array(values).shape
    return Ratings(
        values=np.array(values, dtype=float),
        level="ordinal",
        items=tuple(f"i{at}" for at in range(n_items)),
        raters=tuple(f"p{at}" for at in range(n_raters)),
        clusters=np.arange(n_items),
        scale=(1.0, 2.0, 3.0),
        kinds=("human",) * n_raters,
        identified=(True,) * n_raters,
        on_scale=(True,) * n_raters,
    )


NONE = float("nan")


def test_a_pilot_is_thinned_to_exactly_so_many_ratings_of_an_item() -> None:
    given = ratings_of([[1, 2, 3, 1], [2, 2, NONE, 3], [1, 1, 1, 1], [NONE, 3, NONE, 2]])
    kept = thinned(given, range(4), 3, seed=5)
    answered = ~np.isnan(kept.values)
    assert answered.sum(axis=1).tolist() == [3, 3, 3, 0]
    assert np.array_equal(kept.values[answered], given.values[answered])
    assert np.array_equal(thinned(given, range(4), 3, seed=5).values, kept.values, equal_nan=True)
    with pytest.raises(ValueError, match="two raters an item, not 1"):
        thinned(given, range(4), 1, seed=5)


def test_which_ratings_are_left_out_is_chance() -> None:
    given = ratings_of([[1, 2, 3]] * 3_000)
    shares = (~np.isnan(thinned(given, range(3), 2, seed=1).values)).mean(axis=0)
    assert shares == pytest.approx([2 / 3] * 3, abs=0.03)


def test_a_judge_keeps_all_its_answers_where_people_are_thinned() -> None:
    given = ratings_of([[1, 2, 3], [2, 2, 2]])
    assert thinned(given, [0, 1, 2], 2, seed=0).values[:, :].shape == (2, 3)
    assert np.array_equal(thinned(given, [1, 2], 2, seed=0).values, given.values)


def test_numbers_of_raters_are_those_that_half_of_the_items_have() -> None:
    assert crowds(ratings_of([[1, 2, 3], [1, 2, 3], [1, 2, NONE]]), range(3)) == [2, 3]
    assert crowds(ratings_of([[1, 2, 3], [1, 2, NONE], [1, 2, NONE]]), range(3)) == []
    assert crowds(ratings_of([[1, NONE], [NONE, 2]]), range(2)) == []
    assert ratings_an_item(ratings_of([[1, 2, NONE], [1, NONE, NONE]]), range(3)) == 1.5
    assert ratings_an_item(ratings_of([[NONE, NONE]]), range(2)) is None


def test_an_items_time_is_all_seconds_by_all_items_with_an_interval_over_people() -> None:
    found = timed(np.array([[100.0, 10.0], [300.0, 10.0], [600.0, 20.0]]), Plan(resamples=500))
    assert (found.seconds, found.ratings, found.people) == (25.0, 40, 3)
    assert found.low is not None
    assert found.high is not None
    assert 10 <= found.low < 25 < found.high <= 30
    two = timed(np.array([[100.0, 10.0], [300.0, 10.0]]), Plan(resamples=500))
    assert (two.seconds, two.low, two.high) == (20.0, None, None)


def test_hours_and_costs_follow_from_dialogues_items_raters_and_seconds() -> None:
    found = effort(
        raters=2.0,
        needed=(100, 60, None),
        items_a_dialogue=4.5,
        timing=PlanTiming(40.0, 30.0, 50.0, 10, 3),
        pay=12.0,
    )
    assert (found.items, found.ratings) == (450, 900)
    assert found.hours == pytest.approx(10.0)
    assert found.hours_low == pytest.approx(60 * 4.5 * 2 * 30 / 3600)
    assert (found.hours_high, found.cost_high) == (None, None)
    assert found.cost == pytest.approx(120.0)


@pytest.fixture
def campaign(db):
    """A campaign of eight dialogues that three people rated, each at their own pace."""
    corpus = factories.corpus("talks")
    for number in range(8):
        factories.dialogue(corpus, f"d{number}", turns=2)
    people = [factories.user(name) for name in SECONDS]
    made = factories.campaign(corpus, annotators=people, raters=3, name="pilot", task_order="fixed")
    rng = np.random.default_rng(3)
    for who in people:
        while (hold := labelling.start(by=who, campaign=made.pk)[1]) is not None:
            task = Assignment.objects.get(pk=hold.assignment).task
            value = int(np.clip(1 + task.position % 5 + rng.integers(-1, 2), 1, 5))
            labelling.submit(
                by=who,
                campaign=made.pk,
                assignment=hold.assignment,
                answers={str(task.item_id): {"overall": value}},
                client="tab",
                attention=SECONDS[who.username] * 1000,
            )
    return made


@pytest.mark.exhaustive
def test_a_campaign_is_its_own_pilot_by_page_route_and_file(campaign, client: Client) -> None:
    client.force_login(factories.user("rosa", researcher=True))
    address = reverse("campaign-plan", args=[campaign.pk])
    assert address in client.get(reverse("campaign", args=[campaign.pk])).content.decode()
    form = client.get(reverse("new-campaign"), {"corpus": campaign.corpus_id}).content.decode()
    assert "Plan it from a pilot" in form
    assert address in form

    asked = {"half_width": "0.2", "pay": "12"}
    page = client.get(client.get(address, asked).url).content.decode()
    for text in ("What it takes", "3.0 (the pilot)", "Raters an item", "Cost", "at 12.00 an hour"):
        assert text in page
    told = client.get(reverse("api-campaign-plan", args=[campaign.pk]), asked).json()
    assert (told["timing"]["seconds"], told["timing"]["people"], told["timing"]["ratings"]) == (30.0, 3, 48)
    assert [one["raters"] for one in told["efforts"]] == [3.0, 2.0]
    assert [one["raters"] for one in told["crowds"]] == [2, 3]
    assert told["crowds"][1]["needed"] == told["needed"]
    own, two = told["efforts"]
    assert own["items"] == own["dialogues"] * 2
    assert own["ratings"] == own["items"] * 3
    assert own["hours"] == pytest.approx(own["ratings"] * 30 / 3600)
    assert own["cost"] == pytest.approx(own["hours"] * 12)
    assert own["hours_low"] < own["hours"]
    assert two["dialogues"] is None or two["dialogues"] > own["dialogues"]

    study = Study.objects.get(campaign=campaign)
    file = client.get(reverse("plan-file", args=[study.pk, "json"]), asked).json()
    assert file["efforts"] == told["efforts"]
    text = client.get(reverse("plan-file", args=[study.pk, "text"]), asked).content.decode()
    assert "Raters an item" in text
    assert f"{own['ratings']:,}" in text


@pytest.mark.exhaustive
def test_where_nobody_was_timed_there_are_ratings_and_no_hours(campaign, client: Client) -> None:
    Assignment.objects.update(attention={})
    client.force_login(factories.user("rosa", researcher=True))
    told = client.get(reverse("api-campaign-plan", args=[campaign.pk]), {"half_width": "0.2"}).json()
    assert told["timing"] is None
    assert told["efforts"][0]["ratings"] > 0
    assert told["efforts"][0]["hours"] is None
    assert "not known" in " ".join(told["answer"])


def test_pay_is_a_number_above_nothing(campaign, client: Client) -> None:
    client.force_login(factories.user("rosa", researcher=True))
    page = client.get(client.get(reverse("campaign-plan", args=[campaign.pk]), {"pay": "much"}).url)
    assert page.status_code == 422
    assert "the pay must be a number above 0" in page.content.decode().lower()
