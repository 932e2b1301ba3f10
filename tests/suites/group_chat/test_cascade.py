"""The first hard failure ends the score; scores waiting for a judge are missing, never guessed."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from annotation.scenario_records import STAGES, CascadeSettings, Decision, Judged, StageScore
from suites.group_chat.scenarios.cascade import combine, outcome
from tests.suites.group_chat.scripts import launch

STATES = {"right": StageScore(1.0), "wrong": StageScore(0.0), "not asked": StageScore(None, "not_asked", "-")}
TO_OLE = Decision(
    4,
    "message",
    "That is not settled, best ask Mia",
    attend=True,
    addressed=("bot",),
    targets=("ole",),
    ground="answer",
)
RATED = Judged({"face": 4.0}, leak=0)


def expected(states: tuple[str, ...]) -> tuple[str, float, float]:
    """Return failed_at, competence and turn score by looking for the first wrong stage alone."""
    wrong = [index for index, state in enumerate(states) if state == "wrong"]
    if not wrong:
        return "none", 1.0, 1.0
    return STAGES[wrong[0]], float(wrong[0] >= 4), 0.0


def test_all_729_states_of_the_six_stages() -> None:
    for states in product(STATES, repeat=6):
        raw = dict(zip(STAGES, (STATES[state] for state in states), strict=True))
        result = combine(raw)
        assert (result.failed_at, result.competence, result.turn_score) == expected(states), states
        first = STAGES.index(result.failed_at) if result.failed_at != "none" else len(STAGES)
        for index, stage in enumerate(STAGES):
            after = index > first and states[index] != "not asked"
            assert (result.stages[stage].state == "void") == after, (states, stage)


def test_all_4096_states_with_pending_stages_follow_from_the_ways_they_may_end() -> None:
    """A result is known exactly where all ways in which the judges may decide lead to it."""
    names = [*STATES, "pending"]
    pending = StageScore(None, "pending", "waits")
    for states in product(names, repeat=6):
        raw = {
            stage: pending if state == "pending" else STATES[state]
            for stage, state in zip(STAGES, states, strict=True)
        }
        result = combine(raw)
        ends = {
            expected(tuple(ends))
            for ends in product(*(("right", "wrong") if state == "pending" else (state,) for state in states))
        }
        for told, possible in zip(
            (result.failed_at, result.competence, result.turn_score),
            map(set, zip(*ends, strict=True)),
            strict=True,
        ):
            assert told == (possible.pop() if len(possible) == 1 else None), states


def test_partial_scores_multiply_and_thresholds_make_them_failures() -> None:
    raw = dict.fromkeys(STAGES, StageScore(1.0)) | {"address": StageScore(0.5), "conduct": StageScore(0.75)}
    result = combine(raw)
    assert (result.failed_at, result.competence, result.turn_score) == ("none", 0.5, 0.375)
    strict = combine(raw, CascadeSettings(tau=(0, 0, 0.5, 0, 0, 0)))
    assert (strict.failed_at, strict.competence, strict.turn_score) == ("address", 0, 0)
    assert strict.stages["ground"].why == "void: failed at address"
    lenient = combine(raw, CascadeSettings(tau=(0, 0, 0.49, 0, 0, 0.75)))
    assert (lenient.failed_at, lenient.competence, lenient.turn_score) == ("conduct", 0.5, 0)


@pytest.mark.parametrize(
    ("decision", "judged", "stages", "results"),
    [
        (
            Decision(1, "message", "He pays tonight.", attend=True, targets=("ole",), ground="answer"),
            None,
            {"attend": 0, "speak": "void", "address": "not_asked"},
            (0, 0, "attend"),
        ),
        (Decision(1, "silence", attend=False), None, {"attend": 1, "speak": 1}, (1, 1, "none")),
        (
            Decision(4, "silence", attend=True),
            None,
            {"attend": 1, "speak": 0, "ground": "void"},
            (0, 0, "speak"),
        ),
        (
            TO_OLE,
            RATED,
            {"attend": 1, "speak": 1, "address": 1, "ground": 1, "compose": "not_asked", "conduct": 0.75},
            (1, 0.75, "none"),
        ),
        (replace(TO_OLE, addressed=("mia",)), RATED, {"address": 0.5, "conduct": 0.75}, (0.5, 0.375, "none")),
        (replace(TO_OLE, text="Mia is leaving"), RATED, {"conduct": 0}, (1, 0, "conduct")),
        (TO_OLE, None, {"conduct": "pending"}, (1, None, None)),
    ],
    ids=["barging in", "silence", "silent though asked", "right", "wrong addressee", "leak", "no judge"],
)
def test_the_worked_examples(decision, judged, stages, results) -> None:
    result = outcome(launch(), decision, judged)
    for stage, wanted in stages.items():
        found = result.stages[stage]
        assert (found.state if isinstance(wanted, str) else found.score) == wanted, stage
    assert (result.competence, result.turn_score, result.failed_at) == results


def test_barging_in_fails_at_attend_though_the_agent_denied_it() -> None:
    decision = Decision(1, "message", "Ole will pay tonight.", attend=False, targets=("ole",))
    result = outcome(launch(), decision)
    assert (result.failed_at, result.competence) == ("attend", 0)
    assert result.flags == ("attend_contradicted",)


def test_an_unreadable_reply_is_no_right_silence() -> None:
    result = outcome(launch(), Decision(1, "silence", flags=("unparseable",)))
    assert (result.failed_at, result.competence, result.turn_score) == ("form", 0, 0)
    assert {one.state for one in result.stages.values()} == {"void"}


def test_a_wrong_silence_fails_at_speak_where_nothing_is_declared() -> None:
    result = outcome(launch(), Decision(4, "silence", mode="implicit"))
    assert (result.stages["attend"].score, result.failed_at) == (1, "speak")


def test_an_accepted_reaction_is_asked_for_its_target_alone() -> None:
    key = {"attend": 1, "speak": {"message": 1, "reaction": 0.5}, "target": ["ole"], "ground": ["answer"]}
    scenario = launch(keys={"2": {"attend": 1, "speak": {"silence": 1}}, "3": key})
    result = outcome(scenario, Decision(3, "reaction", "👍", attend=True, targets=("sam",)))
    assert result.stages["address"].score == 0
    right = outcome(scenario, Decision(3, "reaction", "👍", attend=True, targets=("ole",)))
    assert (right.stages["ground"].state, right.competence) == ("reaction", 0.5)


def test_a_free_point_is_not_scored() -> None:
    scenario = launch(keys={"2": {"free": True}})
    result = outcome(scenario, Decision(2, "message", "Oh dear."))
    assert (result.failed_at, result.competence, result.turn_score) == (None, None, None)


def test_contents_are_found_as_whole_words_and_nothing_forbidden_passes() -> None:
    key = {
        "attend": 1,
        "speak": {"message": 1},
        "must": ["4", ["June", "summer"]],
        "must_not": [["cancel", "call off"]],
    }
    scenario = launch(keys={"2": {"free": True}, "3": key})

    def composed(text: str) -> float | None:
        decision = Decision(3, "message", text, attend=True, targets=("sam",))
        return outcome(scenario, decision).stages["compose"].score

    assert composed("Version 4, in JUNE") == 1
    assert composed("Version 14, in the summer") == 0.5
    assert composed("Version 4, in June, or we call  off the fair") == 0


def test_a_rubric_multiplies_what_the_lists_say() -> None:
    key = {"attend": 1, "speak": {"message": 1}, "must": ["June", "fair"], "compose": "rubric"}
    scenario = launch(keys={"2": {"free": True}, "3": key})
    decision = Decision(3, "message", "In June.", attend=True, targets=("sam",))
    assert outcome(scenario, decision).turn_score is None
    assert outcome(scenario, decision, Judged(compose=4.0)).stages["compose"].score == 0.375


def test_everybody_else_means_those_who_are_there() -> None:
    key = {"attend": 1, "speak": {"message": 1}, "target": ["all"]}
    turns = [*map(dict, launch_turns()), {"speaker": "sam", "text": "", "act": "leave"}]
    turns.append({"speaker": "ole", "text": "So, all of you?"})
    scenario = launch(turns=turns, keys={"2": {"free": True}, "6": key})
    decision = Decision(6, "message", "Fine.", attend=True, targets=("ole", "mia"))
    assert outcome(scenario, decision).stages["address"].score == 1
    with_sam = replace(decision, targets=("ole", "mia", "sam"))
    assert outcome(scenario, with_sam).stages["address"].score == 0
    overlap = CascadeSettings(jaccard=True)
    assert outcome(scenario, with_sam, settings=overlap).stages["address"].score == pytest.approx(2 / 3)


def launch_turns() -> list[dict]:
    from tests.suites.group_chat.scripts import LAUNCH

    return list(LAUNCH["turns"])


def test_a_declared_all_means_everybody_else_who_is_there() -> None:
    key = {"attend": 1, "speak": {"message": 1}, "addressed": ["all"], "target": ["all"]}
    scenario = launch(keys={"2": {"free": True}, "3": key})
    decision = Decision(3, "message", "Fine.", attend=True, addressed=("all",), targets=("all",))
    assert outcome(scenario, decision).stages["address"].score == 1
    by_name = replace(decision, addressed=("ole", "bot", "mia"), targets=("sam", "mia", "ole"))
    assert outcome(scenario, by_name).stages["address"].score == 1


def test_a_refused_reaction_leaves_what_was_asked_of_it_void() -> None:
    key = {"attend": 1, "speak": {"message": 1}, "addressed": ["bot"]}
    scenario = launch(keys={"2": {"free": True}, "3": key})
    refused = outcome(scenario, Decision(3, "reaction", "👍", attend=True, addressed=("bot",)))
    assert (refused.failed_at, refused.stages["address"].state) == ("speak", "void")
    taken = launch(keys={"2": {"free": True}, "3": key | {"speak": {"message": 1, "reaction": 0.5}}})
    result = outcome(taken, Decision(3, "reaction", "👍", attend=True, addressed=("bot",)))
    assert (result.competence, result.stages["address"].state) == (0.5, "reaction")
