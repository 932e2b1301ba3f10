"""Plain proportions: Wilson's score interval (1927), for independent items only."""

from __future__ import annotations

from scipy.special import ndtri

from calibration.statistics.core.result import Result


def wilson_bounds(positive: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return the limits of Wilson's interval for ``positive`` of n (n > 0)."""
    z = float(ndtri((1 + level) / 2))
    p = positive / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    # At 0 and n of n the limit is exact; rounding must not push it past.
    return (0.0 if positive == 0 else max(0.0, centre - half)), (
        1.0 if positive == n else min(1.0, centre + half)
    )


def wilson(positive: int, n: int, level: float = 0.95) -> Result:
    """A proportion with Wilson's interval; too short where items come in clusters."""
    method = f"Wilson, {level:.0%}"
    if n <= 0:
        return Result("proportion", status="insufficient", reason="no items", method=method)
    if not 0 <= positive <= n:
        return Result(
            "proportion", status="rejected", reason=f"{positive} of {n} is not a proportion", method=method
        )
    low, high = wilson_bounds(positive, n, level)
    return Result("proportion", positive / n, low, high, n, n, 1, 0, method)
