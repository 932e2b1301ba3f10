"""Which systems answered which dialogues."""

from __future__ import annotations

import numpy as np

from calibration.statistics.by_level.scored import Mask, Scored, Units


def on_shared_dialogues(scored: Scored) -> Scored:
    """Return what lies in the dialogues that all systems answered. ValueError where there is none."""
    chosen = shared_dialogues(scored.units)
    if not chosen.any():
        raise ValueError("no dialogue was answered by all systems: compare the systems on all they answered")
    return scored.take(chosen[scored.units.dialogues])


def answered(units: Units) -> Mask:
    """Return which systems (rows) answered which dialogues (columns)."""
    there = np.zeros((len(units.system_names), len(units.dialogue_names)), dtype=bool)
    there[units.systems, units.dialogues] = True
    return there


def shared_dialogues(units: Units) -> Mask:
    """Return which dialogues all systems answered that answered any."""
    there = answered(units)
    present = there[there.any(axis=1)]
    return np.asarray(present.all(axis=0)) if len(present) else np.zeros(there.shape[1], dtype=bool)


def systems_apart(units: Units) -> tuple[str, ...]:
    """Return the systems that answered other dialogues than the usual ones, in the order of their codes.

    Usual is the set that most systems answered; of several equally common ones the largest.
    """
    there = answered(units)
    present = np.flatnonzero(there.any(axis=1))
    sets, which, counted = np.unique(there[present], axis=0, return_inverse=True, return_counts=True)
    if len(sets) < 2:
        return ()
    usual = max(range(len(sets)), key=lambda at: (counted[at], sets[at].sum()))
    return tuple(units.system_names[system] for system in present[which.ravel() != usual])
