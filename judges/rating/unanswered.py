"""What a judge's run could not answer, told before it starts: how many of its calls, and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform

from annotation.kinds.table import COMPARING
from annotation.models import Continuation, Item, Rater
from jobs.errors import ERROR_KINDS
from jobs.models.run import Call
from judges.material.loading import load, with_compared
from judges.metrics.kit.act_models import FITTED_ON_ITSELF
from judges.protocols import Protocol
from judges.rating import actions as rating
from judges.rating import sampled
from judges.rating.askers import asker_of
from judges.rating.cases import case_of
from judges.rating.needs import answers_for_needs
from judges.rating.plans import Judge, RaterPlan
from judges.rating.selection import Selection

# Values of metrics that stand but are doubtful: a metric could hardly read a text, or learned from it.


@dataclass(frozen=True, slots=True)
class Doubt:
    """How many of a metric's continuations are flagged, of how many, and one of the reasons."""

    calls: int
    flagged: int
    example: str


def doubtful_values(calls: QuerySet[Call]) -> dict[int, Doubt]:
    """Return the doubts of metrics by rater id, from their calls; those without any are left out."""
    rows = (
        calls.filter(state=Call.State.DONE)
        .values("rater")
        .annotate(
            calls=Count("pk"),
            flagged=Count("pk", filter=~Q(flags=[]) & ~Q(flags=[FITTED_ON_ITSELF])),
            example=Max(KeyTextTransform(0, "flags")),
        )
    )
    return {
        row["rater"]: Doubt(row["calls"], row["flagged"], row["example"]) for row in rows if row["flagged"]
    }


def fitted_on_themselves(calls: QuerySet[Call]) -> dict[int, int]:
    """Return, by the id of a metric's rater, on how many continuations it had learned from the dialogue that
    it scored, from its calls; those without any are left out."""
    rows = (
        calls.filter(state=Call.State.DONE, flags__contains=[FITTED_ON_ITSELF])
        .values("rater")
        .annotate(n=Count("pk"))
    )
    return {row["rater"]: row["n"] for row in rows}


# What a judge could not answer, and why: its failed calls by kind, over some items or of some calls.


def by_kind(rater: Rater, items: Collection[int]) -> dict[str, int]:
    """Return how many items lack an answer of a rater because a call failed, by the kind of its error.

    A call about a whole continuation counts for each of the items in it, each sample by itself. Kinds stand
    in the order of `jobs.errors`; those that failed before kinds were kept are under ''.
    """
    chosen = Item.objects.filter(pk__in=items).values_list("pk", "continuation")
    within = Counter(continuation for _, continuation in chosen)
    failed = Call.objects.filter(rater=rater, state=Call.State.FAILED)
    failed = failed.filter(Q(item__in=list(items)) | Q(item=None, continuation__in=list(within)))
    found: Counter[str] = Counter()
    for kind, item, continuation in failed.values_list("error_kind", "item", "continuation"):
        found[kind] += 1 if item is not None else within[continuation]
    return _in_order(found)


def by_rater(calls: QuerySet[Call]) -> dict[int, dict[str, int]]:
    """Return how many of some calls failed, by rater id and kind of error: one query."""
    rows = calls.filter(state=Call.State.FAILED).order_by().values_list("run__rater", "error_kind")
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for rater, kind, n in rows.annotate(Count("pk")):
        found[rater][kind] += n
    return {rater: _in_order(counted) for rater, counted in found.items()}


def _in_order(found: Counter[str]) -> dict[str, int]:
    return {kind: found[kind] for kind in (*ERROR_KINDS, "") if found[kind]}


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
    given = answers_for_needs(protocol, spec["needs"], material) if "needs" in spec else {}
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
