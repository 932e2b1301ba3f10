"""Different numbers of raters for parts of a campaign, and raters added while people work."""

import random
import threading
from collections import Counter

import pytest
from django.db import connections

from annotation.campaigns import campaign_actions as campaigns
from annotation.campaigns import editing, progress
from annotation.models import Assignment, Label, Slot
from annotation.work import task_actions as labelling
from tests import factories

TWENTY = 5  # dialogues of four turns


@pytest.fixture
def by():
    return factories.user("rosa", researcher=True)


def talks(dialogues=TWENTY):
    corpus = factories.corpus()
    for number in range(dialogues):
        factories.dialogue(corpus, f"d{number}", turns=4)
    return corpus


def many(campaign):
    """Return the positions of the tasks that have more raters, having checked that slots follow raters."""
    counted = Counter(campaign.slots.values_list("task_id", flat=True))
    tasks = list(campaign.tasks.all())
    assert counted == {task.pk: task.raters for task in tasks}
    return {task.position for task in tasks if task.raters > campaign.raters_per_item}


@pytest.mark.django_db
def test_a_tenth_of_the_tasks_has_five_raters_and_all_others_two(by):
    campaign = factories.campaign(talks(), by=by, raters=2, overlap_raters=5, overlap_share=0.1)
    assert sorted(Counter(task.raters for task in campaign.tasks.all()).items()) == [(2, 18), (5, 2)]
    assert campaign.slots.count() == 18 * 2 + 2 * 5
    assert progress.lacking([campaign]) == {campaign.pk: 5}


@pytest.mark.django_db
def test_the_seed_decides_which_tasks_have_more_raters(by):
    corpus = talks()
    told = {"by": by, "raters": 1, "overlap_raters": 2, "overlap_tasks": 6, "task_order": "fixed"}
    first, again = (many(factories.campaign(corpus, **told, seed=1)) for _ in range(2))
    others = [many(factories.campaign(corpus, **told, seed=seed)) for seed in (2, 3)]
    assert len(first) == 6
    assert first == again
    assert others[0] != first != others[1]


@pytest.mark.django_db
def test_a_corpus_that_grew_keeps_who_was_drawn_and_the_share(by):
    corpus = talks()
    campaign = factories.campaign(corpus, by=by, raters=1, overlap_raters=3, overlap_share=0.25)
    before = many(campaign)
    factories.dialogue(corpus, "later", turns=4)
    campaigns.pause(by=by, campaign=campaign)
    campaigns.open(by=by, campaign=campaign)
    now = many(campaign)
    assert (len(before), len(now)) == (5, 6)
    assert now - before <= set(range(20, 24))
    assert before <= now


@pytest.mark.django_db
def test_all_raters_can_grow_in_an_open_campaign_and_who_was_drawn_stays(by):
    campaign = factories.campaign(talks(), by=by, raters=1, overlap_raters=3, overlap_share=0.2)
    before = many(campaign)
    campaign = editing.change(
        by=by, campaign=campaign, raters_per_item=3, overlap_raters=4, overlap_share=0.3
    )
    assert before < many(campaign)
    assert Counter(campaign.tasks.values_list("raters", flat=True)) == {3: 14, 4: 6}
    campaign = editing.change(by=by, campaign=campaign, overlap_share=None, overlap_tasks=2)
    assert len(many(campaign)) == 6


@pytest.mark.django_db
def test_a_part_with_more_raters_is_added_to_an_open_campaign(by):
    campaign = factories.campaign(talks(), by=by, raters=2)
    campaign = editing.change(by=by, campaign=campaign, overlap_raters=3, overlap_tasks=5)
    assert len(many(campaign)) == 5


@pytest.mark.django_db
def test_many_slots_of_unequal_tasks_are_told_exactly(by, monkeypatch):
    campaign = factories.campaign(talks(), by=by, raters=2, overlap_raters=5, overlap_share=0.1)
    counted = progress.counts(campaign)
    monkeypatch.setattr(progress, "COUNTED", 0)
    assert progress.counts(campaign) == counted
    assert counted.slots == 46


class Annotator(threading.Thread):
    """Works until nothing is left and the raters have been added, taking tasks, skipping none."""

    def __init__(self, seed, user, campaign, added):
        super().__init__()
        self.random, self.user, self.campaign, self.added = random.Random(seed), user, campaign, added
        self.trouble = None

    def run(self):
        try:
            while True:
                last = self.added.is_set()
                if not self.one() and last:
                    return
        except BaseException as error:
            self.trouble = error
            raise
        finally:
            connections.close_all()

    def one(self):
        _, hold = labelling.start(by=self.user, campaign=self.campaign)
        if hold is None:
            return False
        items = Assignment.objects.get(pk=hold.assignment).task.item
        answers = {str(items.pk): {"overall": self.random.randint(1, 5)}}
        labelling.submit(by=self.user, campaign=self.campaign, assignment=hold.assignment, answers=answers)
        return True


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seed", [1, 2])
def test_raters_added_while_people_claim_leave_every_task_with_exactly_its_raters(seed):
    by = factories.user(researcher=True)
    people = [factories.user() for _ in range(6)]
    campaign = factories.campaign(
        talks(4), by=by, annotators=people, raters=1, overlap_raters=2, overlap_share=0.25, seed=seed
    )
    drawn, added = many(campaign), threading.Event()
    workers = [Annotator(seed * 100 + n, user, campaign.pk, added) for n, user in enumerate(people)]
    for worker in workers:
        worker.start()
    editing.change(by=by, campaign=campaign, raters_per_item=2, overlap_raters=3)
    campaign = editing.change(
        by=by, campaign=campaign, raters_per_item=3, overlap_raters=6, overlap_share=0.5
    )
    added.set()
    for worker in workers:
        worker.join()
    assert [worker.trouble for worker in workers] == [None] * 6
    assert drawn < many(campaign)
    wanted = {task.pk: task.raters for task in campaign.tasks.all()}
    assert Counter(wanted.values()) == {3: 8, 6: 8}
    submitted = campaign.assignments.filter(state="submitted")
    assert Counter(submitted.values_list("task_id", flat=True)) == wanted
    assert not campaign.assignments.exclude(state="submitted").exists()
    assert not Slot.objects.filter(campaign=campaign, taken=False).exists()
    raters = Label.objects.filter(campaign=campaign, superseded_at=None).values_list("item_id", "rater_id")
    assert len(raters) == len(set(raters)) == sum(wanted.values())


@pytest.mark.django_db
def test_a_corpus_has_the_ratings_of_all_its_campaigns(by):
    corpus = talks()
    campaigns = [factories.campaign(corpus, by=by, raters=2, overlap_raters=5, overlap_share=0.1)]
    campaigns.append(factories.campaign(corpus, by=by, raters=1))
    of_each = [progress.counts(campaign) for campaign in campaigns]
    assert progress.of_corpora([corpus.pk]) == {corpus.pk: (0, sum(row.slots for row in of_each))}
