"""Unchanged judges raise few false alarms and changed ones are found, in simulations with known changes."""

from __future__ import annotations

import pytest

from benchmarks.drift import (
    CHANGED_STREAMS,
    LATE,
    MOVED_JUDGES,
    UNCHANGED_JUDGES,
    UNCHANGED_STREAMS,
    Judge,
    Stream,
    interval,
    monitored_streams,
    rechecks,
)
from calibration.statistics.monitoring import ALPHA

STATED = 0.05
"""Chance of `moved` where nothing moved, over all questions and tests."""
RESAMPLES = 400


@pytest.mark.exhaustive
@pytest.mark.parametrize("stream", UNCHANGED_STREAMS, ids=str)
def test_false_alarms_stay_below_the_stated_rate_over_a_thousand_streams(stream: Stream) -> None:
    figures = monitored_streams(stream, 1000)
    assert figures["high"] <= ALPHA, "the 95% interval of the rate, too"


@pytest.mark.exhaustive
def test_a_change_of_the_rate_is_found_the_more_often_the_larger_it_is() -> None:
    rows = [monitored_streams(stream, 60) for stream in CHANGED_STREAMS]
    assert sum(row["early"] for row in rows) <= ALPHA * sum(row["streams"] for row in rows)
    shares = {(row["kind"], row["baseline"], row["late"], row["changed_to"]): row["share"] for row in rows}
    for baseline, late in ((100, 0), (200, 0), (200, LATE)):
        shifts = [shares["share", baseline, late, rate] for rate in (0.4, 0.5, 0.6)]
        assert shifts == sorted(shifts)
        assert shifts[-1] > 0.8


def test_a_large_change_is_found_within_a_hundred_clusters() -> None:
    figures = monitored_streams(Stream("share", 0.3, 0.9), 20)
    assert (figures["alarms"], figures["early"]) == (20, 0)
    assert figures["median"] < 100


@pytest.mark.exhaustive
def test_an_unchanged_judge_is_seldom_said_to_have_moved() -> None:
    rows = [rechecks(judge, 100, RESAMPLES) for judge in UNCHANGED_JUDGES]
    for row in rows:
        assert row["low"] <= STATED, row
    total = sum(row["studies"] for row in rows)
    moved = round(sum(row["moved"] * row["studies"] for row in rows))
    assert interval(moved, total)[1] <= STATED, "the 95% interval of the rate over all kinds, too"
    assert all(row["stable"] == 1 for row in rows if row["wobble"] == 0)


@pytest.mark.exhaustive
def test_a_judge_that_moved_is_found_the_more_often_the_more_it_moved() -> None:
    rows = {judge: rechecks(judge, 40, RESAMPLES) for judge in MOVED_JUDGES}
    for judge, row in rows.items():
        if judge.share == 0.4:
            assert row["low"] > 0.8, row
        more = rows.get(Judge(judge.dialogues, judge.samples, 0.1, judge.change, 2 * judge.share))
        assert more is None or more["moved"] >= row["moved"], row


def test_a_judge_that_answers_at_random_has_moved_and_a_fixed_one_has_not() -> None:
    moved = rechecks(Judge(40, 2, 0.1, "random", 0.8), 10, 200)
    fixed = rechecks(Judge(40, 1, 0.0), 10, 200)
    assert (moved["moved"], fixed["stable"]) == (1, 1)
