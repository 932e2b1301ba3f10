"""The mean over pairs of raters is shown next to the figure of the pooled table, under its own name."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from calibration.reports import view
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import snapshot_of
from calibration.reports.wording import number
from calibration.studies import study_actions as studies
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db


def _crowd(*, people: int, judge: bool) -> World:
    """A tag on 40 turns, each by two of the people, and by the judge."""
    built = world(dialogues=8, turns=5)
    built.ask("tag", "binary", [0, 1], wording="Tag")
    for place in range(people):
        given = [n for n in range(40) if place in (n % people, (n + 1) % people)]
        built.say(
            f"p{place}", "tag", {built.turns[n]: float((n + (n % (5 + place) == 0)) % 2) for n in given}
        )
    if judge:
        built.say("gpt", "tag", [float((n + (n % 4 == 0)) % 2) for n in range(40)], kind="judge")
    return built


def test_the_reports_page_and_files_show_both_figures_of_people_judge_and_gap(researcher: Client) -> None:
    built = _crowd(people=4, judge=True)
    study = studies.automatic(corpus=built.corpus)
    report = studies.compute(study=study, part="all", by=None)
    (question,) = snapshot_of(report).questions
    page = researcher.get(reverse("report", args=[study.pk])).content.decode()
    for text in (page, *(RENDERINGS[form].write(report) for form in ("html", "md", "latex"))):
        after = text.partition("Mean over pairs")[2]
        assert "one table" in after
        assert "mean over pairs" in after
        for side in ("judge", "gap"):
            for name in (f"{side}_cohen_kappa", f"{side}_mean_cohen_kappa"):
                (entry,) = (e for e in question.gaps if e.name == name)
                assert number(entry.value, 3).replace("−", "") in after, name


@pytest.mark.exhaustive
def test_its_rows_are_people_the_judge_and_the_gap() -> None:
    result = snapshot_of(
        studies.compute(
            study=studies.automatic(corpus=_crowd(people=4, judge=True).corpus), part="all", by=None
        )
    )
    (table,) = view.means(result)
    assert [row.compared for row in table.rows] == ["4 people", "gpt with people", "gap of gpt"]
    assert [row.first for row in table.rows] == [True, False, False]
    assert [text for _, text in table.columns][:2] == ["κ, one table", "κ, mean over pairs"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("people", [2, 3])
def test_two_people_alone_have_one_pair_and_no_mean_to_show(people: int) -> None:
    result = snapshot_of(
        studies.compute(
            study=studies.automatic(corpus=_crowd(people=people, judge=False).corpus), part="all", by=None
        )
    )
    assert bool(view.means(result)) is (people == 3)
