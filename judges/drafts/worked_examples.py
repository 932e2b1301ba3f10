"""Worked examples of a draft: picked on its bench as they are for a version of a prompt, from dev alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judges.drafts import benches
from judges.models import Bench
from judges.prompt_versions.picking import Pick, pick
from judges.protocols import Wording

USUAL = 4
"""Examples in a call unless told."""


def picked(bench: Bench, variant: str, wording: Wording, told: Mapping[str, Any] | None) -> Wording:
    """Return a draft's text with examples picked as `told` says: a `rule`, and `n`, `items`, `judge` and
    `seed` where it has them. Without a rule the text is as it is. Raises JudgeError where there are none.
    """
    if not told or not told.get("rule"):
        return wording
    how = Pick(
        bench.corpus,
        told["rule"],
        told.get("n") or USUAL,
        tuple(told.get("items") or ()),
        told.get("judge") or "",
        told.get("seed") or 0,
    )
    return pick(benches.protocol_of(bench, variant), variant, wording, how)
