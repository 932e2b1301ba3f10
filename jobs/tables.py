"""Tables that suites extend: each has a name, and additions are loaded at first access.

A suite's `plugin.py` lists its additions per table, as import paths `module:name`. So the core starts without
importing any suite.
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
    """Add import paths `module:name` to tables by name; call before any table is read."""
    for table, addresses in entries.items():
        _addresses[table].extend(addresses)


def added(table: str) -> Iterator[Any]:
    """Yield the additions to a table, in order, importing their modules."""
    for address in _addresses[table]:
        module, name = address.split(":")
        yield getattr(import_module(module), name)


class Table(MutableMapping[str, T]):
    """Entries by key: the core's own, then the mappings added under the table's name."""

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
    """Functions of suites called at a hook of the core, by the hook's name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __iter__(self) -> Iterator[T]:
        return added(self._name)
