"""A signed-in researcher, registered toy generators, and models that answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from django.test import Client
    from pytest_django.fixtures import SettingsWrapper

    from tests.fake_llm import FakeLLM
    from tests.suites.continuation.toy import ToyModel


@pytest.fixture(autouse=True)
def _keys(settings: SettingsWrapper) -> None:
    """Allow the environment variables that these tests name as keys."""
    settings.KEY_VARIABLES = ["FAKE_API_KEY"]


@pytest.fixture
def signed_in(client: Client) -> Client:
    """Return a client signed in as a researcher."""
    from tests import factories  # after the project is loaded

    client.force_login(factories.user(researcher=True))
    return client


@pytest.fixture
def fake() -> Iterator[FakeLLM]:
    """Run a fake server."""
    from tests.fake_llm import FakeLLM  # after the project is loaded

    with FakeLLM() as server:
        yield server


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> Iterator[ToyModel]:
    """Register the toy generators, and run a model that answers them."""
    from suites.continuation.generators import GENERATORS
    from tests.suites.continuation.toy import TOYS, ToyModel

    for key, toy in TOYS.items():
        monkeypatch.setitem(GENERATORS, key, toy)
    with ToyModel() as model:
        yield model
