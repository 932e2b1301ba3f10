"""Anytime-valid monitoring of a rate: a confidence sequence, and an alarm with a stated false alarm rate.

Observations lie between 0 and 1 and are independent: one per cluster (the mean over its answers), in order
of time. All guarantees hold at every number of observations at once, so a monitor may be read after each of
them.

The confidence sequence is the hedged betting one of Waudby-Smith and Ramdas (2024, JRSS B 86:1, theorem 3),
with their predictable plug-in bets (equation 26). The alarm compares later observations with a baseline.
The baseline's rate lies in its interval but for a chance of 3/4 alpha. Bets against both ends of the
interval begin anew every few observations, and their capital is averaged with fixed weights: such a mean is
a nonnegative martingale (or falls on average) as long as the rate stays in the interval, so that it ever
reaches 4 / alpha with a chance of alpha / 4 at most (Ville 1939). Together the chance of ever raising a
false alarm is at most alpha."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.statistics.core.ratings import Floats

ALPHA = 0.05
OF_BASELINE = 0.75
"""Share of alpha that the interval of the baseline takes; the rest is left to the alarm."""
LEAST_BASELINE = 20
"""Fewest clusters of a baseline."""
RESTART_EVERY = 20
"""Number of observations after which new bets begin, so that a late change is not averaged with what
preceded."""
GRID = 501
"""Candidate rates of a confidence sequence, 0.002 apart."""
BOUND = 0.5
"""Largest share of the capital that a bet risks (the constant c of the paper)."""
MOST_POINTS = 300
"""Most points of a series that a chart shows."""


@dataclass(frozen=True)
class ConfidenceSequence:
    """Running means and bounds after each observation (n each); the bounds never widen."""

    alpha: float
    mean: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class Monitoring:
    """A monitored rate: the baseline with its interval, the later observations, and the evidence of a change.

    ``evidence`` is the capital of the bets after each later observation, and ``threshold`` (4 / alpha) the
    value at which the alarm is raised. ``alarm`` is the number of later observations at the first alarm, None
    without one. ``direction`` is `up` or `down` at the alarm, else empty. ``reason`` says why there is no
    monitoring. ``sequence`` is the confidence sequence of the later observations.
    """

    alpha: float
    n_baseline: int
    baseline: float | None = None
    low: float | None = None
    high: float | None = None
    evidence: Floats | None = None
    sequence: ConfidenceSequence | None = None
    alarm: int | None = None
    direction: str = ""
    reason: str = ""

    @property
    def threshold(self) -> float:
        """Evidence at which the alarm is raised."""
        return 1 / ((1 - OF_BASELINE) * self.alpha)

    @property
    def n_later(self) -> int:
        """Number of clusters after the baseline."""
        return 0 if self.evidence is None else len(self.evidence)


def confidence_sequence(
    observations: Floats, alpha: float = ALPHA, *, fixed: bool = False
) -> ConfidenceSequence:
    """Return the confidence sequence of the mean: with chance 1 - alpha it holds at all times at once.

    ``fixed``: bet for a narrow interval after all observations (equation 28), not at all times alike. Raises
    ValueError for observations outside 0 to 1, or for an alpha outside 0 to 1.
    """
    x = _checked(observations, alpha)
    n = len(x)
    if n == 0:
        return ConfidenceSequence(alpha, np.empty(0), np.empty(0), np.empty(0))
    grid = np.linspace(0, 1, GRID)
    bets = _plug_in_bets(x, alpha, fixed=fixed)
    with np.errstate(divide="ignore"):
        most_up = np.where(grid > 0, BOUND / np.maximum(grid, 1e-12), np.inf)
        most_down = np.where(grid < 1, BOUND / np.maximum(1 - grid, 1e-12), np.inf)
    low, high = np.empty(n), np.empty(n)
    above, below = np.zeros(GRID), np.zeros(GRID)
    is_possible = np.ones(GRID, np.bool_)
    for t in range(n):
        above += np.log1p(np.minimum(bets[t], most_up) * (x[t] - grid))
        below += np.log1p(-np.minimum(bets[t], most_down) * (x[t] - grid))
        is_possible &= np.maximum(above, below) < np.log(2 / alpha)
        possible = np.flatnonzero(is_possible)
        if not possible.size:  # between two candidates
            low[t:], high[t:] = (low[t - 1], high[t - 1]) if t else (0.0, 1.0)
            break
        low[t], high[t] = grid[max(possible[0] - 1, 0)], grid[min(possible[-1] + 1, GRID - 1)]
    return ConfidenceSequence(alpha, np.cumsum(x) / np.arange(1, n + 1), low, high)


def monitored(observations: Floats, n_baseline: int, alpha: float = ALPHA) -> Monitoring:
    """Compare observations after the first ``n_baseline`` ones with these, after every single one of them.

    Raises ValueError for observations outside 0 to 1, or for an alpha outside 0 to 1.
    """
    x = _checked(observations, alpha)
    if n_baseline < LEAST_BASELINE:
        raise ValueError(f"a baseline has at least {LEAST_BASELINE} clusters, not {n_baseline}")
    if len(x) < n_baseline:
        reason = f"{len(x)} clusters are answered, and the baseline takes {n_baseline}"
        return Monitoring(alpha, n_baseline, reason=reason)
    first, later = x[:n_baseline], x[n_baseline:]
    at_baseline = confidence_sequence(first, alpha * OF_BASELINE, fixed=True)
    low, high = float(at_baseline.low[-1]), float(at_baseline.high[-1])
    up = _capital(later, high, first)
    down = _capital(1 - later, 1 - low, 1 - first)
    evidence = (up + down) / 2
    reached = np.flatnonzero(evidence >= 1 / ((1 - OF_BASELINE) * alpha))
    alarm = int(reached[0]) + 1 if reached.size else None
    direction = "" if alarm is None else ("up" if up[alarm - 1] > down[alarm - 1] else "down")
    return Monitoring(
        alpha,
        n_baseline,
        float(first.mean()),
        low,
        high,
        evidence,
        confidence_sequence(later, alpha),
        alarm,
        direction,
    )


def _checked(observations: Floats, alpha: float) -> Floats:
    x = np.asarray(observations, np.float64)
    if not 0 < alpha < 1:
        raise ValueError(f"alpha lies between 0 and 1, not {alpha}")
    if x.size and not (np.isfinite(x).all() and x.min() >= 0 and x.max() <= 1):
        raise ValueError("observations lie between 0 and 1")
    return x


def _plug_in_bets(x: Floats, alpha: float, *, fixed: bool) -> Floats:
    """Return the bets before each observation, from the variance of those before it."""
    index = np.arange(1, len(x) + 1)
    mean = (0.5 + np.cumsum(x)) / (index + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2)) / (index + 1)
    before = np.concatenate([[0.25], variance[:-1]])
    horizon = len(x) if fixed else index * np.log1p(index)
    bets: Floats = np.sqrt(2 * np.log(2 / alpha) / (before * horizon))
    return bets


def _capital(x: Floats, rate: float, before: Floats) -> Floats:
    """Return the mean capital, after each observation, of bets that the mean of x exceeds ``rate``.

    Every `RESTART_EVERY` observations a bet starts with the weight 1 / ((k + 1) (k + 2)), k = 0, 1, ...;
    those that have not begun hold their weight. A bet risks the share that grows the capital fastest if the
    mean is the one seen so far (Waudby-Smith and Ramdas 2024, appendix B.3), and nothing while that is
    below the rate."""
    n = len(x)
    total = np.zeros(n)
    for k, start in enumerate(range(0, n, RESTART_EVERY)):
        own = x[start:]
        weight = 1 / ((k + 1) * (k + 2))
        index = np.arange(len(own))
        sums = np.concatenate([[0.0], np.cumsum(own)[:-1]])
        squares = np.concatenate([[0.0], np.cumsum(own**2)[:-1]])
        prior, spread = 2.0, max(float(before.var()), 0.01)
        mean = (prior * rate + sums) / (prior + index)
        variance = np.maximum(
            (prior * (spread + rate**2) + squares) / (prior + index) - mean**2, 1 / (4 * (prior + index))
        )
        excess = np.maximum(mean - rate, 0)
        bets = np.minimum(excess / (variance + excess**2), BOUND / max(rate, 1e-12))
        total[:start] += weight
        total[start:] += weight * np.exp(np.cumsum(np.log1p(bets * (own - rate))))
    begun = -(-n // RESTART_EVERY)
    return total + 1 / (begun + 1)  # the weights of all bets that have not begun: those from `begun` on
