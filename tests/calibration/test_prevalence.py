"""Prevalence of a behaviour, corrected for a judge's errors: in every format of a report and in `agree`."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.text.display import number
from calibration.models import Report
from calibration.reports.renderings import RENDERINGS
from calibration.reports.results import PrevalenceRow
from calibration.reports.snapshot import snapshot_of
from calibration.statistics import Plan, Ratings
from calibration.statistics.corrected_shares import FIGURES, corrected_shares
from calibration.studies import study_actions as studies
from tests.calibration.world import world

DIALOGUES, TURNS, RATED = 40, 3, 15
TRUE, SENSITIVITY, SPECIFICITY = 0.1, 0.8, 0.9


def _planted(seed: int, n: int, rated: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two people who say the truth of the first items, and a judge of known errors who answers all."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < TRUE
    judge = np.where(truth, rng.random(n) < SENSITIVITY, rng.random(n) >= SPECIFICITY)
    people = np.where(np.arange(n) < rated, truth, np.nan)
    second = np.where(np.arange(n) < rated - 2, truth ^ (np.arange(n) % 9 == 0), np.nan)
    return people.astype(float), second.astype(float), judge.astype(float)


def _ratings(columns: tuple[np.ndarray, ...], per: int = 3) -> Ratings:
    kinds = ["human"] * (len(columns) - 1) + ["judge"]
    block = np.column_stack(columns)
    clusters = np.arange(len(block)) // per
    return Ratings.from_matrix(block, level="binary", clusters=clusters, kinds=kinds)


def test_each_figure_is_what_counting_by_hand_gives() -> None:
    first, second, judge = _planted(1, 120, 45)
    (found,) = corrected_shares(_ratings((first, second, judge)), Plan(resamples=100))
    known = ~np.isnan(first)
    answers = np.concatenate([first[known], second[~np.isnan(second)]])
    said = np.concatenate([judge[known], judge[~np.isnan(second)]])
    sensitivity, specificity = said[answers == 1].mean(), 1 - said[answers == 0].mean()
    rest = judge[~known].mean()
    by_hand = {
        "judge_share": judge.mean(),
        "people_share": np.nanmean(np.column_stack([first, second])[known], axis=1).mean(),
        "sensitivity": sensitivity,
        "specificity": specificity,
        "rogan_gladen": (rest + specificity - 1) / (sensitivity + specificity - 1),
    }
    for name, value in by_hand.items():
        assert found.figures[name].value == pytest.approx(value, abs=1e-12), name
    assert tuple(found.figures) == FIGURES
    assert (found.n_labelled, found.n_unlabelled, found.n_divided) == (45, 75, 0)


def test_the_corrected_shares_hold_the_planted_one_and_the_judge_s_own_does_not() -> None:
    held = {"judge_share": 0, "prediction_powered": 0, "rogan_gladen": 0}
    for seed in range(40):
        (found,) = corrected_shares(_ratings(_planted(seed, 3000, 600)[::2]), Plan(resamples=200, seed=seed))
        for name in held:
            result = found.figures[name]
            assert result.low is not None
            assert result.high is not None
            held[name] += result.low <= TRUE <= result.high
    assert held["judge_share"] == 0
    assert min(held["prediction_powered"], held["rogan_gladen"]) >= 34, "34 of 40 lies 2.9 errors below 95%"


def test_a_judge_no_better_than_chance_keeps_the_prediction_powered_share_alone() -> None:
    truth = np.tile([1.0, 0, 0, 1], 30)
    judge = np.tile([1.0, 1, 0, 0], 30)
    people = np.where(np.arange(120) < 60, truth, np.nan)
    (found,) = corrected_shares(_ratings((people, judge)), Plan(resamples=50))
    assert found.figures["rogan_gladen"].status == "rejected"
    assert found.figures["prediction_powered"].value == pytest.approx(0.5)


@pytest.mark.parametrize("rated", [0, 120])
def test_where_people_answered_nothing_or_everything_there_is_nothing_to_correct(rated: int) -> None:
    first, _, judge = _planted(1, 120, rated)
    assert corrected_shares(_ratings((first, judge))) == ()


def test_a_cluster_that_people_answered_in_part_is_counted() -> None:
    first, _, judge = _planted(1, 120, 46)
    (found,) = corrected_shares(_ratings((first, judge)), Plan(resamples=20))
    assert found.n_divided == 1


@pytest.fixture(scope="module")
def report(module_database: None) -> Report:
    built = world(dialogues=DIALOGUES, turns=TURNS)
    built.ask("off_topic", "binary", [0, 1], wording="Off topic", positive=1)
    first, second, judge = _planted(2, DIALOGUES * TURNS, RATED * TURNS)
    built.say("ann", "off_topic", [None if np.isnan(v) else float(v) for v in first])
    built.say("ben", "off_topic", [None if np.isnan(v) else float(v) for v in second])
    built.say("gpt", "off_topic", judge.tolist(), kind="judge")
    study = studies.create(
        name="share", corpus=built.corpus, definition={"resamples": 60, "statistics": ["mcc"]}, by=None
    )
    return studies.compute(study=study, part="all", by=None)


def _row(report: Report) -> PrevalenceRow:
    (row,) = snapshot_of(report).prevalence
    return row


@pytest.mark.exhaustive
def test_every_form_of_a_report_shows_every_figure(report: Report, researcher: Client) -> None:
    row = _row(report)
    assert (row.judge, row.people, row.n_labelled) == ("gpt", ("ann", "ben"), RATED * TURNS)
    page = researcher.get(reverse("report", args=[report.study_id])).content.decode()
    written = {key: rendering.write(report) for key, rendering in RENDERINGS.items()}
    for text in (page, written["html"], written["md"], written["latex"]):
        assert "How often it occurs" in text
        assert all(number(entry.value, 3) in text for entry in row.figures)
    rows = {r["name"]: r for r in csv.DictReader(io.StringIO(written["csv"]))}
    assert all(rows[entry.name]["value"] == str(entry.value) for entry in row.figures)
    (kept,) = json.loads(written["json"])["prevalence"]
    assert [entry["value"] for entry in kept["figures"]] == [entry.value for entry in row.figures]


@pytest.mark.exhaustive
def test_the_page_says_what_each_correction_rests_on(report: Report, researcher: Client) -> None:
    page = researcher.get(reverse("report", args=[report.study_id])).content.decode()
    assert "corrected for the judge’s errors on the items that people answered, too (at least 45)" in page
    assert (
        "The prediction-powered share is unbiased even with a bad judge, if people answered a random sample"
        in page
    )


@pytest.mark.parametrize("form", ["", "--json", "--csv", "--latex", "--html"])
def test_agree_shows_them_where_they_are_asked_for(tmp_path: Path, form: str) -> None:
    first, _, judge = _planted(2, 90, 30)
    lines = ["item,rater,kind,cluster,value"]
    for kind, column in (("human", first), ("judge", judge)):
        lines += [
            f"i{n},{kind},{kind},c{n // 3},{'' if np.isnan(v) else int(v)}" for n, v in enumerate(column)
        ]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    out, plain = io.StringIO(), io.StringIO()
    options = [str(path), "--scale", "binary", "--resamples", "50", *filter(None, [form])]
    call_command("agree", *options, "--prevalence", stdout=out)
    call_command("agree", *options, stdout=plain)
    wanted = "prevalence_rogan_gladen" if form in ("--json", "--csv") else "Share, Rogan-Gladen"
    assert wanted in out.getvalue()
    assert wanted not in plain.getvalue()
