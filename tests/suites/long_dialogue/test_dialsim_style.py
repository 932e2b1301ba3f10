"""Questions in the characters' own words: checked, requested again once, and dropped on failure."""

from __future__ import annotations

import json
from dataclasses import replace
from math import sqrt
from typing import Any

import pytest

from annotation.records import Dialogue
from demo.fake_model.errors import RoleErrors
from demo.fake_model.requests import request
from demo.fake_model.role import Sampler
from demo.fake_model.roles import recognise
from demo.fake_model.roles.long_dialogues import DROPS_WORDS as DROPS
from demo.fake_model.roles.long_dialogues import STATES, errs, worded
from jobs.prompt import Unparseable
from suites.continuation.generators import Done, Reply
from suites.long_dialogue.agent.styles import read
from suites.long_dialogue.scripts.quiz import style_faults
from tests.demo.asking import asked
from tests.suites.continuation.driving import canned, fake
from tests.suites.long_dialogue.planted import bound, made, quiz, script

KEY = "dialsim_style"
TEXT = "Who was the boss of Ana on May 3rd, 1995? {answer q1 Ben}"
LONG = "I have been thinking about this all day"
TALK = {
    "s1": (("ana", "Hello to both of you, my dear friends."), ("ben", LONG), ("cara", "Hm.")),
    "s2": (("ben", f"{LONG}, number two"), ("ana", "Yes.")),
    "s3": (("cara", "I would rather have some cake."), ("all", "Cheers to all of us here now!")),
    "s4": (("all", "Bye."), ("ben", "Nothing.")),
}


def one(**more: Any) -> Any:
    return replace(quiz("q1"), **({"text": TEXT, "choices": ("Ben", "Cara", "Dan", "Eve")} | more))


def told(*texts: str, numbers: tuple[int, ...] = ()) -> str:
    entries = zip(numbers or range(len(texts)), texts, strict=True)
    return json.dumps({"wordings": [{"asker": number, "text": text} for number, text in entries]})


def styles(done: Done) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = done.text["styles"]
    return found


def test_each_recurring_character_and_anybody_else_ask_in_their_own_words() -> None:
    done, _, _ = made(KEY, script(one(), lines=TALK), fake("style_writer"), sessions=2)
    worded = styles(done)["q1"]
    assert set(worded) == {"default", "ben", "cara"}
    for text in worded.values():
        assert style_faults(TEXT, text, ("Ben", "Cara", "Dan", "Eve"), ("Ana", "Ben")) == ()
        assert "{answer q1 Ben}" in text
    assert done.flags == ()


def test_the_prompt_shows_how_they_talk_and_quotes_everything() -> None:
    _, ((prompt,),), _ = made(KEY, script(one(), lines=TALK), fake("style_writer"), sessions=2, samples=1)
    shown = request(asked(prompt))
    assert shown.block("ASKED") == ("Ana",)
    assert shown.block("QUESTION") == (TEXT,)
    assert shown.block("ASKERS") == (
        "[0] anybody else",
        "[1] Ben",
        f"      - {LONG}",
        "[2] Cara Miller",
        "      - I would rather have some cake.",
    )
    assert "Dan" not in prompt.user
    for schema in (True, False):
        roles = recognise(request(asked(prompt, schema=schema)))
        assert [role.key for role in roles] == ["style_writer"]


def test_a_wording_that_fails_a_check_is_asked_for_again_alone_and_with_the_reason() -> None:
    good = f"By the way: {TEXT}"
    first = told(good, good.replace("Ana", "her"), f"Was it Cara? {good}")
    again = told(good.replace("1995", "1996"), f"So: {good}", numbers=(1, 2))
    done, steps, _ = made(KEY, script(one(), lines=TALK), canned(first, again), sessions=2)
    assert styles(done) == {"q1": {"default": good, "cara": f"So: {good}"}}
    assert done.flags == ("wording_dropped: 1",)
    shown = request(asked(steps[1][0]))
    assert [said.number for said in shown.numbered("ASKERS")] == [1, 2]
    lines = shown.block("AGAIN") or ()
    assert lines[0].startswith(f"[1] {good.replace('Ana', 'her')} (lacks the name 'Ana'")
    assert lines[1].endswith("(gives the choice 'Cara' away)")
    assert [role.key for role in recognise(shown)] == ["style_writer"]


def test_questions_are_worded_but_no_rejected_ones() -> None:
    talk = script(one(), one(id="q3", status="rejected"), one(id="q4", status="accepted"))
    done, steps, _ = made(KEY, talk, fake("style_writer"), questions=1)
    assert [len(step) for step in steps] == [1, 1]
    assert set(styles(done)) == {"q1", "q4"}
    empty = script(one(status="rejected"))
    generator = bound(KEY, empty)
    assert generator.why_not(empty, generator.resolved({"set": "boat@2"})) == (
        "it has no questions that the question set boat:2 made"
    )
    assert generator.why_not(empty, generator.resolved({})) == "it has no questions that stand by themselves"
    assert generator.why_not(Dialogue("d"), {}) == "it is no script of dated sessions"


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("By the way?", "not valid JSON"),
        (told("a?"), "number 1 is missing"),
        (told("a?", "b?", "c?"), "'2' is no number that was asked for"),
        (told("a?", "b?", numbers=(0, 0)), "number 0 is there twice"),
        (told("a?", "b?", numbers=(False, 1)), "'False' is no number"),
        (told("a?", " "), "entry 2: text is empty"),
        (told("a?", "x" * 1001), "more than 1,000 characters"),
        ('[{"asker": 0, "text": 3}, {"asker": 1, "text": "b"}]', "entry 1: text is not a text"),
        ('[{"asker": 0, "text": "a", "why": ""}]', "there is no field 'why'"),
    ],
)
def test_a_reply_in_another_form_is_refused(reply: str, why: str) -> None:
    with pytest.raises(Unparseable, match=why):
        read(reply, (0, 1))


def test_any_worker_goes_on_even_where_questions_are_gone() -> None:
    talk = script(*(one(id=f"q{n}") for n in range(4)), lines=TALK)
    generator = bound(KEY, talk)
    state = generator.begin(talk, generator.resolved({"questions": 1, "sessions": 2}))
    bad = told("No.", "No.", "No.")
    state = generator.receive(state, [Reply(bad)])
    later = bound(KEY, script(one(id="q2"), lines=TALK))
    answer = fake("style_writer")
    asked_for = 0
    while not isinstance(step := later.request(state), Done):
        asked_for += len(step)
        assert later.calls_left(state) == 1
        state = later.receive(state, [Reply(answer(prompt)) for prompt in step])
    assert asked_for == 1
    assert set(styles(step)["q2"]) == {"default", "ben", "cara"}


def test_the_fake_fails_checks_at_its_rates_and_as_computed() -> None:
    rates = {DROPS: 0.3, STATES: 0.1}
    questions = [one(id=f"q{n}", text=f"So who was the boss of Ana in {n + 100}?") for n in range(200)]
    talk = script(*questions, lines=TALK)
    done, (first, again, *_), _ = made(KEY, talk, fake("style_writer", **rates), sessions=2, questions=200)
    sampler = Sampler("style_writer", errors=RoleErrors(own=rates))
    failed = n = 0
    for prompt in first:
        shown = request(asked(prompt))
        question = " ".join(shown.block("QUESTION") or ())
        for said in shown.numbered("ASKERS"):
            wrong = [errs(what, question, said.full_text, "", sampler) for what in (DROPS, STATES)]
            text = worded(question, said.full_text, "", sampler)
            assert bool(style_faults(question, text, (), ("Ana",))) == any(wrong)
            failed, n = failed + any(wrong), n + 1
    assert sum(len(request(asked(prompt)).numbered("ASKERS")) for prompt in again) == failed
    rate = 1 - 0.7 * 0.9
    assert abs(failed / n - rate) <= 3 * sqrt(rate * (1 - rate) / n)
    dropped = int(done.flags[0].split(": ")[1])
    assert abs(dropped / failed - rate) <= 3 * sqrt(rate * (1 - rate) / failed)
