"""Strengths by maximum likelihood, for many tables at once.

Bradley and Terry (1952): system i beats j with probability 1 / (1 + exp(s_j - s_i)). Davidson (1970) gives
ties a parameter of their own: with d = s_i - s_j, a win, a tie and a loss have the weights exp(d / 2), nu and
exp(-d / 2). Both likelihoods are concave; Newton's steps are halved where they overshoot. Strengths are
natural logarithms with mean 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit, log_expit

from calibration.statistics.core.types import Floats
from calibration.statistics.preferences.connected import Flags, connected, told_apart
from calibration.statistics.preferences.games import Tables

Model = Literal["half", "drop", "davidson"]
MODELS: dict[str, str] = {
    "half": "Bradley-Terry, a tie is half a win for each",
    "drop": "Bradley-Terry, ties left out",
    "davidson": "Davidson, ties with a parameter of their own",
}
STEPS, HALVINGS, CLOSE, NEAR, LONGEST, ROUNDING = 200, 40, 1e-10, 1e-6, 4.0, 1e-13
Of = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Fitted:
    """Strengths (rows x systems) and tie parameters (rows; 0 where ties have none), NaN where there is no
    maximum."""

    strengths: Floats
    tie: Floats

    def chances(self) -> Floats:
        """Return how often the row's system is expected to win over the column's, a tie as half."""
        d = self.strengths[:, :, None] - self.strengths[:, None, :]
        up, down = np.exp(d / 2), np.exp(-d / 2)
        nu = self.tie[:, None, None]
        return np.asarray((up + nu / 2) / (up + down + nu))


def scored(tables: Tables, model: Model) -> Floats:
    """Return the points of the row's system against the column's: wins, and half the ties unless dropped."""
    return tables.wins if model == "drop" else tables.wins + tables.ties / 2


def fitted(tables: Tables, model: Model) -> Fitted:
    """Fit every row of tables."""
    if model != "davidson":
        points = scored(tables, model)
        strengths, joined = np.full(points.shape[:2], np.nan), connected(points)
        strengths[joined] = bradley_terry(points[joined])
        return Fitted(strengths, np.zeros(len(strengths)))
    strengths, tie = np.full(tables.wins.shape[:2], np.nan), np.full(len(tables.wins), np.nan)
    without = ~(tables.ties > 0).any(axis=(1, 2))
    plain = without & connected(tables.wins)
    strengths[plain], tie[plain] = bradley_terry(tables.wins[plain]), 0.0
    have: Flags = ~without & told_apart(tables.wins, tables.ties)
    strengths[have], tie[have] = davidson(tables.wins[have], tables.ties[have])
    return Fitted(strengths, tie)


def bradley_terry(points: Floats) -> Floats:
    """Return the strengths of connected tables of points (rows x systems x systems)."""
    n = points + points.swapaxes(1, 2)

    def likelihood(s: Floats) -> Floats:
        return np.asarray((points * log_expit(s[:, :, None] - s[:, None, :])).sum(axis=(1, 2)))

    def step(s: Floats) -> Floats:
        p = expit(s[:, :, None] - s[:, None, :])
        slope = (points - n * p).sum(axis=2)
        return _solved(_laplacian(n * p * (1 - p)), slope)

    return _climbed(np.zeros(points.shape[:2]), likelihood, step)


def davidson(wins: Floats, ties: Floats) -> tuple[Floats, Floats]:
    """Return the strengths and tie parameters of tables of wins and (symmetric) ties that have a maximum."""
    n = wins + wins.swapaxes(1, 2) + ties
    size = wins.shape[1]

    def shares(s: Floats) -> tuple[Floats, Floats, Floats]:
        half = (s[:, :size, None] - s[:, None, :size]) / 2
        utility = np.stack([half, -half, np.broadcast_to(s[:, size, None, None], half.shape)])
        return (*(utility - np.logaddexp.reduce(utility, axis=0)),)

    def likelihood(s: Floats) -> Floats:
        up, _, tie = shares(s)
        return np.asarray((wins * up).sum(axis=(1, 2)) + (ties * tie).sum(axis=(1, 2)) / 2)

    def step(s: Floats) -> Floats:
        up, down, tie = (np.exp(share) for share in shares(s))
        slope = np.empty_like(s)
        slope[:, :size] = (wins - wins.swapaxes(1, 2) - n * (up - down)).sum(axis=2) / 2
        slope[:, size] = (ties - n * tie).sum(axis=(1, 2)) / 2
        bend = np.zeros((len(s), size + 1, size + 1))
        bend[:, :size, :size] = _laplacian(n * ((up + down) - (up - down) ** 2) / 4)
        bend[:, :size, size] = bend[:, size, :size] = -(n * tie * (up - down)).sum(axis=2) / 2
        bend[:, size, size] = (n * tie * (1 - tie)).sum(axis=(1, 2)) / 2
        return _solved(bend, slope)

    found = _climbed(np.zeros((len(wins), size + 1)), likelihood, step)
    return found[:, :size] - found[:, :size].mean(axis=1, keepdims=True), np.exp(found[:, size])


def _laplacian(weights: Floats) -> Floats:
    """Return minus the second derivatives in the strengths; 1 added everywhere keeps their sum at 0."""
    size = weights.shape[1]
    diagonal = np.eye(size)
    return np.asarray(diagonal * weights.sum(axis=2)[:, :, None] - weights * (1 - diagonal) + 1.0)


def _solved(bend: Floats, slope: Floats) -> Floats:
    found = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
    longest = np.abs(found).max(axis=1, initial=0.0, keepdims=True)
    return np.asarray(found * np.minimum(1.0, LONGEST / np.maximum(longest, LONGEST)))


def _climbed(at: Floats, likelihood: Of, step: Of) -> Floats:
    """Climb to the maximum from ``at`` by Newton's steps, halved in the rows where they lead down.

    ArithmeticError where a row does not get there: a defect, as a maximum exists.
    """
    height, last = likelihood(at), np.inf
    for _ in range(STEPS):
        move = step(at)
        for _ in range(HALVINGS):
            higher = likelihood(at + move)
            down = higher < height - ROUNDING * np.abs(height)
            if not down.any():
                break
            move = np.where(down[:, None], move / 2, move)
        at, height = at + move, higher
        longest = float(np.abs(move).max(initial=0.0))
        if longest < CLOSE or max(longest, last) < NEAR:  # two short steps: the second is rounding
            return at
        last = longest
    raise ArithmeticError(f"strengths did not settle within {STEPS} steps")
