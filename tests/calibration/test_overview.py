"""The overview of a corpus: in every state each step, its link and the next step are right."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns import campaign_actions
from annotation.models import Campaign, Corpus, Import
from calibration.gold import derivation
from calibration.overview import Overview, overview
from jobs.models import Job, Run
from tests import factories
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db


def _states(shown: Overview) -> str:
    return " ".join(step.state for step in shown.steps)


def _imported(corpus: Corpus) -> None:
    """Record an import, whose counts are those of the corpus."""
    Import.objects.create(
        corpus=corpus, format="jsonl", file_name="a.jsonl", counts={"dialogues": 2, "turns": 4, "items": 6}
    )


def _rated(*raters: str, kind: str = "human") -> World:
    built = world(dialogues=2, turns=2)
    _imported(built.corpus)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5])
    for name in raters:
        built.say(name, "quality", [1, 2, 3, 4], kind=kind)
    return built


def _run(built: World, state: str, **more: object) -> Run:
    return Run.objects.create(corpus=built.corpus, state=state, title="Fair judge", **more)


def test_a_corpus_without_dialogues_asks_for_a_file(researcher: Client) -> None:
    corpus = Corpus.objects.create(name="A & B")
    shown = overview(corpus)
    assert _states(shown) == "current open open open open open"
    assert shown.next.action == "Add a file"
    page = researcher.get(reverse("corpus", args=[corpus.name]))
    assert page.status_code == 200
    assert shown.next.href == f"{reverse('import-corpus')}?into=A%20%26%20B"


def test_without_questions_a_campaign_comes_next() -> None:
    built = world(dialogues=1, turns=1)
    _imported(built.corpus)
    shown = overview(built.corpus)
    assert _states(shown) == "done current open open open open"
    assert (shown.next.action, shown.next.href) == (
        "New campaign",
        f"{reverse('new-campaign')}?corpus={built.corpus.pk}",
    )
    built.ask("quality", "ordinal", [1, 2, 3])
    built.say("judge", "quality", [1], kind="judge")
    assert overview(built.corpus).next.action == "New campaign", "only a judge has answered"


def test_a_campaign_is_finished_then_staffed_then_worked_on() -> None:
    built = _rated()
    campaign = factories.campaign(built.corpus, opened=False)
    shown = overview(built.corpus)
    assert shown.steps[2].note == "the campaign is a draft"
    assert shown.next.action == "Finish and open it"
    assert shown.next.href == reverse("campaign", args=[campaign.pk])
    campaign_actions.open(campaign=campaign, by=factories.user(researcher=True))
    assert overview(built.corpus).next.action == "Add annotators"
    Campaign.objects.filter(pk=campaign.pk).update(state="paused")
    assert overview(built.corpus).next.sentence == f"The campaign {campaign.name} is paused."


def test_a_run_under_way_is_watched_and_a_failed_one_says_why(researcher: Client) -> None:
    built = _rated("ann", "ben")
    assert overview(built.corpus).next.action == "Run a judge"
    run = _run(built, Run.State.RUNNING)
    shown = overview(built.corpus)
    assert (shown.next.action, shown.next.href) == ("Watch the run", reverse("run", args=[run.pk]))
    assert "0 of 0 calls done" in shown.next.sentence
    Run.objects.update(state=Run.State.FAILED, error="no <key> for it")
    shown = overview(built.corpus)
    assert shown.next.sentence == "The run of Fair judge failed: no <key> for it"
    assert shown.steps[3].href == reverse("run", args=[run.pk])
    page = researcher.get(reverse("corpus", args=[built.corpus.name])).content.decode()
    assert "no &lt;key&gt; for it" in page


def test_after_ratings_a_report_gold_and_an_export_come_next() -> None:
    built = _rated("ann", "ben")
    built.say("judge", "quality", [1, 2, 3, 3], kind="judge")
    shown = overview(built.corpus)
    assert _states(shown) == "done done done done current open"
    assert shown.next.href == reverse("corpus-report", args=[built.corpus.pk])
    params = {"corpus": built.corpus.pk}
    job = Job.objects.create(
        kind=derivation.KIND, subject="x", params=params, state="failed", error="no room"
    )
    assert overview(built.corpus).next.sentence == "Making gold labels failed: no room"
    job.delete()
    version = built.questions["quality"].version
    gold = derivation.make(corpus=built.corpus, campaign=None, scheme_version=version, by=None)
    shown = overview(built.corpus)
    assert shown.steps[5].text == f"{gold.n} labels"
    assert shown.events[0].text == "Made 4 gold labels"


def test_the_api_has_the_overview_and_annotators_may_not_see_it(researcher: Client) -> None:
    built = _rated("ann", "ben")
    address = reverse("api-corpus-overview", args=[built.corpus.name])
    answer = researcher.get(address).json()
    assert [step["title"] for step in answer["steps"]] == [
        *("Data", "Questions", "Ratings", "Judge", "Report", "Gold")
    ]
    assert answer["next"]["action"] == "Run a judge"
    stranger = Client()
    stranger.force_login(factories.user())
    for forbidden in (address, reverse("corpus", args=[built.corpus.name])):
        assert stranger.get(forbidden).status_code == 403
    assert researcher.get(reverse("api-corpus-overview", args=["nowhere"])).status_code == 404
