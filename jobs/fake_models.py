"""Fake models, for trying out and for tests: what they answer is never taken for a real model's.

Their names begin with `fake` (see `demo.fake_model`); names of judges, pages of runs and reports say it.
"""

from __future__ import annotations

from urllib.parse import urlsplit

MARK = "(fake model)"
"""In the name of every rater that asks one."""

BEGINNING = "fake"
"""How the names of fake models begin, in capitals or not."""

ENDPOINT = "fake model (for trying out)"
"""The endpoint that the demo makes."""


def earlier_port() -> int:
    """Return the port at which the demo's fake model answered last, 0 where there was none."""
    from jobs.models import Endpoint  # the models import this

    address = Endpoint.objects.filter(name=ENDPOINT).values_list("base_url", flat=True).first()
    return urlsplit(address or "").port or 0


def is_fake(model: str) -> bool:
    """Whether a model's name is a fake one's."""
    return model.casefold().startswith(BEGINNING)


def marked(model: str) -> str:
    """Return a model's name as raters and pages show it."""
    return f"{model} {MARK}" if is_fake(model) else model
