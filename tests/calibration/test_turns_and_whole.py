"""Continuations with separate turn and dialogue ratings, by page, API and file."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.corpora import splits
from calibration.comparisons.turn_vs_dialogue import TurnVsDialogue, compute, facts, read
from calibration.errors import LevelsRefused
from tests.calibration.levels_world import Static, asked, static
from tests.factories import user

pytestmark = pytest.mark.django_db

BY_TURNS = {"a": (3, 3, 2, 3, 3, 3, 3), "b": (4, 4, 3, 4, 4, 4, 3), "c": (4, 4, 4, 5, 4, 4, 4)}
BY_WHOLE = {"a": (4, 4, 3), "b": (3, 3, 3), "c": (5, 5, 4)}
"""What three people said of each whole. The means are those of table 13: 3.67, 3.00 and 4.67."""
PEOPLE = ("ann", "ben", "cid")


@pytest.fixture
def rated() -> Static:
    """One dialogue like table 13's, and one in which both scores agree."""
    built = static(dialogues=2, turns=7)
    turns, whole = asked(built, "comperdial_turn"), asked(built, "comperdial_dialogue")
    for number, person in enumerate(PEOPLE):
        built.say(person, turns, lambda dialogue, system, turn: BY_TURNS[system][turn])
        built.say(
            person,
            whole,
            lambda dialogue, system, turn, n=number: (
                BY_WHOLE[system][n] if dialogue == "d0" else "abc".index(system) + 2
            ),
        )
    return built


def _found(built: Static, **given: str) -> TurnVsDialogue:
    return compute(read(given, built.corpus, None))


def test_the_example_of_the_paper_has_one_inversion_of_three_pairs(rated: Static) -> None:
    found = _found(rated)
    by = {line.system: line for line in found.lines if line.dialogue == "d0"}
    assert {s: round(line.by_turns, 2) for s, line in by.items()} == {"a": 2.86, "b": 3.71, "c": 4.14}
    assert {s: round(line.by_whole, 2) for s, line in by.items()} == {"a": 3.67, "b": 3.0, "c": 4.67}
    assert {s: (line.rank_by_turns, line.rank_by_whole) for s, line in by.items()} == {
        "a": (3, 2),
        "b": (2, 3),
        "c": (1, 1),
    }
    assert [(d.dialogue, d.inversions, d.pairs) for d in found.dialogues] == [("d0", 1, 3), ("d1", 0, 3)]
    assert (found.inversions, found.pairs) == (1, 6)


def test_the_largest_change_of_rank_comes_first(rated: Static) -> None:
    lines = _found(rated).lines
    assert [abs(line.moved) for line in lines] == [1, 1, 0, 0, 0, 0]
    assert lines[0].system == "a"
    assert lines[0].moved == 1
    assert lines[0].difference is not None
    assert lines[0].difference == pytest.approx(11 / 3 - 20 / 7, abs=1e-12)


def test_one_is_left_out_whose_whole_nobody_rated(rated: Static) -> None:
    rated.wholes["d1", "c"].labels.update(superseded_at="2026-01-01T00:00:00Z")
    found = _found(rated)
    assert found.left_out == 1
    assert len(found.lines) == 5
    assert any(line.startswith("Left out: 1 continuation") for line in facts(found))


def test_scales_that_differ_have_ranks_and_no_difference(rated: Static) -> None:
    fluent = asked(rated, "fed_turn", "fluent")
    rated.say("ann", fluent, lambda dialogue, system, turn: float("abc".index(system)))
    found = _found(rated, turns=f"fed_turn@{fluent.version.version}/fluent")
    assert {line.difference for line in found.lines} == {None}
    assert "The two questions have different scales, so there are ranks and no differences." in facts(found)


@pytest.mark.exhaustive
def test_test_stays_closed_until_somebody_opens_it(rated: Static) -> None:
    split = splits.draw(corpus=rated.corpus, by=user(researcher=True))
    found = _found(rated)
    assert found.is_locked
    assert len(found.dialogues) == 1
    splits.open_test(split=split, by=user(researcher=True), purpose="the final table")
    assert not _found(rated).is_locked
    assert len(_found(rated).dialogues) == 2


def test_a_corpus_without_labels_of_both_levels_says_so() -> None:
    built = static()
    with pytest.raises(LevelsRefused, match="nobody has rated single turns in numbers in comper yet"):
        _found(built)
    built.say("ann", asked(built, "comperdial_turn"), lambda *place: 3)
    with pytest.raises(LevelsRefused, match="nobody has rated whole dialogues"):
        _found(built)


def test_a_question_that_people_did_not_answer_is_refused_in_one_line(rated: Static) -> None:
    with pytest.raises(LevelsRefused, match="people answered no question 'x@1/y'") as refused:
        _found(rated, turns="x@1/y")
    assert "\n" not in str(refused.value)


def test_the_page_lists_continuations_with_a_way_to_the_transcript(researcher: Client, rated: Static) -> None:
    address = reverse("turns-and-whole", args=[rated.corpus.pk])
    shown = researcher.get(address).content.decode()
    assert "1 inversion among 6 pairs of continuations of one dialogue, 16.7%" in shown
    item = rated.wholes["d0", "a"]
    assert f"{reverse('dialogue', args=[item.continuation.dialogue_id])}?continuation=a" in shown
    assert "up 1" in shown
    assert "down 1" in shown
    assert researcher.get(address, {"turns": "x@1/y"}).status_code == 422
    assert researcher.get(address, {"campaign": "x"}).status_code == 200


def test_the_page_of_a_corpus_leads_there(researcher: Client, rated: Static) -> None:
    shown = researcher.get(reverse("corpus-results", args=[rated.corpus.name])).content.decode()
    assert reverse("turns-and-whole", args=[rated.corpus.pk]) in shown


@pytest.mark.exhaustive
def test_files_hold_continuations_and_dialogues_unrounded(researcher: Client, rated: Static) -> None:
    def file(form: str) -> str:
        return researcher.get(reverse("turns-and-whole-file", args=[rated.corpus.pk, form])).content.decode()

    rows = list(csv.DictReader(io.StringIO(file("csv"))))
    assert float(rows[0]["by_turns"]) == pytest.approx(20 / 7, abs=1e-12)
    dialogues = list(csv.DictReader(io.StringIO(file("dialogues"))))
    assert (dialogues[0]["dialogue"], float(dialogues[0]["share"])) == ("d0", 1 / 3)
    assert len(json.loads(file("json"))["continuations"]) == 6
    gone = researcher.get(reverse("turns-and-whole-file", args=[rated.corpus.pk, "xls"]))
    assert gone.status_code == 404


@pytest.mark.exhaustive
def test_the_api_gives_the_same_in_pages(rated: Static) -> None:
    client = APIClient()
    client.force_login(user(researcher=True))
    address = reverse("api-turns-and-whole", args=[rated.corpus.pk])
    answer = client.get(address, {"limit": 2, "offset": 1}).json()
    assert (answer["count"], len(answer["results"]), answer["inversions"]) == (6, 2, 1)
    assert answer["dialogues"][0] == {
        "dialogue": "d0",
        "continuations": 3,
        "inversions": 1.0,
        "pairs": 3,
        "share": 1 / 3,
    }
    refused = client.get(address, {"turns": "x@1/y"})
    assert refused.status_code == 400
    assert "people answered no question" in refused.json()["detail"]


def test_the_number_of_queries_does_not_grow_with_the_continuations(
    rated: Static, django_assert_max_num_queries: object
) -> None:
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        _found(rated)
