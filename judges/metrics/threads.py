"""One thread for the numerical libraries.

Threads that wait for each other burn more time on a metric's small matrices than they save, ten times as
much on a busy machine; and with one thread the order of sums does not depend on the number of cores.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

LIBRARIES = ("scipy.linalg", "sklearn.utils._openmp_helpers", "torch")
"""What brings thread pools of its own beside numpy's, once it is imported."""


def one_thread() -> AbstractContextManager[object]:
    """Return a context in which the libraries that are loaded now compute on one thread."""
    found: AbstractContextManager[object] = _pools(tuple(name in sys.modules for name in LIBRARIES)).limit(
        limits=1
    )
    return found


@cache
def _pools(loaded: tuple[bool, ...]) -> ThreadpoolController:
    """Return the pools there are; looking them up takes a thousand times as long as limiting them."""
    return ThreadpoolController()
