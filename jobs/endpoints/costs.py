"""What a call costs."""

from __future__ import annotations

from decimal import Decimal

from jobs.models import Endpoint

_MILLION = Decimal(1_000_000)


def cost(endpoint: Endpoint, tokens_in: int | None, tokens_out: int | None) -> Decimal | None:
    """Return the cost in the endpoint's currency; None where a price or a count is unknown."""
    price_in, price_out = endpoint.price_in, endpoint.price_out
    if price_in is None or price_out is None or tokens_in is None or tokens_out is None:
        return None
    return (price_in * tokens_in + price_out * tokens_out) / _MILLION
