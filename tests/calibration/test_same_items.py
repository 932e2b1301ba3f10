"""Rows of one table rest on the same items, or stand under headings that say which."""

from __future__ import annotations

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from calibration.models import Report
from calibration.reports import tables, view
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.reports.tables import Row, Table
from calibration.statistics.replacement import JUDGE_TESTS
from calibration.studies import study_actions as studies
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
N = 60
RNG = np.random.default_rng(4)
TRUTH = RNG.random(N) < 0.5
STATISTICS = ["cohen_kappa", "mcc", "spearman", "krippendorff_alpha", *JUDGE_TESTS]
BASE = "Tag · 60 turns rated by two people or more"


def _answers(wrong: float) -> list[float]:
    return np.where(RNG.random(N) < wrong, ~TRUTH, TRUTH).astype(float).tolist()


ANSWERS = {name: _answers(0.2) for name in ("ann", "ben", "full", "half", "same", "other")}


def rated(judges: dict[str, range], people: dict[str, range] | None = None, key: str = "tag") -> World:
    """A tag on 60 turns by two people, unless they rated some, and by judges who each answered some turns."""
    built = world(dialogues=12, turns=5)
    built.ask(key, "binary", [0, 1], wording=key.capitalize(), positive=1)
    for name, turns in (people or {"ann": range(N), "ben": range(N)}).items():
        _say(built, name, turns, key)
    for name, turns in judges.items():
        _say(built, name, turns, key, "judge")
    return built


def _say(built: World, name: str, turns: range, key: str, kind: str = "human") -> None:
    built.say(name, key, {built.turns[n]: ANSWERS[name][n] for n in turns}, kind=kind)


def report_of(built: World, **definition: object) -> Report:
    definition = {"resamples": 40, "statistics": STATISTICS, "baselines": False} | definition
    study = studies.create(name=built.corpus.name, corpus=built.corpus, definition=definition, by=None)
    return studies.compute(study=study, part="all", by=None)


def table_of(built: World, number: int = 0) -> Table:
    return tables.agreement(snapshot_of(report_of(built)))[number]


def places(table: Table) -> list[tuple[str, str, int]]:
    return [(row.heading, row.compared, row.n_items) for row in table.rows]


def _figures(row: Row) -> set[int]:
    return {cell.n_items for cell in row.cells if cell and cell.ok}


def test_rows_on_the_same_items_need_no_headings() -> None:
    table = table_of(rated({"full": range(N), "other": range(N)}))
    assert places(table) == [
        ("", "2 people", N),
        ("", "full with people", N),
        ("", "other with people", N),
    ]
    assert [row.first for row in table.rows] == [True, False, False]


def test_judges_stand_with_people_on_the_items_that_they_answered() -> None:
    table = table_of(rated({"half": range(20, 50), "full": range(N), "same": range(20, 50)}))
    narrow = "Tag · 30 of 60 turns rated by two people or more, those that half and same answered"
    assert places(table) == [
        (BASE, "2 people", N),
        (BASE, "full with people", N),
        (narrow, "2 people", 30),
        (narrow, "half with people", 30),
        (narrow, "same with people", 30),
    ]
    assert all(_figures(row) == {row.n_items} for row in table.rows)


def test_people_s_own_figure_beside_a_judge_is_that_of_a_study_of_its_items_alone() -> None:
    everything = table_of(rated({"half": range(20, 50)}))
    alone = table_of(rated_alone(range(20, 50)))
    beside, people = everything.rows[1], alone.rows[0]
    assert (beside.compared, people.compared) == ("2 people", "2 people")
    kappas = [
        next(cell.value for cell in row.cells if cell and cell.name.endswith("cohen_kappa"))
        for row in (beside, people)
    ]
    assert kappas[0] == pytest.approx(kappas[1], abs=1e-12)


def rated_alone(turns: range) -> World:
    built = world("alone", dialogues=12, turns=5)
    built.ask("alone", "binary", [0, 1], wording="Tag", positive=1)
    for name in ("ann", "ben"):
        _say(built, name, turns, "alone")
    return built


def test_as_many_items_are_not_the_same_items() -> None:
    table = table_of(rated({"half": range(30), "other": range(30, N)}))
    headings = list(dict.fromkeys(row.heading for row in table.rows))
    assert headings == [
        BASE,
        "Tag · 30 of 60 turns rated by two people or more, those that half answered",
        "Tag · 30 of 60 turns rated by two people or more, those that other answered",
    ]


def test_a_correlation_with_the_people_s_mean_on_more_items_is_a_row_of_its_own() -> None:
    table = table_of(rated({"full": range(N)}, {"ann": range(N), "ben": range(24)}))
    base = "Tag · 24 turns rated by two people or more"
    assert places(table) == [
        (base, "2 people", 24),
        (base, "full with people", 24),
        ("Tag · 60 turns rated by one person or more", "full with people", N),
    ]
    assert [cell.name for cell in table.rows[-1].cells if cell] == ["spearman"]


def test_with_one_person_each_judge_stands_on_the_items_that_both_answered() -> None:
    table = table_of(rated({"full": range(N), "half": range(40)}, {"ann": range(N)}))
    assert places(table) == [
        ("Tag · 60 turns rated by one person or more", "full with people", N),
        (
            "Tag · 40 of 60 turns rated by one person or more, those that half answered",
            "half with people",
            40,
        ),
    ]


def test_questions_without_groups_have_a_heading_where_another_question_has_some() -> None:
    built = rated({"full": range(N), "half": range(30)})
    built.ask("next", "binary", [0, 1], wording="Next", positive=1)
    for name in ("ann", "ben"):
        _say(built, name, range(N), "next")
    headings = list(dict.fromkeys(row.heading for row in table_of(built).rows))
    assert len(headings) == 3
    assert "Next · 60 turns rated by two people or more" in headings


def test_the_alternative_annotator_test_is_grouped_too() -> None:
    built = rated({"full": range(N), "half": range(40)})
    for name in ("cem", "dan"):
        built.say(name, "tag", _answers(0.2))
    table = table_of(built, -1)
    assert table.title == "Alternative annotator test"
    assert [(row.heading, row.n_items) for row in table.rows] == [
        (BASE, N),
        ("Tag · 40 of 60 turns rated by two people or more, those that half answered", 40),
    ]


def test_metrics_are_grouped_by_the_items_that_they_scored() -> None:
    built = rated({})
    built.ask("score", "interval", wording="Score")
    values = RNG.random(N).tolist()
    for name, turns in (("m1", range(N)), ("m2", range(10, N)), ("m3", range(10, N))):
        built.say(name, "score", {built.turns[n]: values[n] for n in turns}, kind="metric")
    table = tables.metrics(snapshot_of(report_of(built)))
    assert table is not None
    assert places(table) == [
        (BASE, "m1", N),
        ("Tag · 50 of 60 turns rated by two people or more, those that m2 and m3 answered", "m2", 50),
        ("Tag · 50 of 60 turns rated by two people or more, those that m2 and m3 answered", "m3", 50),
    ]


def test_every_form_of_a_report_prints_the_headings(researcher: Client) -> None:
    report = report_of(rated({"full": range(N), "half": range(40)}))
    heading = "Tag · 40 of 60 turns rated by two people or more, those that half answered"
    assert heading in researcher.get(reverse("report", args=[report.study_id])).content.decode()
    for form in ("html", "md", "latex"):
        assert heading in RENDERINGS[form].write(report)


def test_a_stored_report_counts_what_each_rater_answered() -> None:
    result: Snapshot = snapshot_of(report_of(rated({"half": range(40)}, {"ann": range(N), "ben": range(24)})))
    (question,) = result.questions
    assert (question.people_items, question.shared_items) == (N, 24)
    half = next(rater for rater in question.raters if rater.name == "half")
    assert (half.n_of_people, half.n_shared) == (40, 24)


def test_a_statistic_that_reads_only_some_of_the_items_has_a_row_of_its_own() -> None:
    built = rated({}, {"ann": range(N), "ben": range(N), "other": range(45)})
    report = report_of(built, statistics=["krippendorff_alpha", "fleiss_kappa"])
    (table,) = tables.agreement(snapshot_of(report))
    assert places(table) == [
        (BASE, "3 people", N),
        (f"Tag · 45 of {BASE.removeprefix('Tag · ')}, those that Fleiss’ kappa reads", "3 people", 45),
    ]


def test_means_over_pairs_are_grouped_too() -> None:
    report = report_of(rated({"full": range(N), "half": range(40)}))
    (table,) = view.means(snapshot_of(report))
    narrow = "Tag · 40 of 60 turns rated by two people or more, those that half answered"
    assert places(table) == [
        (BASE, "2 people", N),
        (BASE, "full with people", N),
        (BASE, "gap of full", N),
        (narrow, "2 people", 40),
        (narrow, "half with people", 40),
        (narrow, "gap of half", 40),
    ]
