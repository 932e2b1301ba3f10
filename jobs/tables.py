"""Tables that suites add to: each has a name, and what is added to it is loaded at the first look.

A suite's `plugin.py` lists what it adds, table by table, as addresses `module:name`. So the core starts
without any of it, and imports none of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_addresses: defaultdict[str, list[str]] = defaultdict(list)


def add(entries: Mapping[str, Sequence[str]]) -> None:
    """Add what stands at addresses `module:name` to tables, by the tables' names; before any is looked at."""
    for table, addresses in entries.items():
        _addresses[table].extend(addresses)


def added(table: str) -> Iterator[Any]:
    """Yield what was added to a table, in the order in which it was; modules are imported for it."""
    for address in _addresses[table]:
        module, name = address.split(":")
        yield getattr(import_module(module), name)


class Table(MutableMapping[str, T]):
    """Entries by key: the core's own, then those of the mappings that were added under the table's name."""

    def __init__(self, name: str, own: Mapping[str, T] | None = None) -> None:
        self._name, self._own = name, own or {}

    @cached_property
    def _entries(self) -> dict[str, T]:
        return {**self._own, **{key: entry for more in added(self._name) for key, entry in more.items()}}

    def __getitem__(self, key: str) -> T:
        return self._entries[key]

    def __setitem__(self, key: str, entry: T) -> None:
        self._entries[key] = entry

    def __delitem__(self, key: str) -> None:
        del self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


class Functions(Generic[T]):
    """The functions that suites have called at a moment of the core, by the moment's name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __iter__(self) -> Iterator[T]:
        return added(self._name)
