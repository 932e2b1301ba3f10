"""A marked corpus, and a researcher as a client of the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rest_framework.test import APIClient

if TYPE_CHECKING:
    from tests.calibration.counts.built import Made


@pytest.fixture
def made() -> Made:
    from tests.calibration.counts.built import Made, planted  # models load once the applications are loaded

    built = Made()
    built.mark("judge", planted)
    return built


@pytest.fixture
def api() -> APIClient:
    from tests.factories import user

    found = APIClient()
    found.force_authenticate(user(researcher=True))
    return found
