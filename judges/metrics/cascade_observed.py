"""The decision cascade as far as a decision itself shows it: what it did, and what it declared."""

from __future__ import annotations

from dataclasses import replace

from annotation.scenarios.decisions import Answer, answers, decisions_of
from annotation.scenarios.records import STAGES, CascadeSettings, Mode
from annotation.schemes.cascade import COMPETENCE, SCHEME
from judges.metrics.kit.base import HIGHER, Aspect, Metric, Parameter, Score, Settings, unscored
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools

EXPLICIT: Mode = "explicit"
IMPLICIT: Mode = "implicit"
NO_SCENARIO = "the dialogue is no scenario"
NOT_DECLARED = "the decision was made in implicit mode"
TWICE = "another decision at this point came before"
DECISION = Aspect("decision", "Decisions")


def cascade_observed(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Competence of a decision: the product of its scores from ATTEND to GROUND, 0 after a failure.

    The group-chat cascade, section 5, by what the agent declared and did (`explicit`) or by what it did alone
    (`implicit`). Range 0 to 1. It also answers the questions of the scheme `cascade`: what was decided, the
    six stages' scores, where it failed first, and the product of all. What needs a judge is missing.
    """
    assert turn is not None
    if scene.dialogue.scenario is None:
        return unscored(NO_SCENARIO)
    found = scene.once("decisions", lambda: decisions_of(scene.continuation))
    point = (scene.target(turn).at or 0) - 1
    index, decision = found[point]
    if index != turn:
        return unscored(TWICE)
    if settings.variant == EXPLICIT and decision.mode != EXPLICIT:
        return unscored(NOT_DECLARED)
    if settings.variant == IMPLICIT:
        decision = replace(decision, mode=IMPLICIT, attend=None, addressed=None, targets=None, ground=None)
    earlier = {at: one for at, (_, one) in found.items() if at < point}
    told, result = answers(scene.dialogue, decision, None, cascade_settings(settings), earlier)
    own = told[COMPETENCE]
    return Score(
        own.value,
        own.missing,
        answers={question: _score(answer) for question, answer in told.items()},
        flags=result.flags,
    )


def cascade_settings(settings: Settings) -> CascadeSettings:
    """Return the thresholds and the comparison of sets that a metric's parameters say."""
    attend, speak, address, ground, compose, conduct = (settings.number(f"tau_{stage}") for stage in STAGES)
    return CascadeSettings((attend, speak, address, ground, compose, conduct), settings.flag("jaccard"))


def _score(answer: Answer) -> Score:
    return Score(answer.value, answer.missing)


FAMILY = (
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
