"""The table of relations: 32 of them, editable, with errors by row and field."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.script_records import Date
from suites.long_dialogue.scripts.graph import DEFAULT, RelationTable
from suites.long_dialogue.scripts.sessions import most_recent, spoken, when

DATED = (
    "boss, client, neighbor, roommate, fiance, fiancee, pet, dating with, job, place of work, age, major, "
    "husband, wife, girlfriend, boyfriend"
)
UNDATED = (
    "alumni, subordinate, ex-roommate, ex-fiance, ex-fiancee, ex-husband, ex-wife, ex-girlfriend, "
    "ex-boyfriend, mother, father, brother, sister, place of birth, hometown, date of birth"
)
MULTI_VALUED = "pet, brother, sister, neighbor, roommate, alumni, client, subordinate"


def test_the_table_holds_the_16_dated_and_16_undated_relations() -> None:
    assert {key for key, relation in DEFAULT.items() if relation.dated} == set(DATED.split(", "))
    assert {key for key, relation in DEFAULT.items() if not relation.dated} == set(UNDATED.split(", "))


def test_several_tails_may_hold_of_the_declared_relations_and_of_those_that_are_over() -> None:
    several = {key for key, relation in DEFAULT.items() if relation.multi_valued}
    assert several == set(MULTI_VALUED.split(", ")) | {key for key in DEFAULT if key.startswith("ex-")}


def test_hops_link_people_and_end_in_what_a_person_has() -> None:
    assert "pet" not in {key for key, relation in DEFAULT.items() if relation.first}
    second = {key for key, relation in DEFAULT.items() if relation.second and relation.tail != "person"}
    assert second == {"job", "major", "age", "date of birth", "place of birth", "place of work", "hometown"}
    assert DEFAULT.inverse("boss", "subordinate")
    assert DEFAULT.inverse("husband", "wife")
    assert DEFAULT.inverse("roommate", "roommate")
    assert not DEFAULT.inverse("boss", "boss")


def test_the_rows_read_back() -> None:
    assert RelationTable.parse(DEFAULT.as_rows()).as_rows() == DEFAULT.as_rows()


BOSS = {
    "key": "boss",
    "tail": "person",
    "dated": True,
    "wording": {"present": "Who is {head}'s boss?", "past": "Who was {head}'s boss {when}?"},
}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"key": ""}, "relation 1, key: must be a text"),
        ({"tail": "thing"}, r"relation 1 \(boss\), tail: must be one of person, place"),
        ({"colour": "red"}, r"relation 1 \(boss\), colour: is no field"),
        ({"dated": "yes"}, "dated: must be true or false"),
        ({"dated": False}, r"wording.present: is no form of it; those are undated"),
        ({"inverse": ["subordinate"]}, "inverse: 'subordinate' is no relation of the table"),
        ({"inverse": "boss"}, "inverse: must be a list"),
        ({"inverse": ["boss"], "symmetric": True}, "inverse: is not named where the relation is symmetric"),
        ({"tail": "animal", "symmetric": True}, "symmetric: needs a person"),
        ({"wording": {"present": "Who is {head}?"}}, "wording.past: must be a text"),
        ({"wording": BOSS["wording"] | {"past": "Who was {head}?"}}, r"wording.past: must hold \{head\} and"),
        (
            {"wording": BOSS["wording"] | {"present": "Who is {name}?"}},
            r"wording.present: must hold \{head\}",
        ),
        ({"wording": BOSS["wording"] | {"present": "{ {head}?"}}, "a brace that stands alone"),
        ({"first": {"present": "{head}'s boss"}}, "first.now: must be a text"),
    ],
)
def test_a_bad_row_is_refused_with_row_and_field(change: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told) as refused:
        RelationTable.parse([BOSS | change])
    assert "\n" not in str(refused.value)


def test_a_key_stands_once_and_a_table_is_not_empty() -> None:
    with pytest.raises(ValueError, match=r"relation 2 \(boss\), key: stands twice"):
        RelationTable.parse([BOSS, BOSS])
    with pytest.raises(ValueError, match="one at least"):
        RelationTable.parse([])


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("1995-05-03", "on May 3rd, 1995"),
        ("1994-09-22", "on September 22nd, 1994"),
        ("1995-05-11", "on May 11th, 1995"),
        ("1995-05-21", "on May 21st, 1995"),
        ("1995-05", "in May 1995"),
        ("1995", "in 1995"),
    ],
)
def test_a_date_is_spoken_as_exactly_as_it_is(written: str, said: str) -> None:
    assert when(Date.read(written)) == said
    assert spoken(Date.read(written)) in said


def test_the_most_recent_date_is_the_one_that_ends_last() -> None:
    dates = [Date.read(text) for text in ("1994-12-31", "1995-05-03", "1995-05")]
    assert most_recent(dates) == Date.read("1995-05")
