"""The turn of a row in a ratings file: `turn` counts from 0, `turn_number` from 1, never guessed."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from rest_framework.test import APIClient

from annotation.models import Corpus, Label, Upload
from calibration.exports.labels import labels as exported_labels
from calibration.exports.writing import csv_blocks
from calibration.ratings.scope import Scope
from tests import factories
from tests.corpora.import_page import import_by_page
from tests.importing.helpers import continuation, imported, line, refusal, written

pytestmark = pytest.mark.django_db

FOUR = [{"speaker": "AB"[n % 2], "text": f"line {n}"} for n in range(4)]


def stored() -> dict[tuple[str, int | None], Any]:
    """Return the value of each label, by its continuation and turn."""
    found = Label.objects.select_related("item__turn", "item__continuation")
    return {
        (one.item.continuation.key, one.item.turn.position if one.item.turn else None): one.value
        for one in found
    }


@pytest.fixture
def four_turns(tmp_path: Path) -> None:
    imported(written(tmp_path, {"id": "d1", "turns": FOUR}))


def ratings(folder: Path, *rows: str, head: str = "dialogue,turn,rater,value") -> Path:
    return written(folder, head, *rows, name="r.csv")


@pytest.mark.usefixtures("four_turns")
def test_turns_that_never_name_turn_0_are_refused_until_the_import_says_where_they_count_from(
    tmp_path: Path,
) -> None:
    path = ratings(tmp_path, "d1,1,r,4", "d1,2,r,5", "d1,3,r,2")
    problem = refusal(path, into=True, format="ratings-csv")
    assert (problem.line, problem.field) == (2, "turn")
    assert problem.reason.startswith("no row is about turn 0, though these dialogues have one")
    assert "--turns-from 1" in problem.reason
    assert imported(path, into=True, format="ratings-csv", settings={"turns_from": "1"}).labels == 3
    assert stored() == {("self", 0): 4, ("self", 1): 5, ("self", 2): 2}


@pytest.mark.usefixtures("four_turns")
def test_turns_from_0_keeps_them_where_they_are(tmp_path: Path) -> None:
    path = ratings(tmp_path, "d1,1,r,4", "d1,2,r,5")
    imported(path, into=True, format="ratings-csv", settings={"turns_from": "0"})
    assert stored() == {("self", 1): 4, ("self", 2): 5}


@pytest.mark.usefixtures("four_turns")
def test_one_row_about_turn_0_says_that_all_count_from_0(tmp_path: Path) -> None:
    imported(ratings(tmp_path, "d1,3,r,4", "d1,0,r,5"), into=True, format="ratings-csv")
    assert stored() == {("self", 3): 4, ("self", 0): 5}


@pytest.mark.usefixtures("four_turns")
def test_turns_that_fit_only_from_1_are_refused_with_the_way_out(tmp_path: Path) -> None:
    problem = refusal(ratings(tmp_path, "d1,1,r,4", "d1,4,r,5"), into=True, format="ratings-csv")
    assert "if it counts from 1, all fit: then say --turns-from 1" in problem.reason


def test_a_first_turn_that_is_given_says_nothing_of_the_count(tmp_path: Path) -> None:
    turns = [{**turn, "given": turn["speaker"] == "A"} for turn in FOUR]
    imported(written(tmp_path, {"id": "d1", "turns": turns}))
    imported(ratings(tmp_path, "d1,1,r,4", "d1,3,r,5"), into=True, format="ratings-csv")
    assert stored() == {("self", 1): 4, ("self", 3): 5}


@pytest.mark.usefixtures("four_turns")
def test_keys_of_items_count_from_0_always(tmp_path: Path) -> None:
    imported(
        written(tmp_path, "item,rater,value", "d1/self/1,r,4", name="r.csv"), into=True, format="ratings-csv"
    )
    assert stored() == {("self", 1): 4}


@pytest.mark.usefixtures("four_turns")
@pytest.mark.parametrize("key", ["d1/self/1", "d1/self"])
def test_a_turn_that_contradicts_the_key_of_its_item_is_refused(tmp_path: Path, key: str) -> None:
    head = "item,turn,rater,value"
    assert (
        refusal(ratings(tmp_path, f"{key},2,r,4", head=head), into=True, format="ratings-csv").field == "turn"
    )


@pytest.mark.usefixtures("four_turns")
def test_a_turn_number_counts_from_1(tmp_path: Path) -> None:
    path = ratings(tmp_path, "d1,2,r,1", "d1,4,r,2", head="dialogue,turn_number,rater,value")
    imported(path, into=True, format="ratings-csv")
    assert stored() == {("self", 1): 1, ("self", 3): 2}
    assert set(Label.objects.values_list("item__kind", flat=True)) == {"turn"}


@pytest.mark.exhaustive
@pytest.mark.usefixtures("four_turns")
@pytest.mark.parametrize(
    ("row", "field", "reason"),
    [
        ("d1,,5,r,1", "turn_number", "no turn with the number 5 in the continuation 'self' of 'd1'"),
        ("d1,,0,r,1", "turn_number", "is 0, but turns are counted from 1"),
        ("d1,2,2,r,1", "turn_number", "2 is not the number of turn 2, counted from 0"),
        ("d2,,2,r,1", "item", "there is no dialogue 'd2'"),
    ],
)  # fmt: skip
def test_a_turn_number_that_names_no_turn_is_refused(
    tmp_path: Path, row: str, field: str, reason: str
) -> None:
    path = ratings(tmp_path, row, head="dialogue,turn,turn_number,rater,value")
    problem = refusal(path, into=True, format="ratings-csv")
    assert (problem.field, problem.line) == (field, 2)
    assert reason in problem.reason


def test_turn_numbers_go_on_after_the_history_as_annotators_see_them(tmp_path: Path) -> None:
    parts = [
        continuation("m", "one", "two"),
        {
            "system": "s",
            "mode": "static",
            "turns": [{"at": n, "speaker": "A", "text": "x"} for n in (0, 1, 1)],
        },
    ]
    imported(written(tmp_path, line("d1", continuations=parts)))
    head = "dialogue,continuation,turn_number,rater,value"
    path = ratings(tmp_path, "d1,m,4,r,1", "d1,s,1,r,2", head=head)
    imported(path, into=True, format="ratings-csv")
    assert stored() == {("m", 1): 1, ("s", 0): 2}
    problem = refusal(ratings(tmp_path, "d1,s,2,r,1", head=head), into=True, format="ratings-csv")
    assert "several turns of the continuation 's' of 'd1' have the number 2" in problem.reason


@pytest.mark.exhaustive
@pytest.mark.usefixtures("four_turns")
def test_places_of_an_export_alone_give_its_labels_back(tmp_path: Path) -> None:
    head = "dialogue,turn,rater,value,question"
    imported(ratings(tmp_path, "d1,0,r,1,tone", "d1,3,r,0,tone", head=head), into=True, format="ratings-csv")
    imported(written(tmp_path, {"id": "d1", "turns": FOUR}, name="copy.jsonl"), "copy")
    text = b"".join(csv_blocks(exported_labels(Scope(Corpus.objects.get(name="c"))))).decode()
    names, *rows = (row.split(",") for row in text.splitlines())
    kept = [names.index(name) for name in ("rater", "value", "question", "dialogue", "turn_number", "system")]
    lines = [",".join(row[place] for place in kept) for row in (names, *rows)]
    result = imported(written(tmp_path, *lines, name="e.csv"), "copy", into=True, format="ratings-csv")
    assert result.labels == 2
    assert "Columns passed over: system." in result.notes
    copied = Label.objects.filter(item__corpus__name="copy").order_by("item__turn__position")
    assert [(one.item.turn.position, one.value) for one in copied] == [(0, 1), (3, 0)]


@pytest.mark.exhaustive
@pytest.mark.usefixtures("four_turns")
def test_the_command_the_api_and_the_page_say_where_turns_count_from(tmp_path: Path, client: Client) -> None:
    path, out = ratings(tmp_path, "d1,1,r,4"), StringIO()
    with pytest.raises(CommandError, match="say whether `turn` counts from 0 or from 1"):
        call_command("import_corpus", path, "--into", "c", stdout=out)
    call_command("import_corpus", path, "--into", "c", "--turns-from", "1", stdout=out)
    assert json.loads(out.getvalue().splitlines()[-1])["labels"] == 1
    api = APIClient()
    api.force_authenticate(factories.user(researcher=True))
    second = written(tmp_path, "dialogue,turn,rater,value", "d1,2,r,4", name="second.csv")
    for said, code in (({}, 400), ({"turns_from": "1"}, 201), ({"turns_from": "2"}, 400)):
        with second.open("rb") as file:
            assert api.post("/api/v1/imports/", {"file": file, "into": "c", **said}).status_code == code
    assert stored() == {("self", 0): 4, ("self", 1): 4}
    client.force_login(factories.user(researcher=True))
    with ratings(tmp_path, "d1,3,r,4").open("rb") as file:
        import_by_page(client, file, "?into=c", turns_from="1")
    assert Upload.objects.get().file_settings == {"turns_from": "1"}
