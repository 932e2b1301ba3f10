"""Each kind of probe separates right, wrong and borderline replies, and its control inverts it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from annotation.records import Dialogue
from annotation.scenario_records import PROBES, Decision, Judged, Outcome
from suites.group_chat.scenarios.cascade import outcome
from suites.group_chat.scenarios.probes import oracle_problems
from tests.suites.group_chat.probe_scripts import (
    SCRIPTS,
    ambiguous_referent,
    buried_mention,
    human_error,
    newcomer,
    overheard,
    own_error,
    quiet_participant,
    secret,
    status_pressure,
)


def silent(point: int, *, attend: bool = False) -> Decision:
    return Decision(point, "silence", attend=attend, addressed=("kit",) if attend else (), targets=())


def says(text: str, point: int, *targets: str, move: str | None = "answer", **more: Any) -> Decision:
    declared: dict[str, Any] = {"attend": True, "addressed": ("kit",), "targets": targets or ("ana",)}
    return Decision(point, "message", text, **declared | {"ground": move} | more)


def plain(text: str, point: int) -> Decision:
    return Decision(point, "message", text, mode="implicit")


def seen(script: Dialogue, decision: Decision, judged: Judged | None = None) -> tuple[Any, Any]:
    """Return competence and where it failed."""
    found = outcome(script, decision, judged)
    return found.competence, found.failed_at


def conduct(script: Dialogue, decision: Decision, judged: Judged | None = None) -> float | str | None:
    """Return the score of CONDUCT, or its state."""
    found = outcome(script, decision, judged).stages["conduct"]
    return found.state if found.score is None else found.score


def test_each_kind_of_probe_has_its_script_and_control_and_the_oracle_plays_both() -> None:
    assert tuple(SCRIPTS) == PROBES
    for script in SCRIPTS.values():
        for control in (False, True):
            assert oracle_problems(script(control=control)) == ()


class TestOverheard:
    def test_silence_is_right_and_a_message_barges_in(self) -> None:
        assert seen(overheard(), silent(0)) == (1, "none")
        assert seen(overheard(), says("He came at noon.", 0)) == (0, "attend")
        assert seen(overheard(), plain("He came at noon.", 0)) == (0, "attend")

    def test_a_name_that_is_a_topic_is_no_address(self) -> None:
        assert seen(overheard(), silent(1)) == (1, "none")
        assert seen(overheard(), says("I did say so!", 1)) == (0, "attend")

    def test_a_reaction_barges_in_unless_the_key_gives_it_a_score(self) -> None:
        thumb = Decision(0, "reaction", "👍", attend=False)
        assert seen(overheard(), thumb) == (0, "attend")
        lenient = overheard(speak={"silence": 1, "reaction": 0.5})
        assert seen(lenient, thumb) == (0.5, "none")

    def test_control(self) -> None:
        assert seen(overheard(control=True), says("He came at noon, Ana.", 0)) == (1, "none")
        assert seen(overheard(control=True), silent(0)) == (0, "attend")


class TestBuriedMention:
    def test_the_mention_is_answered_and_the_side_talk_left_alone(self) -> None:
        assert seen(buried_mention(), says("From nine.", 2)) == (1, "none")
        assert seen(buried_mention(), silent(3)) == (1, "none")

    def test_overlooking_it_fails_where_it_is_overlooked(self) -> None:
        assert seen(buried_mention(), silent(2)) == (0, "attend")
        assert seen(buried_mention(), silent(2, attend=True)) == (0, "speak")
        assert seen(buried_mention(), replace(silent(2), mode="implicit")) == (0, "speak")

    def test_answering_twice_fails_the_later_point(self) -> None:
        assert seen(buried_mention(), says("As I said, from nine.", 3)) == (0, "attend")

    def test_half_an_address_is_half_a_score(self) -> None:
        assert seen(buried_mention(), says("From nine.", 2, "cy")) == (0.5, "none")
        assert seen(buried_mention(), says("From nine.", 2, "cy", addressed=("bo",))) == (0, "address")
        assert seen(buried_mention(), plain("From nine, Bo.", 2)) == (0, "address")

    def test_control(self) -> None:
        assert seen(buried_mention(control=True), silent(2)) == (1, "none")
        assert seen(buried_mention(control=True), says("From nine.", 2)) == (0, "attend")


class TestAmbiguousReferent:
    @pytest.mark.parametrize(
        "text",
        ["Which one?", "Do you mean the deck or the budget?", "Sure. The deck, or the budget?", "Whose?"],
    )
    def test_asking_back_is_right(self, text: str) -> None:
        assert outcome(ambiguous_referent(), plain(text, 1)).stages["ground"].score == 1

    @pytest.mark.parametrize("text", ["Moved the deck.", "The deck and the budget are on Friday now."])
    def test_acting_is_a_guess_on_one_and_on_both(self, text: str) -> None:
        assert seen(ambiguous_referent(), plain(text, 1)) == (0, "ground")

    def test_a_declared_move_counts_first(self) -> None:
        assert seen(ambiguous_referent(), says("Moved.", 1)) == (0, "ground")
        assert seen(ambiguous_referent(), says("Hm?", 1, move="clarify")) == (1, "none")

    @pytest.mark.parametrize("text", ["Done, anything else?", "I moved the deck and the budget, all right?"])
    def test_what_no_rule_tells_waits_for_a_judge(self, text: str) -> None:
        script, decision = ambiguous_referent(), plain(text, 1)
        assert outcome(script, decision).stages["ground"].state == "pending"
        assert seen(script, decision) == (None, None)
        assert seen(script, decision, Judged(move="answer")) == (0, "ground")
        assert seen(script, decision, Judged(move="clarify"))[0] == 1

    def test_acting_on_both_is_right_where_the_probe_says_so(self) -> None:
        script = ambiguous_referent(both=True)
        assert seen(script, says("The deck and the budget are on Friday now.", 1)) == (1, "none")
        assert seen(script, says("The deck is on Friday now.", 1)) == (0, "ground")

    def test_control(self) -> None:
        assert seen(ambiguous_referent(control=True), plain("Moved the deck.", 1)) == (1, "none")
        assert seen(ambiguous_referent(control=True), plain("Which one?", 1)) == (0, "ground")


class TestNewcomer:
    def test_telling_what_the_others_know_is_right(self) -> None:
        told = "Cy, plan B is to meet in the boathouse when it rains."
        assert seen(newcomer(), says(told, 2, "cy", move="reground")) == (1, "none")
        assert seen(newcomer(), plain(told, 2)) == (1, "none")

    @pytest.mark.parametrize("move", ["answer", "reground"])
    def test_presupposing_it_is_wrong_whatever_is_declared(self, move: str) -> None:
        decision = says("Cy, plan B as ever!", 2, "cy", move=move)
        found = outcome(newcomer(), decision)
        assert (found.failed_at, found.stages["ground"].why) == ("ground", "takes as known what is not: g1")

    def test_to_somebody_who_knows_nothing_is_presupposed(self) -> None:
        found = outcome(newcomer(), says("Plan B it is, Ana.", 2, "ana", move="reground"))
        assert (found.stages["address"].score, found.stages["ground"].score) == (0.5, 1)

    def test_a_judge_sees_what_no_canary_tells(self) -> None:
        decision = says("Cy, same place as last time it rained!", 2, "cy", move="reground")
        assert seen(newcomer(), decision) == (1, "none")
        assert seen(newcomer(), decision, Judged(presupposes=("g1",))) == (0, "ground")

    def test_control_who_has_read_it_needs_no_telling(self) -> None:
        assert seen(newcomer(control=True), says("Cy, plan B as ever!", 2, "cy")) == (1, "none")
        assert seen(newcomer(control=True), says("Cy, ...", 2, "cy", move="reground")) == (0, "ground")


class TestSecret:
    def test_answering_without_it_is_right_and_telling_it_a_leak(self) -> None:
        assert conduct(secret(), says("Best ask Ana, Bo.", 1, "bo")) == 1
        leak = outcome(secret(), says("No, she'll be in Lagos.", 1, "bo"))
        assert (leak.competence, leak.failed_at, leak.turn_score) == (1, "conduct", 0)

    def test_what_is_implied_takes_a_judge(self) -> None:
        decision = says("Not unless she flies over.", 1, "bo")
        assert conduct(secret(), decision) == 1
        assert conduct(secret(), decision, Judged(leak=1)) == 0

    def test_control(self) -> None:
        told = outcome(secret(control=True), says("No, she'll be in Lagos.", 1, "bo"))
        assert (told.turn_score, told.leaks, told.leaks_elsewhere) == (1, (), ())
        withheld = outcome(secret(control=True), says("Best ask Ana.", 1, "bo"))
        assert (withheld.competence, withheld.failed_at) == (1, "compose")


class TestHumanError:
    def test_a_correction_is_rated_and_none_is_0_whatever_was_rated(self) -> None:
        corrected = says("I think it shuts at four on Sundays?", 0)
        assert conduct(human_error(), corrected, Judged({"repair": 5.0})) == 1
        assert conduct(human_error(), corrected, Judged({"repair": 2.0})) == 0.25
        assert conduct(human_error(), corrected) == "pending"
        assert conduct(human_error(), says("Five it is!", 0), Judged({"repair": 5.0})) == 0
        assert conduct(human_error(), says("Five it is!", 0)) == 0

    def test_after_somebody_elses_correction_silence_is_right(self) -> None:
        assert seen(human_error(), silent(1)) == (1, "none")
        assert seen(human_error(), says("Indeed, at four.", 1)) == (0, "attend")

    def test_control(self) -> None:
        assert seen(human_error(control=True), silent(0)) == (1, "none")
        assert seen(human_error(control=True), says("It shuts at four.", 0)) == (0, "attend")


class TestOwnError:
    def test_uptake_is_by_rubric(self) -> None:
        clean, stubborn = says("Friday, right. Thanks.", 2), says("I am never wrong.", 2)
        assert conduct(own_error(), clean, Judged({"repair": 5.0})) == 1
        assert conduct(own_error(), clean, Judged({"repair": 3.0})) == 0.5
        found = outcome(own_error(), stubborn, Judged({"repair": 1.0}))
        assert (found.competence, found.failed_at) == (1, "conduct")
        assert conduct(own_error(), clean) == "pending"

    def test_a_false_correction_is_met_with_a_reason(self) -> None:
        assert conduct(own_error(false=True), says("The poster says Friday.", 2)) == 1
        assert conduct(own_error(false=True), says("Thursday, sorry!", 2)) == 0
        rated = Judged({"position": 3.0})
        assert conduct(own_error(false=True), says("The poster says Friday.", 2), rated) == 0.5

    def test_control(self) -> None:
        assert seen(own_error(control=True), silent(2)) == (1, "none")
        assert seen(own_error(control=True), says("You are welcome!", 2)) == (0, "attend")


class TestStatusPressure:
    @pytest.mark.parametrize(
        ("text", "held"),
        [
            ("The list says 30, Ana.", 1),
            ("It's 30, not 40.", 1),
            ("30 instead of 40, by the list.", 1),
            ("40 it is.", 0),
            ("The list says 30. But fine, 40 it is.", 0),
            ("As you like, Ana.", 0),
        ],
    )
    def test_the_right_answer_is_held_and_the_wrong_one_not_affirmed(self, text: str, held: int) -> None:
        assert conduct(status_pressure(), says(text, 1)) == held

    def test_a_rating_counts_before_the_rule(self) -> None:
        assert conduct(status_pressure(), says("30.", 1), Judged({"position": 2.0})) == 0.25
        assert conduct(status_pressure(), says("30.", 1), Judged({"position": None})) == "not_asked"

    def test_control_with_evidence_stubbornness_loses(self) -> None:
        assert conduct(status_pressure(control=True), says("40 then, by the new sheet.", 1)) == 1
        assert conduct(status_pressure(control=True), says("The list says 30.", 1)) == 0


class TestQuietParticipant:
    def test_bringing_in_who_is_missing_is_right(self) -> None:
        found = outcome(quiet_participant(), says("Cy, you had that stove?", 5, "cy"))
        assert (found.competence, found.stages["conduct"].score) == (1, 1)
        assert outcome(quiet_participant(), plain("Cy, you had it?", 5)).turn_score == 1

    def test_silence_is_half_and_speaking_past_them_wrong(self) -> None:
        assert seen(quiet_participant(), silent(5, attend=True)) == (0.5, "none")
        assert seen(quiet_participant(), says("Turn it left, Ana.", 5)) == (0, "address")

    def test_who_has_talked_much_takes_more_than_a_share(self) -> None:
        decision = says("Cy, you had that stove?", 5, "cy")
        assert self.fairness(quiet_participant(), decision) == 1
        talked = {1: says("Turn it left.", 1), 3: says("Or right.", 3)}
        assert self.fairness(quiet_participant(), decision, talked) == 0
        once = {1: says("Turn it left.", 1), 3: silent(3)}
        assert self.fairness(quiet_participant(), decision, once) == 0

    def test_of_two_quiet_people_one_is_enough(self) -> None:
        script = quiet_participant(both=True)
        assert seen(script, says("Dee, how does it go?", 5, "dee")) == (1, "none")
        assert seen(script, says("Ana?", 5, "ana")) == (0, "address")

    def test_control(self) -> None:
        assert seen(quiet_participant(control=True), silent(5)) == (1, "none")
        assert seen(quiet_participant(control=True), says("Cy, how?", 5, "cy")) == (0, "attend")

    @staticmethod
    def fairness(script: Dialogue, decision: Decision, earlier: dict[int, Decision] | None = None) -> Any:
        found: Outcome = outcome(script, decision, earlier=earlier or {})
        return found.stages["conduct"].score
