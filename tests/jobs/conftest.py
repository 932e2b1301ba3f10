"""What tests of background work share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def counting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the kind of job of these tests into the table."""
    from jobs import kinds  # models load once pytest has set Django up

    monkeypatch.setitem(kinds.KINDS, "count", "tests.jobs.kinds")
