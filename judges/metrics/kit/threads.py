"""One thread for the numerical libraries.

Threads that wait for each other burn more time on a metric's small matrices than they save, ten times as
much on a busy machine; and with one thread the order of sums does not depend on the number of cores.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
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


_threads = threading.Lock()
_inside: list[int] = []
"""The number of threads to go back to, once for every caller that is inside `torch_on_one_thread`."""


@contextmanager
def torch_on_one_thread() -> Iterator[None]:
    """Run torch on one thread, as sums over several would come out in another order.

    The number is the whole process's, so of several callers at a time only the last to leave restores it.
    """
    os.environ.setdefault("MKL_CBWR", "AUTO")  # else where memory lies decides the order of MKL's sums
    import torch

    with _threads:
        _inside.append(_inside[0] if _inside else torch.get_num_threads())
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _threads:
            before = _inside.pop()
            if not _inside:
                torch.set_num_threads(before)
