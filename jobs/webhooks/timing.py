"""When a delivery is tried again, and when an address is given up."""

from __future__ import annotations

import random
from datetime import timedelta

WAITS = (10, 60, 300, 1800, 7200, 21600, 43200)
"""Seconds after the first, second ... failed attempt: the last one comes after about a day."""
JITTER = 0.2
"""A wait is up to so much shorter or longer, so that what failed together does not come back together."""
TIMEOUT = 10.0
"""Seconds that an attempt takes at most, from the look-up of the name to the end of what is read."""
LEASE = 60.0
"""Longer than any attempt: nothing renews it."""
ROTATION = timedelta(hours=24)
"""For so long the secret before the last rotation signs, too."""
OFF_AFTER = timedelta(days=3)
"""An address at which nothing succeeded for so long is switched off."""
KEPT = timedelta(days=30)
"""Events and their deliveries are kept for so long."""


def wait(attempts: int) -> timedelta:
    """Return how long to wait after so many attempts (1 or more), none of which succeeded."""
    seconds = WAITS[min(attempts, len(WAITS)) - 1]
    return timedelta(seconds=seconds * random.uniform(1 - JITTER, 1 + JITTER))
