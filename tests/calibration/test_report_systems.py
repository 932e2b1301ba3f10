"""Systems in a report: as people would have rated them, by condition, in every form, refused where unsure."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.models import Continuation, Dialogue, Item, Label, Rater, System, Turn
from calibration.models import Report
from calibration.reports.renderings import RENDERINGS
from calibration.reports.results import SystemTable
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.studies import study_actions as studies
from calibration.studies.inputs import read
from tests import factories
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db

DIALOGUES, RATED = 120, 40
MEANS = {"brief": 3.0, "talkative": 3.0, "warm": 4.0}
KINDNESS = {"brief": 0.2, "talkative": 1.0, "warm": 0.1}
"""What the judge adds to a system's quality: it likes the talkative one."""


def continued(name: str, systems: dict[str, list[dict[str, Any]]]) -> World:
    """Return a corpus whose dialogues each system continues under each of its conditions."""
    built = world(name, dialogues=0)
    by_name = {
        system: System.objects.get_or_create(corpus=built.corpus, name=system)[0] for system in systems
    }
    dialogues = Dialogue.objects.bulk_create(
        Dialogue(corpus=built.corpus, key=f"d{number}", cluster=f"d{number}") for number in range(DIALOGUES)
    )
    continuations = Continuation.objects.bulk_create(
        Continuation(dialogue=dialogue, key=f"{system}-{at}", system=by_name[system], condition=condition)
        for dialogue in dialogues
        for system, conditions in systems.items()
        for at, condition in enumerate(conditions)
    )
    turns = Turn.objects.bulk_create(
        Turn(continuation=continuation, position=0, speaker="A", text="Yes.")
        for continuation in continuations
    )
    built.turns += Item.objects.bulk_create(
        Item(corpus=built.corpus, kind="turn", continuation=turn.continuation, turn=turn) for turn in turns
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # else PostgreSQL plans its joins for empty tables
    return built


def scored(values: np.ndarray) -> list[float]:
    """Return values as answers from 1 to 5."""
    return np.clip(np.round(values), 1, 5).tolist()


@pytest.fixture(scope="module")
def rated(module_database: None) -> World:
    """A judge rates the replies of three systems, two people those to a third of the dialogues."""
    built = continued("talks", {system: [{}] for system in MEANS})
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    built.ask("tone", "nominal", ["cold", "warm", "neutral"], wording="Tone")
    random = np.random.default_rng(5)
    names = [item.continuation.system.name for item in built.turns]
    quality = np.array([MEANS[name] for name in names]) + random.normal(0, 0.7, len(names))
    kind = np.array([KINDNESS[name] for name in names])
    for person in ("ann", "ben"):
        own = scored(quality + random.normal(0, 0.3, len(names)))
        built.say(person, "quality", own[: RATED * len(MEANS)])
    built.say("gpt", "quality", scored(quality + kind + random.normal(0, 0.4, len(names))), kind="judge")
    chances = {"brief": (0.6, 0.1, 0.3), "talkative": (0.1, 0.6, 0.3), "warm": (0.1, 0.8, 0.1)}
    tones = [str(random.choice(["cold", "warm", "neutral"], p=chances[name])) for name in names]
    errs = random.random(len(names)) < 0.15
    said = ["warm" if err else tone for err, tone in zip(errs, tones, strict=True)]
    built.say("ann", "tone", tones[: RATED * len(MEANS)])
    built.say("gpt", "tone", said, kind="judge")
    return built


@pytest.fixture(scope="module")
def report(rated: World) -> Report:
    """A report of both questions."""
    study = studies.create(
        name="systems", corpus=rated.corpus, definition={"resamples": 300, "baselines": False}, by=None
    )
    return studies.compute(study=study, part="all", by=None)


def table(snapshot: Snapshot, title: str) -> SystemTable:
    """Return the systems of a question."""
    (own,) = (table for table in snapshot.systems if table.title == title)
    return own


def test_corrected_intervals_hold_what_was_planted_and_the_judge_alone_does_not(report: Report) -> None:
    own = table(snapshot_of(report), "Quality")
    assert (own.judge, own.n_items, own.n_rated) == ("gpt", 360, 120)
    assert [row.system for row in own.rows] == ["brief", "talkative", "warm"]
    for row in own.rows:
        by_name = {figure.name: figure for figure in row.figures}
        assert list(by_name) == [
            "system_judge", "system_prediction_powered", "system_confusion", "system_people"
        ]  # fmt: skip
        corrected = by_name["system_prediction_powered"]
        assert corrected.low is not None
        assert corrected.high is not None
        assert corrected.low <= MEANS[row.system] <= corrected.high
        assert (row.n_items, row.n_rated, corrected.n_items) == (120, 40, 120)
    talkative = own.rows[1].figures[0]
    assert (talkative.low or 0) > MEANS["talkative"], "the judge alone is too kind"


def test_a_difference_of_the_judge_alone_is_not_confirmed(report: Report) -> None:
    own = table(snapshot_of(report), "Quality")
    pairs = {(pair.first, pair.second): pair for pair in own.pairs}
    same = pairs["brief", "talkative"]
    assert (same.judge_alone.high or 0) < 0
    assert (same.corrected.low or 0) < 0 < (same.corrected.high or 0)
    real = pairs["brief", "warm"]
    assert (real.corrected.high or 0) < 0
    assert all(pair.p is not None and pair.p_holm is not None for pair in own.pairs)
    assert real.p is not None
    assert real.p_holm is not None
    assert real.p.point <= real.p_holm.point <= 0.05


def test_categories_have_corrected_shares_each(report: Report) -> None:
    own = table(snapshot_of(report), "Tone")
    assert [row.category for row in own.rows[:3]] == ["cold", "warm", "neutral"]
    assert len(own.rows) == 9
    assert len(own.pairs) == 9
    truth = {("brief", "cold"): 0.6, ("talkative", "warm"): 0.6, ("warm", "warm"): 0.8}
    for row in own.rows:
        share = row.figures[1]
        if planted := truth.get((row.system, row.category)):
            assert (share.low or 0) <= planted <= (share.high or 0)


def test_every_form_of_a_report_has_the_systems(report: Report, researcher: Client) -> None:
    page = researcher.get(reverse("report", args=[report.study_id])).content.decode()
    assert "How would people rate each system?" in page
    assert 'id="by-system"' in page
    assert "3 systems, 2 clear differences" in page
    assert "Systems as people would have rated them: Quality" in page
    assert "gpt alone, not confirmed by the correction: talkative above brief by 0." in page
    other = researcher.get(reverse("report", args=[report.study_id]) + "?corrected=tone@1/tone")
    assert "Systems as people would have rated them: Tone" in other.content.decode()
    for key in ("md", "latex", "html"):
        written = RENDERINGS[key].write(report)
        assert "Systems as people would have rated them: Tone" in written
        assert "Differences of systems: Quality" in written
    stored = json.loads(RENDERINGS["json"].write(report))
    assert {(row["title"], row["judge"], row["n_rated"]) for row in stored["systems"]} == {
        ("Quality", "gpt", 120), ("Tone", "gpt", 120)
    }  # fmt: skip
    lines = list(csv.DictReader(io.StringIO(RENDERINGS["csv"].write(report))))
    mine = {(line["title"], line["name"], line["raters"]): line for line in lines}
    row = mine["Quality", "system_prediction_powered", "gpt; warm"]
    assert float(row["low"]) < 4.0 < float(row["high"])
    assert ("Tone", "system_difference_p_holm", "gpt; brief less warm, cold") in mine


def test_the_api_gives_the_systems_and_a_table_of_its_own(report: Report, researcher: Client) -> None:
    answer = researcher.get(f"/api/v1/studies/{report.study_id}/report/").json()
    assert [row["title"] for row in answer["result"]["systems"]] == ["Quality", "Tone"]
    assert answer["result"]["systems"][0]["rows"][0]["figures"][1]["method"].startswith("prediction-powered")


def test_a_system_has_a_row_for_each_condition_that_varies(module_database: None) -> None:
    built = continued(
        "conditions",
        {
            "x": [{"turns": 5, "seed": 1, "model": "m"}, {"turns": 30, "seed": 1, "model": "m"}],
            "y": [{"turns": 5}],
            "human": [{}],
        },
    )
    built.ask("depth", "ordinal", [1, 2, 3, 4, 5], wording="Depth")
    random = np.random.default_rng(1)
    truth = random.integers(1, 6, len(built.turns)).astype(float)
    built.say("ann", "depth", truth[: len(truth) // 3].tolist())
    built.say("gpt", "depth", scored(truth + random.normal(0, 0.5, len(truth))), kind="judge")
    study = studies.create(name="c", corpus=built.corpus, definition={"resamples": 50}, by=None)
    before = read(study, "all").hash
    (own,) = snapshot_of(studies.compute(study=study, part="all", by=None)).systems
    assert [row.system for row in own.rows] == ["human", "x, turns 5", "x, turns 30", "y"]
    assert [row.n_items for row in own.rows] == [DIALOGUES] * 4
    assert read(study, "all").hash == before
    Continuation.objects.filter(key="x-1").update(condition={"turns": 20})
    assert read(study, "all").hash != before, "the rows would have other names"


def test_one_system_has_its_mean_and_no_pairs(module_database: None) -> None:
    built = continued("single", {"x": [{}]})
    built.ask("polite", "binary", [0, 1], wording="Polite")
    marks = (np.random.default_rng(2).random(DIALOGUES) < 0.5).astype(float)
    built.say("ann", "polite", marks[:50].tolist())
    built.say("gpt", "polite", marks.tolist(), kind="judge")
    (own,) = built.snapshot().systems
    assert ([row.system for row in own.rows], own.pairs) == (["x"], ())
    assert own.rows[0].figures[1].point == pytest.approx(marks.mean(), abs=0.1)


def test_nothing_is_corrected_where_people_rated_everything_or_on_another_scale(
    module_database: None,
) -> None:
    built = continued("complete", {"x": [{}], "y": [{}]})
    built.ask("rest", "ordinal", [1, 2, 3, 4, 5], wording="Rest")
    values = scored(np.random.default_rng(3).normal(3, 1, len(built.turns)))
    built.say("ann", "rest", values)
    built.say("gpt", "rest", values, kind="judge")
    built.ask("fine", "interval", [], wording="Fine")
    built.say("ann", "fine", [1.0, 2.0, 3.0] * 20)
    built.say("bleu", "fine", [0.1, 0.2, 0.3] * 80, kind="metric")
    assert built.snapshot().systems == ()


def test_items_on_which_judge_and_people_differ_correct_nothing(module_database: None) -> None:
    corpus = factories.corpus("apart")
    for number in range(30):
        factories.dialogue(corpus, f"d{number:02}", turns=1)
    question = factories.scheme_version("comperdial_turn").questions.get(key="overall")
    people, judge = (
        Rater.objects.create(name=name, kind=kind) for name, kind in (("ann", "human"), ("judge", "judge"))
    )
    items = list(corpus.items.filter(kind="turn").order_by("pk"))
    said = {"question": question, "rater": judge, "occasion": "imported"}
    for at, item in enumerate(items):
        Label.objects.create(item=item, number=1.0 + at % 4, **said)
    campaign = factories.campaign(
        corpus, "comperdial_turn", sample_apart=0.5, apart_judge="judge", opened=False
    )
    said = {"question": question, "rater": people, "occasion": "main", "campaign": campaign}
    for item in items[:15]:
        Label.objects.create(item=item, number=2.0, **said)
    snapshot = snapshot_of(studies.compute(study=studies.automatic(corpus=corpus), part="all", by=None))
    (own,) = snapshot.systems
    by_name = {figure.name: figure for figure in own.rows[0].figures}
    for name in ("system_prediction_powered", "system_confusion"):
        assert by_name[name].status == "rejected"
        assert "because a judge and people differ there" in by_name[name].reason
    assert by_name["system_judge"].low is not None
    assert by_name["system_people"].low is None
