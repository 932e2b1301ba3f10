"""A fake endpoint for every test of judges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.fake_llm import FakeLLM


@pytest.fixture
def fake() -> Iterator[FakeLLM]:
    """A running fake server."""
    from tests.fake_llm import FakeLLM  # after the project is loaded

    with FakeLLM() as server:
        yield server
