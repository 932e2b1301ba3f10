"""Constraints on a generated conversation: each kept or violated, with number and places of violations."""

from __future__ import annotations

import json
import random
from itertools import groupby
from typing import Any

import pytest

from annotation.records import Continuation, Dialogue, Participant, Turn
from annotation.schemes.ratings import COUNTED
from judges.metrics import Scene, Score, instrument_for
from judges.runs.scoring import lines
from tests.metrics.helpers import tools

PEOPLE = tuple(Participant(name) for name in ("Ana", "Ben", "Cara"))
EXAMPLE = ("Ana", "Ben", "Ana", "Ana", "Ben", "Ana")


def scene(
    speakers: tuple[str, ...],
    condition: dict[str, Any],
    people: tuple[Participant, ...] = PEOPLE,
    **turn: Any,
) -> Scene:
    rollout = Continuation("x", "m", tuple(Turn(who, "tea", **turn) for who in speakers), condition=condition)
    return Scene(Dialogue("d", (Turn("Ana", "Tea?"),), people, (rollout,)), rollout)


def answered(made: Scene, key: str = "constraints") -> Score:
    return instrument_for(key).score(made, None, tools())


def told(score: Score) -> dict[str, Any]:
    return {
        key: one.reason if one.value is None else (one.value, *one.details.values())
        for key, one in score.answers.items()
    }


def test_the_worked_example() -> None:
    found = answered(scene(EXAMPLE, {"turns": 6, "min_each": 1, "max_in_a_row": 1}))
    assert told(found) == {
        "listed_speakers": (1.0,),
        "turn_count": (1.0,),
        "everyone_speaks": (0.0, 1, "Cara: 0"),
        "max_in_a_row": (0.0, 1, "turns 3 and 4"),
        "addressee_named": "addressees were not asked for",
    }
    assert found.value == 0.5
    assert found.details == {"violated": ["everyone_speaks", "max_in_a_row"]}


def test_what_was_not_asked_for_is_missing_and_not_kept() -> None:
    found = answered(scene(EXAMPLE, {}))
    assert found.value is None
    assert all(one.value is None for one in found.answers.values())
    only = answered(scene(EXAMPLE, {"addressees": "yes"}))
    assert [key for key, one in only.answers.items() if one.value is not None] == [
        "listed_speakers",
        "addressee_named",
    ]


def test_parameters_ask_for_conversations_made_elsewhere() -> None:
    condition = {"turns": 6, "min_each": 1, "max_in_a_row": 1}
    named = "constraints:" + ",".join(f"{key}={value}" for key, value in condition.items())
    assert answered(scene(EXAMPLE, {}), named) == answered(scene(EXAMPLE, condition))
    other = answered(scene(EXAMPLE, condition), "constraints:max_in_a_row=2").answers["max_in_a_row"]
    assert other.value == 1.0
    assert answered(scene(EXAMPLE, {}), "constraints:listed_speakers=1").value == 1.0


@pytest.mark.parametrize(
    ("condition", "value", "place"),
    [
        ({"turns": 5}, 0.0, "6 turns, not 5"),
        ({"turns": 20, "min_turns": 4, "max_turns": 6}, 1.0, None),
        ({"turns": 6, "min_turns": 7}, 0.0, "6 turns, fewer than 7"),
        ({"turns": 6, "max_turns": 5}, 0.0, "6 turns, more than 5"),
    ],
)
def test_the_number_of_turns_is_the_one_wanted_or_within_the_limits(
    condition: dict[str, int], value: float, place: str | None
) -> None:
    found = answered(scene(EXAMPLE, condition)).answers["turn_count"]
    assert (found.value, found.details.get("places")) == (value, place)


def test_unlisted_speakers_and_turns_to_nobody_are_named_by_their_turns() -> None:
    found = answered(scene(("Ana", "Zed", "Ben", "Zed"), {"turns": 4, "addressees": True}))
    assert found.answers["listed_speakers"].details == {
        "violations": 2,
        "places": "turn 2 (Zed); turn 4 (Zed)",
    }
    assert found.answers["addressee_named"].details["violations"] == 4
    assert answered(scene(("Ana",), {"addressees": True}, addressees=("Ben",))).value == 1.0
    nobody = answered(scene(("Ana",), {"turns": 1, "min_each": 1}, people=()))
    assert (
        nobody.answers["listed_speakers"].reason
        == nobody.answers["everyone_speaks"].reason
        == "no speakers are listed"
    )


@pytest.mark.parametrize("wrong", ["many", True, -1, 2.5, None])
def test_a_condition_that_is_no_number_is_missing_with_its_name(wrong: Any) -> None:
    found = answered(scene(EXAMPLE, {"min_each": wrong}))
    assert found.reason == "the condition's min_each is not a whole number"
    assert {one.reason for one in found.answers.values()} == {found.reason}


def test_given_turns_are_not_counted_and_static_turns_are_no_conversation() -> None:
    rollout = Continuation(
        "x", "m", (Turn("Ana", "a", given=True), Turn("Ana", "b")), condition={"turns": 1, "max_in_a_row": 1}
    )
    assert answered(Scene(Dialogue("d", (), PEOPLE, (rollout,)), rollout)).value == 1.0
    static = Continuation("x", "m", (Turn("Ana", "b", at=0),), mode="static", condition={"turns": 1})
    assert set(told(answered(Scene(Dialogue("d", (), PEOPLE, (static,)), static))).values()) == {
        "turns at fixed points are not one conversation"
    }


@pytest.mark.parametrize("seed", range(30))
def test_brute_force(seed: int) -> None:
    """The checks once more: over strings of initials."""
    draw = random.Random(seed)
    said = tuple(draw.choices(["Ana", "Ben", "Cara", "Zed"], [5, 5, 2, 1], k=draw.randint(1, 9)))
    turns, each, row = draw.randint(1, 9), draw.randint(1, 2), draw.randint(1, 3)
    found = answered(scene(said, {"turns": turns, "min_each": each, "max_in_a_row": row}))
    runs = [len(list(run)) for _, run in groupby(said)]
    expected = {
        "listed_speakers": "Zed" not in said,
        "turn_count": len(said) == turns,
        "everyone_speaks": all(said.count(who) >= each for who in ("Ana", "Ben", "Cara")),
        "max_in_a_row": max(runs) <= row,
    }
    assert {key: one.value for key, one in found.answers.items() if one.value is not None} == expected
    assert found.value == pytest.approx(sum(expected.values()) / 4)


def test_the_score_command_writes_a_line_for_each_constraint() -> None:
    made = scene(EXAMPLE, {"turns": 6})
    found = {
        line["metric"]: line["value"]
        for line in lines([made.dialogue], [instrument_for("constraints")], tools())
    }
    assert found["constraints"] == found["constraints/turn_count"] == 1.0
    assert set(found) == {"constraints", *(f"constraints/{key}" for key in COUNTED)}
    assert json.dumps(found)
