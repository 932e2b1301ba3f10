"""FED with GPT-4: the report's figures, recomputed from the files with other libraries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
import pytest_django
from django.db import transaction
from scipy import stats

from annotation.corpora.import_file import import_path
from annotation.models import Corpus
from calibration.reports import charts, sentences, view
from calibration.reports.figures import QuestionFigures, figures
from calibration.reports.names import Names
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.reports.topics import topic_headings
from calibration.studies import study_actions as studies

pytestmark = [pytest.mark.django_db, pytest.mark.shared]


@pytest.fixture(scope="module")
def report(
    shared_data: Path, django_db_setup: None, django_db_blocker: pytest_django.DjangoDbBlocker
) -> Snapshot:
    """The automatic report of FED with GPT-4's samples; nothing of it stays in the database."""
    with django_db_blocker.unblock(), transaction.atomic():
        import_path(path=shared_data / "fed/fed_data.json", format="fed", corpus="fed", into=False, by=None)
        scores = shared_data / "fed_gpt4_judge/fed_gpt4_annotations.json"
        import_path(path=scores, format="fed_gpt4", corpus="fed", into=True, by=None)
        study = studies.automatic(corpus=Corpus.objects.get(name="fed"))
        result = snapshot_of(studies.compute(study=study, part="all", by=None))
        transaction.set_rollback(True)
    return result


def _raw(shared_data: Path, *, whole: bool) -> list[dict[str, list[Any]]]:
    items = json.loads((shared_data / "fed/fed_data.json").read_text())
    return [item["annotations"] for item in items if ("response" not in item) == whole]


def _matrix(annotations: list[dict[str, list[Any]]], quality: str) -> np.ndarray[Any, Any]:
    """Items x five slots; what is not applicable is NaN."""
    rows = [
        [v if isinstance(v, int | float) else np.nan for v in item[quality]]
        for item in annotations
        if quality in item
    ]
    return np.array(rows, dtype=float)


def _question(result: Snapshot, scheme: str, key: str) -> QuestionFigures:
    return next(q for q in figures(result) if q.data.scheme == f"{scheme}@1" and q.data.key == key)


@pytest.mark.exhaustive
def test_alpha_among_the_five_people_is_that_of_the_krippendorff_library(
    report: dict[str, Any], shared_data: Path
) -> None:
    for scheme, whole in (("fed_dialogue", True), ("fed_turn", False)):
        annotations = _raw(shared_data, whole=whole)
        for quality in annotations[0]:
            question = _question(report, scheme, quality.lower().replace(" ", "_"))
            level = "nominal" if question.data.level == "binary" else "ordinal"
            expected = krippendorff.alpha(
                reliability_data=_matrix(annotations, quality).T,
                level_of_measurement=level,
                value_domain=question.data.values,
            )
            entry = question.among("krippendorff_alpha")
            assert entry is not None
            assert entry.value == pytest.approx(expected, abs=1e-12), quality
            assert entry.low < entry.value < entry.high
            rated = (~np.isnan(_matrix(annotations, quality))).sum(axis=1) >= 2
            assert (entry.n_raters, entry.n_items) == (5, rated.sum())


@pytest.mark.exhaustive
def test_overall_meets_gpt4_by_rank_correlation_of_the_means(
    report: dict[str, Any], shared_data: Path
) -> None:
    people = np.nanmean(_matrix(_raw(shared_data, whole=True), "Overall"), axis=1)
    scores = json.loads((shared_data / "fed_gpt4_judge/fed_gpt4_annotations.json").read_text())
    judge = np.mean([scores[f"ovr_{n}"] for n in range(1, 6)], axis=0)
    entry = _question(report, "fed_dialogue", "overall").with_mean("gpt-4")
    assert entry is not None
    assert entry.value == pytest.approx(stats.spearmanr(people, judge).statistic, abs=1e-12)
    assert entry.low < entry.value < entry.high
    assert (entry.n_items, entry.n_clusters) == (125, 125)


@pytest.mark.exhaustive
def test_unidentified_people_have_no_pairwise_statistic(report: dict[str, Any]) -> None:
    for question in figures(report):
        assert not [e for e in question.data.pairs if any(r.startswith("slot") for r in e.raters)]
    assert view.matrices(report) == []
    assert any("Anonymous slots" in sentence for sentence in sentences.caveats(report))


def test_the_summaries_name_the_people_s_alpha_and_the_judge_s_correlation(report: dict[str, Any]) -> None:
    headings = topic_headings(report, Names())
    assert "α 0." in headings["humans-agree"].result
    assert "gpt-4, ρ 0." in headings["judge-agrees"].result


def test_one_chart_shows_the_people_and_one_the_judge(report: dict[str, Any]) -> None:
    people, judge = charts.charts(report)
    assert (people.key, len(people.questions)) == ("krippendorff_alpha", 20)
    assert (judge.key, judge.series) == ("spearman", ["gpt-4"])
    assert judge.questions == ["Coherent", "Diverse", "Informative", "Overall (dialogues)"]
