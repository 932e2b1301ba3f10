"""Tables of the papers: table 7 of CoCoEval and tables 3 to 6 of ComperDial, one click from the top."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from calibration.models import Report
from calibration.reports.papers import PaperTable, paper_tables
from calibration.reports.renderings import TABLE_RENDERINGS, TableOfReport
from calibration.reports.results import Figure
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions as studies
from tests.calibration.levels_world import static
from tests.calibration.rated_world import SYSTEMS, Rated
from tests.calibration.test_tags import _rated as tagged
from tests.calibration.world import world

pytestmark = pytest.mark.django_db
TURNS, WHOLES = "comperdial_turn/overall", "comperdial_dialogue/overall"


def _levels(question: str, *level: str, **definition: object) -> Report:
    rated = Rated(static(systems=SYSTEMS))
    asked = {"resamples": 20, "questions": [question], "level": list(level), **definition}
    study = studies.create(name="levels", corpus=rated.corpus, definition=asked, by=None)
    return studies.compute(study=study, part="all", by=None)


def _tags(judges: int = 1) -> Report:
    built = tagged(judges=judges)
    study = studies.create(name="tags", corpus=built.corpus, definition={"resamples": 20}, by=None)
    return studies.compute(study=study, part="all", by=None)


def _published(report: Report) -> dict[str, PaperTable]:
    return {paper.label: paper for paper in paper_tables(snapshot_of(report))}


def _values(paper: PaperTable, column: str) -> dict[str, Figure]:
    at = [name for name, _ in paper.table.columns].index(column)
    return {row.question: cell for row in paper.table.rows if (cell := row.cells[at])}


def test_a_study_of_turn_labels_has_tables_3_4_and_6() -> None:
    report = _levels(TURNS, "turn", "system", samples=["first", "mean"])
    published = _published(report)
    assert list(published) == ["ComperDial table 3", "ComperDial table 4", "ComperDial table 6"]
    columns = {label: [name for name, _ in paper.table.columns] for label, paper in published.items()}
    assert columns["ComperDial table 3"] == [
        "turn_spearman",
        "turn_kendall_tau_b",
        "system_spearman",
        "system_kendall_tau_b",
    ]
    assert columns["ComperDial table 6"] == ["turn_pearson", "turn_spearman"]
    assert len(columns["ComperDial table 4"]) == 6


def test_table_3_is_of_judges_called_once_and_table_4_of_means_over_calls() -> None:
    published = _published(_levels(TURNS, "turn", "system", samples=["first", "mean"]))
    assert list(_values(published["ComperDial table 3"], "turn_spearman")) == ["judge (first of 2)"]
    rows = list(_values(published["ComperDial table 4"], "turn_spearman"))
    assert "judge (mean of 2)" in rows
    assert "judge (first of 2)" not in rows


def test_without_a_judge_called_once_there_is_no_table_3() -> None:
    assert "ComperDial table 3" not in _published(_levels(TURNS, "turn", "system", samples="mean"))


def test_the_highest_of_a_column_is_that_of_the_printed_rows() -> None:
    published = _published(_levels(TURNS, "turn", "system", samples=["first", "mean"]))
    (figure,) = _values(published["ComperDial table 3"], "turn_spearman").values()
    assert figure.marks is not None
    assert figure.marks.bold


def test_a_study_of_dialogue_labels_has_table_5_with_people_as_a_row() -> None:
    turns = {"question": TURNS, "aggregate": "mean"}
    rated = Rated(static(systems=SYSTEMS))
    definition = {
        "resamples": 20,
        "questions": [{"question": WHOLES, "answered_by": [turns]}],
        "level": ["dialogue", "system"],
    }
    study = studies.create(name="wholes", corpus=rated.corpus, definition=definition, by=None)
    published = _published(studies.compute(study=study, part="all", by=None))
    assert list(published) == ["ComperDial table 5"]
    assert "People (turn labels)" in _values(published["ComperDial table 5"], "system_pearson")


@pytest.mark.parametrize(("level", "labels"), [("turn", ["ComperDial table 6"]), ("system", [])])
def test_a_table_needs_all_its_levels(level: str, labels: list[str]) -> None:
    assert list(_published(_levels(TURNS, level))) == labels


def test_the_figures_are_those_of_the_table_of_levels() -> None:
    report = _levels(TURNS, "turn", "system")
    (level_table,) = snapshot_of(report).levels
    paper = _published(report)["ComperDial table 4"]
    for row in level_table.rows:
        for cell in row.cells:
            figure = _values(paper, f"{cell.level}_{cell.coefficient}")[row.name]
            assert (figure.value, figure.low) == (cell.result.value, cell.result.low)


def test_table_7_has_the_columns_of_the_paper_in_percent() -> None:
    (paper,) = _published(_tags()).values()
    assert paper.label == "CoCoEval table 7"
    assert [text for _, text in paper.table.columns] == [
        "People",
        "Judge",
        "Precision",
        "Recall",
        "MCC",
        "κ",
    ]
    assert paper.table.over == [("Marked turns", 2), ("Judge with people", 4)]
    (kept,) = [table for table in snapshot_of(_tags_again()).tags if table.policy == "consistent"]
    for row, figures in zip(paper.table.rows, kept.rows, strict=True):
        assert [cell and cell.value for cell in row.cells[2:]] == [f.value for f in figures.judge]
        assert row.cells[2] is not None
        assert row.cells[2].percent or not row.cells[2].ok
    assert "policy consistent" in paper.table.caption.lower()


def _tags_again() -> Report:
    return Report.objects.get(study__name="tags")


def test_each_judge_has_its_table_7() -> None:
    assert list(_published(_tags(judges=2))) == ["CoCoEval table 7, gpt0", "CoCoEval table 7, gpt1"]


def test_a_report_without_tags_and_levels_has_no_table_of_a_paper(researcher: Client) -> None:
    built = world(dialogues=4, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5])
    for name in ("ann", "ben"):
        built.say(name, "quality", [1, 2, 3, 4, 5, 1, 2, 3])
    report = studies.compute(study=studies.automatic(corpus=built.corpus), part="all", by=None)
    assert _published(report) == {}
    page = researcher.get(reverse("report", args=[report.study_id])).content.decode()
    assert "Tables for a paper:" not in page


def test_each_table_of_a_paper_is_one_click_from_the_top(researcher: Client) -> None:
    report = _tags(judges=2)
    page = researcher.get(reverse("report", args=[report.study_id])).content.decode()
    top = page.partition("Tables for a paper:")[2].partition("</p>")[0]
    links = re.findall(r'<a href="#(table-cocoeval_7[^"]+)">([^<]+)</a>', top)
    assert [label for _, label in links] == ["CoCoEval table 7, gpt0", "CoCoEval table 7, gpt1"]
    for anchor, _ in links:
        assert page.count(f'id="{anchor}"') == 1
        key = anchor.removeprefix("table-")
        answer = researcher.get(reverse("report-table", args=[report.study_id, key, "latex"]))
        assert b"Marked turns show the behaviour" in answer.content


def test_the_latex_of_a_table_of_a_paper_has_its_caption() -> None:
    report = _levels(TURNS, "turn", "system")
    paper = _published(report)["ComperDial table 4"]
    latex = TABLE_RENDERINGS["latex"].write(TableOfReport(report, paper.table))
    assert r"\caption{Correlation (" in latex
    assert r"\label{tab:comperdial_4-comperdial_turn-1-overall}" in latex
    assert "Turn level" in latex
