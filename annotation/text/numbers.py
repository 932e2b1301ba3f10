"""How numbers are written for people, the same on pages, in reports, in files and in the terminal."""

from __future__ import annotations

MISSING = "–"
MINUS = "\N{MINUS SIGN}"


def number(value: float | None, digits: int = 2) -> str:
    """Return a number with so many decimals and a true minus, never minus zero; a dash for None."""
    if value is None:
        return MISSING
    text = f"{value:.{digits}f}"
    return (text if float(text) else text.lstrip("-")).replace("-", MINUS)


def percent(share: float | None, digits: int = 0) -> str:
    """Return a share from 0 to 1 in per cent; a dash for None."""
    return MISSING if share is None else f"{number(100 * share, digits)}%"
