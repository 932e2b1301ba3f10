"""What tests of studies and reports share; each file makes the `rated` corpus that it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.test import Client

if TYPE_CHECKING:
    from calibration.models import Study
    from tests.calibration.world import World


@pytest.fixture
def study(rated: World) -> Study:
    """The automatic study."""
    from calibration.studies import actions as studies  # models load once pytest has set Django up

    return studies.automatic(corpus=rated.corpus)


@pytest.fixture
def researcher(client: Client) -> Client:
    """A researcher's browser."""
    from tests.factories import user

    client.force_login(user(researcher=True))
    return client
