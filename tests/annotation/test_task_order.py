"""Order of tasks: the same for everybody, individual, or that of the corpus."""

from itertools import groupby

import pytest

from annotation.models import Assignment
from annotation.work import leases
from annotation.work import task_actions as labelling
from tests import factories

pytestmark = pytest.mark.django_db
TURNS = 3


def opened(people, dialogues=12, **told):
    corpus = factories.corpus()
    for number in range(dialogues):
        factories.dialogue(corpus, f"d{number:02}", turns=TURNS)
    return factories.campaign(corpus, annotators=people, raters=len(people), **told)


def positions(who, campaign):
    """Work through a campaign and return the positions of the tasks in the order they came."""
    came = []
    while (hold := labelling.start(by=who, campaign=campaign.pk)[1]) is not None:
        task = Assignment.objects.get(pk=hold.assignment).task
        came.append(task.position)
        answers = {str(task.item.pk): {"overall": 3}}
        labelling.submit(by=who, campaign=campaign.pk, assignment=hold.assignment, answers=answers)
    return came


def test_in_an_order_of_ones_own_everybody_does_everything_once_and_turns_stay_together():
    people = [factories.user() for _ in range(3)]
    campaign = opened(people, task_order="own")
    orders = [positions(who, campaign) for who in people]
    for order in orders:
        assert sorted(order) == list(range(12 * TURNS))
        talks = [(talk, list(turns)) for talk, turns in groupby(order, key=lambda place: place // TURNS)]
        assert len(talks) == 12
        assert all(turns == [talk * TURNS + turn for turn in range(TURNS)] for talk, turns in talks)
    firsts = [order[::TURNS] for order in orders]
    assert firsts[0] != firsts[1] != firsts[2] != firsts[0]


def test_people_with_an_order_of_their_own_begin_all_over_the_corpus():
    people = [factories.user() for _ in range(8)]
    campaign = opened(people, task_order="own")
    holds = [labelling.start(by=who, campaign=campaign.pk)[1] for who in people]
    talks = {Assignment.objects.get(pk=hold.assignment).task.position // TURNS for hold in holds}
    assert len(talks) >= 4


@pytest.mark.exhaustive
@pytest.mark.parametrize("order", ["drawn", "fixed"])
def test_otherwise_everybody_goes_through_in_the_same_order(order):
    people = [factories.user(), factories.user()]
    campaign = opened(people, dialogues=3, task_order=order)
    assert [positions(who, campaign) for who in people] == [list(range(9))] * 2


@pytest.mark.parametrize("order", ["drawn", "own"])
def test_a_claim_is_one_query_in_any_order(django_assert_num_queries, order):
    ana = factories.user()
    campaign = opened([ana], dialogues=2, task_order=order)
    seat = leases.take_seat(campaign=campaign.pk, user=ana.pk)
    with django_assert_num_queries(1):
        assert leases.claim(seat=seat) is not None
