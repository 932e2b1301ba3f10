"""The agent of a long dialogue: contents excluded from and included in its prompts, and stored answers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from demo.fake_model.requests import request
from jobs.prompt import Prompt, about_tokens
from suites.continuation.generators import GENERATORS, Done, Reply, WrongSettings
from suites.long_dialogue.agent.agent import BASELINES, DialsimAgent, played
from suites.long_dialogue.agent.memory import MEMORIES, Heard, text_digest
from suites.long_dialogue.scripts.sessions import Sessions
from tests.demo.asking import asked
from tests.suites.continuation.driving import stored
from tests.suites.long_dialogue.long_talk import PEOPLE, answered, answers_of, world

MATERIAL = world(sessions=14, questions=30, seed=3)
SUMMED = replace(
    MATERIAL,
    summaries={
        text_digest(heard.text(number)): f"They met, said {number}. Ben laughed.\nThen they left."
        for heard in (Heard(MATERIAL.dialogue),)
        for number in heard.numbers
    },
)


def knows_nothing(_: Prompt) -> str:
    return "(E)"


def block(prompt: Prompt, title: str) -> list[str]:
    return list(request(asked(prompt)).block(title) or ())


def marks(text: str) -> set[str]:
    """Return the marks of turns, such as t3x1 for the second turn of session 3."""
    return set(re.findall(r"\bt\d+x\d+\b", text))


@hypothesis_settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 40),
    memory=st.sampled_from(MEMORIES),
    retriever=st.sampled_from(["bm25", "embedding"]),
    names=st.sampled_from(["original", "anonymised"]),
    point=st.sampled_from(["own_turn", "any_turn"]),
    per_session=st.integers(1, 2),
    form=st.sampled_from(["template", "natural", "open"]),
)
def test_no_prompt_holds_what_was_not_heard(
    seed: int, memory: str, retriever: str, names: str, point: str, per_session: int, form: str
) -> None:
    material = world(sessions=8, questions=16, seed=seed, turns=6)
    if memory == "summary":
        heard = Heard(material.dialogue)
        texts = {number: heard.text(number) for number in heard.numbers}
        material = replace(
            material,
            summaries={text_digest(text): " ".join(sorted(marks(text))) for text in texts.values()},
        )
    chosen = {"memory": memory, "retriever": retriever, "names": names, "point": point, "format": form}
    done, prompts = answered(material, knows_nothing, **chosen, per_session=per_session)
    sessions = Sessions(material.dialogue)
    places = {mark: place for place, turn in enumerate(material.dialogue.turns) for mark in marks(turn.text)}
    for prompt, answer in zip(prompts, (turn for turn in done.turns if not turn.given), strict=True):
        assert answer.at is not None
        for mark in marks(prompt.user):
            assert places[mark] < answer.at
            assert sessions.hears(places[mark])
        if names == "anonymised":
            assert not re.search(rf"\b(?:{'|'.join(PEOPLE)})\b", prompt.user, re.I)


def test_every_system_is_asked_the_same_questions_at_the_same_points() -> None:
    def asks(**settings: Any) -> list[tuple[Any, ...]]:
        done, _ = answered(SUMMED, knows_nothing, 1, **settings)
        return [(turn.at, turn.speaker, one["question"], one["key"]) for turn, one in zip(
            done.turns[1::2], answers_of(done), strict=True)]  # fmt: skip

    usual = asks()
    assert usual
    for memory in MEMORIES:
        assert asks(memory=memory) == usual
    assert asks(names="anonymised", format="open", retriever="embedding", order="rank") == usual
    assert asks(seed=1) != usual


def test_the_question_stands_before_the_answer_as_it_was_shown() -> None:
    done, prompts = answered(MATERIAL, knows_nothing)
    for prompt, (question, answer) in zip(
        prompts, zip(done.turns[::2], done.turns[1::2], strict=True), strict=True
    ):
        assert (question.given, answer.given) == (True, False)
        assert (question.at, question.session) == (answer.at, answer.session)
        assert (answer.speaker, question.addressees, answer.addressees) == (
            "ana",
            ("ana",),
            (question.speaker,),
        )
        shown = "\n".join(line.strip() for line in block(prompt, "QUESTION"))
        assert shown.endswith(question.text)
        assert (answer.text, answer.extra["answer"]["outcome"]) == ("(E)", "E")


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("open", "W?"),
        ("natural", "W: b, a, d, c, or don't you know?"),
        ("template", "W?\n(A) b\n(B) a\n(C) d\n(D) c\n(E) I don't know"),
    ],
)
def test_options_stand_below_the_question_or_inside_it_or_nowhere(form: str, shown: str) -> None:
    plain = replace(
        MATERIAL,
        questions=tuple(
            replace(one, text="W?", choices=("a", "b", "c", "d"), answer="a") for one in MATERIAL.questions
        ),
        uses=tuple(replace(one, order="1032") for one in MATERIAL.uses),
    )
    done, _ = answered(plain, knows_nothing, format=form)
    assert {turn.text for turn in done.turns if turn.given} == {shown}


def test_what_is_asked_is_in_the_askers_own_style() -> None:
    styled = replace(
        MATERIAL,
        questions=tuple(
            replace(one, styles={"ben": "Hey, what?", "default": "By the way, what?"})
            for one in MATERIAL.questions
        ),
    )
    done, _ = answered(styled, knows_nothing, format="open")
    asks = {(turn.speaker == "ben", turn.text) for turn in done.turns if turn.given}
    assert asks == {(True, "Hey, what?"), (False, "By the way, what?")}


def test_a_running_session_stands_in_memory_up_to_the_point_and_whole_later() -> None:
    done, prompts = answered(MATERIAL, knows_nothing, memory="session", k=1000)
    heard = Heard(MATERIAL.dialogue)
    for prompt, question in zip(prompts, done.turns[::2], strict=True):
        assert question.at is not None
        number = heard.sessions.numbers[question.session]
        whole = [one for earlier in heard.numbers if earlier < number for one in heard.of(earlier)]
        now = heard.of(number, question.at - 1)
        told = marks("\n".join(block(prompt, "HISTORY")))
        assert told == marks("\n".join(MATERIAL.dialogue.turns[one].text for one in (*whole, *now)))


def test_summaries_stand_for_sessions_that_ended_under_the_names_of_the_condition() -> None:
    _, prompts = answered(SUMMED, knows_nothing, memory="summary", names="anonymised", k=1000)
    lines = block(prompts[-1], "HISTORY")
    assert sum(line.startswith("Summary: They met") for line in lines) > 3
    assert "Joe laughed." in lines[1]
    assert lines[2] == "      Then they left."
    assert not any("Ben" in line for line in lines)
    agent = DialsimAgent().bound(MATERIAL)
    why = agent.why_not(MATERIAL.dialogue, agent.resolved({"memory": "summary"}))
    assert why.startswith("session 1 (s1) has no summary") or "has no summary" in why


def test_headings_have_the_date_and_which_conversation_of_the_day_it_is() -> None:
    script = MATERIAL.dialogue.script
    assert script is not None
    day = script.sessions[0].date
    same = replace(script, sessions=tuple(replace(one, date=day) for one in script.sessions))
    heard = Heard(replace(MATERIAL.dialogue, script=same))
    assert list(heard.headings.values())[:2] == [
        "== January 1st, 1994, session 1 ==",
        "== January 1st, 1994, session 2 ==",
    ]


@pytest.mark.parametrize("memory", ["utterance", "session", "base", "oracle"])
def test_the_history_takes_no_more_than_the_context_less_500_tokens(memory: str) -> None:
    usual, _ = answered(MATERIAL, knows_nothing, memory=memory)
    done, prompts = answered(MATERIAL, knows_nothing, memory=memory, context=900)
    assert all(about_tokens(prompt.user) <= 900 for prompt in prompts)
    lowered = [one["retrieval"]["k"] for one in answers_of(done)]
    if memory == "session":
        assert min(lowered) < min(10, max(one["retrieval"]["k"] for one in answers_of(usual)))
        assert {one["retrieval"]["k_asked"] for one in answers_of(done)} == {10}


def test_base_keeps_the_most_recent_turns_in_their_order() -> None:
    done, prompts = answered(MATERIAL, knows_nothing, memory="base", context=1000)
    heard = Heard(MATERIAL.dialogue)
    question = done.turns[-2]
    assert question.at is not None
    recent = [line for line in block(prompts[-1], "HISTORY") if not line.startswith("== ")]
    before = [line for place in heard.places[: heard.so_far(question.at - 1)] for line in heard.lines(place)]
    assert 0 < len(recent) < len(before)
    assert before[-len(recent) :] == recent
    assert block(prompts[-1], "HISTORY")[0].startswith("== ")


def test_full_is_refused_where_the_whole_history_does_not_fit() -> None:
    agent = DialsimAgent().bound(MATERIAL)
    settings = agent.resolved({"memory": "full", "context": 1000})
    assert re.fullmatch(
        r"the whole history has [\d,]+ tokens, and \d+ fit", agent.why_not(MATERIAL.dialogue, settings)
    )
    _, prompts = answered(MATERIAL, knows_nothing, memory="full", context=100_000)
    assert len(marks(prompts[-1].user)) > 50


def test_the_oracle_is_shown_the_evidence_that_was_heard_or_told_that_there_is_none() -> None:
    done, prompts = answered(MATERIAL, knows_nothing, memory="oracle")
    for prompt, one in zip(prompts, answers_of(done), strict=True):
        told = {int(mark[1:].split("x")[0]) for mark in marks("\n".join(block(prompt, "HISTORY")))}
        heard = {number for number in one["evidence"] if number <= one["session"]}
        assert told == heard & Sessions(MATERIAL.dialogue).heard
        assert one["answerable"] == (one["retrieval"]["evidence"] == "sufficient")
        if not told:
            assert block(prompt, "HISTORY") == ["no relevant history"]
    _, bare = answered(MATERIAL, knows_nothing, memory="no_memory")
    assert {tuple(block(prompt, "HISTORY")) for prompt in bare} == {("no relevant history",)}


def test_retrieved_entries_stand_in_order_of_time_or_of_rank() -> None:
    def order(how: str) -> list[list[str]]:
        _, prompts = answered(MATERIAL, knows_nothing, memory="utterance", order=how)
        return [re.findall(r"\bt\d+x\d+\b", "\n".join(block(prompt, "HISTORY"))) for prompt in prompts]

    by_time, by_rank = order("time"), order("rank")
    assert [sorted(one) for one in by_time] == [sorted(one) for one in by_rank]
    assert by_time != by_rank
    assert all(one == sorted(one, key=lambda mark: tuple(map(int, mark[1:].split("x")))) for one in by_time)


def test_questions_and_answers_are_remembered_where_that_is_set() -> None:
    for memory in ("utterance", "session", "base"):
        _, prompts = answered(
            MATERIAL, lambda _: "(A) as I said", memory=memory, remember=True, k=1000, context=100_000
        )
        told = ["\n".join(block(prompt, "HISTORY")).count("(A) as I said") for prompt in prompts]
        assert told == list(range(len(prompts)))
        _, usual = answered(MATERIAL, lambda _: "(A) as I said", memory=memory, k=1000)
        assert not any("as I said" in prompt.user for prompt in usual)


def test_a_failed_call_and_a_late_answer_are_outcomes() -> None:
    said = iter(
        [
            Reply("", error="the server broke"),
            Reply("(A)", seconds=9.0),
            Reply("(A)", seconds=2.0),
            Reply(" "),
        ]
    )
    done, prompts = answered(MATERIAL, lambda _: next(said, Reply("hm")), limit=5)
    told = answers_of(done)
    assert [one["outcome"] for one in told[:5]] == ["failed", "late", "A", "none", "none"]
    assert told[0]["error"] == "the server broke"
    assert (done.turns[1].act, done.turns[1].text) == ("silence", "")
    assert done.flags == (f"failed: 1 of {len(prompts)} questions",)
    assert told[1]["seconds"] == 9.0


def test_a_trial_goes_on_from_its_stored_state_with_the_same_prompts() -> None:
    settings = GENERATORS["dialsim_agent"].resolved({"memory": "utterance", "remember": True})
    agent = DialsimAgent().bound(MATERIAL)
    state = stored(agent.begin_trial(MATERIAL.dialogue, settings, 2))
    for _ in range(4):
        step = agent.request(state)
        assert not isinstance(step, Done)
        agent = DialsimAgent().bound(MATERIAL)
        assert agent.request(state) == step
        state = stored(agent.receive(state, [Reply("(B)")]))
    assert len(str(state)) < 1000


def test_equal_conditions_have_equal_settings() -> None:
    agent = GENERATORS["dialsim_agent"]
    assert agent.resolved({"memory": "session"}) == agent.resolved({"memory": "session", "k": 10})
    base = agent.resolved({"memory": "base", "k": 7})
    assert base == agent.resolved({"memory": "base", "retriever": "embedding"})
    assert (base["retriever"], base["k"]) == ("none", 0)
    with pytest.raises(WrongSettings, match="the memory session needs one: bm25 or embedding"):
        agent.resolved({"memory": "session", "retriever": "none"})
    assert agent.resolved(base) == base


def test_what_is_missing_is_said_before_anything_is_asked() -> None:
    agent = DialsimAgent().bound(replace(MATERIAL, vectors=None))
    told = MATERIAL.dialogue

    def why(**settings: Any) -> str:
        return agent.why_not(told, agent.resolved(settings))

    assert why(retriever="embedding") == "nothing embeds texts here: choose the retriever bm25"
    assert why(names="swapped") == "The script has no names 'swapped'"
    assert agent.why_not(replace(told, script=None), agent.resolved({})) == "it is no script"
    nothing = DialsimAgent().bound(replace(MATERIAL, uses=()))
    assert nothing.why_not(told, agent.resolved({"set": "a"})) == "the question set 'a' asks nothing in it"
    with pytest.raises(RuntimeError, match="only once it is bound"):
        GENERATORS["dialsim_agent"].request({"settings": {}, "trial": 0, "answers": []})


def test_distances_count_sessions_and_heard_tokens() -> None:
    done, _ = answered(MATERIAL, knows_nothing)
    for one in answers_of(done):
        heard = [number for number in one["evidence"] if number in Sessions(MATERIAL.dialogue).heard]
        before = [number for number in heard if number < one["session"]]
        if before and one["session"] not in heard:
            assert one["distance"]["sessions"] == one["session"] - max(before)
            assert one["distance"]["tokens"] > 0
        elif not before:
            assert one["distance"] == {"sessions": None, "tokens": None}


def test_a_private_turn_is_not_remembered_by_who_was_left_out() -> None:
    turns = list(MATERIAL.dialogue.turns)
    heard = Heard(MATERIAL.dialogue)
    place = next(one for one in heard.places if turns[one].speaker != "ana")
    turns[place] = replace(turns[place], audience=(), text="psst, a secret")
    private = replace(MATERIAL, dialogue=replace(MATERIAL.dialogue, turns=tuple(turns)))
    _, prompts = answered(private, knows_nothing, memory="full")
    assert not any("secret" in prompt.user for prompt in prompts)


def test_nobodys_arrival_is_an_utterance() -> None:
    turns = (replace(MATERIAL.dialogue.turns[0], act="join", text=""), *MATERIAL.dialogue.turns)
    heard = Heard(replace(MATERIAL.dialogue, turns=turns))
    assert 0 not in heard.places


def test_baselines_answer_the_same_questions_without_a_model() -> None:
    done, _ = answered(MATERIAL, knows_nothing, 1)
    asks = [turn for turn in done.turns if turn.given]
    for baseline in BASELINES.values():
        turns = played(baseline, MATERIAL, {}, 1)
        assert [turn for turn in turns if turn.given] == asks
        assert all(one["lenient"] is False and one["outcome"] in "ABCDE" for one in answers_of(Done(turns)))
    always = answers_of(Done(played(BASELINES["always_e"], MATERIAL, {}, 1)))
    assert {one["outcome"] for one in always} == {"E"}


@pytest.mark.exhaustive
def test_the_random_baseline_is_right_in_a_fifth_and_takes_each_letter_alike() -> None:
    material = world(sessions=60, questions=80)
    told = [
        one
        for trial in range(20)
        for one in answers_of(Done(played(BASELINES["random"], material, {}, trial)))
    ]
    error = (0.2 * 0.8 / len(told)) ** 0.5
    assert abs(sum(one["outcome"] == one["key"] for one in told) / len(told) - 0.2) <= 3 * error
    for letter in "ABCDE":
        assert abs(sum(one["outcome"] == letter for one in told) / len(told) - 0.2) <= 3 * error
