"""Biases of each judge in a report: planted ones are stated, absent ones are not, in every form."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import System, Turn
from calibration.models import Report
from calibration.reports.renderings import RENDERINGS
from calibration.reports.results import BiasRow
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.studies import study_actions as studies
from jobs.models import Endpoint
from jobs.models.run import Run
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
DIALOGUES, TURNS = 60, 4
N = DIALOGUES * TURNS
LONGER = 0.4  # points per doubling that people, too, give to longer texts
BIAS = 0.5  # points per doubling that the wordy judge adds


@pytest.fixture(scope="module")
def rated(module_database: None) -> World:
    """Two people, a fair judge, one that favours long texts, a lenient one, one that favours its family."""
    built = world(dialogues=DIALOGUES, turns=TURNS, systems=("a", "b"))
    built.ask("score", "interval", [], wording="Score")
    random = np.random.default_rng(11)
    doublings = random.integers(3, 8, N)
    for item, power in zip(built.turns, doublings, strict=True):
        Turn.objects.filter(pk=item.turn_id).update(text="x" * (2 ** int(power) - 1))
    own = np.array([item.continuation.system.name == "a" for item in built.turns])
    truth = 3 + LONGER * (doublings - 5) + random.normal(0, 0.7, N)
    for name, severity in (("ann", -0.3), ("ben", 0.3)):
        built.say(name, "score", (truth + severity + random.normal(0, 0.8, N)).tolist())
    added = {
        "fair": 0 * truth,
        "wordy": BIAS * (doublings - 5.0),
        "lenient": 0.9 + 0 * truth,
        "loyal": np.where(own, 0.4, -0.4),
    }
    for name, bias in added.items():
        built.say(name, "score", (truth + bias + random.normal(0, 0.4, N)).tolist(), kind="judge")
    return built


@pytest.fixture(scope="module")
def report(rated: World) -> Report:
    """A report in which the loyal judge's model and system a are of one family."""
    endpoint = Endpoint.objects.create(name="e", base_url="http://e.invalid/v1", model="m", family="GPT")
    judge = rated.rater("loyal", "judge")
    Run.objects.create(rater=judge, corpus=rated.corpus, kind="judge", endpoint=endpoint, scope_hash="x")
    System.objects.filter(corpus=rated.corpus, name="a").update(family="gpt")
    definition = {"resamples": 400, "statistics": ["spearman"], "baselines": False}
    study = studies.create(name="biases", corpus=rated.corpus, definition=definition, by=None)
    return studies.compute(study=study, part="all", by=None)


def row(snapshot: Snapshot, rater: str, check: str) -> BiasRow:
    """Return a check of a judge."""
    rows = [row for question in snapshot.biases for row in question.rows]
    return next(row for row in rows if (row.rater, row.check) == (rater, check))


def test_planted_biases_are_stated_and_a_fair_judge_has_none(report: Report) -> None:
    snapshot = snapshot_of(report)
    rows = [row for question in snapshot.biases for row in question.rows]
    clear = {(row.rater, row.check) for row in rows if row.sentence}
    assert clear == {("wordy", "length"), ("lenient", "severity"), ("loyal", "family")}
    for rater, check, planted in (
        ("wordy", "length", BIAS),
        ("fair", "length", 0.0),
        ("lenient", "severity", 0.9),
        ("loyal", "family", 0.8),
    ):
        effect = row(snapshot, rater, check).effect
        low, high = effect.low, effect.high
        assert low is not None
        assert high is not None
        assert low <= planted <= high
        assert (effect.n_items, effect.n_clusters) == (N, DIALOGUES)
    assert not [row for row in rows if row.check == "family" and row.rater != "loyal"]


def test_a_judge_is_placed_in_the_range_of_single_people(report: Report) -> None:
    lenient = row(snapshot_of(report), "lenient", "severity")
    assert [figure.raters for figure in lenient.people] == [("ann",), ("ben",)]
    assert "outside the range of single people, −0.3" in lenient.sentence
    assert "more lenient than people by 0.9" in lenient.sentence


def test_rewording_says_that_it_was_not_checked(report: Report) -> None:
    effect = row(snapshot_of(report), "fair", "rewording").effect
    assert (effect.value, effect.status) == (None, "insufficient")
    assert effect.reason.startswith("not checked: run the check of rewordings")


def test_tests_are_corrected_over_all_checks_of_a_judge(report: Report) -> None:
    for judge, checks in (("loyal", 3), ("fair", 2)):
        rows = [row(snapshot_of(report), judge, check) for check in ("length", "severity")]
        for each in rows:
            assert each.p is not None
            assert each.p_holm is not None
            assert f"Holm over {checks} checks" in each.p_holm.method
            assert each.p.point <= each.p_holm.point <= min(1.0, checks * each.p.point) + 1e-12


def test_verdicts_mention_clear_biases_alone(report: Report) -> None:
    reasons = {verdict.rater: " ".join(verdict.reasons) for verdict in snapshot_of(report).verdicts}
    assert "It rates longer texts higher than people do: +0." in reasons["wordy"]
    assert "longer texts" not in reasons["fair"]
    assert "lenient" not in reasons["fair"]


def test_every_form_of_a_report_has_the_biases(report: Report, admin_client: Client) -> None:
    page = admin_client.get(reverse("report", args=[report.study_id])).content.decode()
    assert "Biases of each judge" in page
    assert "wordy: It rates longer texts higher" in page
    assert "Check rewordings in the workbench" in page
    for key in ("md", "latex", "html"):
        assert "Biases of each judge" in RENDERINGS[key].write(report)
    stored = json.loads(RENDERINGS["json"].write(report))
    assert {row["rater"] for row in stored["biases"][0]["rows"]} == {"fair", "wordy", "lenient", "loyal"}
    lines = list(csv.DictReader(io.StringIO(RENDERINGS["csv"].write(report))))
    effects = [line for line in lines if line["name"] == "bias_length_effect"]
    assert len(effects) == 4
    assert all(line["low"] for line in effects)


def test_only_people_and_ordered_answers_give_biases(module_database: None) -> None:
    built = world("others", dialogues=4, turns=2)
    built.ask("kind", "nominal", ["x", "y"], wording="Kind")
    built.ask("tag", "binary", [0, 1], wording="Tag")
    built.say("ann", "kind", ["x", "y"] * 4)
    built.say("m", "kind", ["x", "y"] * 4, kind="judge")
    built.say("m", "tag", [0.0, 1.0] * 4, kind="judge")
    assert (
        snapshot_of(studies.compute(study=studies.automatic(corpus=built.corpus), part="all", by=None)).biases
        == ()
    )
