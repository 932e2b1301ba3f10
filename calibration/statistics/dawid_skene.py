"""Dawid and Skene (1979): labels and each rater's confusion matrix together, by expectation maximisation.

Each item has one true class; given it, raters answer independently by their own confusion matrix. The
likelihood rises in every round; rounds go on until it no longer does. Raters who agree for a shared wrong
reason are taken to be right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array
from scipy.special import logsumexp

from calibration.statistics.core.data import Ratings
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.gold import Chosen, Estimation, Ties, from_posterior

ROUNDS = 20_000
TOLERANCE = 1e-12
"""Least gain of a round, as a share of the log-likelihood, for which another one is made."""


@dataclass(frozen=True)
class DawidSkene:
    """The gold labels (confidence is the class's posterior probability) and what was estimated with them.

    ``shares`` is each value's prevalence and ``confusion[rater][true, given]`` each rater's probabilities,
    both in the order of ``grid``; a row is NaN where no item has that true value.
    """

    gold: Chosen
    grid: tuple[float, ...]
    shares: Floats
    confusion: Mapping[str, Floats]
    posterior: Floats


def dawid_skene(
    ratings: Ratings,
    *,
    columns: Sequence[int] | None = None,
    same_rater: Mapping[str, str] | None = None,
    ties: Ties = "none",
    rounds: int = ROUNDS,
    tolerance: float = TOLERANCE,
) -> DawidSkene:
    """Fit the model to categorical ratings; items nobody rated get no label.

    ``same_rater`` maps column names to one rater where a rater answered more than once. ``ties`` is for
    values of the same posterior probability. Each rater comes with the probability of a right answer (the
    confusion matrix's diagonal, weighted by the values' shares) and the number of answers. ValueError
    without any rating.
    """
    chosen = list(range(len(ratings.raters))) if columns is None else list(columns)
    names = [(same_rater or {}).get(ratings.raters[j], ratings.raters[j]) for j in chosen]
    block = ratings.values[:, chosen]
    rows, places = np.nonzero(~np.isnan(block))
    if not len(rows):
        raise ValueError("there are no ratings")
    raters = list(dict.fromkeys(names))
    who = np.array([raters.index(name) for name in names])[places]
    grid, codes = np.unique(block[rows, places], return_inverse=True)
    rated, items = np.unique(rows, return_inverse=True)
    answers = _Answers.of(items.ravel(), who, codes.ravel(), len(raters), len(grid))
    fit = answers.fitted(rounds, tolerance)

    posterior = np.full((len(block), len(grid)), np.nan)
    posterior[rated] = fit.posterior
    n = (~np.isnan(block)).sum(axis=1)
    gold = from_posterior(ratings, posterior, grid, n, ties=ties, method="Dawid-Skene")
    counted = np.bincount(who, minlength=len(raters))
    confusion = {name: fit.confusion[at] for at, name in enumerate(raters)}
    learned = {
        name: {
            "accuracy": float(fit.shares @ np.nan_to_num(np.diag(confusion[name]))),
            "n": int(counted[at]),
        }
        for at, name in enumerate(raters)
        if counted[at]
    }
    gold = replace(gold, raters=learned, estimation=fit.estimation)
    return DawidSkene(gold, tuple(grid.tolist()), fit.shares, confusion, posterior)


@dataclass(frozen=True)
class _Fit:
    posterior: Floats
    shares: Floats
    confusion: Floats
    estimation: Estimation


@dataclass(frozen=True)
class _Answers:
    """How often each rater gave each value to an item: items x (raters x values), sparse."""

    given: csr_array
    n_raters: int
    n_values: int

    @staticmethod
    def of(items: Ints, raters: Ints, codes: Ints, n_raters: int, n_values: int) -> _Answers:
        """Count answers; one rater may answer an item several times."""
        shape = int(items.max()) + 1, n_raters * n_values
        ones = np.ones(len(items))
        return _Answers(csr_array((ones, (items, raters * n_values + codes)), shape), n_raters, n_values)

    def fitted(self, rounds: int, tolerance: float) -> _Fit:
        """Estimate from the shares of each item's answers on, until the likelihood no longer rises."""
        posterior = np.asarray(self.given @ np.tile(np.eye(self.n_values), (self.n_raters, 1)))
        posterior /= posterior.sum(axis=1, keepdims=True)
        likelihood, converged, done = -np.inf, False, 0
        while done < rounds and not converged:
            shares, confusion = self.maximised(posterior)
            posterior, new = self.expected(shares, confusion)
            done += 1
            converged = bool(new - likelihood <= tolerance * abs(new))
            likelihood = new
        shares, confusion = self.maximised(posterior)
        return _Fit(posterior, shares, confusion, Estimation(done, likelihood, converged))

    def maximised(self, posterior: Floats) -> tuple[Floats, Floats]:
        """Return the values' shares and P(given | true) as raters x true x given."""
        counts = np.asarray(self.given.T @ posterior).reshape(self.n_raters, self.n_values, self.n_values)
        counts = counts.transpose(0, 2, 1)
        total = counts.sum(axis=2, keepdims=True)
        confusion = np.where(total > 0, counts / np.where(total > 0, total, 1.0), np.nan)
        return posterior.mean(axis=0), confusion

    def expected(self, shares: Floats, confusion: Floats) -> tuple[Floats, float]:
        """Return each item's probabilities of the values and the log-likelihood."""
        with np.errstate(divide="ignore"):
            logs = np.log(np.nan_to_num(confusion)).transpose(0, 2, 1).reshape(-1, self.n_values)
            joint = np.asarray(self.given @ logs) + np.log(shares)
        marginal = logsumexp(joint, axis=1, keepdims=True)
        return np.exp(joint - marginal), float(marginal.sum())
