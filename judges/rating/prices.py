"""What something would cost, in words: a price of 0 is a price, and where none is set it is not known."""

from __future__ import annotations

from decimal import Decimal

from annotation.text.numbers import money

NO_PRICES = "not known: the endpoint has no prices"
FREE = "free: the endpoint's prices are 0"
NOTHING = "nothing: there is nothing to send"


def in_words(cost: Decimal | None, currency: str, *, calls: int = 1) -> str:
    """Return an estimated cost of some calls in words."""
    if not calls:
        return NOTHING
    if cost is None:
        return NO_PRICES
    return money(cost, currency) if cost else FREE
