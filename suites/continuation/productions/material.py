"""Generators at work on material that no state holds, such as a script: read once by a worker, then kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol

from jobs.models.endpoint import Endpoint
from jobs.tables import Table
from suites.continuation.generators.generator import Generator, LruCache, MadeRecord, Settings
from suites.continuation.models import Production

BOUND_KEPT = 4
"""So many generators with their material stay in a process's memory."""


class Loader(Protocol):
    """What reads one kind of material. Both raise Failed where there is none."""

    def key(self, dialogue: int, settings: Settings, endpoint: Endpoint | None) -> Hashable:
        """Return what changes when the material does; quick to find out."""

    def load(self, dialogue: int, settings: Settings, endpoint: Endpoint | None) -> Any:
        """Return the material of a dialogue."""

    def mark_used(self, dialogue: int, settings: Settings) -> None:
        """Note that something is made of it now: what must not change after that does not."""

    def facts(self, condition: Mapping[str, Any]) -> dict[str, str]:
        """Return what a continuation's condition says of it beside the settings."""


LOADERS: Table[Loader] = Table("loaders")
"""Per need of a generator: what reads the material; other suites add theirs."""

RESULTS: Table[Callable[[Production, Sequence[MadeRecord], Any], Any]] = Table("results")
"""Per generator whose results are written elsewhere, too: writes what it made, records and text, in the
current transaction, and returns the production's result. Whoever makes records must have an entry. Other
suites add theirs."""
_bound: LruCache[Generator] = LruCache(BOUND_KEPT)


def bound(
    generator: Generator, *, dialogue: int, settings: Mapping[str, Any], endpoint: Endpoint | None
) -> Generator:
    """Return a generator bound to what it needs of a dialogue. Raises Failed where that is not there."""
    if not generator.needs:
        return generator
    loader = LOADERS[generator.needs]
    key = (generator.key, generator.needs, loader.key(dialogue, settings, endpoint))
    return _bound.get(key, lambda: generator.bound(loader.load(dialogue, settings, endpoint)))
