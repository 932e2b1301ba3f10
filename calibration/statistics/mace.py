"""MACE (Hovy et al. 2013): labels, and how often each rater knows the answer instead of guessing.

Each item has one true value, all values alike probable beforehand. A rater knows it with a probability of
their own (competence) and else answers by a habit of their own, whatever the item. Estimated by variational
Bayes with the paper's priors from several random starts, each until the lower bound on the log-likelihood no
longer rises; the start with the highest bound counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import digamma, gammaln, logsumexp

from calibration.statistics.core.data import Ratings
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.gold import Chosen, Estimation, Ties, from_posterior

RESTARTS = 10
ROUNDS = 10_000
TOLERANCE = 1e-12
"""Least gain of a round, as a share of the bound, for which another one is made."""
KNOWING, HABITS = 0.5, 10.0
"""Prior counts: of knowing and of guessing, and of each value among a rater's guesses."""


def mace(
    ratings: Ratings, *, ties: Ties = "none", seed: int = 0, restarts: int = RESTARTS, rounds: int = ROUNDS
) -> Chosen:
    """Return the most probable value per item; confidence is its probability.

    The same ratings and ``seed`` give the same labels, in whatever order items and raters come. Each rater
    comes with the competence (0 to 1) and the number of answers. ValueError without any rating.
    """
    order = sorted(range(len(ratings.items)), key=lambda row: ratings.items[row])
    columns = sorted(range(len(ratings.raters)), key=lambda column: ratings.raters[column])
    block = ratings.values[np.ix_(order, columns)]
    rows, places = np.nonzero(~np.isnan(block))
    if not len(rows):
        raise ValueError("there are no ratings")
    grid, codes = np.unique(block[rows, places], return_inverse=True)
    rated, items = np.unique(rows, return_inverse=True)
    present, raters = np.unique(places, return_inverse=True)
    answers = _Answers(items.ravel(), raters.ravel(), codes.ravel(), (len(rated), len(present), len(grid)))
    rng = np.random.default_rng(seed)
    fits = [answers.fitted(rng, rounds) for _ in range(restarts)]
    best = max(fits, key=lambda fit: fit.estimation.log_likelihood)

    probability = np.full((len(block), len(grid)), np.nan)
    probability[np.array(order)[rated]] = best.posterior
    n = (~np.isnan(ratings.values)).sum(axis=1)
    chosen = from_posterior(ratings, probability, grid, n, ties=ties, method=f"MACE, seed {seed}")
    counted = np.bincount(raters.ravel())
    learned = {
        ratings.raters[columns[place]]: {"competence": float(best.competence[at]), "n": int(counted[at])}
        for at, place in enumerate(present)
    }
    return replace(chosen, raters=learned, estimation=best.estimation)


@dataclass(frozen=True)
class _Fit:
    posterior: Floats
    competence: Floats
    estimation: Estimation


@dataclass(frozen=True)
class _Answers:
    """Each answer's item, rater and value, by codes; ``shape`` is how many there are of each."""

    items: Ints
    raters: Ints
    codes: Ints
    shape: tuple[int, int, int]

    def fitted(self, rng: np.random.Generator, rounds: int) -> _Fit:
        """Estimate from a random start, until the bound no longer rises."""
        _, n_raters, n_values = self.shape
        knowing, habits = (1 + 1.5 * rng.random((n_raters, width)) for width in (2, n_values))
        knowing /= knowing.sum(axis=1, keepdims=True)
        habits /= habits.sum(axis=1, keepdims=True)
        bound, converged, done = -np.inf, False, 0
        posterior, knows, _ = self.expected(knowing, habits)
        while done < rounds and not converged:
            knowing, habits, distance = self.maximised(knows)
            posterior, knows, likelihood = self.expected(knowing, habits)
            done += 1
            new = likelihood - distance
            converged = bool(new - bound <= TOLERANCE * abs(new))
            bound = new
        return _Fit(posterior, knowing[:, 1] / knowing.sum(axis=1), Estimation(done, bound, converged))

    def expected(self, knowing: Floats, habits: Floats) -> tuple[Floats, Floats, float]:
        """Return each item's probabilities, each answer's probability of knowledge, and the likelihood."""
        n_items, _, n_values = self.shape
        guess = knowing[self.raters, 0] * habits[self.raters, self.codes]
        right = guess + knowing[self.raters, 1]
        joint = np.bincount(
            self.items * n_values + self.codes, np.log(right / guess), minlength=n_items * n_values
        ).reshape(n_items, n_values)
        joint += np.bincount(self.items, np.log(guess), minlength=n_items)[:, None] - np.log(n_values)
        marginal = logsumexp(joint, axis=1, keepdims=True)
        posterior = np.exp(joint - marginal)
        knows = posterior[self.items, self.codes] * knowing[self.raters, 1] / right
        return posterior, knows, float(marginal.sum())

    def maximised(self, knows: Floats) -> tuple[Floats, Floats, float]:
        """Return raters' weights of guessing and knowing and of their habits, and the priors' distance."""
        _, n_raters, n_values = self.shape
        known, guessed = (np.bincount(self.raters, part, minlength=n_raters) for part in (knows, 1 - knows))
        cell = self.raters * n_values + self.codes
        guesses = np.bincount(cell, 1 - knows, minlength=n_raters * n_values)
        habits = guesses.reshape(n_raters, n_values).astype(np.float64)
        competences = np.column_stack([guessed, known]).astype(np.float64)
        distance = _divergence(competences, KNOWING) + _divergence(habits, HABITS)
        return _weights(competences + KNOWING), _weights(habits + HABITS), distance


def _weights(counts: Floats) -> Floats:
    """Return the exponential of each expected log-probability under a Dirichlet distribution."""
    return np.asarray(np.exp(digamma(counts) - digamma(counts.sum(axis=1, keepdims=True))))


def _divergence(counts: Floats, prior: float) -> float:
    """Return the Kullback-Leibler divergence of Dirichlet(counts + prior) from Dirichlet(prior), summed."""
    after, total = counts + prior, counts.sum(axis=1) + prior * counts.shape[1]
    size = counts.shape[1]
    normalised = gammaln(total) - gammaln(after).sum(axis=1) - gammaln(prior * size) + size * gammaln(prior)
    moved = (counts * (digamma(after) - digamma(total)[:, None])).sum(axis=1)
    return float((normalised + moved).sum())
