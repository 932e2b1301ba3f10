"""Reliability: whether k independent trials of a scenario all succeed. `group_chat.md`, section 7."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from calibration.cascade.decided import Decided
from calibration.cascade.figures import Families, divided, probed
from calibration.cascade.query import TURN_SCORE, CascadeQuery
from calibration.statistics import Plan, Result
from calibration.statistics.core.sums import finished
from calibration.statistics.repeats import pass_at_k, pass_hat_k


@dataclass(frozen=True, slots=True)
class Trials:
    """The trials of one scenario: how many succeeded, failed, and are not decided yet."""

    family: str
    right: int
    wrong: int
    waiting: int

    @property
    def known(self) -> int:
        """How many are decided."""
        return self.right + self.wrong


@dataclass(frozen=True)
class Reliability:
    """pass^k and pass@k by k, with the bounds where trials are undecided.

    ``low`` and ``high`` are pass^k with all undecided trials failed and succeeded.
    """

    trials: dict[int, Trials]
    pass_hat: dict[int, Result]
    pass_at: dict[int, Result]
    low: dict[int, float]
    high: dict[int, float]

    @property
    def fewest(self) -> int:
        """The smallest number of decided trials of a scenario."""
        return min((one.known for one in self.trials.values()), default=0)

    @property
    def undecided(self) -> int:
        """How many trials are not decided."""
        return sum(one.waiting for one in self.trials.values())


def reliability(
    decisions: Sequence[Decided], query: CascadeQuery, probed_points: Mapping[int, int], copies: int = 1
) -> Reliability:
    """Return the chance that k independent trials of a scenario all succeed, unbiased, over scenarios.

    ``probed_points`` is the number of probed points by scenario: a trial that lacks one is not decided.
    ``copies`` is how often each trial is counted: once, but for an agent that does the same every time.
    """
    trials = trials_of(decisions, query, probed_points, copies)
    order = list(trials.values())
    total = [one.known + one.waiting for one in order]
    right, known = [one.right for one in order], [one.known for one in order]
    most = min(total, default=0)
    ks = [k for k in query.k if k <= max(most, 1)]
    clusters = [one.family for one in order]
    waits = any(one.waiting for one in order)
    hopeful = [one.right + one.waiting for one in order]
    return Reliability(
        trials,
        pass_hat={k: pass_hat_k(right, known, k, clusters, query.plan) for k in ks},
        pass_at={k: pass_at_k(right, known, k, clusters, query.plan) for k in ks},
        low={k: _bound(right, total, k) for k in ks} if waits else {},
        high={k: _bound(hopeful, total, k) for k in ks} if waits else {},
    )


def trials_of(
    decisions: Sequence[Decided], query: CascadeQuery, probed_points: Mapping[int, int], copies: int = 1
) -> dict[int, Trials]:
    """Return the trials of each scenario with a probe, by scenario.

    A trial succeeds where every probed decision does; a decision that failed makes it fail, whatever waits.
    """
    made: dict[tuple[int, int], list[Decided]] = defaultdict(list)
    for one in probed(decisions):
        made[one.scenario, one.trial].append(one)
    counted: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    families: dict[int, str] = {}
    for (scenario, _), several in made.items():
        success = _succeeded(several, query)
        if success and len(several) < probed_points.get(scenario, 0):
            success = None
        counted[scenario][0 if success else 1 if success is not None else 2] += copies
        families[scenario] = several[0].family
    return {scenario: Trials(families[scenario], *counted[scenario]) for scenario in sorted(counted)}


def pass_difference(one: Reliability, other: Reliability, k: int, families: Families, plan: Plan) -> Result:
    """Return the paired difference of pass^k, one minus other, over the scenarios that both were tried on."""
    shared = [
        at
        for at, trials in one.trials.items()
        if trials.known >= k and at in other.trials and other.trials[at].known >= k
    ]
    if not shared:
        return Result(f"pass_hat_{k}", status="insufficient", reason=f"no scenario has {k} trials of both")
    rows = np.array(
        [(1.0, _all_of(one.trials[at], k) - _all_of(other.trials[at], k)) for at in shared]
    ).reshape(-1, 2)
    names = [one.trials[at].family for at in shared]
    whole, drawn = families.summed_by(names, rows, plan)
    return finished(
        f"pass_hat_{k}",
        float(whole[0, 1] / whole[0, 0]),
        divided(drawn[:, 1], drawn[:, 0]),
        plan,
        n_items=len(shared),
        n_clusters=len(set(names)),
        method="mean of the differences by scenario",
    )


def _all_of(trials: Trials, k: int) -> float:
    return comb(trials.right, k) / comb(trials.known, k)


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
