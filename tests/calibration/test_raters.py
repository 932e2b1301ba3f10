"""Individual raters of a report: page, every file, repeated answers, hostile names, sixty raters."""

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

from annotation.models import Campaign, Occasion, SchemeVersion
from annotation.text.display import number
from calibration.models import Report
from calibration.reports import raters as section
from calibration.reports.renderings import RENDERINGS
from calibration.reports.results import QuestionRaters
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions as studies
from tests.calibration.conftest import Compiled
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
ITEMS = 40
HOSTILE = r"<script>alert(1)</script> =1+1 100% & \input{x} $y_1^2$ #{~}|*"


def scores(place: int) -> list[float]:
    """What a person says of each item; the second is lenient."""
    found = [1 + (n * 7 + (n % (4 + place) == 0)) % 5 + (place == 1) for n in range(ITEMS)]
    return [float(min(value, 5)) for value in found]


def built(*names: str, judge: str = "gpt") -> World:
    """A tag and a scale, answered by people and a judge; the second person is lenient."""
    made = world(dialogues=ITEMS // 2, turns=2)
    made.ask("tag", "binary", [0, 1], wording="Tag", positive=1)
    made.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    for place, name in enumerate((*names, judge)):
        kind = "judge" if name == judge else "human"
        made.say(name, "quality", scores(place), kind=kind)
        made.say(name, "tag", [float((n + (n % (5 + place) == 0)) % 2) for n in range(ITEMS)], kind=kind)
    return made


def report_of(made: World, **definition: object) -> Report:
    settings = {"resamples": 40} | definition
    study = studies.create(name=f"r {definition}"[:90], corpus=made.corpus, definition=settings, by=None)
    return studies.compute(study=study, part="all", by=None)


def raters_of(report: Report, ref: str = "quality@1/quality") -> QuestionRaters:
    (found,) = [raters for raters in snapshot_of(report).raters if raters.ref == ref]
    return found


def page_of(researcher: Client, report: Report, **asked: str) -> str:
    return researcher.get(reverse("report", args=[report.study_id]), asked).content.decode()


@pytest.mark.exhaustive
def test_every_form_of_a_report_has_each_raters_severity(researcher: Client) -> None:
    report = report_of(built("ann", "ben", "cid"))
    lenient = raters_of(report).rows[1].figure("rater_severity")
    assert lenient is not None
    assert lenient.value == max(
        row.figure("rater_severity").value for row in raters_of(report).rows if row.kind == "human"
    )
    page = page_of(researcher, report, raters="quality@1/quality")
    for text in (page, *(RENDERINGS[form].write(report) for form in ("md", "latex", "html"))):
        assert number(lenient.value, 3) in text
    rows = csv.DictReader(io.StringIO(RENDERINGS["csv"].write(report)))
    (line,) = [
        r for r in rows if (r["name"], r["raters"], r["title"]) == ("rater_severity", "ben", "Quality")
    ]
    assert (line["value"], line["low"]) == (str(lenient.value), str(lenient.low))
    kept = json.loads(RENDERINGS["json"].write(report))["raters"]
    assert {row["name"] for question in kept for row in question["rows"]} == {"ann", "ben", "cid", "gpt"}


@pytest.mark.exhaustive
def test_the_page_shows_the_question_that_is_chosen(researcher: Client) -> None:
    report = report_of(built("ann", "ben", "cid"))
    assert "How raters rate: Tag" in page_of(researcher, report, raters="tag@1/tag")
    page = page_of(researcher, report, raters="quality@1/quality")
    assert "How raters rate: Quality" in page
    assert "How raters rate: Tag" not in page
    assert "How raters rate" in page_of(researcher, report, raters="nothing")


@pytest.mark.exhaustive
def test_sixty_raters_are_folded_to_the_ends_and_drawn(researcher: Client, compiled: Compiled) -> None:
    made = world(dialogues=30, turns=2)
    made.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    for place in range(60):
        mine = [made.turns[(place + step * 7) % 60] for step in range(8)]
        made.say(f"p{place:02}", "quality", {item: float(1 + (place + item.pk) % 5) for item in mine})
    report = report_of(made, resamples=10)
    view = section.views(snapshot_of(report), {})[0]
    between = view.folded[0]
    assert len(view.table.rows) == 2 * section.ENDS
    assert len(between.rows) == 50
    values = [row.cells[1].value for row in (*view.table.rows[:5], *between.rows)]
    assert min(values) == view.table.rows[0].cells[1].value or len(values) == 55
    assert "The 50 between them" in page_of(researcher, report)
    latex = RENDERINGS["latex"].write(report)
    assert "% How raters rate: Quality (2 of 2)" in latex
    compiled(latex, packages="booktabs,graphicx")
    (chart,) = section.severity(snapshot_of(report))
    assert len(chart.points) == section.MOST_DRAWN


@pytest.mark.exhaustive
def test_names_are_text_in_every_form(researcher: Client, compiled: Compiled) -> None:
    report = report_of(built(f"ann {HOSTILE}", "ben", "cid", judge=f"gpt {HOSTILE}"))
    for text in (page_of(researcher, report), RENDERINGS["html"].write(report)):
        assert "<script>alert(1)" not in text
    assert "<script>" not in RENDERINGS["md"].write(report)
    compiled(RENDERINGS["latex"].write(report), packages="booktabs,graphicx")


@pytest.mark.exhaustive
def test_unidentified_raters_have_no_row_and_a_reason(researcher: Client) -> None:
    made = world(dialogues=ITEMS // 2, turns=2)
    made.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    for place in range(3):
        made.say(f"slot {place}", "quality", scores(place), identified=False)
    report = report_of(made)
    assert raters_of(report).rows == ()
    said = "There are no figures per rater on Quality: its raters are anonymous slots"
    assert said in page_of(researcher, report)
    assert said in RENDERINGS["html"].write(report)


@pytest.mark.exhaustive
def test_raters_who_share_no_item_are_told_apart(researcher: Client) -> None:
    made = world(dialogues=ITEMS // 2, turns=2)
    made.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    half = ITEMS // 2
    for place, name in enumerate(("ann", "ben", "cid", "dan")):
        items = made.turns[:half] if place < 2 else made.turns[half:]
        made.say(name, "quality", dict(zip(items, scores(place), strict=False)))
    report = report_of(made)
    assert raters_of(report).groups == (("ann", "ben"), ("cid", "dan"))
    page = page_of(researcher, report)
    assert "form 2 groups that share no item with each other (ann and ben; cid and dan)" in page
    assert "person, group 2" in page


@pytest.mark.exhaustive
def test_samples_of_a_judge_say_how_alike_and_how_right_it_answers(researcher: Client) -> None:
    made = built("ann", "ben", "cid")
    truth = np.array([float(n % 2) for n in range(ITEMS)])
    for name in ("ann", "ben", "cid"):
        made.say(name, "tag", truth.tolist())
    made.say("gpt", "tag", truth.tolist(), kind="judge")
    second = truth.copy()
    second[:10] = 1 - second[:10]
    made.say("gpt", "tag", second.tolist(), kind="judge", sample=1)
    report = report_of(made)
    (line,) = raters_of(report, "tag@1/tag").repeats
    found = {figure.name: figure.value for figure in line.figures}
    assert (line.name, line.how, line.n_answers) == ("gpt", "samples", 2)
    assert found["samples_percent_agreement"] == pytest.approx(0.75)
    assert found["pass_hat_1"] == pytest.approx(0.5)
    assert found["pass_hat_2"] == pytest.approx((truth * second).mean())
    assert found["pass_at_2"] == pytest.approx(np.maximum(truth, second).mean())
    assert found["right_hat_1"] == pytest.approx(0.875)
    assert found["right_hat_2"] == pytest.approx(0.75)
    page = page_of(researcher, report, raters="tag@1/tag")
    assert "Repeated answers, right in all k samples (pass^k): Tag" in page
    assert "judge, 2 samples" in page


@pytest.mark.exhaustive
def test_who_answers_an_item_again_elsewhere_is_compared_with_itself() -> None:
    made = built("ann", "ben")
    version = SchemeVersion.objects.get(scheme__key="quality")
    again = Campaign.objects.create(corpus=made.corpus, name="again", scheme_version=version)
    first = scores(0)
    repeated = {made.turns[n]: min(5.0, first[n] + (n < 5)) for n in range(20)}
    made.say("ann", "quality", repeated, occasion=Occasion.REPEAT, campaign=again)
    report = report_of(made)
    (line,) = raters_of(report).repeats
    found = {figure.name: figure for figure in line.figures}
    assert (line.name, line.how) == ("ann", "again")
    changed = [min(5.0, first[n] + 1) - first[n] for n in range(5)]
    assert found["again_drift"].value == pytest.approx(sum(changed) / 20)
    assert found["again_percent_agreement"].value == pytest.approx(1 - sum(c > 0 for c in changed) / 20)
    assert found["again_percent_agreement"].n_items == 20
    made.say("ben", "quality", dict(list(repeated.items())[:1]), occasion=Occasion.TRAINING)
    assert len(raters_of(report_of(made, seed=1)).repeats) == 1


def test_a_constant_judge_and_one_person_have_reasons_and_no_error(researcher: Client) -> None:
    made = world(dialogues=ITEMS // 2, turns=2)
    made.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    made.say("ann", "quality", scores(0))
    made.say("gpt", "quality", [3.0] * ITEMS, kind="judge")
    report = report_of(made)
    page = page_of(researcher, report)
    assert "the rater gave one value throughout" in page
    assert raters_of(report).rows[1].figure("rater_spread").value == 0


@pytest.mark.exhaustive
def test_metrics_and_raters_on_another_scale_have_no_row() -> None:
    made = built("ann", "ben", "cid")
    made.ask("score", "interval", [], wording="Score")
    made.say("bleu", "score", [n / ITEMS for n in range(ITEMS)], kind="metric")
    report = report_of(made)
    assert [row.name for row in raters_of(report).rows] == ["ann", "ben", "cid", "gpt"]


def ratings_file(tmp_path: Path) -> Path:
    lines = ["item,rater,kind,cluster,sample,value"]
    for place, (name, kind) in enumerate((("ann", "human"), ("ben", "human"), ("gpt", "judge"))):
        for sample in range(2 if kind == "judge" else 1):
            lines += [
                f"i{n},{name},{kind},c{n // 2},{sample},{int((n + sample) % (3 + place) == 0)}"
                for n in range(ITEMS)
            ]
    file = tmp_path / "tags.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def agree(path: Path, *options: str) -> str:
    out = io.StringIO()
    call_command("agree", str(path), "--scale", "binary", "--resamples", "20", *options, stdout=out)
    return out.getvalue()


@pytest.mark.exhaustive
def test_agree_describes_raters_in_every_form(tmp_path: Path, compiled: Compiled) -> None:
    file = ratings_file(tmp_path)
    entries = json.loads(agree(file, "--each-rater", "--json"))["statistics"]
    severities = {e["raters"][0]: e["value"] for e in entries if e["name"] == "rater_severity"}
    assert set(severities) == {"ann", "ben", "gpt"}
    assert {"samples_percent_agreement", "pass_hat_2", "right_hat_2"} <= {e["name"] for e in entries}
    assert not [e for e in json.loads(agree(file, "--json"))["statistics"] if e["name"] == "rater_severity"]
    text, page = agree(file, "--each-rater"), agree(file, "--each-rater", "--html")
    for shown in (text, page):
        assert "Severity, items held equal" in shown
        assert "How consistently gpt answers, 2 samples of an item" in shown
        assert all(number(value, 3) in shown for value in severities.values())
    assert f"rater_severity,ann,{severities['ann']}" in agree(file, "--each-rater", "--csv")
    compiled(agree(file, "--each-rater", "--latex"), packages="booktabs,longtable")
