"""A report shows a judge's mode of calls wherever its calls record it, and nothing otherwise."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from calibration.models import Report
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import snapshot_of
from calibration.reports.view import how_asked
from calibration.studies import study_actions as studies
from jobs.models import Batch, Call, Endpoint, Run
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
N = 12


def rated(*, calls: bool = True) -> World:
    """Two people and a judge on twelve items; calls of the judge, all asked at once."""
    built = world("talks", dialogues=6, turns=2)
    built.ask("off_topic", "binary", [0, 1], scheme="talks", wording="Off topic", positive=1)
    for name, kind in (("ann", "human"), ("ben", "human"), ("gpt", "judge")):
        built.say(name, "off_topic", [float(n % 2) for n in range(N)], kind=kind)
    if calls:
        judge = built.rater("gpt", "judge")
        run = Run.objects.create(kind="judge", corpus=built.corpus, rater=judge)
        asked = {"run": run, "rater": judge, "state": "done", "reply": "no", "asked": 1}
        Call.objects.bulk_create(
            Call(item=item, continuation=item.continuation, **asked) for item in built.turns
        )
    return built


def in_batches(n: int) -> None:
    """Let the last so many calls have been asked in a batch."""
    endpoint = Endpoint.objects.create(name="e", base_url="http://e.example/v1", model="m")
    batch = Batch.objects.create(run=Run.objects.get(), endpoint=endpoint, share="0.5", state="collected")
    last = Call.objects.order_by("-pk").values_list("pk", flat=True)[:n]
    Call.objects.filter(pk__in=list(last)).update(batch=batch)


def report(built: World) -> Report:
    study = studies.create(
        name=f"talks {Report.objects.count()}", corpus=built.corpus, definition={"resamples": 20}, by=None
    )
    return studies.compute(study=study, part="all", by=None)


@pytest.mark.parametrize(
    ("batched", "said"),
    [
        (0, "gpt was asked at once."),
        (N, "gpt was asked in batches."),
        (5, "gpt was asked at once for 7 calls and in batches for 5 calls."),
    ],
)
def test_the_mode_of_a_judge_is_told(batched: int, said: str) -> None:
    built = rated()
    if batched:
        in_batches(batched)
    assert how_asked(snapshot_of(report(built))) == [said]


@pytest.mark.exhaustive
def test_replies_from_the_cache_and_calls_that_asked_nothing_are_no_mode() -> None:
    built = rated()
    Call.objects.update(cached=True)
    said = "gpt reused the replies to equal requests of other runs for 12 calls."
    assert how_asked(snapshot_of(report(built))) == [said]
    first = Call.objects.order_by("pk").values_list("pk", flat=True)[:9]
    Call.objects.filter(pk__in=list(first)).update(cached=False)
    said = "gpt was asked at once; 3 calls reuse the reply to an equal request of another run."
    assert how_asked(snapshot_of(report(built))) == [said]
    Call.objects.update(cached=False, reply="", asked=0)
    assert how_asked(snapshot_of(report(built))) == []


def test_of_labels_without_calls_nothing_is_said() -> None:
    assert how_asked(snapshot_of(report(rated(calls=False)))) == []


@pytest.mark.exhaustive
def test_every_form_that_tells_of_raters_says_it(researcher: Client) -> None:
    built = rated()
    in_batches(N)
    found = report(built)
    page = researcher.get(reverse("report", args=[found.study_id])).content.decode()
    written = {key: str(rendering.write(found)) for key, rendering in RENDERINGS.items()}
    for form in (page, written["html"], written["md"], written["latex"]):
        assert "gpt was asked in batches." in form
    told = json.loads(written["json"])
    assert told["how_asked"] == ["gpt was asked in batches."]
    assert told["calls"][0]["modes"] == [["in batches", N]]


def test_a_judge_that_nothing_was_compared_with_is_told_of_too() -> None:
    built = rated()
    built.ask("rare", "binary", [0, 1], scheme="alone", wording="Rare", positive=1)
    built.say("solo", "rare", [1.0] * N, kind="judge")
    solo = built.rater("solo", "judge")
    run = Run.objects.create(kind="judge", corpus=built.corpus, rater=solo)
    item = built.turns[0]
    asked = {"state": "done", "reply": "yes", "asked": 1}
    Call.objects.create(run=run, rater=solo, item=item, continuation=item.continuation, **asked)
    found = snapshot_of(report(built))
    assert [rater.name for rater in found.answered if rater.kind == "judge"] == ["gpt", "solo"]
    assert how_asked(found) == ["gpt was asked at once.", "solo was asked at once."]
