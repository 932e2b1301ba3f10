"""How much of the floor an agent takes in a group chat when it decides, and how even the talk is then."""

from __future__ import annotations

from annotation.scenarios.decisions import decisions_of
from annotation.scenarios.points import WINDOW, evenness_of_talk, share_of_talk
from annotation.scenarios.records import Decision
from judges.metrics.cascade_observed import DECISION, NO_SCENARIO
from judges.metrics.kit.base import DESCRIPTIVE, Metric, Parameter, Score, Settings, scored, unscored
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools

MESSAGES, WORDS = "messages", "words"
NOBODY = "nobody has said anything yet"
NO_WORDS = "no message has a word"


def talk_share(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Share of talk: the agent's part of the last messages, the decision itself as the last.

    The group-chat cascade, section 4. Range 0 to 1. Counted in messages, or in their words; the agent's
    scripted turns and its earlier decisions count at their places. Undefined where nothing was said.
    """
    assert turn is not None
    if scene.dialogue.scenario is None:
        return unscored(NO_SCENARIO)
    decision, earlier = _decided(scene, turn)
    in_words = settings.variant == WORDS
    share = share_of_talk(
        scene.dialogue, decision, earlier, window=int(settings.number("last")), in_words=in_words
    )
    return unscored(NO_WORDS if in_words else NOBODY) if share is None else scored(float(share))


def talk_evenness(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Evenness of talk: normalised speaker entropy of the last messages, the decision itself as the last.

    MPCEval eq. 24, over those who are there: -sum p log p / log P. Range 0 to 1; 1 is as many messages from
    each. Undefined where nothing was said.
    """
    assert turn is not None
    if scene.dialogue.scenario is None:
        return unscored(NO_SCENARIO)
    decision, earlier = _decided(scene, turn)
    found = evenness_of_talk(scene.dialogue, decision, earlier, window=int(settings.number("last")))
    return unscored(NOBODY) if found is None else scored(found)


def _decided(scene: Scene, turn: int) -> tuple[Decision, dict[int, Decision]]:
    found = scene.once("decisions", lambda: decisions_of(scene.continuation))
    point = (scene.target(turn).at or 0) - 1
    return found[point][1], {at: one for at, (_, one) in found.items() if at < point}


LAST = {"last": Parameter(WINDOW, "so many messages make the share, the decision's own counted", low=1)}
FAMILY = (
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
