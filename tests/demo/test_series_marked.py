"""The marked series names the evidence of every question, exactly where it occurs."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest

from annotation.formats import Source, jsonl
from annotation.records import Dialogue
from demo import series
from demo.fake_model.roles.long_dialogues import sufficient
from suites.long_dialogue.scripts.answers import Moment, PromptContent, question_sufficiency
from suites.long_dialogue.scripts.making import make
from suites.long_dialogue.scripts.sessions import Sessions

MARK = re.compile(r" \{[^{}]*\}")


@pytest.fixture(scope="module")
def script() -> Dialogue:
    return series.marked_dialogue()


def test_without_marks_it_is_the_series_with_its_question_set(script: Dialogue) -> None:
    plain = series.dialogue()
    made = make(plain, name=series.NAME, seed=series.SEED)
    assert [replace(turn, text=MARK.sub("", turn.text)) for turn in script.turns] == list(plain.turns)
    texts = [MARK.sub("", asked.text) for asked in script.questions]
    assert texts == [asked.text for asked in (*plain.questions, *made.questions)]
    assert script.question_sets == (made.set,)


def test_its_name_says_that_it_is_marked(script: Dialogue) -> None:
    assert script.id == "stairs-only-marked"
    assert "marked" in script.metadata["title"]


def test_every_fact_is_planted_in_its_turn(script: Dialogue) -> None:
    for fact in script.facts:
        mark = f"{{fact {fact.head} | {fact.relation} | {fact.tail}}}"
        assert all(mark in script.turns[place].text for place in fact.turns)


def test_every_question_and_wording_holds_its_answer_before_its_mark(script: Dialogue) -> None:
    for asked in script.questions:
        for text in (asked.text, *asked.styles.values()):
            assert re.search(r" \{answer \S+ ([^{}]*)\}\?$", text)[1] == asked.answer


def test_marks_suffice_exactly_where_the_evidence_does(script: Dialogue) -> None:
    sessions = Sessions(script)
    questions = {asked.id: asked for asked in script.questions}
    source = random.Random(3)
    seen = set()
    for use in source.sample(script.question_sets[0].uses, 400):
        asked = questions[use.question]
        number = sessions.numbers[use.session]
        moment = Moment(number, sessions.positions[number][-1])
        heard = [place for t in sorted(sessions.heard) if t <= number for place in sessions.heard_turns(t)]
        for share in (0.3, 0.7, 1.0):
            turns = frozenset(source.sample(heard, int(share * len(heard))))
            extent = question_sufficiency(asked, PromptContent(turns=turns), sessions=sessions, moment=moment)
            history = "\n".join(script.turns[place].text for place in sorted(turns))
            held = sufficient(series.key_of(asked), history)
            assert held == (extent == "sufficient"), (use, share)
            seen.add(held)
    assert seen == {True, False}


def test_it_is_imported_whole(script: Dialogue, tmp_path) -> None:
    path = tmp_path / "marked.jsonl"
    path.write_text(series.marked_lines(), encoding="utf-8")
    (entry,) = jsonl.read(Source(path))
    assert entry.record == script


def test_marks_that_cannot_be_told_apart_are_refused() -> None:
    plain = series.dialogue()
    asked = replace(plain.questions[1], evidence_all=False, evidence=("s01", "s05"))
    places = (0, 1, *Sessions(plain).positions[5][:2])
    with pytest.raises(ValueError, match="told apart"):
        series.marked(replace(plain, questions=(replace(asked, evidence_turns=places),)))
