"""Intervals of background work, in seconds, in one place."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings

POLL = 1.0
"""Poll interval of an idle worker that nothing wakes."""
LANE_POLL = 0.25
"""Interval in which a worker with a job in one lane looks for jobs of the other."""
SWEEP_EVERY = 15.0
"""Interval of the search for work of lost workers."""
TROUBLE_PAUSE = 15.0
"""Wait before the retry of a job after a temporary problem, such as a full disk."""
FORGOTTEN_AFTER = 3600.0
"""A worker not seen for this long is removed from the list."""
SEEN_LATELY = 30.0
"""A worker seen this recently shares an endpoint's connections."""
LOOK_FIRST = 10.0
"""First poll of a batch; later polls come whenever its age has grown by a tenth ..."""
LOOK_MOST = 600.0
"""... with at most this interval."""
SURE_AFTER = 90.0
"""A submission missing from the provider's batches after this long did not arrive."""

KEY_WAIT = 120.0
"""Maximum wait of a run for a worker that has its endpoint's key."""

FIRST_WAIT, LONGEST_WAIT = 10.0, 600.0
"""Bounds of the backoff after errors of a batch; see `wait`."""


def wait(tries: int) -> timedelta:
    """Return the backoff after consecutive errors: 10, 20, 40 ... s, at most ten minutes."""
    return timedelta(seconds=min(LONGEST_WAIT, FIRST_WAIT * 2 ** max(0, min(tries, 10) - 1)))


def lease() -> float:
    """Return the duration of a lease without a heartbeat."""
    return float(settings.LEASE_SECONDS)


def beat() -> float:
    """Return the heartbeat interval: six fit into a lease, so that a few missed beats lose nothing."""
    return min(5.0, lease() / 6)
