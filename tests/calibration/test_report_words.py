"""A report names raters by kind: people, anonymous slots, simulated raters."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.work import labels
from calibration.reports import charts, sentences, tables
from calibration.reports.names import Names
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.reports.topics import topic_headings
from calibration.studies import study_actions as studies
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db

VALUES = [float(1 + (n * 7) % 5) for n in range(12)]


def _rated(*, judge: bool, identified: bool = True) -> World:
    built = world(dialogues=4, turns=3)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    for number in range(3):
        shifted = [min(5.0, value + (n % (number + 2) == 0)) for n, value in enumerate(VALUES)]
        built.say(f"simulated {number}", "quality", shifted, identified=identified)
    if judge:
        built.say("gpt", "quality", VALUES, kind="judge")
    return built


def _simulated(*, judge: bool) -> World:
    built = world(dialogues=4, turns=3)
    for number in range(3):
        labels.imported_rater(corpus=built.corpus, kind="human", name=f"r{number}", simulated=True)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    for number in range(3):
        shifted = [min(5.0, value + (n % (number + 2) == 0)) for n, value in enumerate(VALUES)]
        built.say(f"r{number}", "quality", shifted)
    if judge:
        built.say("gpt", "quality", VALUES, kind="judge")
    return built


def _said(result: Snapshot) -> str:
    answers = [f"{answer.title} {answer.text}" for answer in sentences.lede(result)]
    answers += [f"{heading.title} {heading.result}" for heading in topic_headings(result, Names()).values()]
    rows = [row.compared for table in tables.agreement(result) for row in table.rows]
    drawn = [text for chart in charts.charts(result) for text in (chart.title, chart.axis, *chart.series)]
    return "\n".join([sentences.headline_question(result), *answers, *rows, *drawn])


def test_anonymous_slots_are_counted_as_slots_and_not_as_people() -> None:
    result = snapshot_of(_rated(judge=False, identified=False).report())
    (answer,) = sentences.lede(result)
    assert answer.title == "How well do people agree?"
    assert "ratings in three anonymous slots on Quality" in answer.text
    assert [row.compared for table in tables.agreement(result) for row in table.rows] == ["3 anonymous slots"]


@pytest.mark.exhaustive
def test_simulated_raters_are_never_called_people() -> None:
    report = _simulated(judge=True).report()
    said = _said(snapshot_of(report))
    assert "Does gpt agree with simulated raters?" in said
    assert "How well do simulated raters agree?" in said
    assert "Can gpt stand in for" not in said or "for a simulated rater?" in said
    assert "gpt with simulated raters" in said
    assert "3 simulated raters" in said
    assert "people" not in said
    assert "person" not in said
    for form in ("html", "md", "latex"):
        assert "people" not in RENDERINGS[form].write(report), form


def test_simulated_raters_are_no_people_where_a_figure_is_missing() -> None:
    built = world(dialogues=4, turns=3)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    for number in range(2):
        labels.imported_rater(corpus=built.corpus, kind="human", name=f"r{number}", simulated=True)
        half = built.turns[6 * number : 6 * number + 6]
        built.say(f"r{number}", "quality", dict(zip(half, VALUES, strict=False)))
    built.say("gpt", "quality", VALUES, kind="judge")
    report = built.report()
    reasons = [e.reason for q in snapshot_of(report).questions for e in [*q.gaps, *q.panel]]
    said = "\n".join([_said(snapshot_of(report)), *reasons])
    assert "no item was rated by the judge and by two others" in said
    assert "people" not in said
    assert "person" not in said


def test_the_items_behind_a_figure_name_simulated_raters(researcher: Client) -> None:
    study = studies.automatic(corpus=_simulated(judge=True).corpus)
    address = reverse("report-items", args=[study.pk]) + "?question=quality@1/quality"
    for who in ("", "&a=gpt"):
        page = researcher.get(address + who).content.decode().partition("<h1>")[2]
        assert "the simulated raters" in page.partition("</h1>")[0]
        assert "the people" not in page


def test_people_stay_people() -> None:
    said = _said(snapshot_of(_rated(judge=True).report()))
    assert "How well do people agree?" in said
    assert "3 people" in said
    assert "simulated raters" not in said


@pytest.mark.exhaustive
def test_the_demo_s_raters_are_known_to_be_simulated() -> None:
    from demo import loading
    from demo.raters import RATERS
    from tests.factories import user

    by = user(researcher=True)
    loading.dialogues(loading.CORPORA[1], by=by)
    loading.ratings(loading.CORPORA[1], by=by)
    from annotation.models import Rater

    found = Rater.objects.filter(corpus__name=loading.CORPORA[1].name)
    assert {rater.name: rater.spec for rater in found} == {
        rater.name: {"simulated": True} for rater in RATERS
    }
