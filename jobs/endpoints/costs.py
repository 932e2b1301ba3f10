"""What a call costs."""

from __future__ import annotations

from decimal import Decimal

from jobs.models import Endpoint, Run

_MILLION = Decimal(1_000_000)


WHOLE = Decimal(1)


def cost(
    endpoint: Endpoint, tokens_in: int | None, tokens_out: int | None, share: Decimal = WHOLE
) -> Decimal | None:
    """Return the cost in the endpoint's currency; None where a price or a count is unknown.

    `share` is the part of the prices that is paid.
    """
    price_in, price_out = endpoint.price_in, endpoint.price_out
    if price_in is None or price_out is None or tokens_in is None or tokens_out is None:
        return None
    return (price_in * tokens_in + price_out * tokens_out) * share / _MILLION


def share_of(run: Run) -> Decimal:
    """Return the part of the ordinary price that a run's next calls cost."""
    if run.mode == Run.Mode.BATCH and run.endpoint is not None and run.endpoint.batch_share is not None:
        return run.endpoint.batch_share
    return WHOLE
