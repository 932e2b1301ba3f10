"""Every part of a printed report has content, and charts name the raters they leave out."""

from __future__ import annotations

import re

import pytest

from calibration.reports import charts, sentences
from calibration.reports.charts import svg
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import snapshot_of
from calibration.reports.view import sections, tables_of
from calibration.studies import study_actions as studies
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db

TITLE = "What answers point at"


def _tags(built: World, *keys: str) -> None:
    """Ask for tags and for the quality in one scheme; three people answer the tags."""
    for key in keys:
        built.ask(key, "binary", [0, 1], scheme="tags", positive=1, wording=key, group="signs")
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], scheme="tags", wording="Quality")
    for key in keys:
        for name in ("ann", "ben", "cem"):
            built.say(name, key, [0, 1, 0, 0, 1, 0, 0, 0])


@pytest.mark.exhaustive
def test_a_study_of_tags_and_one_other_question_leads_with_that_question() -> None:
    built = world(dialogues=4, turns=2)
    _tags(built, "rude", "evasive", "repeats")
    for name, given in (("ann", [1, 2, 3, 4, 5, 1, 2, 3]), ("ben", [1, 2, 4, 4, 5, 1, 2, 2])):
        built.say(name, "quality", given)
    (people,) = sentences.lede(built.snapshot())
    assert "two people on quality, over 8 turns" in people.text.lower()
    assert "pooled" not in people.text


def test_a_study_whose_people_answered_tags_alone_leads_with_all_of_them() -> None:
    built = world(dialogues=4, turns=2)
    _tags(built, "rude", "evasive", "repeats")
    people, *_ = sentences.lede(built.snapshot())
    assert "pooled" in people.text


@pytest.mark.exhaustive
def test_a_section_without_a_figure_is_not_printed_and_said_in_a_sentence() -> None:
    built = world(dialogues=3, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3], evidence="turns")
    built.ask("length", "ratio")
    for name in ("ann", "ben"):
        built.say(name, "quality", [1, 2, 3, 1, 2, 3])
    built.say("gpt", "quality", [1, 1, 2, 1, 3, 3], kind="judge")
    built.say("words", "length", [3, 1, 4, 1, 5, 9], kind="metric")
    study = studies.automatic(corpus=built.corpus)
    report = studies.compute(study=study, part="all", by=None)
    result = snapshot_of(report)
    printed = [view.table.title for _, views in sections(result, {}) for view in views]
    assert not [title for title in printed if title.startswith((TITLE, "Thresholds", "Scores as"))]
    for table in tables_of(result):
        if table.title == "Alternative annotator test":
            continue  # its content is the verdict in each row
        assert any(cell and cell.ok for row in table.rows for cell in row.cells), table.title
    text = RENDERINGS["md"].write(report)
    assert f"Not printed: {TITLE}: Quality: 0 of 18 answers point at turns or words." in text
    assert f"## {TITLE}" not in text
    page = " ".join(RENDERINGS["html"].write(report).split())
    assert "0 of 18 answers point at turns or words." in page


def test_a_chart_that_leaves_the_judge_out_says_why() -> None:
    built = world(dialogues=4, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    for name in ("slot 1", "slot 2"):
        built.say(name, "quality", [1, 2, 3, 4, 5, 1, 2, 3], identified=False)
    built.say("gpt", "quality", [1, 2, 3, 4, 4, 1, 2, 3], kind="judge")
    people, by_rank = charts.charts(built.snapshot())
    assert not any("gpt" in series for series in people.series)
    assert "Not in this chart: gpt on Quality: compared with the people’s mean by rank" in people.caption
    assert by_rank.series == ["gpt"]
    assert by_rank.caption == ""


@pytest.mark.exhaustive
def test_a_reason_in_a_chart_is_wrapped_from_the_left_edge_of_its_row() -> None:
    reason = "no item was rated by the judge and by two others, and this goes on for very many words more"
    points = (
        charts.Point("Quality", "people with people", -0.4, -0.9, 0.1, 1_234_567, 9, ""),
        charts.Point("Quality", "gpt with people", None, None, None, 0, 0, f"{reason}, {reason}, {reason}"),
    )
    drawn = svg(charts.Chart("cohen_kappa", "Judge with people", "κ", points))
    lines = re.findall(r'transform="translate\(([\d.]+),[^>]*font-style="italic"[^>]*>([^<]*)<', drawn)
    assert {float(start) for start, _ in lines} == {4.0}, "wherever 0 lies"
    assert f"{reason}, {reason}, {reason}" in " ".join(text for _, text in lines[: len(lines) // 2])
