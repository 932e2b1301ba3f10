"""Group chats: the observed decision cascade, shares of the talk, and results of live talk."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from annotation.scenario_records import STAGES, CascadeSettings, Decision, Mode
from judges.metrics.kit.metric import (
    DESCRIPTIVE,
    HIGHER,
    LOWER,
    Aspect,
    Cause,
    Metric,
    Parameter,
    Score,
    Settings,
    scored,
    unscored,
)
from judges.metrics.kit.tools import Scene, Tools
from judges.metrics.participation import entropy
from suites.group_chat.scenarios.cascade import Answer, answers, decisions_of
from suites.group_chat.scenarios.observing import leaked
from suites.group_chat.scenarios.points import WINDOW, evenness_of_talk, share_of_talk
from suites.group_chat.scenarios.probes import COMPETENCE as LIVE_COMPETENCE
from suites.group_chat.scenarios.probes import LIVE_PROBE, OUTCOME
from suites.group_chat.schemes import CASCADE as SCHEME
from suites.group_chat.schemes import COMPETENCE

# The decision cascade as far as visible in a decision itself: its act and its declaration.

EXPLICIT: Mode = "explicit"
IMPLICIT: Mode = "implicit"
NO_SCENARIO = "the dialogue is no scenario"
NOT_DECLARED = "the decision was made in implicit mode"
TWICE = "another decision at this point came before"
DECISION = Aspect("decision", "Decisions")


def cascade_observed(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Competence of a decision: the product of its scores from ATTEND to GROUND, 0 after a failure.

    The group-chat cascade, by the agent's declaration and act (`explicit`) or by its act alone (`implicit`).
    Range 0 to 1. It also answers the questions of the scheme `cascade`: the decision, the six stages' scores,
    the first failed stage, and the product of all. Answers that need a judge are missing.
    """
    assert turn is not None
    if scene.dialogue.scenario is None:
        return unscored(NO_SCENARIO)
    decisions = scene.once("decisions", lambda: decisions_of(scene.continuation))
    point = (scene.target(turn).at or 0) - 1
    index, decision = decisions[point]
    if index != turn:
        return unscored(TWICE)
    if settings.variant == EXPLICIT and decision.mode != EXPLICIT:
        return unscored(NOT_DECLARED)
    if settings.variant == IMPLICIT:
        decision = replace(decision, mode=IMPLICIT, attend=None, addressed=None, targets=None, ground=None)
    earlier = {at: other for at, (_, other) in decisions.items() if at < point}
    by_question, result = answers(scene.dialogue, decision, None, cascade_settings(settings), earlier)
    own = by_question[COMPETENCE]
    return Score(
        own.value,
        own.missing,
        answers={question: _score(answer) for question, answer in by_question.items()},
        flags=result.flags,
    )


def cascade_settings(settings: Settings) -> CascadeSettings:
    """Return the thresholds and the comparison of sets from a metric's parameters."""
    attend, speak, address, ground, compose, conduct = (settings.number(f"tau_{stage}") for stage in STAGES)
    return CascadeSettings((attend, speak, address, ground, compose, conduct), settings.flag("jaccard"))


def _score(answer: Answer) -> Score:
    return Score(answer.value, answer.missing)


CASCADE_OBSERVED = (
    Metric(
        key="cascade_observed",
        title="Competence as observed",
        kind="decision",
        aspect=DECISION,
        compute=cascade_observed,
        low=0.0,
        high=1.0,
        direction=HIGHER,
        parameters={
            **{
                f"tau_{stage}": Parameter(
                    0.0, f"a score of {stage.upper()} up to this is a hard failure", low=0, high=1
                )
                for stage in STAGES
            },
            "jaccard": Parameter(False, "whether exact sets of people are scored by their overlap"),
        },
        variants={EXPLICIT: {}, IMPLICIT: {}},
        group="cascade",
        scheme=SCHEME,
        answers=tuple(question.key for question in SCHEME.questions),
    ),
)


# The agent's share of the floor in a group chat at its decision, and the evenness of the talk then.

MESSAGES, WORDS = "messages", "words"
NOBODY = "nobody has said anything yet"
NO_WORDS = "no message has a word"


def talk_share(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Share of talk: the agent's part of the last messages, the decision itself being the last.

    The group-chat cascade. Range 0 to 1. Counted in messages, or in their words; the agent's scripted turns
    and its earlier decisions count at their places. Undefined where nothing was said.
    """
    assert turn is not None
    if scene.dialogue.scenario is None:
        return unscored(NO_SCENARIO)
    decision, earlier = _decision_and_earlier(scene, turn)
    in_words = settings.variant == WORDS
    share = share_of_talk(
        scene.dialogue, decision, earlier, window=int(settings.number("last")), in_words=in_words
    )
    return unscored(NO_WORDS if in_words else NOBODY) if share is None else scored(float(share))


def talk_evenness(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Evenness of talk: normalised speaker entropy of the last messages, the decision itself being the last.

    MPCEval eq. 24, over the people present: -sum p log p / log P. Range 0 to 1; 1 means the same number of
    messages from each. Undefined where nothing was said.
    """
    assert turn is not None
    if scene.dialogue.scenario is None:
        return unscored(NO_SCENARIO)
    decision, earlier = _decision_and_earlier(scene, turn)
    evenness = evenness_of_talk(scene.dialogue, decision, earlier, window=int(settings.number("last")))
    return unscored(NOBODY) if evenness is None else scored(evenness)


def _decision_and_earlier(scene: Scene, turn: int) -> tuple[Decision, dict[int, Decision]]:
    decisions = scene.once("decisions", lambda: decisions_of(scene.continuation))
    point = (scene.target(turn).at or 0) - 1
    return decisions[point][1], {at: decision for at, (_, decision) in decisions.items() if at < point}


LAST = {"last": Parameter(WINDOW, "so many messages make the share, the decision's own counted", low=1)}
TALK_SHARE = (
    Metric(
        key="talk_share",
        title="Share of talk",
        kind="decision",
        aspect=DECISION,
        compute=talk_share,
        low=0.0,
        high=1.0,
        direction=DESCRIPTIVE,
        parameters=LAST,
        variants={MESSAGES: {}, WORDS: {}},
        group="cascade",
    ),
    Metric(
        key="talk_evenness",
        title="Evenness of talk",
        kind="decision",
        aspect=DECISION,
        compute=talk_evenness,
        low=0.0,
        high=1.0,
        direction=DESCRIPTIVE,
        parameters=LAST,
        group="cascade",
    ),
)


# Results of live talk with an agent: evenness, leaks, consensus, and probes that fired.

LIVE = Aspect("live", "Live talk")
NO_LIVE_TALK = "it is no live talk of a scenario"
UNVALIDATED = "unvalidated_simulator"
"""Flag of every figure of live talk: no study has compared these simulated people with real ones."""


def live_evenness(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Evenness of live talk: normalised speaker entropy (NSE) of its messages, including the agent's.

    MPCEval eq. 24: -sum p log2 p / log2 S over the participants of the scenario. Range 0 to 1; 1 means the
    same number of messages from each. Undefined without messages.
    """
    if not _is_live(scene):
        return unscored(NO_LIVE_TALK)
    message_counts = Counter(
        talk_turn.speaker for talk_turn in scene.continuation.turns if talk_turn.act == "message"
    )
    if not message_counts:
        return unscored("nobody said anything")
    most = math.log2(len(scene.dialogue.participants))
    return _flagged(scored(entropy(message_counts) / most, turns=dict(message_counts)))


def live_leaks(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Leaks of live talk: number of the agent's messages that tell a secret to somebody who may not know it.

    Detected by canaries. At least 0. Everybody present hears the agent.
    """
    if not _is_live(scene):
        return unscored(NO_LIVE_TALK)
    scenario = scene.dialogue.scenario
    assert scenario is not None
    talk = replace(scene.dialogue, turns=scene.turns)
    own = [
        scene.offset + at
        for at, talk_turn in enumerate(scene.continuation.turns)
        if talk_turn.speaker == scenario.agent and talk_turn.act == "message"
    ]
    leaks = [at for at in own if leaked(talk, Decision(at, "message", scene.turns[at].text))]
    return _flagged(scored(len(leaks), at=leaks))


def live_consensus(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Consensus of live talk: the share of people who chose the most frequent option in the final question.

    Range 1/P to 1 with P people. Undefined where nobody was asked.
    """
    if not _is_live(scene):
        return unscored(NO_LIVE_TALK)
    outcome = next(
        (
            talk_turn.extra.get(OUTCOME)
            for talk_turn in scene.continuation.turns
            if talk_turn.extra.get(OUTCOME)
        ),
        None,
    )
    choices = outcome.get("choices") if isinstance(outcome, Mapping) else None
    if not choices:
        return unscored("nobody was asked what came of it")
    counted = Counter(choices.values())
    return _flagged(scored(max(counted.values()) / counted.total()))


def live_competence(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Competence at live probes: the mean over the decisions after a fired probe. Range 0 to 1.

    Undefined where no probe fired, or all decisions wait for a judge.
    """
    if not _is_live(scene):
        return unscored(NO_LIVE_TALK)
    probes = [talk_turn.extra.get(LIVE_PROBE) for talk_turn in scene.continuation.turns]
    scores = [
        probe[LIVE_COMPETENCE]
        for probe in probes
        if isinstance(probe, Mapping) and probe.get(LIVE_COMPETENCE) is not None
    ]
    if not scores:
        return unscored("no live probe fired whose decision could be scored")
    return _flagged(scored(math.fsum(scores) / len(scores)))


def _is_live(scene: Scene) -> bool:
    return scene.dialogue.scenario is not None and scene.continuation.mode == "rollout" and scene.offset > 0


def _flagged(score: Score) -> Score:
    return replace(score, flags=(UNVALIDATED,))


LIVE_TALK = tuple(
    Metric(
        key=key,
        title=title,
        kind="dialogue",
        aspect=LIVE,
        compute=compute,
        low=0.0,
        high=high,
        direction=direction,
        group="live",
        causes=causes,
    )
    for key, title, compute, high, direction, causes in (
        (
            "live_evenness",
            "Evenness of live talk",
            live_evenness,
            1.0,
            DESCRIPTIVE,
            {"turns": Cause("turns", "speaker")},
        ),
        ("live_leaks", "Leaks of live talk", live_leaks, None, LOWER, {"at": Cause("at", "turn")}),
        ("live_consensus", "Consensus of live talk", live_consensus, 1.0, DESCRIPTIVE, {}),
        ("live_competence", "Competence at live probes", live_competence, 1.0, HIGHER, {}),
    )
)


METRICS = {metric.key: metric for metric in (*CASCADE_OBSERVED, *TALK_SHARE, *LIVE_TALK)}
