"""Fake endpoint and API keys for every test of judges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

    from tests.fake_llm import FakeLLM


@pytest.fixture(autouse=True)
def _keys(settings: SettingsWrapper) -> None:
    """Allow the environment variables that these tests name as keys."""
    settings.KEY_VARIABLES = ["FAKE_API_KEY", "NOT_SET_API_KEY", "SOME_API_KEY"]


@pytest.fixture
def fake() -> Iterator[FakeLLM]:
    """Run a fake server."""
    from tests.fake_llm import FakeLLM  # after the project is loaded

    with FakeLLM() as server:
        yield server
