"""Which metrics and which continuations: groups of keys, and the scenes of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from annotation.kinds import KINDS
from annotation.records import SELF, Dialogue
from judges.metrics import METRICS
from judges.metrics.kit.base import Metric
from judges.metrics.kit.scene import Scene

GROUPS = {
    "local": "MPCEval's metrics of a turn",
    "global": "MPCEval's metrics of a whole conversation",
    "baselines": "ComperDial's baselines of a turn",
    "all": "all of these",
}
"""Groups hold the metrics that need no model from a hub; those are named one by one."""


def expand(keys: Iterable[str]) -> list[str]:
    """Return the keys with groups replaced by their metrics, each key once, in order."""
    found: dict[str, None] = {}
    for key in keys:
        for one in members(key) if key in GROUPS else [key]:
            found[one] = None
    return list(found)


def members(group: str) -> list[str]:
    """Return the keys of a group's metrics, in the order of the table."""
    ready = [metric for metric in METRICS.values() if "language_model" not in metric.needs]
    return [metric.key for metric in ready if group in ("all", group_of(metric))]


def group_of(metric: Metric) -> str:
    """Return the group that a metric belongs to."""
    if metric.aspect in ("reference", "quality"):
        return "baselines"
    return "local" if KINDS[metric.kind].has_turn else "global"


def scenes(dialogues: Iterable[Dialogue], *, own: bool = False) -> Iterator[Scene]:
    """Yield each dialogue's continuations; its own turns where it has no other, or where `own` says so."""
    for dialogue in dialogues:
        for continuation in dialogue.all_continuations():
            if continuation.id != SELF or own or not dialogue.continuations:
                yield Scene(dialogue, continuation)
