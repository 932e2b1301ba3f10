"""How numbers are written for people, the same on pages, in reports, in files and in the terminal."""

from __future__ import annotations

from decimal import Decimal

MISSING = "–"
MINUS = "\N{MINUS SIGN}"
SMALL, LEAST_SHOWN = 0.01, 0.000001
"""Amounts of money below these have more decimals, and none that could be told."""


def number(value: float | None, digits: int = 2) -> str:
    """Return a number with so many decimals and a true minus, never minus zero; a dash for None."""
    if value is None:
        return MISSING
    text = f"{value:.{digits}f}"
    return (text if float(text) else text.lstrip("-")).replace("-", MINUS)


def percent(share: float | None, digits: int = 0) -> str:
    """Return a share from 0 to 1 in per cent; a dash for None."""
    return MISSING if share is None else f"{number(100 * share, digits)}%"


def money(amount: Decimal | float, currency: str) -> str:
    """Return an amount with its currency: nothing as 0, little with six decimals, never as if it were 0."""
    amount = float(amount)
    if not amount:
        return f"0 {currency}"
    if 0 < amount < LEAST_SHOWN:
        return f"less than {LEAST_SHOWN:.6f} {currency}"
    return f"{amount:,.{6 if abs(amount) < SMALL else 4}f} {currency}".replace("-", MINUS)
