"""Sessions that answer a quiz's questions: by episode, parsed strictly, proposed but never decided."""

from __future__ import annotations

import json
from math import sqrt

import pytest

from annotation.records import Dialogue
from annotation.script_records import Question, question_record
from demo.fake_model.errors import RoleErrors
from demo.fake_model.requests import request
from demo.fake_model.role import Sampler
from demo.fake_model.roles import recognise
from demo.fake_model.roles.long_dialogues import names
from demo.fake_model.roles.long_dialogues import planted_questions as planted
from jobs.prompt import Unparseable
from suites.continuation.generators import Done, Reply
from suites.long_dialogue.agent.quiz import merged, read
from tests.demo.asking import asked
from tests.suites.continuation.driving import canned, fake
from tests.suites.long_dialogue.planted import EPISODES, bound, made, quiz, script

KEY = "dialsim_quiz"
NONE = json.dumps({"answerable": []})


def told(*entries: tuple[int, list[int], bool]) -> str:
    fields = ("question", "sessions", "all_needed")
    return json.dumps({"answerable": [dict(zip(fields, entry, strict=True)) for entry in entries]})


def questions(done: Done) -> dict[str, Question]:
    assert all(record.kind == "question" and record.supersedes == record.key for record in done.records)
    return {record.key: question_record(record.key, record.content) for record in done.records}


def evidence(done: Done) -> dict[str, tuple[tuple[str, ...], bool]]:
    return {key: (one.evidence, one.evidence_all) for key, one in questions(done).items()}


def test_each_question_gets_the_sessions_that_answer_it_as_a_draft_in_its_place() -> None:
    talk = script(quiz("q1"), quiz("q2"), quiz("q3"))
    done, (step,), _ = made(KEY, talk, fake("quiz_mapper"))
    assert len(step) == 2
    assert evidence(done) == {"q1": (("s2",), False), "q2": (("s3", "s4"), True)}
    assert done.flags == ("without_evidence: 1",)
    proposed = questions(done)["q1"]
    assert (proposed.text, proposed.choices, proposed.status) == (
        talk.questions[0].text,
        talk.questions[0].choices,
        "draft",
    )


def test_the_prompt_shows_the_sessions_of_one_episode_and_numbered_questions() -> None:
    _, ((first, second),), _ = made(KEY, script(quiz("q1")), fake("quiz_mapper"))
    shown = request(asked(first))
    assert shown.block("SESSIONS") == (
        "Session 1",
        "== January 1994 · kitchen ==",
        "Ana: Ben lives with Cara now. {fact Ben | roommate | Cara}",
        "Ben: So I do.",
        "Session 2",
        "== February 1994 ==",
        "Cara Miller: I got the job! {fact cara | job | cook} {evidence q1}",
    )
    assert shown.block("QUESTIONS") == ("[1] What of it? {answer q1 q1 w} Answer: q1 w",)
    for body in (asked(first), asked(second, schema=False)):
        assert [role.key for role in recognise(request(body))] == ["quiz_mapper"]


def test_questions_are_asked_about_in_parts_and_only_drafts_without_evidence() -> None:
    talk = script(
        *(quiz(f"q{n}") for n in range(1, 6)),
        quiz("known", evidence=("s1",)),
        quiz("done", status="accepted"),
        quiz("dated", origin="set"),
    )
    done, steps, _ = made(KEY, talk, fake("quiz_mapper"), questions=2, episodes=4)
    assert [len(step) for step in steps] == [4, 2]
    assert evidence(done) == {"q1": (("s2",), False), "q2": (("s3", "s4"), True)}
    shown = {line for step in steps for p in step for line in request(asked(p)).block("QUESTIONS") or ()}
    assert len(shown) == 5


def test_a_session_without_an_episode_is_one_by_itself() -> None:
    lines = {"a": (("ana", "Yes."),), "s3": (("ana", "No."),), "s4": (("ana", "Oh."),), "b": (("ana", "A."),)}
    _, (step,), _ = made(KEY, script(quiz("q1"), lines=lines), canned(NONE, NONE, NONE))
    assert len(step) == 3
    assert EPISODES["s3"] == EPISODES["s4"]


def test_where_episodes_differ_single_sessions_win_and_the_loss_is_told() -> None:
    talk = script(quiz("q1"), quiz("q2"))
    answer = canned(told((1, [1, 2], True), (2, [2, 1], True)), told((1, [2, 1], False), (2, [1, 2], True)))
    done, _, _ = made(KEY, talk, answer)
    assert evidence(done) == {"q1": (("s3", "s4"), False), "q2": (("s1", "s2"), True)}
    assert done.flags == ("several_sets_of_sessions: 2",)
    assert merged([]) == ((), False, False)
    assert merged([((3,), False), ((1, 2), False)]) == ((1, 2, 3), False, False)


def test_of_a_single_session_all_are_never_needed() -> None:
    assert not read(told((1, [2], True)), 1, 2)[0].all_needed
    assert read("[]", 1, 1) == []


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("none", "not valid JSON"),
        (told((0, [1], False)), "entry 1: question: 0 was not shown"),
        (told((3, [1], False)), "entry 1: question: 3 was not shown"),
        (told((1, [3], False)), "entry 1: sessions: 3 was not shown"),
        (told((1, [], False)), "at least one session is needed"),
        (told((1, [1, 1], False)), "a session is there twice"),
        (told((1, [1], False), (1, [2], False)), "question 1 is there twice"),
        (told((True, [1], False)), "is not a whole number"),
        (told((1, ["1"], False)), "is not a whole number"),  # type: ignore[list-item]
        (told((1, [1, 2], "yes")), "neither true nor false"),  # type: ignore[arg-type]
        ('[{"question": 1, "sessions": [1]}]', "the field all_needed is missing"),
        ('[{"question": 1, "sessions": [1], "all_needed": false, "why": 1}]', "there is no field 'why'"),
    ],
)
def test_a_reply_in_another_form_is_refused(reply: str, why: str) -> None:
    with pytest.raises(Unparseable, match=why):
        read(reply, 2, 2)


def test_any_worker_goes_on_even_where_questions_have_changed_meanwhile() -> None:
    talk = script(quiz("q1"), quiz("q2"))
    generator = bound(KEY, talk)
    state = generator.begin(talk, generator.resolved({"episodes": 1}))
    later = bound(KEY, script(quiz("q2"), quiz("q9")))
    answer = fake("quiz_mapper")
    while not isinstance(step := later.request(state), Done):
        state = later.receive(state, [Reply(answer(prompt)) for prompt in step])
    assert evidence(step) == {"q2": (("s3", "s4"), True)}


def test_without_open_questions_nothing_is_asked() -> None:
    generator = bound(KEY, script())
    assert generator.why_not(script(), {}) == "it has no quiz questions without evidence"
    assert generator.why_not(Dialogue("d"), {}) == "it is no script of dated sessions"


def test_the_fake_misses_and_invents_at_its_rates_and_as_computed() -> None:
    rates = {"misses": 0.25, "invents": 0.05}
    lines = {f"t{n}": (("ana", f"So {n}. {{evidence q{n % 10}}}"),) for n in range(200)}
    talk = script(*(quiz(f"q{n}") for n in range(10)), lines=lines)
    done, steps, _ = made(KEY, talk, fake("quiz_mapper", **rates), episodes=100)
    sampler = Sampler("quiz_mapper", errors=RoleErrors(own=rates))
    seen = {True: [0, 0], False: [0, 0]}
    expected: dict[str, set[str]] = {f"q{n}": set() for n in range(10)}
    prompts = [prompt for step in steps for prompt in step]
    for prompt, session in zip(prompts, lines, strict=True):
        text = "\n".join((request(asked(prompt)).block("SESSIONS") or ())[1:])
        for key, sessions in expected.items():
            there = bool(planted(key, text))
            said = names(key, text, sampler)
            seen[there][0] += said
            seen[there][1] += 1
            sessions |= {session} if said else set()
    assert {key: set(ids) for key, (ids, _) in evidence(done).items()} == expected
    for there, rate in ((True, 0.75), (False, 0.05)):
        said, n = seen[there]
        assert abs(said / n - rate) <= 3 * sqrt(rate * (1 - rate) / n)
