"""Comparisons in files: compared members, preference regardless of order, and raters."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Corpus, Item, Label, Turn
from calibration.exports.labels import labels
from calibration.exports.writing import write
from calibration.ratings.scope import scope_of
from tests.importing.helpers import imported, refusal, written

pytestmark = pytest.mark.django_db


def line(winner: Any = "first", systems: str = "xy", **more: Any) -> dict[str, Any]:
    """Return a comparison of what systems said to one question, as Concord writes it."""
    said = [{"system": name, "text": f"{name} says"} for name in systems]
    how = {"winner": winner} if len(systems) == 2 else {"ranking": winner}
    return {"id": "q", "context": "What now?", "responses": said, "rater": "r", **how, **more}


def lines(tmp_path: Path, *records: dict[str, Any]) -> Path:
    return written(tmp_path, *map(json.dumps, records))


def battle(**more: Any) -> dict[str, Any]:
    """Return a judgment as MT-Bench publishes them: two turns, of which the first is judged."""
    made: dict[str, Any] = {"question_id": 81, "model_a": "x", "model_b": "y", "winner": "model_a", "turn": 1}
    for side, name in (("a", "x"), ("b", "y")):
        said = [("user", "q"), ("assistant", f"{name}1"), ("user", "r"), ("assistant", f"{name}2")]
        made[f"conversation_{side}"] = [{"role": role, "content": text} for role, text in said]
    return made | {"judge": "expert_1"} | more


def best(label: Label) -> list[str]:
    """Return the systems that a label names as best, or in order, whatever order their item has."""
    systems = [one.continuation.system.name for one in label.item.members.order_by("number")]
    assert label.text is not None
    if label.item.kind == "pair":
        return [systems[("first", "second").index(label.text)]]
    return ["=".join(sorted(systems[int(n)] for n in group.split("="))) for group in label.text.split(">")]


def test_the_better_one_is_the_same_in_either_order_and_a_pair_is_one_item(tmp_path: Path) -> None:
    result = imported(
        lines(tmp_path, line("first", "xy"), line("second", "yx", rater="s"), line("x", "yx", rater="t")),
        format="pairs",
    )
    assert [best(label) for label in Label.objects.all()] == [["x"]] * 3
    pair = Item.objects.get(kind="pair")
    assert (result.items, result.labels, result.continuations) == (3 + 3 + 1, 3, 3)
    assert {one.question.version.scheme.key for one in Label.objects.all()} == {"preference"}
    assert pair.continuation_id == pair.members.get(number=0).continuation_id
    dialogue, _, _, plus, *_ = pair.key.split("/")
    assert (dialogue, plus) == ("q", "+")


def test_a_ranking_has_equals_and_is_kept_by_the_items_own_numbers(tmp_path: Path) -> None:
    imported(
        lines(tmp_path, line([["z", "x"], "y"], "xyz"), line([1, 0, 2], "yxz", rater="s")), format="pairs"
    )
    assert [best(label) for label in Label.objects.order_by("id")] == [["x=z", "y"], ["x", "y", "z"]]


def test_judgments_of_mt_bench_are_about_the_turn_or_the_whole(tmp_path: Path) -> None:
    rows = [
        battle(),
        battle(turn=2, winner="tie", judge=["gpt-4", "pair-v2"]),
        battle(
            model_a="y",
            model_b="x",
            conversation_a=battle()["conversation_b"],
            conversation_b=battle()["conversation_a"],
        ),
    ]
    imported(lines(tmp_path, *rows), format="pairs", settings={"judges": "none"})
    labels = list(Label.objects.order_by("id").select_related("rater", "item"))
    first, whole, again = labels
    assert [one.turn_id is None for one in first.item.members.all()] == [False, False]
    assert [one.turn_id is None for one in whole.item.members.all()] == [True, True]
    assert (whole.rater.kind, whole.rater.name, whole.text) == ("judge", "gpt-4 pair-v2", "tie")
    assert (first.item_id, first.sample, again.sample) == (again.item_id, 0, 1)
    assert best(first) == ["x"]
    assert best(again) == ["y"]
    assert sorted([tuple(first.shown), tuple(again.shown)]) == [(0, 1), (1, 0)], (
        "each as its file showed them"
    )


def test_a_table_of_responses_is_read_as_well(tmp_path: Path) -> None:
    rows = ["id,prompt,model_a,model_b,response_a,response_b,winner_model_a,winner_model_b,winner_tie,judge"]
    rows += ['7,"[""q"", ""r""]",x,y,"[""1"", ""2""]","[""3"", ""4""]",0,1,0,ann']
    imported(written(tmp_path, *rows, name="a.csv"), format="pairs", settings={"judges": "none"})
    assert best(Label.objects.get()) == ["y"]


REPLIES = [
    ("Capital of France as a JSON list?", '["Paris"]', "Paris"),
    ("Give two colours as JSON", '["red", "blue"]', "Sure: red, blue"),
    ("Give three numbers", "[1, 2, 3]", "1, 2, 3"),
    ('["a"]', '["a", "b"]', '["b"]'),
    ("A formula?", "'=A1", "  =A1\n"),
]


@pytest.mark.parametrize(("prompt", "one", "other"), REPLIES)
def test_texts_of_a_table_are_kept_as_they_stand_though_they_look_like_json(
    tmp_path: Path, prompt: str, one: str, other: str
) -> None:
    path = tmp_path / "a.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "prompt", "model_a", "model_b", "response_a", "response_b", "winner", "note"])
        writer.writerow(["7", prompt, "x", "y", one, other, "model_a", "n"])
    result = imported(path, format="pairs")
    texts = Turn.objects.order_by("pk").values_list("continuation__key", "text")
    assert sorted(texts) == [("self", prompt), ("x", one), ("y", other)]
    assert "Columns passed over: note." in result.notes


def test_fields_of_a_battle_that_are_not_read_are_named(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]
    battle = {"question_id": "q", "model_a": "x", "model_b": "y", "winner": "model_a", "tstamp": 1.5}
    notes = imported(
        lines(tmp_path, {**battle, "conversation_a": said, "conversation_b": said}), format="pairs"
    ).notes
    assert "Fields passed over: tstamp." in notes


def test_labels_of_the_native_form_and_of_a_ratings_file_name_what_they_compare(tmp_path: Path) -> None:
    parts = [{"id": name, "system": name, "turns": [{"speaker": "A", "text": name}]} for name in "xy"]
    label = {
        "rater": "r",
        "continuations": ["y", "x"],
        "question": "preference",
        "value": "first",
        "order": [1, 0],
    }
    native = {"id": "d", "turns": [{"speaker": "A", "text": "hi"}], "continuations": parts, "labels": [label]}
    imported(lines(tmp_path, native))
    stored = Label.objects.get()
    assert best(stored) == ["y"]
    shown = [stored.item.members.get(number=n).continuation.key for n in stored.shown]
    assert shown == ["x", "y"]
    table = written(tmp_path, "item,rater,question,value", "d/x/+/y,s,preference,second", name="b.csv")
    imported(table, format="ratings-csv", into=True)
    assert best(Label.objects.get(rater__name="s")) == ["y"]
    assert Item.objects.filter(kind="pair").count() == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("record", "told"),
    [
        (line("third"), "line 2, field winner: is 'third': write first, tie"),
        (line(["x"], "xyz"), "line 2, field ranking: must have each of the responses once"),
        (line("tie", "xx"), "line 2, field responses: two of the responses are the same"),
        (line("tie", context="Otherwise."), "line 2, field context: differs from that of 'q' on line 1"),
        (
            line("tie", scheme="comperdial_turn"),
            "line 2, field question: the scheme 'comperdial_turn' has no question",
        ),
        (battle(turn=3), "line 2, field turn: is 3, but conversation_a has 2 replies"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_its_line(tmp_path: Path, record: Any, told: str) -> None:
    problem = refusal(lines(tmp_path, line(), record), format="pairs")
    assert told in str(problem)
    assert not Item.objects.exists()


def test_a_file_read_again_changes_nothing(tmp_path: Path) -> None:
    judges = {"judges": "none"}
    imported(lines(tmp_path, line(), battle()), format="pairs", settings=judges)
    before = Item.objects.count(), Label.objects.count()
    again = imported(lines(tmp_path, battle(), line()), format="pairs", into=True, settings=judges)
    assert not again.created
    assert (Item.objects.count(), Label.objects.count()) == before


@pytest.mark.exhaustive
def test_what_is_exported_is_read_again_as_the_same_answers(tmp_path: Path) -> None:
    judged = line(["z", "x", "y"], "xyz", order=[2, 0, 1], id="p")
    source = lines(tmp_path, line("second", order=[1, 0]), line("tie", rater="s"), judged)
    imported(source, format="pairs")
    rows = exported("jsonl")
    told = [json.loads(row) for row in rows.splitlines()]
    assert [row["system"] for row in told] == [None] * 3
    assert {len(row["members"]) for row in told} == {2, 3}
    ranked = told[0]
    by_number = [member["system"] for member in ranked["members"]]
    assert [by_number[int(n)] for n in ranked["value"].split(">")] == ["z", "x", "y"]
    assert [by_number[n] for n in ranked["order"]] == ["z", "x", "y"]
    texts = [{**record, "winner": None, "ranking": None} for record in (line(), judged)]
    imported(written(tmp_path, *texts, name="again.jsonl"), "again", format="pairs")
    table = tmp_path / "labels.csv"
    table.write_text(exported("csv"))
    imported(table, "again", format="ratings-csv", into=True)
    assert exported("jsonl", "again") == rows
    assert exported("csv", "again") == table.read_text()
    assert exported("parquet")


def exported(form: str, name: str = "c") -> Any:
    out = io.BytesIO()
    write(labels(scope_of(Corpus.objects.get(name=name), None)), form, out)
    return out.getvalue() if form == "parquet" else out.getvalue().decode()
