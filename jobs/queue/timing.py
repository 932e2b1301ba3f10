"""How often things happen in the background, in seconds; in one place."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings

POLL = 1.0
"""A worker without work looks again after so long, if nothing wakes it before."""
SWEEP_EVERY = 15.0
"""What lost workers held is looked for so often."""
TROUBLE_PAUSE = 15.0
"""A job that met trouble which passes by itself, such as a full disk, is tried again after so long."""
FORGOTTEN_AFTER = 3600.0
"""A worker that was not seen for so long is taken off the list."""
SEEN_LATELY = 30.0
"""A worker that was seen so recently shares an endpoint's connections."""
LOOK_FIRST = 10.0
"""A batch is looked at after so long, and then whenever it has grown a tenth older ..."""
LOOK_MOST = 600.0
"""... but at least so often."""
SURE_AFTER = 90.0
"""What was submitted and is not among the provider's batches so long afterwards did not arrive there."""

KEY_WAIT = 120.0
"""A run waits so long for a worker that has its endpoint's key."""

FIRST_WAIT, LONGEST_WAIT = 10.0, 600.0
"""Of a batch with which something goes wrong; see `wait`."""


def wait(tries: int) -> timedelta:
    """Return how long to wait after so many troubles in a row: 10, 20, 40 ... s, at most ten minutes."""
    return timedelta(seconds=min(LONGEST_WAIT, FIRST_WAIT * 2 ** max(0, min(tries, 10) - 1)))


def lease() -> float:
    """For how long work is held without a heartbeat."""
    return float(settings.LEASE_SECONDS)


def beat() -> float:
    """A heartbeat comes so often: six fit into a lease, so that a stall of some beats loses nothing."""
    return min(5.0, lease() / 6)
