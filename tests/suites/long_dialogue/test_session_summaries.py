"""A session's summary is written once, from what the main character heard, and identified by that text."""

from __future__ import annotations

import json
from dataclasses import replace
from math import sqrt

import pytest

from annotation.records import Dialogue, Turn
from annotation.script_records import Script
from demo.fake_model.errors import RoleErrors
from demo.fake_model.requests import request
from demo.fake_model.role import Sampler
from demo.fake_model.roles import recognise
from demo.fake_model.roles.long_dialogues import drops, summary
from jobs.prompt import Prompt, Unparseable
from suites.continuation.generators import GENERATORS, Done, Reply
from suites.long_dialogue.agent.memory import Heard, text_digest
from tests.demo.asking import asked
from tests.suites.continuation.driving import Answer, driven, fake
from tests.suites.long_dialogue.planted import script

KEY = "dialsim_session_summary"
LINES = {
    "s1": (("ana", "Ben has a cat. {evidence q1} {fact Ben | pet | Tom}"), ("ben", "Two.\nEven three!")),
    "s2": (("ben", "Nobody hears this."),),
    "s3": (("cara", "Hello."), ("ana", "I moved. {evidence q2}")),
}


def summed(dialogue: Dialogue, number: int, answer: Answer) -> tuple[Done, Prompt]:
    done, (prompt,) = driven(KEY, dialogue, answer, {"text": digest(dialogue, number)})
    return done, prompt


def digest(dialogue: Dialogue, number: int) -> str:
    return text_digest(Heard(dialogue).text(number))


def test_what_was_heard_is_summed_up_in_one_call() -> None:
    talk = script(lines=LINES)
    done, prompt = summed(talk, 1, fake("session_summariser"))
    assert done.text == "Ana: Ben has a cat. {evidence q1} {fact Ben | pet | Tom}"
    shown = request(asked(prompt))
    assert shown.block("LISTENER") == ("Ana",)
    assert shown.block("SESSION") == (
        "Ana: Ben has a cat. {evidence q1} {fact Ben | pet | Tom}",
        "Ben: Two.",
        "      Even three!",
    )
    for schema in (True, False):
        found = recognise(request(asked(prompt, schema=schema)))
        assert [role.key for role in found] == ["session_summariser"]


def test_what_was_not_for_the_main_character_is_not_in_it() -> None:
    talk = script(lines={"s1": (("ana", "Come in."), ("ben", "She must not know."))})
    turns = (talk.turns[0], replace(talk.turns[1], audience=("ben", "cara")))
    _, prompt = summed(replace(talk, turns=turns), 1, fake("session_summariser"))
    assert "must not know" not in prompt.user


def test_the_whole_script_and_the_session_alone_make_the_same_prompt() -> None:
    talk = script(lines=LINES)
    assert talk.script is not None
    alone = replace(
        talk,
        turns=tuple(turn for turn in talk.turns if turn.session == "s3"),
        script=Script("ana", talk.script.sessions[2:]),
    )
    assert digest(alone, 1) == digest(talk, 3)
    assert summed(alone, 1, fake())[1] == summed(talk, 3, fake())[1]


def test_a_session_that_is_not_heard_has_no_summary() -> None:
    generator = GENERATORS[KEY]
    talk = script(lines=LINES)
    assert generator.why_not(talk, {"text": text_digest("")}).startswith("no session in which its main")
    assert generator.why_not(Dialogue("d", (Turn("a", "b"),)), {"text": ""}) == (
        "it is no script of dated sessions"
    )


@pytest.mark.parametrize("reply", ["", "So it was.", '{"summary": ""}', '{"summary": "a\\n\\nb"}', "[]"])
def test_a_reply_in_another_form_is_refused(reply: str) -> None:
    talk = script(lines=LINES)
    generator = GENERATORS[KEY]
    state = generator.begin(talk, {"text": digest(talk, 1)})
    with pytest.raises(Unparseable):
        generator.receive(state, [Reply(reply)])


def test_each_thing_planted_is_forgotten_by_itself_at_the_rate_and_as_computed() -> None:
    rate, n = 0.3, 400
    lines = {f"s{k}": (("ana", f"Well. {{evidence q{k}}}"), ("ben", f"So. {{evidence q{k} 2/2}}"))
             for k in range(n)}  # fmt: skip
    talk = script(lines=lines)
    heard = Heard(talk)
    sampler = Sampler("session_summariser", errors=RoleErrors(own={"drops": rate}))
    lost = both = 0
    for number in heard.numbers:
        text = heard.text(number)
        markers = (f"{{evidence q{number - 1}}}", f"{{evidence q{number - 1} 2/2}}")
        told = summary(text.split("\n"), sampler)
        assert [marker not in told for marker in markers] == [drops(one, text, sampler) for one in markers]
        lost += sum(marker not in told for marker in markers)
        both += all(marker in told for marker in markers)
    assert abs(lost / (2 * n) - rate) <= 3 * sqrt(rate * (1 - rate) / (2 * n))
    kept = (1 - rate) ** 2
    assert abs(both / n - kept) <= 3 * sqrt(kept * (1 - kept) / n)


def test_the_server_says_what_the_pure_function_says() -> None:
    talk = script(lines=LINES)
    sampler = Sampler("session_summariser", errors=RoleErrors(own={"drops": 0.5}))
    for number in (1, 3):
        done, _ = summed(talk, number, fake("session_summariser", drops=0.5))
        assert done.text == summary(Heard(talk).text(number).split("\n"), sampler)
        assert json.dumps(done.text)
