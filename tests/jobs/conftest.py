"""Shared fixtures for tests of background work."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def counting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the kind of job that these tests use."""
    from jobs import kinds  # models load once pytest has set Django up

    monkeypatch.setitem(kinds.KINDS, "count", "tests.jobs.kinds")
