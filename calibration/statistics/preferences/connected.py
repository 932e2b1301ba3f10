"""Whether strengths of systems exist: who is connected with whom by wins in both directions.

Bradley-Terry strengths have a maximum of likelihood exactly where, however the systems are parted in two
groups, somebody of each won against somebody of the other (Ford 1957). With a tie parameter of its own
(Davidson 1970) more is needed: a round of systems with more wins than ties along it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import connected_components

from calibration.statistics.core.types import Floats

Flags = npt.NDArray[np.bool_]


def connected(beaten: Floats) -> Flags:
    """Return per row whether each system leads to each other along beaten > 0 (rows x systems x systems).

    One system alone is not connected with anything.
    """
    n = beaten.shape[-1]
    reach = ((beaten > 0) | np.eye(n, dtype=np.bool_)).astype(np.float32)
    for _ in range(max(1, int(np.ceil(np.log2(max(n, 2)))))):
        reach = (np.matmul(reach, reach) > 0).astype(np.float32)
    return np.asarray((reach > 0).all(axis=(1, 2)) & (n > 1))


def told_apart(wins: Floats, ties: Floats) -> Flags:
    """Return per row whether Davidson's model has a maximum: connected, and a round with more wins than ties.

    A likelihood that never falls raises the tie parameter by 1 and keeps every winner at least 2 above whom
    it beat and those tied within 2 of each other. Such levels exist unless a round of -2 a win and +2 a tie
    is below 0 (Bellman and Ford).
    """
    steps = np.where(wins > 0, -2.0, np.where(ties > 0, 2.0, np.inf))
    level = np.zeros(wins.shape[:2])
    moved = np.zeros(wins.shape[:2], dtype=np.bool_)
    for _ in range(wins.shape[1]):
        lower = np.minimum(level, (level[:, :, None] + steps).min(axis=1))
        moved = lower < level
        level = lower
    return np.asarray(connected(wins + ties) & moved.any(axis=1))


def why_not(beaten: Floats, systems: Sequence[str]) -> str:
    """Say why one table (systems x systems) has no finite strengths; empty where it has."""
    parts, part_of = connected_components(beaten > 0, connection="weak")
    if parts > 1:
        group = part_of == part_of[0]
        return (
            f"never compared: {_named(systems, group)} with {_named(systems, ~group)}; "
            "strengths need comparisons that connect all systems"
        )
    parts, part_of = connected_components(beaten > 0, connection="strong")
    if parts == 1:
        return ""
    for part in range(parts):
        group = part_of == part
        if not (beaten[~group][:, group] > 0).any():
            return (
                f"{_named(systems, group)} never lost a point to {_named(systems, ~group)}: "
                "the strength that fits best is infinite"
            )
    raise AssertionError("of several strong components one has nothing leading into it")


def _named(systems: Sequence[str], group: Flags, most: int = 4) -> str:
    names = [name for name, mine in zip(systems, group, strict=True) if mine]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
