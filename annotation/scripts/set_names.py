"""Versions of question sets: NAME:2 in conditions and answers, NAME@2 in files; both are read everywhere."""

from __future__ import annotations

import re

_VERSION = re.compile(r"(.+)[:@]([0-9]{1,9})", re.DOTALL)


def parted(told: str) -> tuple[str, int | None]:
    """Return the name and the version that are told; None where no version is."""
    found = _VERSION.fullmatch(told.strip())
    return (found[1], int(found[2])) if found else (told.strip(), None)


def versioned(told: str) -> str:
    """Return NAME:VERSION however it is told, or the name alone where no version is."""
    name, version = parted(told)
    return name if version is None else f"{name}:{version}"
