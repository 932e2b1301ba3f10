"""Continuations by a fake model are marked as such wherever researchers see them."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Continuation, Corpus
from calibration.comparisons import profiles
from calibration.reports.renderings import RENDERINGS
from calibration.reports.sentences import caveats
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions as studies
from tests import factories
from tests.calibration.compared_world import rater, rollout, score
from tests.calibration.counts.built import Made, planted

pytestmark = pytest.mark.django_db
FIRST = "A fake model, which understands nothing, wrote the continuations by model"


@pytest.fixture
def researcher() -> Client:
    client = Client()
    client.force_login(factories.user(researcher=True))
    return client


@pytest.fixture(scope="module")
def corpus(module_database: None) -> Corpus:
    """Two systems with metric labels, one of which asked a fake model."""
    made = factories.dialogue(factories.corpus(), "d", turns=3)
    for key, model in (("pretended", "Fake-1"), ("real", "m-1")):
        part = rollout(made, key)
        Continuation.objects.filter(pk=part.pk).update(condition={"model": model})
        score(rater("nse"), part, 0.5)
    return made.corpus


def test_the_dialogue_s_page_says_it_beside_the_continuation_and_no_other(
    researcher: Client, corpus: Corpus
) -> None:
    made = corpus.dialogues.get()
    for key in ("pretended", "real"):
        page = researcher.get(reverse("dialogue", args=[made.pk]), {"continuation": key}).content.decode()
        assert page.count(">fake model</span>") == 1
        assert ("by pretended (fake model)" in page) == (key == "pretended")


def test_a_profile_says_it_of_its_system_on_page_and_in_files(researcher: Client, corpus: Corpus) -> None:
    page = researcher.get(reverse("profile", args=[corpus.pk])).content.decode()
    assert page.count("fake model") == 1
    panels = profiles.profile(corpus)
    rows = csv.DictReader(io.StringIO(profiles.as_csv(panels)))
    assert {row["system"]: row["fake_model"] for row in rows} == {"pretended": "True", "real": "False"}
    assert "pretended (fake model) &" in profiles.as_latex(panels)
    part = Continuation.objects.get(key="pretended")
    assert "(fake model)" in researcher.get(reverse("profile-continuation", args=[part.pk])).content.decode()


def test_counts_say_it_of_their_row(researcher: Client, capsys: pytest.CaptureFixture[str]) -> None:
    built = Made(dialogues=4)
    built.mark("judge", planted)
    Continuation.objects.exclude(system__name="human").update(condition={"model": "fake-1"})
    assert "model (fake model)" in researcher.get(f"/corpora/{built.corpus.pk}/counts/").content.decode()
    call_command("counts", "--corpus", built.corpus.name, "--format", "json")
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["human"]: row["fake_model"] for row in rows} == {True: False, False: True}


@pytest.mark.exhaustive
def test_reports_say_it_first_and_exports_have_a_column(researcher: Client) -> None:
    built = Made(dialogues=4)
    built.mark("judge", planted)
    built.mark("ann", planted, kind="human")
    plain = studies.compute(study=studies.automatic(corpus=built.corpus), part="all", by=None)
    assert not any("A fake model" in sentence for sentence in caveats(snapshot_of(plain)))
    Continuation.objects.filter(system__name="model").update(condition={"model": "fake-1"})
    report = studies.compute(study=studies.automatic(corpus=built.corpus), part="all", by=None)
    assert caveats(snapshot_of(report))[0].startswith(FIRST)
    for form in ("json", "md", "html", "latex"):
        assert "A fake model, which understands nothing, wrote" in RENDERINGS[form].write(report), form
    exported = researcher.get(reverse("export-labels", args=["csv"]), {"corpus": built.corpus.pk})
    text = b"".join(exported.streaming_content).decode()  # type: ignore[attr-defined]
    marks = {(row["system"], row["fake_model"]) for row in csv.DictReader(io.StringIO(text))}
    assert marks == {("model", "true"), ("human", "false")}
