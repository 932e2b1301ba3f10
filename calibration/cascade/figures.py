"""The figures of a Cascade report, each with its interval over families.

All figures are functions of sums over decisions, resampled by family with the same draws, so that differences
between systems are paired. `group_chat.md`, section 7. No figure mixes the three scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from annotation.scenarios.records import STAGES, CascadeSettings
from calibration.cascade.reading import Decided
from calibration.statistics import Plan, Result
from calibration.statistics.core.resampling import Resampling
from calibration.statistics.core.sums import finished
from calibration.statistics.core.types import Floats

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

    def summed(self, decisions: Sequence[Decided], rows: Floats, plan: Plan) -> tuple[Floats, Floats]:
        """Return the totals of rows (decisions x d) as 1 x d, and those of every resample of families."""
        return self.summed_by([one.family for one in decisions], rows, plan)

    def summed_by(self, names: Sequence[str], rows: Floats, plan: Plan) -> tuple[Floats, Floats]:
        """Return the same of rows whose families are named."""
        sums = np.zeros((len(self.codes), rows.shape[1]))
        np.add.at(sums, [self.codes[name] for name in names], rows)
        return sums.sum(axis=0)[None, :], _weights(len(self.codes), plan) @ sums


@lru_cache(maxsize=8)
def _weights(n: int, plan: Plan) -> Floats:
    """Return how often each of n families is drawn, resamples x n: the same for every figure of a report."""
    drawn = list(Resampling(plan, np.arange(n), n).chunks())
    return np.concatenate(drawn) if drawn else np.empty((0, n))


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
    if not first[:, 0].any() or not second[:, 0].any():
        return Result(name, status="insufficient", reason=FEW)
    whole, drawn = families.summed([*one, *other], rows, plan)

    def compute(sums: Floats) -> Floats:
        return np.asarray(divided(sums[:, 1], sums[:, 0]) - divided(sums[:, 3], sums[:, 2]))

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
    whole, drawn = families.summed(decisions, rows, plan)
    here = {one.family for one, row in zip(decisions, rows, strict=True) if row[0]}
    return finished(
        name,
        float(whole[0, 1] / whole[0, 0]),
        divided(drawn[:, 1], drawn[:, 0]),
        plan,
        n_items=int(rows[:, 0].sum()),
        n_clusters=len(here),
        n_raters=1,
        method="mean over decisions",
    )


def divided(above: Floats, below: Floats) -> Floats:
    """Return quotients, NaN where nothing is below."""
    return np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)


def probed(decisions: Sequence[Decided]) -> list[Decided]:
    """Return the decisions at points of at least one probe."""
    return [one for one in decisions if one.is_probed]


def competence(one: Decided) -> float | None:
    """Return a decision's competence, None while a judge is waited for."""
    return one.result.competence


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
