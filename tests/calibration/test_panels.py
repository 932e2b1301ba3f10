"""Panels of judges, and baselines: on the page, in every file, through form, API and command."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from sklearn.metrics import cohen_kappa_score

from annotation.corpora import splits
from annotation.models import Label
from calibration.errors import DefinitionError
from calibration.models import Report, Study
from calibration.reports.renderings import RENDERINGS
from calibration.reports.results import Floor, FloorRow
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions as studies
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
N = 60
RNG = np.random.default_rng(3)
TRUTH = RNG.integers(0, 2, N)
MARKS = {
    name: np.where(RNG.random(N) < wrong, 1 - TRUTH, TRUTH)
    for name, wrong in {"ann": 0.1, "ben": 0.15, "g": 0.2, "h": 0.25, "m": 0.3}.items()
}
SCORES = {name: 1 + (RNG.integers(0, 3, N) + marks) % 5 for name, marks in MARKS.items()}
PANEL = {"name": "three", "rule": "majority", "members": ["g", "h", "m"]}


@pytest.fixture(scope="module")
def rated(module_database: None) -> World:
    """Thirty dialogues of two turns: a tag and a score, by two people and three judges."""
    built = world(dialogues=N // 2, turns=2)
    built.ask("tag", "binary", [0, 1], wording="Tag")
    built.ask("score", "ordinal", [1, 2, 3, 4, 5], wording="Score")
    for name in MARKS:
        kind = "human" if name in ("ann", "ben") else "judge"
        built.say(name, "tag", MARKS[name].astype(float).tolist(), kind=kind)
        built.say(name, "score", SCORES[name].astype(float).tolist(), kind=kind)
    return built


def report(built: World, part: str = "all", **definition: Any) -> Report:
    study = studies.create(
        name="made", corpus=built.corpus, definition={"resamples": 40} | definition, by=None
    )
    if part == "test":
        studies.open_test(study=study, by=None, purpose="the paper")
    return studies.compute(study=study, part=part, by=None)


def floor_of(found: Report, key: str) -> Floor:
    return next(floor for floor in snapshot_of(found).floors if floor.ref.endswith(f"/{key}"))


def row_of(floor: Floor, name: str) -> FloorRow:
    return next(row for row in floor.rows if row.name == name)


def figure(row: FloorRow, name: str) -> float | None:
    return next(one.value for one in row.figures if one.name == name)


@pytest.mark.exhaustive
def test_every_report_with_a_judge_has_its_floor(rated: World) -> None:
    found = report(rated)
    floor = floor_of(found, "tag")
    assert [row.name for row in floor.rows][:3] == ["g", "h", "m"]
    assert {row.name for row in floor.rows if row.kind == "baseline"} >= {"majority", "length in words"}
    assert figure(row_of(floor, "majority"), "cohen_kappa") == 0
    people = np.concatenate([MARKS["ann"], MARKS["ben"]])
    wanted = cohen_kappa_score(people, np.tile(MARKS["g"], 2))
    assert figure(row_of(floor, "g"), "cohen_kappa") == pytest.approx(wanted, abs=1e-12)
    assert not any(r.kind == "baseline" for q in snapshot_of(found).questions for r in q.raters)
    for form, rendering in RENDERINGS.items():
        assert "majority" in str(rendering.write(found)), form
    lines = {row["name"] for row in csv.DictReader(io.StringIO(str(RENDERINGS["csv"].write(found))))}
    assert {"floor_cohen_kappa", "baseline_cohen_kappa", "baseline_mean_absolute_error"} <= lines
    assert not snapshot_of(report_without(rated)).floors


def report_without(built: World) -> Report:
    study = studies.create(
        name="bare", corpus=built.corpus, definition={"resamples": 40, "baselines": False}, by=None
    )
    return studies.compute(study=study, part="all", by=None)


@pytest.mark.exhaustive
def test_a_panel_is_compared_as_a_judge_and_is_no_judge_more(rated: World) -> None:
    bare, with_panel = report_without(rated), report(rated, panels=[PANEL])
    result = snapshot_of(with_panel)
    told, other = sorted(result.panels, key=lambda told: told.ref, reverse=True)
    assert (told.name, told.least, told.n_answered, told.n_ties, other.n_ties > 0) == ("three", 2, N, 0, True)
    votes = (MARKS["g"] + MARKS["h"] + MARKS["m"] >= 2).astype(int)
    people = np.concatenate([MARKS["ann"], MARKS["ben"]])
    found = figure(row_of(floor_of(with_panel, "tag"), "three"), "cohen_kappa")
    assert found == pytest.approx(cohen_kappa_score(people, np.tile(votes, 2)), abs=1e-12)
    tag, before = (next(q for q in snapshot_of(r).questions if q.key == "tag") for r in (with_panel, bare))
    assert {figure.name: figure.value for figure in tag.panel} == {f.name: f.value for f in before.panel}
    assert any(f.raters[0] == "three" and f.name == "gap_cohen_kappa" for f in tag.gaps)
    assert {("three", "g"), ("g", "three")} & {pair.names for pair in result.compared[0].pairs}
    assert result.counts == snapshot_of(bare).counts
    assert Label.objects.filter(rater__name="three").count() == 0


def test_weights_and_baselines_of_a_test_report_come_from_dev_alone(rated: World) -> None:
    split = splits.draw(corpus=rated.corpus, by=None, seed=1)
    weighted = {"name": "w", "rule": "weighted"}
    found = report(rated, "test", panels=[weighted])
    before = [m.weight for told in snapshot_of(found).panels for m in told.members]
    assert floor_of(found, "tag").learned == "dev"
    tests = splits.clusters(split=split, part="test")
    place = next(n for n, item in enumerate(rated.turns) if item.continuation.dialogue.cluster in tests)
    rated.say("ann", "tag", {rated.turns[place]: float(1 - MARKS["ann"][place])})
    study = Study.objects.get(name="made")
    again = studies.compute(study=study, part="test", by=None)
    assert again.pk != found.pk
    assert [m.weight for told in snapshot_of(again).panels for m in told.members] == before


@pytest.mark.exhaustive
def test_without_a_split_a_weighted_panel_says_why_it_has_no_answer(rated: World) -> None:
    result = snapshot_of(report(rated, panels=[{"rule": "weighted"}]))
    assert {told.reason for told in result.panels} == {
        "weights are learned on dev, and the corpus has no split"
    }


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("panel", "why"),
    [
        ({"rule": "best"}, "rule is mean"),
        ({"rule": "mean", "members": ["g"]}, "two members or more"),
        ({"rule": "mean", "members": ["g", "nobody"]}, "no judge 'nobody'"),
        ({"rule": "mean", "members": ["g", "h"], "least": 3}, "least is 3"),
        ({"rule": "mean", "name": "g"}, "a rater is called 'g'"),
        ({"rule": "mean", "size": 3}, "a panel has"),
    ],
)
def test_a_panel_that_could_never_be_computed_is_refused_in_one_line(
    rated: World, panel: dict[str, Any], why: str
) -> None:
    with pytest.raises(DefinitionError, match=why):
        report(rated, panels=[panel])


@pytest.mark.exhaustive
def test_the_form_the_api_and_the_command_make_panels(
    researcher: Client, rated: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"{reverse('new-study')}?corpus={rated.corpus.pk}"
    fields = {"name": "by form", "interval": "percentile", "resamples": 20, "seed": 0, "confidence": 0.95}
    bad = researcher.post(address, fields | {"map": "rank", "members": ["g", "h"]})
    assert "Choose the rule of the panel" in bad.content.decode()
    researcher.post(address, fields | {"map": "rank", "panel": "median", "members": ["g", "h"], "least": "2"})
    study = Study.objects.get(name="by form")
    assert study.definition["panels"] == [{"rule": "median", "members": ["g", "h"], "least": 2}]
    page = researcher.get(reverse("report", args=[study.pk])).content.decode()
    assert "panel: median of g, h" in page
    assert "Judges above baselines" in page
    path = tmp_path / "d.json"
    path.write_text(json.dumps({"resamples": 20, "panels": [PANEL]}))
    call_command("study", "by command", "--corpus", "talks", "--definition", str(path), "--format", "md")
    assert "three" in capsys.readouterr().out
    body = {"name": "by api", "corpus": rated.corpus.pk, "definition": {"panels": [PANEL]}}
    answer = researcher.post(reverse("api-studies"), json.dumps(body), content_type="application/json")
    assert answer.status_code == 201, answer.content
    assert Study.objects.get(name="by api").definition["panels"] == [PANEL]
