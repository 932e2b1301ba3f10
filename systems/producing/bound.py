"""Generators at work on material that no state holds, such as a script: read once by a worker, then kept."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Protocol

from jobs.models import Endpoint
from systems.generators import Generator, Settings
from systems.long_dialogue.kept import Kept
from systems.producing import scripts, with_records

KEPT = 4
"""So many generators with their material stay in a process's memory."""


class Loader(Protocol):
    """What reads one kind of material. Both raise Failed where there is none."""

    def key(self, dialogue: int, settings: Settings, endpoint: Endpoint | None) -> Hashable:
        """Return what changes when the material does; quick to find out."""

    def load(self, dialogue: int, settings: Settings, endpoint: Endpoint | None) -> Any:
        """Return the material of a dialogue."""


LOADERS: dict[str, Loader] = {"script": scripts.LOADER, "records": with_records.LOADER}
"""Per need of a generator: what reads the material."""
_bound: Kept[Generator] = Kept(KEPT)


def bound(
    generator: Generator, *, dialogue: int, settings: Mapping[str, Any], endpoint: Endpoint | None
) -> Generator:
    """Return a generator bound to what it needs of a dialogue. Raises Failed where that is not there."""
    if not generator.needs:
        return generator
    loader = LOADERS[generator.needs]
    key = (generator.key, generator.needs, loader.key(dialogue, settings, endpoint))
    return _bound.get(key, lambda: generator.bound(loader.load(dialogue, settings, endpoint)))
