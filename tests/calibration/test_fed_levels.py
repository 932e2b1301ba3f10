"""FED by level: turn labels of 375 responses and labels of 125 dialogues, checked independently."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import pytest_django
from django.db import transaction
from scipy import stats

from annotation.corpora.import_file import import_path
from annotation.models import Corpus
from calibration.reports.results import LevelRow, LevelTable
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions as studies

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

DEFINITION = {
    "questions": [
        {
            "question": "fed_dialogue/overall",
            "answered_by": [
                {"question": "fed_turn/overall", "aggregate": "mean", "missing": "skip"},
                {"question": "fed_gpt4/ovr", "map": "rank"},
            ],
        }
    ],
    "level": ["dialogue", "system"],
    "unit": "dialogue_system",
    "samples": ["first", "mean"],
    "resamples": 50,
}
PEOPLE, FIRST, MEAN = "People (turn labels)", "gpt-4 (first of 5)", "gpt-4 (mean of 5)"
COEFFICIENTS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall_tau_b": stats.kendalltau}


@pytest.fixture(scope="module")
def table(
    shared_data: Path, django_db_setup: None, django_db_blocker: pytest_django.DjangoDbBlocker
) -> LevelTable:
    """The table of a study on FED; nothing of it stays in the database."""
    with django_db_blocker.unblock(), transaction.atomic():
        import_path(path=shared_data / "fed/fed_data.json", format="fed", corpus="fed", into=False, by=None)
        scores = shared_data / "fed_gpt4_judge/fed_gpt4_annotations.json"
        import_path(path=scores, format="fed_gpt4", corpus="fed", into=True, by=None)
        corpus = Corpus.objects.get(name="fed")
        study = studies.create(name="levels", corpus=corpus, definition=DEFINITION, by=None)
        (found,) = snapshot_of(studies.compute(study=study, part="all", by=None)).levels
        transaction.set_rollback(True)
    return found


@pytest.fixture(scope="module")
def labels(shared_data: Path) -> pd.DataFrame:
    """One line a dialogue: its system, people's mean of it and of its responses, and GPT-4's scores."""
    items = json.loads((shared_data / "fed/fed_data.json").read_text())
    judged = json.loads((shared_data / "fed_gpt4_judge/fed_gpt4_annotations.json").read_text())
    wholes = [item for item in items if "response" not in item]
    rows = [{"system": item["system"], "whole": _mean(item), "turns": []} for item in wholes]
    for item in items:
        if "response" in item:
            before = item["context"].split("\n")
            homes = (n for n, whole in enumerate(wholes) if _begins(whole["context"], before))
            home = next(homes)
            rows[home]["turns"].append(_mean(item))
    frame = pd.DataFrame(rows)
    samples = np.array([judged[f"ovr_{n}"] for n in range(1, 6)]).T
    return frame.assign(first=samples[:, 0], mean=samples.mean(axis=1))


def _begins(text: str, lines: list[str]) -> bool:
    """Whether a dialogue begins with these lines."""
    return text.split("\n")[: len(lines)] == lines


def _mean(item: dict[str, Any]) -> float:
    return float(np.mean([v for v in item["annotations"]["Overall"] if isinstance(v, int | float)]))


def _row(table: LevelTable, name: str) -> LevelRow:
    return next(row for row in table.rows if row.name == name)


def _values(row: LevelRow, level: str) -> dict[str, float | None]:
    return {cell.coefficient: cell.result.value for cell in row.cells if cell.level == level}


@pytest.mark.exhaustive
def test_the_table_has_people_from_turns_and_the_judge_at_one_and_at_five_samples(table: LevelTable) -> None:
    assert [(row.heading, row.name) for row in table.rows] == [
        ("From turn scores", PEOPLE),
        ("From dialogue scores", FIRST),
        ("From dialogue scores", MEAN),
        ("Baselines", "length in characters"),
        ("Baselines", "length in words"),
    ]
    assert (table.n_continuations, table.n_dialogues, table.n_systems) == (125, 125, 3)
    assert any("answered other dialogues than most did" in warning for warning in table.warnings)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [PEOPLE, FIRST, MEAN])
def test_correlations_of_dialogues_are_those_of_scipy_where_equal_means_are_ties(
    table: LevelTable, labels: pd.DataFrame, name: str
) -> None:
    column = {PEOPLE: labels["turns"].map(np.mean).round(12), FIRST: labels["first"], MEAN: labels["mean"]}[
        name
    ]
    expected = {key: function(labels["whole"], column)[0] for key, function in COEFFICIENTS.items()}
    assert _values(_row(table, name), "dialogue") == pytest.approx(expected, abs=1e-12)


@pytest.mark.exhaustive
def test_a_system_is_the_mean_of_all_its_turns(table: LevelTable, labels: pd.DataFrame) -> None:
    turns = labels.explode("turns").astype({"turns": float}).groupby("system")["turns"].mean()
    wholes = labels.groupby("system")["whole"].mean()
    row = _row(table, PEOPLE)
    expected = {key: function(wholes, turns)[0] for key, function in COEFFICIENTS.items()}
    assert _values(row, "system") == pytest.approx(expected, abs=1e-12)
    assert {dot.system: (dot.x, dot.y) for dot in row.dots} == {
        system: (pytest.approx(wholes[system], abs=1e-12), pytest.approx(turns[system], abs=1e-12))
        for system in wholes.index
    }
