"""An import into a large database reads its own labels only a few times, however many there are."""

from __future__ import annotations

import pytest
from django.db import connection

from config.planner import tell_planner
from tests.importing.helpers import continuation, imported, label, line, written

pytestmark = [pytest.mark.django_db, pytest.mark.exhaustive]

STORED = ("dialogue", "continuation", "turn", "record", "item", "label")
DIALOGUES, EACH = 300, 8
TURNS = [{"speaker": "AB"[n % 2], "text": f"This is what is said in turn {n}."} for n in range(EACH)]
EVIDENCE = [{"turn": 0, "start": 0, "end": 4}]
PASSES = 25
"""Times that all statements of an import together may read the staged labels from end to end."""


def dialogues(**fields):
    """Dialogues with a label on every turn."""
    for number in range(DIALOGUES):
        labels = [label(1 + turn % 5, turn, **fields) for turn in range(EACH)]
        yield line(f"d{number}", turns=TURNS, labels=labels)


def pairs():
    """Dialogues of two continuations, compared by two people."""
    answer = {"question": "preference", "continuations": ["x", "y"], "value": "first", "turn": None}
    answer |= {"level": "nominal", "values": ["first", "tie", "second"]}
    for number in range(DIALOGUES):
        parts = [continuation("x", id="x"), continuation("y", id="y")]
        labels = [label(**answer | {"rater": rater}) for rater in ("r", "s")]
        yield line(f"p{number}", continuations=parts, labels=labels)


def times_read(labels: int) -> float:
    """How many times the last import of this transaction read its staged labels, in sequential scans."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'import_label'")
        return cursor.fetchone()[0] / labels


@pytest.fixture
def grown(tmp_path):
    """A database with a corpus whose size the planner knows."""
    imported(written(tmp_path, *dialogues(), name="first.jsonl"), "first")
    tell_planner(*(f"annotation_{table}" for table in STORED))


@pytest.mark.parametrize("fields", [{}, {"evidence": EVIDENCE}], ids=["labels", "labels with evidence"])
def test_a_second_corpus_is_read_as_often_as_a_first_one(grown, tmp_path, fields):
    result = imported(written(tmp_path, *dialogues(**fields)), "second")
    assert result.labels == DIALOGUES * EACH
    assert times_read(result.labels) < PASSES


def test_comparisons_in_a_second_corpus_are_too(grown, tmp_path):
    result = imported(written(tmp_path, *pairs()), "second")
    assert result.labels == 2 * DIALOGUES
    assert times_read(result.labels) < PASSES


def test_labels_alone_that_come_later_are_too(grown, tmp_path):
    imported(written(tmp_path, *(line(f"d{n}", turns=TURNS) for n in range(DIALOGUES))), "second")
    result = imported(written(tmp_path, *dialogues(), name="labels.jsonl"), "second", into=True)
    assert result.labels == DIALOGUES * EACH
    assert times_read(result.labels) < PASSES
