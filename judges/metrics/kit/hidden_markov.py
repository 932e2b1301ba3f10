"""A hidden Markov model over symbols: its likelihood, its next symbol, and fitting by EM.

Compact, because no library for it is among Concord's: Baum and Welch's algorithm with scaled probabilities,
over many sequences at once. Arrays: start (S,), transitions (S, S), emissions (S, V); S states, V symbols.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Block = tuple[NDArray[np.int64], NDArray[np.int64]]
Counts = tuple[Array, Array, Array]
STATES = range(2, 7)
STARTS = 4
FIRST_ROUNDS = 15
ROUNDS = 200
ENOUGH = 1e-7
"""EM ends where a round adds less than this share of the log-likelihood."""
BLOCK = 256
"""Sequences that are in memory together."""


@dataclass(frozen=True)
class Model:
    """Probabilities of the first state, of the next state, and of a symbol in a state."""

    start: Array
    transitions: Array
    emissions: Array

    def forward(self, symbols: Sequence[int]) -> Array:
        """Return the forward probabilities after the last symbol, up to a factor that states share.

        All 0 where the model holds the sequence for impossible. There is at least one symbol.
        """
        alpha = self.start * self.emissions[:, symbols[0]]
        for symbol in symbols[1:]:
            total = alpha.sum()
            if total <= 0:
                break
            alpha = (alpha / total) @ self.transitions * self.emissions[:, symbol]
        return alpha

    def next_symbol(self, symbols: Sequence[int]) -> Array | None:
        """Return p(symbol | the symbols before it), shape (V,); None where those are impossible.

        sum_j [sum_i alpha_i a_ij] b_j(d) / sum_i alpha_i; without symbols the first one's probabilities.
        """
        if not len(symbols):
            return np.asarray(self.start @ self.emissions)
        alpha = self.forward(symbols)
        total = alpha.sum()
        return None if total <= 0 else np.asarray((alpha / total) @ self.transitions @ self.emissions)

    def log_likelihood(self, sequences: Sequence[Sequence[int]]) -> float:
        """Return the natural log of the probability of all sequences; minus infinity where one is
        impossible."""
        with np.errstate(divide="ignore"):
            return math.fsum(np.log(_forward(self, *block)[1]).sum() for block in _blocks(sequences))

    @property
    def size(self) -> int:
        """How many probabilities are free to choose."""
        states, symbols = self.emissions.shape
        return (states - 1) + states * (states - 1) + states * (symbols - 1)


def fit(sequences: Sequence[Sequence[int]], symbols: int, seed: int = 0) -> Model:
    """Return the model of 2 to 6 states with the least BIC, each fitted by EM from several seeded starts.

    BIC = size ln(number of symbols seen) - 2 log-likelihood. There is at least one sequence with a symbol.
    """
    kept = [one for one in sequences if len(one)]
    seen = sum(map(len, kept))
    best: tuple[float, Model] | None = None
    for states in STATES:
        model = fit_with(kept, symbols, states, seed)
        bic = model.size * math.log(seen) - 2 * model.log_likelihood(kept)
        if best is None or bic < best[0]:
            best = bic, model
    assert best is not None
    return best[1]


def fit_with(sequences: Sequence[Sequence[int]], symbols: int, states: int, seed: int = 0) -> Model:
    """Return the model with so many states to which EM leads from the most promising of several starts."""
    blocks = _blocks(sequences)
    draw = np.random.default_rng([seed, states])
    begun = [_climbed(_drawn(draw, states, symbols), blocks, FIRST_ROUNDS) for _ in range(STARTS)]
    return _climbed(max(begun, key=lambda pair: pair[0])[1], blocks, ROUNDS)[1]


def _drawn(draw: np.random.Generator, states: int, symbols: int) -> Model:
    return Model(
        draw.dirichlet(np.ones(states)),
        draw.dirichlet(np.ones(states), states),
        draw.dirichlet(np.ones(symbols), states),
    )


def _climbed(model: Model, blocks: Sequence[Block], rounds: int) -> tuple[float, Model]:
    """Return the log-likelihood and the model to which so many rounds of EM lead at most."""
    likelihood, counts = _expected(model, blocks)
    for _ in range(rounds):
        better = _maximised(model, counts)
        now, counts = _expected(better, blocks)
        if now - likelihood <= ENOUGH * abs(likelihood):
            return max((likelihood, model), (now, better), key=lambda pair: pair[0])
        likelihood, model = now, better
    return likelihood, model


def _expected(model: Model, blocks: Sequence[Block]) -> tuple[float, Counts]:
    """Return the log-likelihood, and how often each start, transition and emission is to be expected."""
    states, kinds = model.emissions.shape
    start, pairs, emitted = np.zeros(states), np.zeros((states, states)), np.zeros((kinds, states))
    likelihood = 0.0
    for symbols, lengths in blocks:
        alpha, scale, there = _forward(model, symbols, lengths)
        beta = _backward(model, symbols, scale, there)
        gamma = alpha * beta * there[:, :, None]
        start += gamma[:, 0].sum(axis=0)
        np.add.at(emitted, symbols[there], gamma[there])
        coming = model.emissions.T[symbols[:, 1:]] * beta[:, 1:] / scale[:, 1:, None] * there[:, 1:, None]
        left = alpha[:, :-1].reshape(-1, states)
        pairs += left.T @ coming.reshape(-1, states) * model.transitions
        likelihood += float(np.log(scale).sum())
    return likelihood, (start, pairs, emitted.T)


def _maximised(model: Model, counts: Counts) -> Model:
    start, pairs, emitted = counts
    return Model(start / start.sum(), _rows(pairs, model.transitions), _rows(emitted, model.emissions))


def _forward(
    model: Model, symbols: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return scaled forward probabilities (N, T, S), scales (N, T; 1 after an end), what is there (N, T)."""
    n, longest = symbols.shape
    there = np.arange(longest) < lengths[:, None]
    alpha = np.zeros((n, longest, len(model.start)))
    scale = np.ones((n, longest))
    for at in range(longest):
        ahead = (
            alpha[:, at - 1] @ model.transitions if at else np.broadcast_to(model.start, alpha[:, 0].shape)
        )
        now = ahead * model.emissions[:, symbols[:, at]].T
        total = now.sum(axis=1)
        scale[:, at] = np.where(there[:, at], total, 1.0)
        alpha[:, at] = np.where(total[:, None] > 0, now / np.where(total > 0, total, 1.0)[:, None], 0.0)
    return alpha, scale, there


def _backward(model: Model, symbols: NDArray[np.int64], scale: Array, there: NDArray[np.bool_]) -> Array:
    n, longest = symbols.shape
    beta = np.ones((n, longest, len(model.start)))
    for at in range(longest - 2, -1, -1):
        ahead = model.emissions[:, symbols[:, at + 1]].T * beta[:, at + 1] / scale[:, at + 1, None]
        beta[:, at] = np.where(there[:, at + 1, None], ahead @ model.transitions.T, 1.0)
    return beta


def _blocks(sequences: Sequence[Sequence[int]]) -> list[Block]:
    """Return sequences of like length together: symbols (N, T), 0 after an end, and lengths (N,)."""
    ordered = sorted((one for one in sequences if len(one)), key=len)
    return [_padded(ordered[at : at + BLOCK]) for at in range(0, len(ordered), BLOCK)]


def _padded(sequences: Sequence[Sequence[int]]) -> Block:
    lengths = np.array([len(one) for one in sequences], dtype=np.int64)
    padded = np.zeros((len(sequences), int(lengths.max())), dtype=np.int64)
    for row, one in zip(padded, sequences, strict=True):
        row[: len(one)] = one
    return padded, lengths


def _rows(counts: Array, before: Array) -> Array:
    """Return counts as shares of their rows; a row without any stays as it was."""
    totals = counts.sum(axis=1, keepdims=True)
    return np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), before)
