"""The published formulas written out slowly, item by item, as a reference for the fast implementations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np

Block = np.ndarray


def units_of(block: Block, least: int = 2) -> list[list[float]]:
    """Return the ratings of each item with at least `least` ratings."""
    rows = [[v for v in row if v == v] for row in block.tolist()]
    return [row for row in rows if len(row) >= least]


def gwet(block: Block, scale: Sequence[float], weight: str) -> float:
    """Return AC1 or AC2 (Gwet 2014): observed over items with two ratings, chance over all rated items."""
    q, place = len(scale), {v: i for i, v in enumerate(scale)}
    power = {"unweighted": 0, "linear": 1, "quadratic": 2}[weight]

    def w(i: int, j: int) -> float:
        return 1 - abs(i - j) ** power / (q - 1) ** power if i != j else 1.0

    observed = 0.0
    items = [[place[v] for v in unit] for unit in units_of(block)]
    for unit in items:
        for k in range(q):
            own, near = unit.count(k), sum(w(k, j) * unit.count(j) for j in range(q))
            observed += own * (near - 1) / (len(unit) * (len(unit) - 1)) / len(items)
    rated = units_of(block, least=1)
    used = [sum(unit.count(v) / len(unit) for unit in rated) / len(rated) for v in scale]
    total = sum(w(i, j) for i in range(q) for j in range(q))
    chance = total / (q * (q - 1)) * sum(p * (1 - p) for p in used)
    return (observed - chance) / (1 - chance)


def alpha(block: Block, level: str) -> float:
    """Return alpha over pairs of values, one by one, as in Krippendorff (2011)."""
    units = units_of(block)
    values = [v for unit in units for v in unit]
    often = {v: values.count(v) for v in sorted(set(values))}

    def distance(a: float, b: float) -> float:
        if a == b:
            return 0.0
        if level == "ordinal":
            low, high = min(a, b), max(a, b)
            between = sum(n for v, n in often.items() if low <= v <= high)
            return (between - (often[a] + often[b]) / 2) ** 2
        return {"nominal": 1.0, "interval": (a - b) ** 2, "ratio": ((a - b) / ((a + b) or 1)) ** 2}[level]

    within = sum(distance(a, b) / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2))
    across = sum(distance(a, b) for a, b in permutations(values, 2))
    return 1 - within / len(values) / (across / (len(values) * (len(values) - 1)))


def iccs(block: Block) -> dict[str, float]:
    """Return ICCs by Henderson's third method from whole projections, whatever cells are missing."""
    rows, columns = np.nonzero(~np.isnan(block))
    y, n = block[rows, columns], len(rows)
    item, rater = np.eye(len(block))[rows], np.eye(block.shape[1])[columns][:, np.unique(columns)]
    onto = {"i": _onto(item), "r": _onto(rater), "ir": _onto(np.hstack([item, rater]))}
    onto["1"] = _onto(np.ones((n, 1)))

    def component(design: Block, larger: str, smaller: str, noise: float) -> float:
        gained = y @ (onto[larger][0] - onto[smaller][0]) @ y
        free = np.trace(design.T @ (np.eye(n) - onto[smaller][0]) @ design)
        return float((gained - (onto[larger][1] - onto[smaller][1]) * noise) / free)

    def rest(of: str) -> float:
        left = n - onto[of][1]
        return float(y @ (np.eye(n) - onto[of][0]) @ y / left) if left else np.nan

    error, one_way, k = rest("ir"), rest("i"), rater.shape[1]
    by_rater = component(rater, "ir", "i", error)
    signals = {1: component(item, "i", "1", one_way)} | {f: component(item, "ir", "r", error) for f in (2, 3)}
    noises = {1: one_way, 2: by_rater + error, 3: error}
    units = {"1": 1, "k": k}
    return {
        f"icc_{f}_{u}": signals[f] / (signals[f] + noises[f] / m)
        for f in signals
        for u, m in units.items()
        if signals[f] + noises[f] / m > 1e-9
    }


def _onto(design: Block) -> tuple[Block, int]:
    left, sizes, _ = np.linalg.svd(design, full_matrices=False)
    left = left[:, sizes > 1e-9 * sizes.max()]
    return left @ left.T, left.shape[1]
