"""Homes for the tests that start the real program."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.embedded.layout import layout
from config.embedded.server import remove_home
from tests.platform.running import NOBODY, processes, wait_until


def _remove(home: Path) -> None:
    """Remove a home with its files outside of it, once its processes have ended."""
    wait_until(lambda: not processes(home))
    remove_home(layout(home))


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """Yield a home for one file of tests."""
    folder = Path(tempfile.mkdtemp(prefix="concord-platform-"))
    yield folder
    _remove(folder)


@pytest.fixture
def new_home() -> Iterator[Path]:
    """Yield a home for one test."""
    folder = Path(tempfile.mkdtemp(prefix="concord-platform-"))
    yield folder
    _remove(folder)


@pytest.fixture
def ordinary_home() -> Iterator[Path]:
    """Yield a home that belongs to an ordinary user, with a space in its path."""
    folder = Path(tempfile.mkdtemp(prefix="concord platform-"))
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    yield folder
    _remove(folder)
