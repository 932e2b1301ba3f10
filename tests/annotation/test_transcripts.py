"""The transcript shown to a rater, with the system hidden."""

import random

import pytest

from annotation.pages import work
from annotation.records import Continuation, Dialogue, Turn
from annotation.text.context import Names, context
from annotation.text.views import HIDDEN, Blind, View
from annotation.work.transcripts import Line, Row, one_turn, whole_continuation
from tests.annotation.test_answers import plan


def write(number, row, place):
    return Line(number, row.speaker, 1, row.text, place, row.item)


def rows(turns, own):
    return [Row(own, i, turn.speaker, turn.text, turn.given, turn.at, i) for i, turn in enumerate(turns)]


def random_case(seed):
    draw = random.Random(seed)
    history = tuple(Turn("AB"[i % 2], f"h{i}") for i in range(draw.randint(1, 6)))
    mode = draw.choice(["rollout", "static"])
    turns = []
    for i in range(draw.randint(1, 6)):
        at = draw.randint(0, len(history)) if mode == "static" else None
        turns.extend(Turn("A", f"g{i}.{j}", given=True, at=at) for j in range(draw.randint(0, 2)))
        turns.append(Turn("B", f"t{i}", at=at))
    continuation = Continuation("x", "model-x", tuple(turns), mode=mode)
    return Dialogue("d", turns=history, continuations=(continuation,)), continuation


@pytest.mark.parametrize("seed", range(60))
def test_the_context_shown_is_the_context_that_records_define(seed):
    dialogue, continuation = random_case(seed)
    for position, turn in enumerate(continuation.turns):
        if turn.given:
            continue
        shown = one_turn(
            rows(dialogue.turns, True),
            rows(continuation.turns[: position + 1], False),
            continuation.mode,
            write,
        )
        context, item = shown
        expected = [each.text for each in dialogue.context(continuation, position)]
        assert [line.text for line in context.lines] == expected
        assert [(line.text, line.place) for line in item.lines] == [(turn.text, "item")]
        assert item.lines[0].no == len(expected) + 1


@pytest.mark.parametrize("seed", range(30))
def test_a_whole_continuation_shows_every_turn_once_and_no_history_after_the_last_point(seed):
    dialogue, continuation = random_case(seed)
    parts = whole_continuation(
        rows(dialogue.turns, True), rows(continuation.turns, False), continuation.mode, "rated", write
    )
    lines = [line for part in parts for line in part.lines]
    answers = [turn.text for turn in continuation.turns if not turn.given]
    assert [line.text for line in lines if line.place == "rated"] == answers
    if continuation.mode == "static":
        last = max(turn.at for turn in continuation.turns if not turn.given)
        assert {line.text for line in lines if line.place == "history"} == {f"h{i}" for i in range(last)}


def test_exchanges_of_a_static_continuation_read_on_from_one_another():
    history = rows([Turn("AB"[i % 2], f"h{i}") for i in range(4)], True)
    turns = rows([Turn("B", "t0", at=1), Turn("B", "t1", at=3)], False)
    first, second = whole_continuation(history, turns, "static", "rated", write)
    assert [(line.no, line.text) for line in first.lines] == [(1, "h0"), (2, "t0")]
    assert [(line.no, line.text) for line in second.lines] == [(2, "h1"), (3, "h2"), (4, "t1")]
    assert (first.heading, second.heading) == (
        "response 1 of 2",
        "the dialogue itself went on · response 2 of 2",
    )


@pytest.mark.parametrize(
    ("system", "text", "shown"),
    [
        ("Parrot-9", "I am Parrot-9.", f"I am {HIDDEN}."),
        ("Parrot-9", "I am Parrot-90.", "I am Parrot-90."),
        ("baseline", "Our baseline is low.", "Our baseline is low."),
        ("Bob", "Bob, come here.", "Bob, come here."),
        ("human", "I am human.", "I am human."),
        ("gpt-4.1", "gpt-4.1 and gpt-4x1", f"{HIDDEN} and gpt-4x1"),
    ],
)
def test_only_a_distinctive_name_is_hidden_in_what_was_said(system, text, shown):
    assert Blind(system).spoken(text) == shown


def test_around_the_turns_every_mention_is_hidden_and_telltale_entries_are_left_out():
    hide = Blind("baseline")
    assert hide.about("By BASELINE, a model") == f"By {HIDDEN}, a model"
    metadata = {"system": "x", "Model": "y", "made_by": ["baseline", "Ana"], "empty": "", "n": 3}
    view = View(("baseline",), tuple(f"metadata.{key}" for key in metadata))
    shown = context(Dialogue("d", metadata=metadata), Names((), hide), view)
    assert shown.metadata == (("made by", f"{HIDDEN}, Ana"), ("n", "3"))


def test_a_scale_to_ten_takes_zero_for_ten_and_joins_equal_bands():
    first, _ = work.for_browser(plan("cocoeval_overall"))
    assert first["keys"]["0"] == 10
    assert first["keys"]["1"] == 1


def test_tags_are_gathered_under_their_groups():
    sections = work.sections(plan("cocoeval_behaviours"))
    assert [section.heading for section in sections] == ["Inconsistent", "Uncollaborative", "Other"]
    assert [control.kind for control in sections[2].controls] == ["tag", "text"]
