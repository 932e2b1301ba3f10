"""The next message: points, windows, halves, batches, and parsing of replies."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotation.records import Dialogue, Participant, Turn
from jobs.prompt import Unparseable
from suites.continuation.generators import GENERATORS, WrongSettings
from tests.suites.continuation.driving import canned, driven, people, stored, turns

KEY = "mpceval_next_message"
NEXT = GENERATORS[KEY]
TALK = Dialogue(
    "d",
    turns("ana: One?", "ben: Two.", "cara: Three.", "ana: Four.", "ben: Five."),
    people("Ana", "Ben", "Cara"),
)


def one(speaker: Any = "Ben", text: Any = "I see.", number: Any = "1", **more: Any) -> str:
    return json.dumps([{"dialogue_id": number, "next_speaker": speaker, "next_message": text, **more}])


def state_of(dialogue: Dialogue = TALK, **settings: Any) -> Any:
    return stored(NEXT.begin(dialogue, NEXT.resolved(settings)))


@pytest.mark.parametrize(
    ("point", "at"),
    [("last", [4]), ("every:2", [2, 4]), ("every:1", [1, 2, 3, 4]), ("3,1", [1, 3]), (" 2 ", [2])],
)
def test_points_are_numbers_of_turns_that_are_seen(point: str, at: list[int]) -> None:
    done, prompts = driven(KEY, TALK, lambda _: one(), {"point": point})
    assert [turn.at for turn in done.turns] == at
    assert [(turn.at, turn.text) for turn in done.people] == [(n, TALK.turns[n].text) for n in at]
    for number, prompt in zip(at, prompts, strict=True):
        shown = [turn.text for turn in TALK.turns if f": {turn.text}" in prompt.user]
        assert shown == [turn.text for turn in TALK.turns[:number]]


def test_nothing_is_predicted_where_people_say_nothing() -> None:
    said = (
        Turn("ana", "Hm."),
        Turn("ben", "Yes."),
        Turn("ben", " ", act="silence"),
        Turn("cara", "", act="leave"),
    )
    dialogue = Dialogue("d", said, people("Ana", "Ben", "Cara"))
    done, _ = driven(KEY, dialogue, lambda _: one())
    assert [turn.at for turn in done.turns] == [1]
    done, _ = driven(KEY, dialogue, lambda _: one(), {"point": "1,2,3,9"})
    assert [turn.at for turn in done.turns] == [1]
    assert done.flags == ("points_left_out: 3",)
    settings = NEXT.resolved({"point": "2,3"})
    assert (
        NEXT.why_not(dialogue, settings) == "nothing is said by people at the point 2,3, after another turn"
    )


@pytest.mark.parametrize("point", ["", "first", "every:0", "every:x", "0", "3,,4", "-1", "every:", "1.5"])
def test_points_that_make_no_sense_are_refused(point: str) -> None:
    with pytest.raises(WrongSettings, match=r"point: .* is not understood; the point is last, every:N"):
        NEXT.resolved({"point": point})


@pytest.mark.parametrize("point", ["every:2", "1,3"])
def test_a_batch_is_for_one_point_of_each_dialogue(point: str) -> None:
    with pytest.raises(WrongSettings, match="batch: dialogues share a call only where each has one point"):
        NEXT.resolved({"point": point, "batch": 2})
    for single in ("last", "3", "3,3"):
        assert NEXT.together(NEXT.resolved({"point": single, "batch": 20})) == 20
    with pytest.raises(WrongSettings, match="batch must be between 1 and 20, not 21"):
        NEXT.resolved({"batch": 21})


def test_a_window_shows_the_last_turns_and_says_what_is_left_out() -> None:
    _, prompts = driven(KEY, TALK, lambda _: one(), {"point": "1,4", "window": 2})
    assert "Conversation 1\n" in prompts[0].user
    assert "One?" in prompts[0].user
    assert "Conversation 1, without its first 2 turns\n" in prompts[1].user
    assert "Two." not in prompts[1].user
    assert "Three." in prompts[1].user
    assert len(state_of(window=2, point="last")["turns"]) == 3


def test_objective_and_profiles_are_shown_where_they_are_asked_for() -> None:
    members = (Participant("ana", "Ana", "chair", ("likes short meetings",)), Participant("ben", "Ben"))
    dialogue = Dialogue("d", TALK.turns[:2], members, metadata={"task_goal": "pick a date", "secret": "no"})
    _, plain = driven(KEY, dialogue, lambda _: one())
    assert "short meetings" not in plain[0].user
    assert "pick a date" not in plain[0].user
    _, full = driven(KEY, dialogue, lambda _: one(), {"objective": True, "profiles": True})
    assert "<<<BEGIN OBJECTIVE 1>>>\n| task goal: pick a date\n<<<END" in full[0].user
    assert "| Ana\n|   role: chair\n|   likes short meetings" in full[0].user
    assert "secret" not in full[0].user
    bare = Dialogue("d", TALK.turns, people("Ana", "Ben", "Cara"))
    assert "its metadata have no objective" in NEXT.why_not(bare, NEXT.resolved({"objective": True}))
    assert NEXT.why_not(bare, NEXT.resolved({"profiles": True})) == "none of its participants has a profile"


def test_who_first_speaks_later_is_not_shown_before() -> None:
    dialogue = Dialogue("d", turns("ana: One?", "ben: Two.", "cara: Three."))
    _, prompts = driven(KEY, dialogue, lambda _: one("ana"), {"point": "1,2"})
    assert "<<<BEGIN SPEAKERS 1>>>\n| ana\n<<<END" in prompts[0].user
    assert "| ana\n| ben\n<<<END SPEAKERS" in prompts[1].user


def test_people_of_one_name_are_told_apart() -> None:
    members = (Participant("a", "Ana"), Participant("b", "ana"), Participant("c", "Ben"))
    dialogue = Dialogue("d", turns("a: Hi.", "b: Hello.", "c: Hey."), members)
    done, prompts = driven(KEY, dialogue, lambda _: one("ana (2)"))
    assert "| ana (2): Hello." in prompts[0].user
    assert done.turns[0].speaker == "b"


@pytest.mark.parametrize(
    "reply",
    [
        one("Ben"),
        one(" bEN "),
        one("ben"),
        one("Benny"),
        one(number=1),
        json.dumps({"predictions": json.loads(one())}),
        f"```json\n{one()}\n```",
    ],
)
def test_a_reply_in_the_asked_form_is_read(reply: str) -> None:
    members = (*people("Ana"), Participant("ben", "Ben", aliases=("Benny",)), *people("Cara"))
    done, _ = driven(KEY, Dialogue("d", TALK.turns, members), canned(reply))
    assert [(turn.speaker, turn.text, turn.at) for turn in done.turns] == [("ben", "I see.", 4)]
    assert done.flags == ()


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("Ben says: I see.", "not valid JSON"),
        ('{"next_speaker": "Ben", "next_message": "x"}', "neither a JSON array nor an object with one key"),
        ('{"a": [], "b": []}', "neither a JSON array"),
        ('"Ben"', "neither a JSON array"),
        ("[]", "the reply has 0 objects, not one"),
        (json.dumps(json.loads(one()) * 2), "the reply has 2 objects, not one"),
        ('["Ben"]', "object 1 of the reply is not a JSON object"),
        (one(number="2"), "dialogue_id '2' is not the number of a dialogue that was sent"),
        (one(number=True), "dialogue_id 'True' is not the number"),
        (one(number=None), "dialogue_id 'None' is not the number"),
        ('[{"next_speaker": "Ben", "next_message": "x"}]', "the field dialogue_id is missing"),
        ('[{"dialogue_id": "1", "next_message": "x"}]', "the field next_speaker is missing"),
        ('[{"dialogue_id": "1", "next_speaker": "Ben"}]', "the field next_message is missing"),
        (one(remark="none"), "there is no field 'remark' in the form"),
        (one(text=""), "next_message is empty"),
        (one(text=" \u200b "), "next_message is empty"),
        (one(text=5), "next_message is not a text"),
        (one(text="a\x00b"), "next_message holds characters that are no text"),
        (one(text="\ud800"), "next_message is empty"),
        (one(text="a\ud800"), "next_message holds characters that are no text"),
        (one(speaker=["Ben"]), "next_speaker is not a text"),
        (one(speaker=""), "next_speaker is empty"),
        (one(speaker="Zed"), "unknown speaker 'Zed'"),
        (one(speaker="z" * 301), "next_speaker has 301 characters"),
        ('[{"dialogue_id": "1", "dialogue_id": "1"}]', "the field dialogue_id is there twice"),
    ],
)
def test_any_other_reply_is_refused_with_the_reason(reply: str, reason: str) -> None:
    with pytest.raises(Unparseable) as refusal:
        NEXT.check(state_of(), 0, reply)
    assert reason in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_name_that_several_have_is_nobody_s() -> None:
    members = (Participant("a", "Ana", aliases=("Al",)), Participant("b", "Ben", aliases=("AL",)))
    dialogue = Dialogue("d", turns("a: Hi.", "b: Hello."), members)
    with pytest.raises(Unparseable, match="the speaker 'al' may be Ana or Ben"):
        NEXT.check(state_of(dialogue), 0, one("al"))


def test_a_new_speaker_is_kept_with_a_flag_where_that_is_allowed() -> None:
    done, prompts = driven(KEY, TALK, lambda _: one(" Zed\n"), {"allow_new_speakers": True})
    assert done.turns[0].speaker == "Zed"
    assert done.flags == ("unknown_speaker: after 4 turns",)
    assert "where somebody new joins in" in prompts[0].user


def test_of_a_half_the_other_is_shown_and_not_asked() -> None:
    key = "mpceval_content_given_speaker"
    done, prompts = driven(key, TALK, lambda _: '[{"dialogue_id": "1", "next_message": "So."}]')
    assert [(turn.speaker, turn.text) for turn in done.turns] == [("ben", "So.")]
    assert "<<<BEGIN NEXT SPEAKER 1>>>\n| Ben\n<<<END" in prompts[0].user
    assert "Five." not in prompts[0].user
    assert "next_speaker" not in prompts[0].user
    key = "mpceval_speaker_given_content"
    done, prompts = driven(key, TALK, lambda _: '[{"dialogue_id": "1", "next_speaker": "Cara"}]')
    assert [(turn.speaker, turn.text) for turn in done.turns] == [("cara", "Five.")]
    assert "<<<BEGIN NEXT MESSAGE 1>>>\n| Five.\n<<<END" in prompts[0].user
    assert "next_message" not in prompts[0].user
    assert GENERATORS[key].condition == {"content": "given"}
    assert GENERATORS["mpceval_content_given_speaker"].condition == {"speaker": "given"}
    with pytest.raises(Unparseable, match="no field 'next_message'"):
        GENERATORS[key].check(GENERATORS[key].begin(TALK, GENERATORS[key].resolved({})), 0, one())


def batch(number: int = 5) -> list[Any]:
    said = [turns(f"ana: {n} is it.", "ben: No.", "cara: Yes.") for n in range(number)]
    return [state_of(Dialogue(f"d{n}", said[n], TALK.participants), batch=number) for n in range(number)]


def several(*numbers: Any) -> str:
    told = [{"dialogue_id": n, "next_speaker": "Ben", "next_message": f"To {n}."} for n in numbers]
    return json.dumps(told)


def test_a_batch_numbers_its_dialogues_and_each_takes_its_own() -> None:
    states = batch()
    prompt = NEXT.shared(states)
    for n in range(5):
        assert f"<<<BEGIN DIALOGUE {n + 1}>>>\n| Ana: {n} is it.\n| Ben: No.\n<<<END" in prompt.user
    assert "a JSON array of 5 objects, one for each conversation" in prompt.user
    own = NEXT.apart(states, several("5", "1", 2, "4", "3"))
    for number, (state, text) in enumerate(zip(states, own, strict=True), start=1):
        assert text is not None
        NEXT.check(state, 0, text)
        assert json.loads(text)[0]["next_message"] == f"To {number}."


@pytest.mark.parametrize(
    ("reply", "without"), [(several("1", "2", "4", "5"), [3]), (several("1", "2", "2", "3", "4", "5"), [2])]
)
def test_a_number_that_is_missing_or_doubled_has_no_reply_of_its_own(reply: str, without: list[int]) -> None:
    own = NEXT.apart(batch(), reply)
    assert [number for number, text in enumerate(own, start=1) if text is None] == without


@pytest.mark.parametrize(
    "reply", ["nothing", several("1", "6"), several("0"), '["Ben"]', '[{"next_speaker": "x"}]']
)
def test_a_batch_that_cannot_be_taken_apart_is_refused(reply: str) -> None:
    with pytest.raises(Unparseable):
        NEXT.apart(batch(), reply)


def test_one_wrong_answer_of_a_batch_is_that_dialogue_s_alone() -> None:
    told = json.loads(several(*"12345"))
    told[1]["next_speaker"] = "Zed"
    told[2]["remark"] = "none"
    states, read = batch(), []
    for state, text in zip(states, NEXT.apart(states, json.dumps(told)), strict=True):
        try:
            NEXT.check(state, 0, text or "")
            read.append("ok")
        except Unparseable as error:
            read.append(str(error))
    assert [text == "ok" for text in read] == [True, False, False, True, True]


def test_the_name_of_a_system_says_what_is_not_as_usual() -> None:
    def named(key: str, **settings: Any) -> str:
        resolved = GENERATORS[key].resolved(settings)
        return GENERATORS[key].name("m1", {**resolved, **GENERATORS[key].condition, "model": "m1"})

    assert named(KEY) == "m1"
    assert named(KEY, window=8, profiles=True, batch=5) == "m1 window 8 profiles"
    assert named("mpceval_content_given_speaker") == "m1 speaker given"
