"""Answers of a fake model are marked as such wherever they appear."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from calibration.reports.renderings import RENDERINGS
from calibration.reports.sentences import caveats
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions as studies
from jobs.fake_models import MARK, is_fake, marked
from jobs.models import Call
from jobs.progress import progress
from judges.runs.lookup import summary
from judges.runs.plans import Judge
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)
NAME = "fake-1 (fake model) cpdscore_detail without reference"


def test_a_fake_model_s_name_says_so_and_no_other_does() -> None:
    assert [is_fake(name) for name in ("fake-1", "Fake", "gpt-4", "not-a-fake")] == [True, True, False, False]
    assert (marked("fake-1"), marked("gpt-4")) == ("fake-1 (fake model)", "gpt-4")


def test_labels_of_a_fake_model_say_so_on_pages_in_reports_and_in_exports(
    client: Client, fake: FakeLLM
) -> None:
    client.force_login(factories.user(researcher=True))
    corpus = small_corpus()
    run = begin(corpus, Judge("cpdscore_detail", endpoint=endpoint_of(fake)))
    finish()
    assert run.rater.name == NAME
    for page in (
        reverse("corpus-judges", args=[corpus.name]),
        reverse("run", args=[run.pk]),
        reverse("corpus-report", args=[corpus.pk]),
    ):
        assert MARK in client.get(page, follow=True).content.decode()
    exported = client.get(reverse("export-labels", args=["csv"]), {"corpus": corpus.pk})
    rows = b"".join(exported.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert len(rows) == 1 + 12
    assert all(NAME in row for row in rows[1:])
    study = studies.automatic(corpus=corpus)
    report = studies.compute(study=study, part="all", by=None)
    told = f"{NAME} is a fake model: its answers are planted in the texts"
    assert caveats(snapshot_of(report))[0].startswith(told)
    for form in ("json", "md", "html", "latex"):
        assert "is a fake model" in RENDERINGS[form].write(report), form


def test_a_run_says_once_that_a_fake_model_answers_and_flags_are_left_to_what_is_about_a_call(
    client: Client, fake: FakeLLM
) -> None:
    client.force_login(factories.user(researcher=True))
    run = begin(small_corpus(dialogues=1), Judge("cpdscore_detail", endpoint=endpoint_of(fake)))
    finish()
    page = client.get(reverse("run", args=[run.pk])).content.decode()
    assert page.count("A fake model answers every call of this run") == 1
    told = client.get(f"/api/v1/runs/{run.pk}/").json()["progress"]
    assert (told["fake_model"], told["flagged"]) == (True, 0)
    assert summary(run)["fake_model"] is True
    assert not Call.objects.exclude(flags=[]).exists()


def test_a_judge_that_asks_a_real_model_is_not_called_fake(fake: FakeLLM) -> None:
    corpus = small_corpus(dialogues=1)
    run = begin(corpus, Judge("cpdscore_detail", endpoint=endpoint_of(fake, model="m-1")))
    finish()
    assert run.rater.name == "m-1 cpdscore_detail without reference"
    assert not progress(run).fake_model
    assert not Call.objects.exclude(flags=[]).exists()
