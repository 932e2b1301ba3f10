"""Intraclass correlations with F intervals, on the page, in every file of a report and in `agree`."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from calibration.models import Report
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions as studies
from tests.calibration.world import world

SHROUT_AND_FLEISS = {
    "ann": [9.0, 6, 8, 7, 10, 6],
    "ben": [2.0, 1, 4, 1, 5, 2],
    "cid": [5.0, 3, 6, 2, 6, 4],
    "dee": [8.0, 2, 8, 6, 9, 7],
}
ASKED = ["icc_2_1", "icc_2_k"]


def _report(answers: dict[str, list[float]], statistics: list[str]) -> Report:
    built = world(dialogues=6, turns=1)
    built.ask("quality", "interval", [], wording="Quality")
    for name, values in answers.items():
        built.say(name, "quality", values)
    definition = {"statistics": statistics, "resamples": 50, "questions": ["quality@1/quality"]}
    study = studies.create(name="icc", corpus=built.corpus, definition=definition, by=None)
    return studies.compute(study=study, part="all", by=None)


@pytest.mark.django_db
def test_a_report_has_mcgraw_and_wong_s_intervals_of_what_was_asked() -> None:
    (question,) = snapshot_of(_report(SHROUT_AND_FLEISS, ASKED)).questions
    single, mean = question.f_intervals
    assert (single.name, mean.name) == ("icc_2_1_f", "icc_2_k_f")
    assert round(single.point, 2) == 0.29
    assert (round(mean.low or 0, 2), round(mean.high or 0, 2)) == (0.07, 0.93)


@pytest.mark.django_db
def test_every_form_of_a_report_shows_them(researcher: Client) -> None:
    report = _report(SHROUT_AND_FLEISS, ASKED)
    page = researcher.get(reverse("report", args=[report.study_id])).content.decode()
    written = {key: rendering.write(report) for key, rendering in RENDERINGS.items()}
    for text in (page, written["html"], written["md"], written["latex"]):
        assert "Intraclass correlations with F intervals" in text
        assert "0.07 to 0.93" in text
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(written["csv"]))}
    assert round(float(rows["icc_2_k_f"]["high"]), 2) == 0.93
    assert "F distribution" in rows["icc_2_k_f"]["method"]
    (kept,) = json.loads(written["json"])["questions"]
    assert [entry["name"] for entry in kept["f_intervals"]] == ["icc_2_1_f", "icc_2_k_f"]


@pytest.mark.django_db
def test_a_report_that_was_asked_for_no_intraclass_correlation_has_no_such_table() -> None:
    report = _report(SHROUT_AND_FLEISS, ["krippendorff_alpha"])
    assert snapshot_of(report).questions[0].f_intervals == ()
    assert "F intervals" not in RENDERINGS["md"].write(report)


@pytest.mark.django_db
def test_with_a_missing_rating_the_table_says_why_there_is_none() -> None:
    report = _report(SHROUT_AND_FLEISS | {"dee": [8.0, 2, 8, 6, 9]}, ["icc_2_1"])
    (entry,) = snapshot_of(report).questions[0].f_intervals
    assert (entry.ok, entry.low) == (True, None)
    assert entry.reason == "no F interval with missing cells; use the bootstrap"


def _agree(tmp_path: Path, *options: str) -> str:
    path, out = tmp_path / "ratings.csv", io.StringIO()
    lines = [
        f"i{n},{name},{value}" for name, values in SHROUT_AND_FLEISS.items() for n, value in enumerate(values)
    ]
    path.write_text("item,rater,value\n" + "\n".join(lines) + "\n", encoding="utf-8")
    call_command("agree", str(path), "--scale", "interval", "--resamples", "50", *options, stdout=out)
    return out.getvalue()


def test_agree_gives_them_where_they_are_asked_for(tmp_path: Path) -> None:
    plain = json.loads(_agree(tmp_path, "--json"))["statistics"]
    asked = json.loads(_agree(tmp_path, "--json", "--icc-f"))["statistics"]
    added = [entry for entry in asked if entry not in plain]
    assert [entry["name"] for entry in added] == [f"icc_{n}_{k}_f" for k in "1k" for n in (1, 2, 3)]
    assert round(next(e["low"] for e in added if e["name"] == "icc_2_k_f"), 2) == 0.07


@pytest.mark.parametrize("form", ["--html", "--latex", "--csv", ""])
def test_every_form_of_agree_shows_them(tmp_path: Path, form: str) -> None:
    said = _agree(tmp_path, "--icc-f", *filter(None, [form]))
    assert ("icc_2_k_f" if form == "--csv" else "ICC(2,k), F interval") in said


def test_agree_verifies_kappa_by_scikit_learn_and_says_the_same(tmp_path: Path) -> None:
    verified, plain = (json.loads(_agree(tmp_path, "--json", *more)) for more in (["--verify"], []))
    assert verified["statistics"] == plain["statistics"]
