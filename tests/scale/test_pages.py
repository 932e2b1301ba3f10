"""The work of a page or report on a corpus does not grow with data that it does not show."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.campaigns import campaign_actions as campaigns
from annotation.campaigns import progress, tasks
from annotation.corpora import queries
from annotation.models import Item
from calibration.gold import derivation
from calibration.ratings.ratings import places
from calibration.ratings.scope import of_corpus
from calibration.studies import study_actions as studies
from config.lists import LongPaginator
from jobs.models import Run
from judges.runs.plans import Judge
from tests import factories
from tests.calibration.world import world
from tests.judges.helpers import begin

pytestmark = pytest.mark.django_db


def test_a_report_reads_where_labelled_items_are_and_no_others() -> None:
    built = world(dialogues=2, turns=4)
    built.ask("quality", "ordinal", [1, 2, 3])
    built.say("ann", "quality", [1.0, 2.0, 3.0])
    found = places(of_corpus(built.corpus), {"turn"})
    labelled = Item.objects.filter(labels__isnull=False).distinct()
    assert set(found) == set(labelled.values_list("pk", flat=True))
    assert len(found) == 3 < Item.objects.filter(corpus=built.corpus, kind="turn").count()


def test_tasks_to_be_made_are_counted_no_further_than_a_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, by = factories.corpus("talks"), factories.user(researcher=True)
    factories.dialogue(corpus, "d", turns=6)
    campaign = campaigns.create(by=by, name="Pilot", corpus=corpus, scheme="comperdial_turn")
    assert tasks.count(campaign) == 6
    monkeypatch.setattr(tasks, "MOST_COUNTED", 4)
    assert tasks.count(campaign) == 4


def test_many_tasks_and_slots_are_told_from_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = factories.corpus("talks")
    for number in range(3):
        factories.dialogue(corpus, f"d{number}", turns=4)
    campaign = factories.campaign(corpus, raters=2)
    counted = progress.counts(campaign)
    assert (counted.tasks, counted.slots) == (12, 24)
    monkeypatch.setattr(progress, "COUNTED", 0)
    assert progress.counts(campaign) == counted
    factories.dialogue(corpus, "later", turns=4)
    by = campaign.created_by
    assert by is not None
    campaigns.pause(by=by, campaign=campaign)
    campaigns.open(by=by, campaign=campaign)
    told = progress.counts(campaign)
    assert (told.tasks, told.slots) == (campaign.tasks.count(), campaign.slots.count()) == (16, 32)


def test_the_page_of_a_campaign_says_where_it_stopped_counting(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, by = factories.corpus("talks"), factories.user(researcher=True)
    factories.dialogue(corpus, "d", turns=6)
    campaign = campaigns.create(by=by, name="Pilot", corpus=corpus, scheme="comperdial_turn")
    client.force_login(by)
    monkeypatch.setattr(tasks, "MOST_COUNTED", 4)
    assert "at least 4 tasks" in client.get(reverse("campaign", args=[campaign.pk])).content.decode()


@pytest.mark.parametrize("address", ["corpus", "delete-corpus", "exports", "new-study", "new-gold", "report"])
def test_no_page_counts_many_labels(client: Client, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr(derivation, "AT_ONCE", 1)
    built = world(dialogues=2, turns=4)
    built.ask("quality", "ordinal", [1, 2, 3])
    for name in ("ann", "ben"):
        built.say(name, "quality", [1.0, 2.0, 3.0, 3.0])
    client.force_login(factories.user(administrator=True))
    study = studies.automatic(corpus=built.corpus)
    studies.compute(study=study, part="all", by=None)
    named = {"corpus": [built.corpus.name], "delete-corpus": [built.corpus.name], "report": [study.pk]}
    with CaptureQueriesContext(connection) as asked:
        page = client.get(reverse(address, args=named.get(address, [])), {"corpus": built.corpus.pk})
    assert page.status_code == 200
    assert not [query["sql"] for query in asked if 'FROM "annotation_label"' in query["sql"]]


def test_the_page_of_a_corpus_says_how_many_labels_there_are(client: Client) -> None:
    built = world(dialogues=1, turns=4)
    built.ask("quality", "ordinal", [1, 2, 3])
    built.say("ann", "quality", [1.0, 2.0, 3.0])
    client.force_login(factories.user(researcher=True))
    page = client.get(reverse("corpus-dialogues", args=[built.corpus.name])).content.decode()
    assert ", 3 labels" in page


def test_the_list_of_runs_counts_the_calls_of_those_it_shows_in_one_query(client: Client) -> None:
    corpus = factories.corpus("talks")
    factories.dialogue(corpus, "d", turns=3)
    run = begin(corpus, Judge("rules_baseline"))
    Run.objects.filter(pk=run.pk).update(state="done")
    run.calls.update(state="done")
    client.force_login(factories.user(researcher=True))
    with CaptureQueriesContext(connection) as asked:
        page = client.get(reverse("corpus-judges", args=["talks"])).content.decode()
    assert "1 of 1" in page
    counting = [query["sql"] for query in asked if "jobs_call" in query["sql"]]
    assert len(counting) == 1
    assert f'"run_id" IN ({run.pk})' in counting[0]


def test_of_a_system_with_many_dialogues_the_first_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = factories.corpus("talks")
    made = [factories.dialogue(corpus, f"d{number}", turns=1) for number in range(6)]
    monkeypatch.setattr(queries, "MOST_LISTED", 4)
    many, more = queries.count_dialogues(corpus, system="human")
    assert (many, more) == (4, True)
    pages = LongPaginator(queries.dialogues(corpus, system="human"), 1, many=many, more=more)
    assert [list(pages.page(number)) for number in (1, 4)] == [[made[0]], [made[3]]]
    monkeypatch.undo()
    assert queries.count_dialogues(corpus, system="human") == (6, False)
    assert queries.count_dialogues(corpus, system="nobody") == (0, False)
