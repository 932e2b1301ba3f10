"""Which metrics and which continuations: groups of keys, and the scenes of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from annotation.records import SELF, Dialogue
from judges.metrics import METRICS
from judges.metrics.kit.scene import Scene

ALL = "all"


def groups() -> list[str]:
    """Return the groups' names, `all` last. What needs a model from a hub is in none: name it by itself."""
    return [*dict.fromkeys(metric.group for metric in METRICS.values()), ALL]


def expand(keys: Iterable[str]) -> list[str]:
    """Return the keys with groups replaced by their metrics, each key once, in order."""
    known = groups()
    return list(dict.fromkeys(one for key in keys for one in (members(key) if key in known else [key])))


def members(group: str) -> list[str]:
    """Return the keys of a group's metrics, in the order of the table."""
    ready = [metric for metric in METRICS.values() if "language_model" not in metric.needs]
    return [metric.key for metric in ready if group in (ALL, metric.group)]


def scenes(dialogues: Iterable[Dialogue], *, own: bool = False) -> Iterator[Scene]:
    """Yield each dialogue's continuations; its own turns where it has no other, or where `own` says so."""
    for dialogue in dialogues:
        for continuation in dialogue.all_continuations():
            if continuation.id != SELF or own or not dialogue.continuations:
                yield Scene(dialogue, continuation)
