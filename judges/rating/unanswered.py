"""What a judge's run could not answer, told before it starts: how many of its calls, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction

from annotation.kinds import COMPARING
from annotation.models import Continuation
from judges.material.loading import load, with_compared
from judges.protocols import Protocol
from judges.rating import actions as rating
from judges.rating import needs, sampled
from judges.rating.askers import asker_of
from judges.rating.cases import case_of
from judges.rating.plans import Judge, RaterPlan
from judges.rating.selection import Selection

LOOKED_AT = 200
"""Calls that are looked at one by one for reasons of their own."""
Target = tuple[int, int | None]


@dataclass(frozen=True, slots=True)
class Unanswered:
    """So many calls have no answer, for one reason; nothing is sent. `about` where it is told from some."""

    calls: int
    reason: str
    about: bool = False

    def sentence(self) -> str:
        """Return it as one line for people."""
        what = "call has" if self.calls == 1 else "calls have"
        return f"{'about ' if self.about else ''}{self.calls:,} {what} no answer: {self.reason}"

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def unanswered(judge: Judge, selection: Selection) -> tuple[Unanswered, ...]:
    """Return what a run could not answer, the most first. Nothing is kept; raises JudgeError."""
    with transaction.atomic():
        plan, about = judge.plan(selection.campaign), sampled.is_large(selection)
        if about:
            looked = sampled.covered(plan, selection)
            found = among(plan, looked.some, looked.targets, samples=selection.samples, about=True)
        else:
            some = tuple(rating.targets(plan, selection))
            found = among(plan, some, len(some), samples=selection.samples)
        transaction.set_rollback(True)
    return found


def among(
    plan: RaterPlan, some: Sequence[Target], targets: int, *, samples: int, about: bool = False
) -> tuple[Unanswered, ...]:
    """Return what is unanswered of the calls about so many targets, told from some of these.

    What a scheme is asked of nobody about is counted over all of these, other reasons over LOOKED_AT.
    """
    protocol = asker_of(plan.rater.spec).protocol
    refused, rest = _by_mode(protocol, some)
    step = max(1, -(-len(rest) // LOOKED_AT))
    looked = rest[::step]
    each = targets * len(plan.parts) * samples / len(some) if some else 0.0
    found = [Unanswered(round(n * each), reason, about) for reason, n in refused.items()]
    for reason, n in _reasons(plan, protocol, looked).items():
        share = n / len(looked) * len(rest)
        found.append(Unanswered(round(share * each), reason, about or step > 1))
    return tuple(sorted(found, key=lambda one: -one.calls))


def _by_mode(protocol: Protocol, some: Sequence[Target]) -> tuple[Counter[str], list[Target]]:
    """Return how many targets a scheme refuses, by reason, and the others."""
    reasons = {mode: protocol.asked_of_nobody(mode) for mode in Continuation.Mode.values}
    if not any(reasons.values()):
        return Counter(), list(some)
    ids = {continuation for continuation, _ in some}
    modes = dict(Continuation.objects.filter(pk__in=ids).values_list("pk", "mode"))
    refused = Counter(reason for continuation, _ in some if (reason := reasons[modes[continuation]]))
    return refused, [target for target in some if not reasons[modes[target[0]]]]


def _reasons(plan: RaterPlan, protocol: Protocol, looked: Sequence[Target]) -> Counter[str]:
    """Return why some targets cannot be answered. What is missing of another rater counts as one reason."""
    spec = plan.rater.spec
    if type(protocol).refusal is Protocol.refusal and "needs" not in spec:
        return Counter()
    material = load({continuation for continuation, _ in looked})
    if protocol.covers in COMPARING:
        material = with_compared(material, [item for _, item in looked if item])
    given = needs.given(protocol, spec["needs"], material) if "needs" in spec else {}
    refused: Counter[str] = Counter()
    unmet: list[str] = []
    for continuation, item in looked:
        case = case_of(material[continuation], item, spec, given.get(continuation))
        if reason := protocol.refusal(case, spec.get("variant", "")):
            refused[reason] += 1
        elif reason := protocol.unmet(case):
            unmet.append(reason)
    if unmet:
        refused[unmet[0] + (", and the like" if len(set(unmet)) > 1 else "")] += len(unmet)
    return refused
