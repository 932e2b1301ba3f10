"""`rules-baseline`: a judge made of rules about words and punctuation. No model, no network, no cost.

It is a baseline: it says how far one gets without understanding anything. Its rules are those of
`judges.protocols.rules`, one per behaviour; a behaviour that no rule can tell is missing, for that reason.
"""

from __future__ import annotations

from annotation.schemes.cocoeval_behaviours import SCHEME
from judges.protocols.base import Case, Computing, Reading, Verdict
from judges.protocols.quoting import Seen
from judges.protocols.rules import RULES, Moment

NO_RULE = "rules-baseline has no rule for this behaviour"


class RulesBaseline(Computing):
    """A baseline of rules for the ten behaviours, per turn; see `judges.protocols.rules` for each rule."""

    key = "rules_baseline"
    title = "rules-baseline: explicit rules about words, no model and no network"
    covers = "continuation"
    answers = {key: (SCHEME, key) for key in RULES}

    def judge(self, case: Case, variant: str = "") -> Reading:
        """Apply every rule to every judged turn, each with the context that a rater of it sees."""
        background = _background(case)
        verdicts = []
        for index in case.judged():
            before = case.dialogue.context(case.continuation, index)
            moment = Moment(case.continuation.turns[index], before, background)
            verdicts += [_verdict(key, index, moment) for key in self.answers]
        return Reading(tuple(verdicts))


def _verdict(key: str, index: int, moment: Moment) -> Verdict:
    rule = RULES[key]
    if rule is None:
        return Verdict(key, index, None, missing=NO_RULE)
    why = rule(moment)
    return Verdict(key, index, float(bool(why)), explanation=why)


def _background(case: Case) -> str:
    seen = Seen(case)
    return " ".join([*seen.facts(), *seen.people()])
