"""Folders in the home for files that jobs read or write: private, and made at first use."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings


def private_folder(name: str) -> Path:
    """Return the folder of that name in the home; nobody else may look into it."""
    path = Path(settings.HOME) / name
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path
