"""Monitoring of a rate raises few false alarms, however often it is read, and finds planted changes."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.statistics.monitoring import confidence_sequence, monitored


def test_a_stream_without_a_change_raises_no_alarm_and_one_with_a_change_does() -> None:
    rng = np.random.default_rng(1)
    healthy = monitored((rng.random(400) < 0.3).astype(float), 100)
    assert healthy.alarm is None
    assert healthy.n_later == 300
    for rate, direction in ((0.8, "up"), (0.0, "down")):
        changed = np.concatenate([rng.random(200) < 0.3, rng.random(300) < rate]).astype(float)
        shown = monitored(changed, 200)
        assert shown.direction == direction
        assert shown.alarm is not None
        assert shown.evidence is not None
        assert shown.evidence[shown.alarm - 1] >= shown.threshold == 80


def test_the_confidence_sequence_holds_at_all_times_and_never_widens() -> None:
    rng, missed = np.random.default_rng(2), 0
    for _ in range(60):
        sequence = confidence_sequence((rng.random(150) < 0.4).astype(float))
        missed += bool(((sequence.low > 0.4) | (sequence.high < 0.4)).any())
        assert (np.diff(sequence.low) >= 0).all()
        assert (np.diff(sequence.high) <= 0).all()
    assert missed <= 6


def test_too_few_clusters_are_a_reason_and_impossible_values_an_error() -> None:
    assert "the baseline takes 100" in monitored(np.zeros(10), 100).reason
    with pytest.raises(ValueError, match="between 0 and 1"):
        monitored(np.array([2.0] * 30), 20)
    with pytest.raises(ValueError, match="at least 20"):
        monitored(np.zeros(30), 5)
