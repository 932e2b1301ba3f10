"""The tree of SC-Gini `reference` equals SciPy's, which the published code calls, in less memory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import minimum_spanning_tree

from judges.metrics.participation import Similarities, spread

ROUNDING = np.float32(6e-8)


def by_scipy(similar: Similarities) -> float:
    if len(similar) < 2:
        return 0.0
    distances = np.maximum(1.0 - similar, 0.0)
    np.fill_diagonal(distances, 0.0)
    edges = minimum_spanning_tree(csr_matrix(distances)).data
    return float(edges.mean()) if len(edges) else 0.0


def cosines(rng: np.random.Generator, messages: int, distinct: int) -> Similarities:
    rows = rng.normal(size=(distinct, 4))[rng.integers(0, distinct, messages)].astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows @ rows.T)


@pytest.mark.parametrize("seed", range(40))
def test_the_tree_with_repeated_messages_is_that_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    similar = cosines(rng, int(rng.integers(1, 30)), int(rng.integers(1, 12)))
    rounded = similar + rng.choice([ROUNDING, -ROUNDING, 0], size=similar.shape).astype(np.float32)
    disconnected = np.where(rng.random(similar.shape) < 0.6, np.float32(1), similar)
    for matrix in (similar, rounded, disconnected):
        assert spread(matrix) == pytest.approx(by_scipy(matrix), abs=1e-12)
        some = np.flatnonzero(rng.random(len(matrix)) < 0.6)
        assert spread(matrix, some) == pytest.approx(by_scipy(matrix[np.ix_(some, some)]), abs=1e-12)


def test_messages_that_are_all_the_same_have_no_edge() -> None:
    assert spread(np.ones((5, 5), np.float32)) == 0.0
    assert spread(np.ones((0, 0), np.float32)) == 0.0
