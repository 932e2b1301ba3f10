"""The figures of a Cascade report, each with its interval over families.

All figures are functions of sums over decisions, resampled by family with the same draws, so that differences
between systems are paired. `group_chat.md`, section 7. No figure mixes the three scores.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.scenarios.records import STAGES, CascadeSettings
from calibration.cascade.decided import MUST_SPEAK, STAY_OUT, Decided
from calibration.cascade.query import TURN_SCORE, CascadeQuery
from calibration.statistics import Plan, Result
from calibration.statistics.core.sums import finished, totals
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.repeats import pass_at_k, pass_hat_k

Weigh = Callable[[Decided], float | None]
"""What a decision adds to a mean; None where it does not belong."""
FEW = "no such decision"


@dataclass(frozen=True)
class Families:
    """The codes of families, shared by all rows of a report so that all see the same resamples."""

    codes: dict[str, int]

    @classmethod
    def of(cls, decisions: Sequence[Decided]) -> Families:
        """Return the codes of the families that decisions are of."""
        return cls({name: code for code, name in enumerate(sorted({one.family for one in decisions}))})

    def units(self, decisions: Sequence[Decided]) -> Ints:
        """Return the code of each decision's family."""
        return np.array([self.codes[one.family] for one in decisions], dtype=np.int64)


def mean(
    name: str, decisions: Sequence[Decided], weigh: Weigh, families: Families, plan: Plan, reason: str = FEW
) -> Result:
    """Return the mean of what decisions add, over those that belong; undefined where none does."""
    return _ratio(name, decisions, _pairs(decisions, weigh), families, plan, reason)


def difference(
    name: str,
    one: Sequence[Decided],
    other: Sequence[Decided],
    weigh: Weigh,
    families: Families,
    plan: Plan,
) -> Result:
    """Return the paired difference of two means, one minus other, on the same resamples of families."""
    first, second = _pairs(one, weigh), _pairs(other, weigh)
    rows = np.zeros((len(one) + len(other), 4))
    rows[: len(one), :2], rows[len(one) :, 2:] = first, second
    both = [*one, *other]
    if not first[:, 0].any() or not second[:, 0].any():
        return Result(name, status="insufficient", reason=FEW)
    whole, drawn = totals(_padded(families, both), _filled(rows, families), plan)

    def compute(sums: Floats) -> Floats:
        return np.asarray(_divided(sums[:, 1], sums[:, 0]) - _divided(sums[:, 3], sums[:, 2]))

    counted = sum(bool(found) for found in first[:, 0])
    return finished(
        name,
        float(compute(whole)[0]),
        compute(drawn),
        plan,
        n_items=counted,
        n_clusters=len(families.codes),
        method="difference of means on the same resamples",
    )


def _pairs(decisions: Sequence[Decided], weigh: Weigh) -> Floats:
    """Return (belongs, value) of each decision, n x 2."""
    rows = np.zeros((len(decisions), 2))
    for at, one in enumerate(decisions):
        value = weigh(one)
        if value is not None:
            rows[at] = 1.0, value
    return rows


def _ratio(
    name: str, decisions: Sequence[Decided], rows: Floats, families: Families, plan: Plan, reason: str
) -> Result:
    """Return sum of the second column / sum of the first."""
    if not rows[:, 0].any():
        return Result(name, status="insufficient", reason=reason)
    whole, drawn = totals(_padded(families, decisions), _filled(rows, families), plan)
    here = {one.family for one, row in zip(decisions, rows, strict=True) if row[0]}
    return finished(
        name,
        float(whole[0, 1] / whole[0, 0]),
        _divided(drawn[:, 1], drawn[:, 0]),
        plan,
        n_items=int(rows[:, 0].sum()),
        n_clusters=len(here),
        n_raters=1,
        method="mean over decisions",
    )


def _padded(families: Families, decisions: Sequence[Decided]) -> Ints:
    """Return units in which every family of the report occurs, so that all rows draw from the same."""
    return np.concatenate([families.units(decisions), np.arange(len(families.codes))])


def _filled(rows: Floats, families: Families) -> Floats:
    return np.vstack([rows, np.zeros((len(families.codes), rows.shape[1]))])


def _divided(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)


def probed(decisions: Sequence[Decided]) -> list[Decided]:
    """Return the decisions at points of at least one probe."""
    return [one for one in decisions if one.is_probed]


def competence(one: Decided) -> float | None:
    """Return a decision's competence, None while a judge is waited for."""
    return one.result.competence


def stage_score(stage: str) -> Weigh:
    """Return what a stage's score adds to a mean: nothing where it is void, waits or does not apply."""
    return lambda one: one.result.stages[stage].score


def stage_passed(stage: str, settings: CascadeSettings) -> Weigh:
    """Return 1 where a stage's score is above its threshold, 0 where not, None where it was not reached."""
    tau = settings.tau[STAGES.index(stage)]

    def weigh(one: Decided) -> float | None:
        score = one.result.stages[stage].score
        return None if score is None else float(score > tau)

    return weigh


def funnel(decisions: Sequence[Decided], settings: CascadeSettings) -> dict[str, int]:
    """Return how many decisions reach each stage: nothing failed hard before it, and the reply was read."""
    reached = dict.fromkeys(STAGES, 0)
    for one in (one for one in decisions if one.is_read):
        for stage, tau in zip(STAGES, settings.tau, strict=True):
            reached[stage] += 1
            score = one.result.stages[stage].score
            if score is not None and score <= tau:
                break
    return reached


def failures(decisions: Sequence[Decided]) -> Counter[str]:
    """Return how many decisions failed first at each stage, at `none`, or at '' (a judge is waited for)."""
    return Counter(one.result.failed_at or "" for one in decisions)


def failed_at(stage: str) -> Weigh:
    """Return 1 where a decision failed first at a stage, 0 where it did not or a judge is waited for."""
    return lambda one: float(one.result.failed_at == stage)


@dataclass(frozen=True)
class Restraint:
    """The restraint panel, over points of the two classes; replies that could not be read are left out."""

    intrusion: Result
    miss: Result
    recall: Result
    precision: Result
    f1: Result
    balanced: Result
    n_unread: int


def restraint(decisions: Sequence[Decided], families: Families, plan: Plan) -> Restraint:
    """Return how well an agent keeps out and joins in where it must."""
    used = [one for one in decisions if one.must and one.is_read]
    rows = np.array([_restrained(one) for one in used], dtype=np.float64).reshape(len(used), 5)
    n_unread = sum(not one.is_read for one in decisions)
    if not len(used):
        nothing = Result(
            "restraint", status="insufficient", reason="no point where one must speak or stay out"
        )
        return Restraint(nothing, nothing, nothing, nothing, nothing, nothing, n_unread)
    whole, drawn = totals(_padded(families, used), _filled(rows, families), plan)

    def made(name: str, compute: Callable[[Floats], Floats], counted: float, undefined: str) -> Result:
        return finished(
            name,
            float(compute(whole)[0]),
            compute(drawn),
            plan,
            n_items=int(counted),
            n_clusters=len({one.family for one in used}),
            n_raters=1,
            method="share of decisions",
            undefined=undefined,
        )

    speak, out, said, barged, _ = whole[0]
    return Restraint(
        made("intrusion_rate", lambda s: _divided(s[:, 3], s[:, 1]), out, "no point to stay out of"),
        made("miss_rate", lambda s: _divided(s[:, 4], s[:, 0]), speak, "no point where one must speak"),
        made("recall", _recall, speak, "no point where one must speak"),
        made("precision", _precision, said + barged, "it never said anything at these points"),
        made("f1", _f1, speak + out, "it never said anything where it must"),
        made(
            "balanced_accuracy",
            lambda s: (_recall(s) + 1 - _divided(s[:, 3], s[:, 1])) / 2,
            speak + out,
            "one of the two classes has no point",
        ),
        n_unread,
    )


def _restrained(one: Decided) -> tuple[float, float, float, float, float]:
    """Return (must speak, stay out, said where it must, said where not, silent where it must speak)."""
    must, out = one.must == MUST_SPEAK, one.must == STAY_OUT
    message, silence = one.act == "message", one.act == "silence"
    return float(must), float(out), float(must and message), float(out and message), float(must and silence)


def _recall(sums: Floats) -> Floats:
    return _divided(sums[:, 2], sums[:, 0])


def _precision(sums: Floats) -> Floats:
    return _divided(sums[:, 2], sums[:, 2] + sums[:, 3])


def _f1(sums: Floats) -> Floats:
    """Return the harmonic mean of precision and recall: 2 hits / (2 hits + intrusions + not said)."""
    hits = sums[:, 2]
    return _divided(2 * hits, 2 * hits + sums[:, 3] + (sums[:, 0] - hits))


@dataclass(frozen=True)
class Reliability:
    """pass^k and pass@k by k, with the bounds where trials are undecided.

    ``low`` and ``high`` are pass^k with all undecided trials failed and succeeded.
    """

    n_scenarios: int
    fewest: int
    undecided: int
    pass_hat: dict[int, Result]
    pass_at: dict[int, Result]
    low: dict[int, float]
    high: dict[int, float]


def reliability(decisions: Sequence[Decided], query: CascadeQuery) -> Reliability:
    """Return the chance that k independent trials of a scenario all succeed, unbiased, over scenarios.

    A trial succeeds where every probed decision does; a decision that failed makes it fail, whatever waits.
    """
    trials: dict[tuple[int, int], list[Decided]] = defaultdict(list)
    for one in probed(decisions):
        trials[one.scenario, one.trial].append(one)
    counted: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    families: dict[int, str] = {}
    for (scenario, _), made in trials.items():
        success = _succeeded(made, query)
        counted[scenario][0 if success else 1 if success is not None else 2] += 1
        families[scenario] = made[0].family
    order = sorted(counted)
    right = [counted[one][0] for one in order]
    known = [counted[one][0] + counted[one][1] for one in order]
    waiting = [counted[one][2] for one in order]
    total = [n + w for n, w in zip(known, waiting, strict=True)]
    clusters = [families[one] for one in order]
    most = min(total, default=0)
    ks = [k for k in query.k if k <= max(most, 1)]
    return Reliability(
        n_scenarios=len(order),
        fewest=min(known, default=0),
        undecided=sum(waiting),
        pass_hat={k: pass_hat_k(right, known, k, clusters, query.plan) for k in ks},
        pass_at={k: pass_at_k(right, known, k, clusters, query.plan) for k in ks},
        low={k: _bound(right, total, k) for k in ks} if any(waiting) else {},
        high={k: _bound([c + w for c, w in zip(right, waiting, strict=True)], total, k) for k in ks}
        if any(waiting)
        else {},
    )


def _bound(right: Sequence[int], total: Sequence[int], k: int) -> float:
    value = pass_hat_k(right, total, k, None, Plan(0)).value
    return float("nan") if value is None else value


def _succeeded(made: Sequence[Decided], query: CascadeQuery) -> bool | None:
    """Return whether a trial succeeded, None while that is not decided."""
    if query.success == TURN_SCORE:
        scores = [one.result.turn_score for one in made]
        passed = [None if score is None else score >= query.threshold for score in scores]
    else:
        scores = [one.result.competence for one in made]
        passed = [None if score is None else score >= 1 for score in scores]
    if any(one is False for one in passed):
        return False
    return None if None in passed else True


def is_right(stage: str) -> Weigh:
    """Return 1 or 0 for a decision whose act, attention or addressees are those of the key.

    `speak`: the act is one that the key scores 1. `attend`: the stage's score. `addressed`: the declared
    addressees meet the key, whatever the act.
    """

    def speak(one: Decided) -> float | None:
        return float(one.key.speak.get(one.act, 0.0) == 1) if one.is_read else 0.0

    def attend(one: Decided) -> float | None:
        return float(one.attended or 0)

    def addressed(one: Decided) -> float | None:
        return None if one.addressed is None else float(one.addressed)

    return {"speak": speak, "attend": attend, "addressed": addressed}[stage]
