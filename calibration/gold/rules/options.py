"""Options that several rules have: one name is one option."""

from __future__ import annotations

from calibration.gold.rules.base import Option

TIES = Option(
    "none",
    "What becomes of a tie.",
    {
        "none": "no gold label; the tie is listed",
        "lowest": "the lowest of the tied values",
        "highest": "the highest of the tied values",
    },
)
