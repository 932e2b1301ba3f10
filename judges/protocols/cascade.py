"""The decision cascade with judges: what is computed of a decision, and what other raters said of it.

`group_chat.md`, sections 5 and 6. Every stage is computed again with the judges' answers in place: their
scores of conduct and composition, their leaks, and their moves where neither a declaration nor a rule tells.
A stage whose judge is not bound, or was not asked, stays pending.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from annotation.scenarios.decisions import answers, decisions_of
from annotation.scenarios.records import DIMENSIONS, LEAK, Decision, Judged, Mode, Outcome
from annotation.schemes.cascade import SCHEME, STAGE
from annotation.schemes.conduct import PRESUPPOSES
from judges.protocols.base import Case, Computing, Reading, Verdict
from judges.protocols.conduct import NOT_APPLICABLE
from judges.protocols.decided import NO_SCENARIO
from judges.protocols.ground_move import facts_read
from judges.protocols.needs import WAITING, Known, Need

EXPLICIT: Mode = "explicit"
IMPLICIT: Mode = "implicit"
CONDUCT, COMPOSE, MOVES = "conduct", "compose", "ground_move"
NOT_DECLARED = "the decision was made in implicit mode"
TWICE = "another decision at this point came before"
HALF = 0.5


class Cascade(Computing):
    """Rules on top of judges: the same stages as `cascade_observed`, none pending where a judge is bound.

    Of several samples of a judge the mean counts, and of moves the most frequent; a leak that half of them
    saw is one. The variant `implicit` reads a decision by what it did alone, whatever it declared.
    """

    key = "cascade"
    title = "The decision cascade, with judges for what rules cannot tell"
    covers = "decision"
    variants = (EXPLICIT, IMPLICIT)
    answers = {question.key: (SCHEME, question.key) for question in SCHEME.questions}
    needs = (
        Need(CONDUCT, "conduct/leak", optional=True, also=DIMENSIONS),
        Need(COMPOSE, "compose/score", optional=True),
        Need(MOVES, "ground_move/move", aggregate="majority", optional=True, also=(PRESUPPOSES,)),
    )

    def refusal(self, case: Case, variant: str) -> str:
        """Only the first decision at a point of a scenario counts, in explicit mode one that declares."""
        if case.dialogue.scenario is None:
            return NO_SCENARIO
        index, decision = _at(case)
        if index != case.turn:
            return TWICE
        return NOT_DECLARED if variant == EXPLICIT and decision.mode != EXPLICIT else ""

    def judge(self, case: Case, variant: str = EXPLICIT) -> Reading:
        """Compute every stage again with what the judges said."""
        assert case.turn is not None
        _, decision = _at(case)
        if variant == IMPLICIT:
            decision = replace(
                decision, mode=IMPLICIT, attend=None, addressed=None, targets=None, ground=None
            )
        made = decisions_of(case.continuation).items()
        earlier = {at: one for at, (_, one) in made if at < decision.point}
        told, result = answers(case.dialogue, decision, judged_of(case), earlier=earlier)
        verdicts = (
            Verdict(key, case.turn, one.value, one.missing, _why(key, result)) for key, one in told.items()
        )
        return Reading(tuple(verdicts), (*result.flags, *_waiting(case)))


def judged_of(case: Case) -> Judged:
    """Return what the bound judges said of a decision."""
    conduct = {
        key: None if known.value is None else float(known.value)
        for key in DIMENSIONS
        if key != LEAK and (known := _known(case, f"{CONDUCT}/{key}")) is not None
        if known.value is not None or known.why == NOT_APPLICABLE
    }
    leak = _number(case, CONDUCT)
    move, presupposed = _known(case, MOVES), _known(case, f"{MOVES}/{PRESUPPOSES}")
    return Judged(
        conduct=conduct,
        leak=None if leak is None else float(leak >= HALF),
        compose=_number(case, COMPOSE),
        move=None if move is None or move.value is None else str(move.value),
        presupposes=(
            None if presupposed is None or presupposed.value is None else facts_read(str(presupposed.value))
        ),
    )


def _at(case: Case) -> tuple[int, Decision]:
    assert case.turn is not None
    return decisions_of(case.continuation)[(case.continuation.turns[case.turn].at or 0) - 1]


def _known(case: Case, role: str) -> Known | None:
    """Return what is known of the decision from a rater, None where nobody is bound."""
    return case.given.get(role, {}).get(case.turn)


def _number(case: Case, role: str) -> float | None:
    known = _known(case, role)
    return None if known is None or known.value is None else float(known.value)


def _why(question: str, result: Outcome) -> str:
    """Return what a stage's score rests on, where that is told."""
    stages: Mapping[str, str] = {
        STAGE + stage: one.why for stage, one in result.stages.items() if one.score is not None
    }
    return stages.get(question, "")


def _waiting(case: Case) -> tuple[str, ...]:
    """Return the flag of a decision of which a bound judge has said nothing yet."""
    bound = (known for need in Cascade.needs if (known := _known(case, need.role)) is not None)
    return (WAITING,) if any(known.value is None and not known.why for known in bound) else ()
