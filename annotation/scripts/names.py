"""Other names for the people of a script: making the maps, checking them, and applying them."""

from __future__ import annotations

from annotation.scripts.map_checks import checked, problems
from annotation.scripts.name_maps import Person, anonymised, people_of, swapped
from annotation.scripts.records import NameMap as NameMap
from annotation.scripts.records import Script
from annotation.scripts.replacing import inverse, renamed
from annotation.scripts.rewriting import mapped, mapped_question, texts_of

__all__ = [
    "NameMap",
    "Person",
    "anonymised",
    "checked",
    "inverse",
    "mapped",
    "mapped_question",
    "names_of",
    "people_of",
    "problems",
    "renamed",
    "swapped",
    "texts_of",
]


def names_of(script: Script, names: str) -> NameMap | None:
    """Return a script's name map by what a condition calls it; None for `original`.

    `anonymised` is the newest of that kind, `anonymised:2` the second version. Raises ValueError where
    there is no such map.
    """
    kind, _, version = names.partition(":")
    if kind == "original":
        return None
    there = [one for one in script.names if one.kind == kind and version in ("", str(one.version))]
    if not there:
        raise ValueError(f"The script has no names {names!r}.")
    return max(there, key=lambda one: one.version)
