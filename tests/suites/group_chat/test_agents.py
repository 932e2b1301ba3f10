"""Decisions of the baselines, and the key as an agent, which has everything right."""

from __future__ import annotations

from collections import Counter

import pytest

from annotation.formats.source import ImportProblem
from annotation.records import Dialogue
from annotation.scenario_records import MODES
from suites.group_chat.scenarios.agents import (
    AGENTS,
    ALWAYS_SILENT,
    ALWAYS_SPEAK,
    MAJORITY,
    MENTION_RULE,
    ORACLE,
    RANDOM,
    Agent,
    decide,
    learn,
)
from suites.group_chat.scenarios.cascade import outcome
from suites.group_chat.scenarios.points import key_at, points_of, probes_at, scenario_of
from suites.group_chat.scenarios.probes import oracle_problems
from tests.suites.group_chat.probe_scripts import SCRIPTS, buried_mention, overheard
from tests.suites.group_chat.scripts import chat, launch, probe

EVERY = [script(control=control) for script in SCRIPTS.values() for control in (False, True)]


def probed(agent: Agent, dialogue: Dialogue, mode: str = "explicit") -> list[float | None]:
    """Return the competence of an agent at each probed point."""
    decisions = decide(agent, dialogue, mode=mode, learnt=learn(EVERY))  # type: ignore[arg-type]
    return [
        outcome(dialogue, decision).competence
        for decision in decisions
        if probes_at(scenario_of(dialogue), decision.point)
    ]


@pytest.mark.parametrize("dialogue", [*EVERY, launch()], ids=lambda one: one.id)
def test_the_oracle_has_competence_1_at_every_scored_point_and_leaks_nothing(dialogue: Dialogue) -> None:
    for decision in decide(ORACLE, dialogue):
        result = outcome(dialogue, decision)
        is_free = key_at(scenario_of(dialogue), decision.point).free
        assert result.competence == (None if is_free else 1)
        assert (result.leaks, result.leaks_elsewhere) == ((), ())
    assert oracle_problems(dialogue) == ()


def test_a_key_that_nobody_can_play_is_told_by_point_and_field() -> None:
    own = overheard(control=True)
    lines = [(turn.speaker, turn.text, *turn.addressees) for turn in own.turns]
    key = {"attend": 0, "speak": {"message": 1}}
    with pytest.raises(ImportProblem, match=r"keys\.0.*turn 0: .* competence 0: it fails at attend"):
        chat(*lines, keys={"0": key, "1": {"free": True}})


def test_always_speaking_fails_what_is_overheard_and_always_silent_what_is_asked() -> None:
    for mode in MODES:
        assert probed(ALWAYS_SPEAK, overheard(), mode) == [0, 0]
        assert probed(ALWAYS_SILENT, overheard(), mode) == [1, 1]
        assert probed(ALWAYS_SILENT, buried_mention(), mode) == [0, 1, 1]
        assert probed(ALWAYS_SILENT, buried_mention(control=True), mode) == [1, 1, 1]
        assert probed(ALWAYS_SPEAK, buried_mention(control=True), mode) == [0, 0, 0]


def test_always_speaking_says_the_same_to_the_last_author() -> None:
    decisions = decide(ALWAYS_SPEAK, buried_mention())
    assert len({decision.text for decision in decisions}) == 1
    assert [decision.targets for decision in decisions] == [("ana",), ("bo",), ("ana",), ("cy",), ("bo",)]


def test_the_mention_rule_answers_where_it_is_named_in_the_last_message_alone() -> None:
    acts = [decision.act for decision in decide(MENTION_RULE, buried_mention())]
    assert acts == ["silence", "silence", "message", "silence", "silence"]
    assert probed(MENTION_RULE, overheard()) == [1, 0]  # it cannot tell a topic from an address


def test_no_baseline_but_the_oracle_is_right_everywhere() -> None:
    for agent in AGENTS.values():
        scores = [score for dialogue in EVERY for score in probed(agent, dialogue)]
        assert all(score == 1 for score in scores) == (agent is ORACLE), agent.key


def test_what_is_learnt_is_counted_over_scored_points() -> None:
    learnt = learn([overheard(), overheard(control=True)])
    assert learnt.counts["act"] == Counter(silence=2, message=1)
    assert learnt.counts["attend"] == Counter({"0": 2, "1": 1})
    assert learnt.counts["target"] == Counter({"the author": 1})
    assert learnt.counts["addressed"] == Counter({"the agent": 1})
    assert learnt.counts["move"] == Counter(answer=1)


def test_the_majority_answers_each_question_by_its_most_frequent_value() -> None:
    decisions = decide(MAJORITY, overheard(), learnt=learn([overheard(control=True)]))
    assert {(one.act, one.attend, one.targets, one.addressed) for one in decisions} == {
        ("message", True, ("ana",), ("kit",)),
        ("message", True, ("bo",), ("kit",)),
    }
    assert {one.act for one in decide(MAJORITY, overheard())} == {"silence"}


def test_random_acts_have_the_keys_frequencies_and_are_drawn_by_seed_and_trial() -> None:
    learnt = learn([overheard(), overheard(control=True)])
    drawn = [
        decision
        for trial in range(600)
        for decision in decide(RANDOM, buried_mention(), learnt=learnt, trial=trial)
    ]
    share = sum(one.act == "message" for one in drawn) / len(drawn)
    assert abs(share - 1 / 3) < 3 * (2 / 9 / len(drawn)) ** 0.5
    assert all(one.attend == (one.act != "silence") for one in drawn)
    again = decide(RANDOM, buried_mention(), learnt=learnt, trial=5)
    assert again == decide(RANDOM, buried_mention(), learnt=learnt, trial=5)
    others = {decide(RANDOM, buried_mention(), learnt=learnt, seed=seed) for seed in range(20)}
    assert len(others) > 1


def test_in_implicit_mode_nothing_is_declared() -> None:
    for agent in AGENTS.values():
        for decision in decide(agent, launch(), mode="implicit"):
            told = (decision.attend, decision.addressed, decision.targets, decision.ground)
            assert told == (None, None, None, None)


def test_an_agent_decides_at_every_point() -> None:
    for agent in AGENTS.values():
        decisions = decide(agent, launch())
        assert tuple(decision.point for decision in decisions) == points_of(launch())


def test_the_oracle_prefers_silence_where_nothing_more_is_asked_of_a_message() -> None:
    any_act = {"attend": 1, "speak": {"message": 1, "reaction": 1, "silence": 1}}
    lines = [("ana", "Kit, thanks!", "kit"), ("bo", "Kit, which line?", "kit"), ("ana", "Ha.")]
    asked = any_act | {"must": ["12"]}
    sign = {"attend": 1, "speak": {"reaction": 1}}
    script = chat(
        *lines, keys={"0": any_act, "1": asked}, probes=[probe("overheard", [2], sign, control=True)]
    )
    decisions = decide(ORACLE, script)
    assert [(one.act, one.text) for one in decisions] == [
        ("silence", ""),
        ("message", "12"),
        ("reaction", "👍"),
    ]
