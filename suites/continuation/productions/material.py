"""Generators bound to material too large for a state, such as a script; workers load and cache it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol

from jobs.models.endpoint import Endpoint
from jobs.tables import Table
from suites.continuation.generators.generator import Generator, LruCache, MadeRecord, Settings
from suites.continuation.models import Production

BOUND_KEPT = 4
"""Generators that a process keeps in memory with their material."""


class Loader(Protocol):
    """Loader of one kind of material. `key` and `load` raise Failed where there is none."""

    def key(self, dialogue: int, settings: Settings, endpoint: Endpoint | None) -> Hashable:
        """Return a key that changes with the material; must be quick."""

    def load(self, dialogue: int, settings: Settings, endpoint: Endpoint | None) -> Any:
        """Return the material of a dialogue."""

    def mark_used(self, dialogue: int, settings: Settings) -> None:
        """Mark the material as used, so that parts that must then stay fixed cannot change."""

    def facts(self, condition: Mapping[str, Any]) -> dict[str, str]:
        """Return facts about the material for a continuation's condition, beside the settings."""


LOADERS: Table[Loader] = Table("loaders")
"""Loader of the material, by a generator's `needs`; other suites register theirs."""

RESULTS: Table[Callable[[Production, Sequence[MadeRecord], Any], Any]] = Table("results")
"""Writers of results stored outside productions, by generator. Each stores records and text in the current
transaction and returns the production's result. A generator of records must have an entry. Other suites
register theirs."""
_bound: LruCache[Generator] = LruCache(BOUND_KEPT)


def bound(
    generator: Generator, *, dialogue: int, settings: Mapping[str, Any], endpoint: Endpoint | None
) -> Generator:
    """Return a generator bound to its material of a dialogue. Raises Failed where there is none."""
    if not generator.needs:
        return generator
    loader = LOADERS[generator.needs]
    key = (generator.key, generator.needs, loader.key(dialogue, settings, endpoint))
    return _bound.get(key, lambda: generator.bound(loader.load(dialogue, settings, endpoint)))
