"""Test is opened once per judge, on purpose, with a reason; each opening is counted and printed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.corpora import splits
from annotation.corpora.splits import openings
from annotation.models import Corpus, JudgeOpening, Rater, Split, TestLook
from calibration.errors import StudyError
from calibration.models import Study
from calibration.reports.renderings import RENDERINGS
from calibration.studies import study_actions as studies
from config.models import Event
from jobs.models import Run
from judges.errors import JudgeError
from judges.runs import run_actions
from judges.runs.plans import Judge
from judges.runs.selection import Selection
from tests import factories
from tests.calibration.world import World, world
from tests.judges.helpers import small_corpus

pytestmark = pytest.mark.django_db(transaction=True)
RULES = Judge("rules_baseline")


@pytest.fixture
def corpus() -> Corpus:
    return small_corpus(dialogues=4, turns=2)


def used(corpus: Corpus) -> Split:
    split = splits.draw(corpus=corpus, by=None, seed=2)
    splits.fix(split=split, by=None)
    return split


def start(corpus: Corpus, judge: Judge = RULES, part: str = "", reason: str = "") -> Run:
    split = corpus.splits.first() if part else None
    selection = Selection(corpus, split=split, part=part)
    return run_actions.start(by=None, plan=judge.plan(), selection=selection, open_test=reason)


def test_without_a_split_and_on_dev_nothing_is_to_be_opened(corpus: Corpus) -> None:
    start(corpus)
    splits.draw(corpus=corpus, by=None)
    start(corpus)
    splits.fix(split=corpus.splits.get(), by=None)
    start(corpus, part="dev")
    assert not JudgeOpening.objects.exists()


@pytest.mark.parametrize(("part", "covers"), [("test", "covers"), ("", "includes")])
def test_a_run_over_test_needs_an_opening_once(corpus: Corpus, part: str, covers: str) -> None:
    used(corpus)
    with pytest.raises(JudgeError, match=f"This run {covers} the test part .* --open-test"):
        start(corpus, part=part)
    assert not Run.objects.exists()
    first = start(corpus, part=part, reason="table 2")
    assert start(corpus, part=part).pk == first.pk
    opening = JudgeOpening.objects.get()
    assert (opening.rater, opening.reason, opening.family) == (first.rater, "table 2", "rules_baseline")
    event = Event.objects.get(verb="open test for a judge")
    assert (event.detail["opening"], event.detail["reason"]) == (1, "table 2")


@pytest.mark.exhaustive
def test_another_judge_of_a_family_is_opened_too_and_counted(corpus: Corpus) -> None:
    split = used(corpus)
    start(corpus, reason="first")
    wider = Judge("rules_baseline", shows=("participants.extra",))
    with pytest.raises(JudgeError, match="once per judge"):
        start(corpus, wider)
    start(corpus, wider, reason="second thoughts")
    assert [one.number for one in openings(split)] == [1, 2]
    assert "(opening 2 of the family rules_baseline)" in openings(split)[1].sentence()


def test_metrics_are_measured_on_test_without_an_opening(corpus: Corpus) -> None:
    used(corpus)
    call_command("run_metrics", "--metrics", "lnr", "--corpus", corpus.name, "--quiet")
    assert not JudgeOpening.objects.exists()


@pytest.mark.exhaustive
def test_the_page_the_api_and_the_command_ask_for_the_reason(
    client: Client, corpus: Corpus, capsys: pytest.CaptureFixture[str]
) -> None:
    used(corpus)
    client.force_login(factories.user(researcher=True))
    address = f"{reverse('new-run')}?corpus={corpus.pk}"
    form = {"judge-judge": "rules_baseline:", "judge-samples": "1"}
    page = client.post(address, form)
    assert (page.status_code, Run.objects.count()) == (422, 0)
    assert "includes the test part" in page.content.decode()
    body = {"protocol": "rules_baseline", "corpus": corpus.name, "part": "test"}
    said = json.dumps(body)
    refused = client.post(reverse("api-runs"), said, content_type="application/json")
    assert (refused.status_code, "covers the test part" in refused.content.decode()) == (400, True)
    with pytest.raises(CommandError, match="--open-test"):
        call_command("run_judge", "--protocol", "rules_baseline", "--corpus", corpus.name, "--quiet")
    client.post(address, form | {"judge-open_test": "the page"})
    assert JudgeOpening.objects.get().reason == "the page"
    JudgeOpening.objects.all().delete()
    said = json.dumps(body | {"open_test": "the API"})
    assert client.post(reverse("api-runs"), said, content_type="application/json").status_code == 201
    JudgeOpening.objects.all().delete()
    options = ("--protocol", "rules_baseline", "--corpus", corpus.name, "--quiet", "--part", "test")
    call_command("run_judge", *options, "--open-test", "the command")
    assert JudgeOpening.objects.get().reason == "the command"
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["state"] == "done"


@pytest.fixture
def rated() -> World:
    """Eight dialogues of two turns, with two people and a judge."""
    built = world(dialogues=8, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3])
    for place, (name, kind) in enumerate({"ann": "human", "ben": "human", "gpt": "judge"}.items()):
        built.say(name, "quality", [float(1 + n % (2 + place % 2)) for n in range(16)], kind=kind)
    return built


def study_of(built: World, **definition: Any) -> Study:
    return studies.create(name="s", corpus=built.corpus, definition={"resamples": 20} | definition, by=None)


@pytest.mark.exhaustive
def test_a_report_on_test_opens_it_for_its_judges_and_prints_that(client: Client, rated: World) -> None:
    splits.draw(corpus=rated.corpus, by=None)
    study, by = study_of(rated), factories.user(researcher=True)
    client.force_login(by)
    page = client.get(reverse("open-test", args=[study.pk])).content.decode()
    assert "This opens it for gpt." in page
    studies.open_test(study=study, by=by, purpose="the paper")
    report = studies.compute(study=study, part="test", by=by)
    assert TestLook.objects.get().judges == ["gpt"]
    assert JudgeOpening.objects.get().rater.name == "gpt"
    kept = json.loads(str(RENDERINGS["json"].write(report)))
    assert kept["looks_at_test"][0]["judges"] == ["gpt"]
    assert [(one["judge"], one["number"], one["reason"]) for one in kept["test_opened_for"]] == [
        ("gpt", 1, "the paper")
    ]
    for form in ("md", "latex", "html"):
        assert "judges: gpt" in str(RENDERINGS[form].write(report)), form
    corpus_page = client.get(reverse("corpus-settings", args=[rated.corpus.name])).content.decode()
    assert "Test opened for judges" in corpus_page


@pytest.mark.exhaustive
def test_a_judge_that_came_later_is_shown_once_test_was_opened_for_it(rated: World) -> None:
    splits.draw(corpus=rated.corpus, by=None)
    study = study_of(rated)
    studies.open_test(study=study, by=None, purpose="the paper")
    studies.compute(study=study, part="test", by=None)
    rated.say("llm", "quality", [2.0, 1.0] * 8, kind="judge")
    with pytest.raises(StudyError, match="test was not opened for llm: open test once more"):
        studies.compute(study=study, part="test", by=None)
    studies.open_test(study=study, by=None, purpose="the second judge")
    assert studies.compute(study=study, part="test", by=None).part == "test"
    names = [one.rater.name for one in JudgeOpening.objects.order_by("pk")]
    assert names == ["gpt", "llm"]
    assert TestLook.objects.count() == 2


def test_a_study_that_leaves_a_judge_out_does_not_open_test_for_it(rated: World) -> None:
    splits.draw(corpus=rated.corpus, by=None)
    study = study_of(rated, raters=["ann", "ben"])
    studies.open_test(study=study, by=None, purpose="people alone")
    studies.compute(study=study, part="test", by=None)
    assert not JudgeOpening.objects.exists()
    assert Rater.objects.filter(kind="judge").count() == 1


def test_annotators_open_nothing(client: Client, rated: World) -> None:
    splits.draw(corpus=rated.corpus, by=None)
    study = study_of(rated)
    client.force_login(factories.user("ann"))
    answer = client.post(reverse("open-test", args=[study.pk]), {"purpose": "curious"})
    assert (answer.status_code in (302, 403), JudgeOpening.objects.count()) == (True, 0)
