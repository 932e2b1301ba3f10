"""Evidence in files: round trip with its label, and errors with their place."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from annotation.models import Corpus, Label
from annotation.records import Passage
from annotation.text import references
from calibration.exports import labels as exports
from calibration.exports.writing import write
from calibration.ratings.scope import of_corpus
from tests.importing.helpers import continuation, imported, label, line, refusal, written

pytestmark = pytest.mark.django_db
POINTED = [{"continuation": "self", "turn": 1}, {"turn": 0, "start": 3, "end": 4}]
KEPT = (Passage("self", 1), Passage("m", 0, 3, 4))


def with_evidence(evidence: object, **fields: object) -> dict[str, object]:
    labels = [label(continuation="m", evidence=evidence, **fields)]
    return line(continuations=[continuation("m", "né 🙂 会")], labels=labels)


def exported(form: str) -> str:
    file = io.BytesIO()
    write(exports.labels(of_corpus(Corpus.objects.get(name="c"))), form, file)
    return file.getvalue().decode()


def test_a_label_comes_in_with_what_it_points_at_and_goes_out_with_it(tmp_path: Path) -> None:
    imported(written(tmp_path, with_evidence(POINTED)))
    assert references.read(Label.objects.get().evidence) == KEPT
    assert references.quoted(KEPT[1], "né 🙂 会") == "🙂"
    (row,) = (json.loads(one) for one in exported("jsonl").splitlines())
    assert references.read(row["evidence"]) == KEPT
    text = exported("csv")
    assert references.read(json.loads(next(csv.DictReader(io.StringIO(text)))["evidence"])) == KEPT
    again = imported(written(tmp_path, text.rstrip("\n"), name="again.csv"), into=True, format="ratings-csv")
    assert again.unchanged == 1
    bare = with_evidence([])
    imported(written(tmp_path, bare, name="bare.jsonl"), "c2")
    imported(written(tmp_path, text.replace("d1/m/0,r,", "d1/m/0,s,").rstrip(), name="s.csv"), "c2",
             into=True, format="ratings-csv")  # fmt: skip
    assert references.read(Label.objects.get(rater__name="s").evidence) == KEPT


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("evidence", "field", "told"),
    [
        ([{"turn": 5}], "evidence[0]", "there is no turn 5 in the continuation 'm'"),
        ([{"turn": 0, "start": 2, "end": 7}], "evidence[0]", "turn 0 of 'm' has 6 characters"),
        ([{"turn": 0, "start": 2, "end": 2}], "evidence[0].end", "must be after the start, 2, not 2"),
        ([{"turn": 0, "start": 2}], "evidence[0].end", "is missing: name both, or neither"),
        ([{"continuation": "x", "turn": 0}], "evidence[0].continuation", "must be 'm', or 'self'"),
        ([{"line": 3}], "evidence[0].line", "is not a field"),
        (3, "evidence", "must be a list"),
    ],
)
def test_evidence_that_cannot_be_is_refused_by_line_and_field(
    tmp_path: Path, evidence: object, field: str, told: str
) -> None:
    problem = refusal(written(tmp_path, with_evidence(evidence)))
    assert told in str(problem)
    assert (problem.line, problem.field) == (1, f"labels[0].{field}")


@pytest.mark.exhaustive
def test_other_evidence_for_an_answer_that_stands_is_a_conflict(tmp_path: Path) -> None:
    imported(written(tmp_path, with_evidence(POINTED)))
    other = written(tmp_path, with_evidence([{"turn": 0}]), name="other.jsonl")
    assert "has another answer of 'r' there already" in str(refusal(other, into=True))
