"""The group-chat agent: its prompt at a point, parsing of its replies, and their results."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from annotation.records import Participant
from annotation.scenario_records import Decision
from jobs.prompt import Prompt, Unparseable
from suites.continuation.generators import GENERATORS, Done, Reply
from suites.group_chat.agents import PROMPTS
from suites.group_chat.agents.agent import AGAIN, BY_NAME, explicit, implicit
from suites.group_chat.scenarios.cascade import decision_of, outcome
from suites.group_chat.scenarios.points import points_of
from tests.suites.continuation.driving import canned, driven, stored
from tests.suites.group_chat.scripts import LAUNCH, chat, launch

AGENT = "group_chat_agent"
RELEASED = {
    "group_chat_agent_explicit_v1.txt": "1b27d02ceaeea3a08cd5b7c30ca49dad3bdf2648a398a209a746eed3f78f06d2",
    "group_chat_agent_implicit_v1.txt": "9c1b2495232558ec3f6af778903f3a1c6ef926c1b71d2f158e307e99347b9792",
}
PEOPLE = (
    Participant("mia", "Mia"),
    Participant("ole", "Ole", aliases=("Oleander",)),
    Participant("bot", "Kit", agent=True),
)
EVERYBODY = {"addressed": ["bot", "ole"], "targets": ["mia", "ole"]}
SILENT = '{"act": "silence", "text": ""}'


def told(**changes: Any) -> str:
    usual = {
        "attend": True,
        "act": "message",
        "addressed": ["bot"],
        "targets": ["ole"],
        "ground": "answer",
        "text": "Mia.",
    }
    return json.dumps(usual | changes)


def quiet() -> str:
    return told(attend=False, act="silence", addressed=[], targets=[], ground="none", text="")


def read(reply: str) -> Decision:
    return explicit(reply, 4, PEOPLE, EVERYBODY)


def test_an_explicit_reply_is_a_decision() -> None:
    assert read(told()) == Decision(4, "message", "Mia.", "explicit", True, ("bot",), ("ole",), "answer")


def test_names_and_all_stand_for_ids_and_names_are_flagged() -> None:
    found = read(told(addressed=["all"], targets=["@oleander", "mia"]))
    assert (found.addressed, found.targets, found.flags) == (("bot", "ole"), ("mia", "ole"), (BY_NAME,))
    assert read(told(targets=["all"])).targets == ("mia", "ole")
    assert read(told()).flags == ()


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("I would say nothing.", "JSON"),
        (told(attend="yes"), "attend is neither true nor false"),
        (told(act="shout"), "act is none of message, reaction, silence"),
        (told(ground="guess"), "ground is none of answer"),
        (told(addressed="bot"), "addressed is not a list of ids"),
        (told(targets=["zed"]), "targets: 'zed' is not the id of a member"),
        (told(text=""), "text is empty"),
        (told(act="silence"), "silence has a text"),
        (told(act="silence", text=""), "silence has targets"),
        (told(act="reaction", text=" "), "text is empty"),
        (told(mood="good"), "there is no field 'mood'"),
        ('{"act": "silence"}', "the field attend is missing"),
    ],
)
def test_an_explicit_reply_in_another_form_is_refused(reply: str, why: str) -> None:
    with pytest.raises(Unparseable, match=why.replace("(", r"\(")):
        read(reply)


def test_an_implicit_reply_is_an_object_or_plain_text() -> None:
    assert implicit('{"act": "message", "text": "Mia."}', 4) == Decision(4, "message", "Mia.", "implicit")
    assert implicit(" Mia. ", 4) == Decision(4, "message", "Mia.", "implicit")
    assert implicit(SILENT, 4) == implicit("[Silence]", 4) == Decision(4, "silence", "", "implicit")
    assert implicit('{"act": "reaction", "text": "👍"}', 4).act == "reaction"
    with pytest.raises(Unparseable, match="text is empty"):
        implicit("  ", 4)
    with pytest.raises(Unparseable, match="no field 'attend'"):
        implicit('{"act": "silence", "text": "", "attend": true}', 4)


def test_it_is_asked_once_at_every_point_and_sees_what_the_agent_sees() -> None:
    done, prompts = driven(AGENT, launch(), lambda _: quiet())
    assert len(prompts) == len(points_of(launch())) == 5
    assert "invoice" in prompts[0].user
    assert "pay it tonight" not in prompts[0].user
    assert "(private: Mia to Kit)" in prompts[2].user
    assert [turn.at for turn in done.turns] == [1, 2, 3, 4, 5]
    assert all(turn.act == "silence" for turn in done.turns)
    assert done.turns[2].audience == ("mia",)
    assert not done.flags
    for telling in ("overheard", "probe", "secret", "canar", "launch-07"):
        assert all(telling not in prompt.user.lower() for prompt in prompts)


def test_to_whom_others_address_a_message_is_shown_only_where_the_channel_shows_it() -> None:
    turns = [*LAUNCH["turns"], {"speaker": "bot", "text": "Yes.", "addressees": ["ole"]}]
    turns += [{"speaker": "mia", "text": "👍", "act": "reaction", "addressees": ["bot"]}]
    turns += [{"speaker": "sam", "text": "Thanks.", "addressees": ["bot"]}]
    keys = LAUNCH["keys"] | {"7": {"free": True}}
    _, hidden = driven(AGENT, launch(turns=turns, keys=keys), lambda _: quiet())
    assert all("(to " not in prompt.user for prompt in hidden[:-1])
    assert "Kit (to Ole): Yes." in hidden[-1].user, "the agent knows to whom it spoke"
    assert "Mia (reacts to Kit)" in hidden[-1].user, "a reaction stands at its message"
    assert "Sam: Thanks." in hidden[-1].user
    _, marked = driven(AGENT, launch(turns=turns, keys=keys, addressees="visible"), lambda _: quiet())
    assert "Ole (to Kit): Kit, who will run the fair" in marked[-1].user
    assert "Sam (to Kit): Thanks." in marked[-1].user


def test_what_it_may_not_see_is_not_shown() -> None:
    scenario = chat(
        ("ana", "Hello."),
        {"speaker": "ana", "text": "Between us: the cake is a lie.", "audience": ["bo"]},
        ("bo", "Right."),
    )
    _, prompts = driven(AGENT, scenario, lambda _: quiet())
    assert len(prompts) == 2
    assert "cake" not in prompts[-1].user


def test_who_has_not_joined_is_not_listed() -> None:
    scenario = chat(("ana", "Hello."), {"speaker": "cy", "text": "", "act": "join"}, ("ana", "Welcome."))
    _, prompts = driven(AGENT, scenario, lambda _: quiet())
    assert ["cy: Cy" in prompt.user for prompt in prompts] == [False, True, True]


def test_a_reply_that_cannot_be_read_is_asked_once_more() -> None:
    given: list[str] = []

    def answer(prompt: Prompt) -> str:
        given.append(prompt.user)
        return quiet() if AGAIN in prompt.user else "?"

    done, prompts = driven(AGENT, chat(("ana", "Hello."), ("bo", "Hi.")), answer)
    assert [AGAIN in text for text in given] == [False, False, True, True]
    assert len(prompts) == 4
    assert not done.flags
    assert all(decision_of(turn).flags == () for turn in done.turns)


def test_a_reply_that_cannot_be_read_twice_is_unparseable_and_no_right_silence() -> None:
    scenario = chat(("ana", "Hello."), ("bo", "Hi."))
    done, _ = driven(AGENT, scenario, canned("?", quiet(), "??"))
    assert done.flags == ("unparseable: 1 of 2 decisions",)
    unread, silent = map(decision_of, done.turns)
    assert (unread.act, unread.flags, unread.point) == ("silence", ("unparseable",), 0)
    assert (silent.act, silent.flags) == ("silence", ())
    failed, right = outcome(scenario, unread), outcome(scenario, silent)
    assert (failed.failed_at, failed.competence, failed.turn_score) == ("form", 0.0, 0.0)
    assert (right.failed_at, right.competence) == ("none", 1.0)


def test_with_own_outputs_it_is_asked_in_turn_and_sees_its_messages_at_their_places() -> None:
    scenario = chat(
        ("ana", "Kit, are you there?", "kit"),
        ("bo", "Hi."),
        keys={"0": {"attend": 1, "speak": {"message": 1}}},
    )
    said = told(addressed=["kit"], targets=["ana"], text="I am here.")
    done, prompts = driven(AGENT, scenario, canned(said, quiet()), {"own_outputs": True})
    assert "I am here." not in prompts[0].user
    assert prompts[1].user.index("are you there?") < prompts[1].user.index("Kit (to Ana): I am here.")
    assert prompts[1].user.index("I am here.") < prompts[1].user.index("Bo: Hi.")
    assert len(done.turns) == 2
    _, alone = driven(AGENT, scenario, canned(said, quiet()))
    assert "I am here." not in alone[1].user


def test_the_mode_is_a_part_of_every_decision() -> None:
    done, _ = driven(AGENT, launch(), lambda _: SILENT, {"mode": "implicit"})
    assert {decision_of(turn).mode for turn in done.turns} == {"implicit"}
    assert {decision_of(turn).attend for turn in done.turns} == {None}


def test_a_dialogue_that_is_no_scenario_is_left_out() -> None:
    generator = GENERATORS[AGENT]
    settings = generator.resolved({})
    scenario = chat(("ana", "Hello."))
    assert generator.why_not(scenario, settings) == ""
    assert generator.why_not(chat(("ana", "Hello."), points=[]), settings) == "it has no points"


def test_replies_survive_storing_between_steps() -> None:
    generator = GENERATORS[AGENT]
    state = stored(generator.begin(launch(), generator.resolved({})))
    state = stored(generator.receive(state, [Reply(told()) for _ in range(5)]))
    done = generator.request(state)
    assert isinstance(done, Done)
    assert [turn.addressees for turn in done.turns] == [("ole",)] * 5


def test_released_prompts_are_never_edited() -> None:
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in PROMPTS.glob("group_chat_agent_*")
    }
    assert found == RELEASED
