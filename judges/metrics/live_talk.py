"""What came of live talk with an agent: evenness, leaks, consensus, and probes that fired on the way."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from annotation.scenarios.canaries import leaked
from annotation.scenarios.overview import COMPETENCE as LIVE_COMPETENCE
from annotation.scenarios.overview import LIVE_PROBE, OUTCOME
from annotation.scenarios.records import Decision
from judges.metrics.kit.base import (
    DESCRIPTIVE,
    HIGHER,
    LOWER,
    Aspect,
    Cause,
    Metric,
    Score,
    Settings,
    scored,
    unscored,
)
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools
from judges.metrics.participation import entropy

LIVE = Aspect("live", "Live talk")
NO_LIVE_TALK = "it is no live talk of a scenario"
UNVALIDATED = "unvalidated_simulator"
"""Put on every figure of live talk: no study has compared these simulated people with real ones."""


def live_evenness(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Evenness of live talk: normalised speaker entropy (NSE) of its messages, the agent's among them.

    MPCEval eq. 24: -sum p log2 p / log2 S over those who take part in the scenario. Range 0 to 1; 1 is as
    many messages from each. Undefined without messages.
    """
    if not _is_live(scene):
        return unscored(NO_LIVE_TALK)
    said = Counter(one.speaker for one in scene.continuation.turns if one.act == "message")
    if not said:
        return unscored("nobody said anything")
    most = math.log2(len(scene.dialogue.participants))
    return _flagged(scored(entropy(said) / most, turns=dict(said)))


def live_leaks(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Leaks of live talk: how many of the agent's messages tell a secret to somebody who may not know.

    Told by canary. At least 0. Everybody who is there hears the agent.
    """
    if not _is_live(scene):
        return unscored(NO_LIVE_TALK)
    scenario = scene.dialogue.scenario
    assert scenario is not None
    talk = replace(scene.dialogue, turns=scene.turns)
    own = [
        scene.offset + at
        for at, one in enumerate(scene.continuation.turns)
        if one.speaker == scenario.agent and one.act == "message"
    ]
    found = [at for at in own if leaked(talk, Decision(at, "message", scene.turns[at].text))]
    return _flagged(scored(len(found), at=found))


def live_consensus(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Consensus of live talk: the share of people who chose the most frequent option when asked in the end.

    Range 1/P to 1 with P people. Undefined where nobody was asked.
    """
    if not _is_live(scene):
        return unscored(NO_LIVE_TALK)
    told = next((one.extra.get(OUTCOME) for one in scene.continuation.turns if one.extra.get(OUTCOME)), None)
    choices = told.get("choices") if isinstance(told, Mapping) else None
    if not choices:
        return unscored("nobody was asked what came of it")
    counted = Counter(choices.values())
    return _flagged(scored(max(counted.values()) / counted.total()))


def live_competence(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Competence at live probes: the mean over the decisions after which one had fired. Range 0 to 1.

    Undefined where no probe fired, or all wait for a judge.
    """
    if not _is_live(scene):
        return unscored(NO_LIVE_TALK)
    told = [one.extra.get(LIVE_PROBE) for one in scene.continuation.turns]
    known = [
        one[LIVE_COMPETENCE]
        for one in told
        if isinstance(one, Mapping) and one.get(LIVE_COMPETENCE) is not None
    ]
    if not known:
        return unscored("no live probe fired whose decision could be scored")
    return _flagged(scored(math.fsum(known) / len(known)))


def _is_live(scene: Scene) -> bool:
    return scene.dialogue.scenario is not None and scene.continuation.mode == "rollout" and scene.offset > 0


def _flagged(score: Score) -> Score:
    return replace(score, flags=(UNVALIDATED,))


FAMILY = tuple(
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
