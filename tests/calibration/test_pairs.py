"""The matrix of pairs: on the page for the selected question and statistic, in files for all."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.text.display import number
from calibration.models import Report
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import snapshot_of
from calibration.reports.view import Matrix, pairs
from calibration.studies import study_actions as studies
from tests.calibration.world import world

pytestmark = pytest.mark.django_db
RATERS = {"ann": "human", "ben": "human", "gpt": "judge"}


@pytest.fixture
def report() -> Report:
    built = world(dialogues=10, turns=2)
    for shift, key in enumerate(("tag", "other")):
        built.ask(key, "binary", [0, 1], wording=key.title())
        for place, (name, kind) in enumerate(RATERS.items()):
            values = [float((n + shift + (n % (3 + place) == 0)) % 2) for n in range(20)]
            built.say(name, key, values, kind=kind)
    statistics = ["krippendorff_alpha", "cohen_kappa", "mcc", "precision"]
    definition = {"statistics": statistics, "resamples": 20, "questions": ["tag@1/tag", "other@1/other"]}
    study = studies.create(name="pairs", corpus=built.corpus, definition=definition, by=None)
    return studies.compute(study=study, part="all", by=None)


def _matrix(report: Report, question: str = "", statistic: str = "") -> Matrix:
    found = pairs(snapshot_of(report), question, statistic)
    assert found is not None
    return found.matrix


def _value(report: Report, question: str, key: str, raters: tuple[str, str]) -> str:
    (asked,) = [q for q in snapshot_of(report).questions if q.ref == question]
    (found,) = [e for e in asked.pairs if e.name == key and e.raters == raters]
    return f'<span class="fw-bold">{number(found.point, 3)}</span>'


@pytest.mark.exhaustive
def test_the_page_shows_one_matrix_and_offers_every_question_and_statistic_of_two_raters(
    report: Report, researcher: Client
) -> None:
    page = researcher.get(reverse("report", args=[report.study_id])).content.decode()
    assert page.count('aria-label="Pairs on') == 1
    for words in ("Tag", "Other", "Cohen’s kappa", "MCC", "Precision"):
        assert f">{words}</option>" in page
    assert ">Krippendorff’s alpha</option>" not in page, "alpha is of all raters together"


def test_another_question_and_statistic_come_in_its_place(report: Report, researcher: Client) -> None:
    asked = {"pairs": "other@1/other", "statistic": "mcc"}
    part = researcher.get(reverse("report-pairs", args=[report.study_id]), asked).content.decode()
    wanted = _value(report, "other@1/other", "mcc", ("ann", "ben"))
    assert wanted in part
    assert "<html" not in part
    whole = researcher.get(reverse("report", args=[report.study_id]), asked).content.decode()
    assert wanted in whole, "without scripts the page itself is asked"


@pytest.mark.exhaustive
def test_of_a_statistic_with_a_reference_the_row_is_the_reference(report: Report, researcher: Client) -> None:
    asked = {"statistic": "precision"}
    assert _matrix(report, statistic="precision").ordered
    part = researcher.get(reverse("report-pairs", args=[report.study_id]), asked).content.decode()
    assert "The rater of the row is the reference." in part
    assert _value(report, "tag@1/tag", "precision", ("ann", "gpt")) in part


@pytest.mark.exhaustive
@pytest.mark.parametrize("asked", [{}, {"pairs": "nothing@1/here", "statistic": "alpha"}, {"statistic": ""}])
def test_what_there_is_not_gives_the_first_question_and_the_statistic_of_its_scale(
    report: Report, researcher: Client, asked: dict[str, str]
) -> None:
    matrix = _matrix(report, asked.get("pairs", ""), asked.get("statistic", ""))
    assert (matrix.ref, matrix.key) == (snapshot_of(report).questions[0].ref, "cohen_kappa")
    assert researcher.get(reverse("report-pairs", args=[report.study_id]), asked).status_code == 200


@pytest.mark.exhaustive
def test_a_file_holds_the_matrix_of_every_question(report: Report) -> None:
    page = RENDERINGS["html"].write(report)
    assert page.count('aria-label="Pairs on') == 2
    assert "<select" not in page


def test_two_raters_have_no_matrix() -> None:
    built = world(dialogues=5, turns=2)
    built.ask("tag", "binary", [0, 1])
    for name in ("ann", "ben"):
        built.say(name, "tag", [float(n % 2) for n in range(10)])
    study = studies.automatic(corpus=built.corpus)
    assert pairs(snapshot_of(studies.compute(study=study, part="all", by=None))) is None
