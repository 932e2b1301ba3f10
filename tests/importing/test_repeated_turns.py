"""A table with one row per turn and annotator: no turn is duplicated by a second annotator."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.models import Label, Turn
from tests.importing.helpers import imported, refusal, written

pytestmark = pytest.mark.django_db

HEAD = "dialogue,number,speaker,text,annotator,act"
ROWS = (
    "d1,0,Ana,Shall we start?,r1,question",
    "d1,0,Ana,Shall we start?,r2,question",
    "d1,1,Ben,Yes.,r1,answer",
    "d1,1,Ben,Yes.,r2,other",
)


def texts() -> list[str]:
    return list(
        Turn.objects.order_by("continuation__dialogue__key", "position").values_list("text", flat=True)
    )


def without(name: str, *rows: str) -> list[str]:
    """Return the rows of a table, the first with its header, without a column."""
    place = HEAD.split(",").index(name)
    return [",".join(cell for n, cell in enumerate(row.split(",")) if n != place) for row in (HEAD, *rows)]


def test_each_turn_is_read_once_and_its_labels_come_from_the_same_table(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD, *ROWS, name="t.csv")
    result = imported(path, format="turns-csv")
    assert (result.turns, texts()) == (2, ["Shall we start?", "Yes."])
    assert result.notes == [
        "Rows that repeat a turn for another annotator: 2. Each turn was read once. To read their labels, "
        "too, import it as a table with --map label:QUESTION=COLUMN.",
        "Columns passed over: act.",
    ]


def test_the_labels_of_such_a_table_come_with_its_turns(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD, *ROWS, name="t.csv")
    mapping = {"dialogue": "dialogue", "speaker": "speaker", "text": "text", "turn": "number"}
    result = imported(path, format="table", mapping={**mapping, "rater": "annotator", "label:act": "act"})
    assert (result.turns, result.labels) == (2, 4)
    rows = Label.objects.order_by("item__turn__position", "rater__name").values_list(
        "item__turn__position", "rater__name", "text"
    )
    assert list(rows) == [
        (0, "r1", "question"),
        (0, "r2", "question"),
        (1, "r1", "answer"),
        (1, "r2", "other"),
    ]


@pytest.mark.exhaustive
@pytest.mark.parametrize("column", ["number", "annotator"])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 1, 3)])
def test_either_column_tells_and_annotators_may_follow_one_another(
    tmp_path: Path, column: str, order: tuple[int, ...]
) -> None:
    rows = without(column, *(ROWS[place] for place in order))
    imported(written(tmp_path, *rows, name="t.csv"), format="turns-csv")
    assert texts() == ["Shall we start?", "Yes."]


def test_what_is_said_again_stays_where_every_annotator_has_it_twice(tmp_path: Path) -> None:
    said = ("Ana,Ok", "Ben,Really?", "Ana,Ok")
    rows = [f"d1,{text},{rater}" for rater in ("r1", "r2") for text in said]
    imported(written(tmp_path, "dialogue,speaker,text,rater_id", *rows, name="t.csv"), format="turns-csv")
    assert texts() == ["Ok", "Really?", "Ok"]


def test_annotators_with_other_turns_are_refused(tmp_path: Path) -> None:
    rows = ("d1,Ana,One,r1", "d1,Ana,Two,r1", "d1,Ana,One,r2", "d1,Ana,Three,r2")
    path = written(tmp_path, "dialogue,speaker,text,coder", *rows, name="t.csv")
    problem = refusal(path, format="turns-csv")
    assert problem.line == 4
    assert problem.reason.startswith("repeats the turn of line 2 for another coder")


def test_turns_that_are_all_there_equally_often_are_refused(tmp_path: Path) -> None:
    rows = [f"d1,Ana,{text},{who}" for text in ("One", "Two", "Three") for who in ("x", "y")]
    problem = refusal(written(tmp_path, "dialogue,speaker,text,by", *rows, name="t.csv"), format="turns-csv")
    assert "every turn of this dialogue is there 2 times" in problem.reason


def test_turns_that_are_said_again_are_kept_and_told(tmp_path: Path) -> None:
    rows = ("d1,0,Ana,Ok,r1", "d1,1,Ana,Ok,r2", "d1,2,Ben,So,r1", "d1,3,Ben,No,r2", "d1,4,Ben,Yes,r2")
    path = written(tmp_path, "dialogue,turn,speaker,text,annotator", *rows, name="t.csv")
    notes = imported(path, format="turns-csv").notes
    assert texts() == ["Ok", "Ok", "So", "No", "Yes"]
    assert notes[0] == "Rows that say the same as the row before them, kept as turns: 1."
