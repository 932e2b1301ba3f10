"""Weights of many clusters are drawn once and stored compactly; results do not change."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.statistics.core import resampling
from calibration.statistics.core.resampling import Plan, Resampling


def _weights(found: Resampling) -> np.ndarray:
    return np.concatenate(list(found.chunks()))


def _of(plan: Plan, n: int = 40) -> Resampling:
    return Resampling(plan, np.arange(n), n)


@pytest.mark.parametrize("axes", [None, (np.arange(40) // 8, np.arange(40) % 8)])
def test_kept_weights_are_the_very_weights_that_were_drawn(
    monkeypatch: pytest.MonkeyPatch, axes: tuple[np.ndarray, np.ndarray] | None
) -> None:
    monkeypatch.setattr(resampling, "KEEP", 0)
    found = Resampling(Plan(30), np.arange(40), 40, axes)
    first, second = _weights(found), _weights(found)
    assert first.dtype == second.dtype == np.float64
    assert (first == second).all()
    assert all(kept.dtype == np.uint8 for kept in found._stored_chunks)


def test_weights_of_many_clusters_are_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "KEEP", 0)
    drawn = []
    monkeypatch.setattr(
        resampling, "drawn_counts", lambda rng, n, rows: drawn.append(rows) or np.ones((rows, n))
    )
    found = _of(Plan(30))
    for _ in range(5):
        _weights(found)
    assert sum(drawn) == 30


def test_weights_too_many_to_keep_are_drawn_again_and_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "KEEP", 0)
    monkeypatch.setattr(resampling, "KEEP_SMALL", 0)
    found = _of(Plan(30))
    assert (_weights(found) == _weights(found)).all()
    assert not found._stored_chunks


def test_a_reader_that_stops_early_leaves_nothing_half_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "CHUNK", 40)
    found = _of(Plan(30))
    next(found.chunks())
    assert _weights(found).shape == (30, 40)
