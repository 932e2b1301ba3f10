"""How a study reads votes on pairs and rankings, as its definition writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from calibration.errors import DefinitionError
from calibration.statistics.preferences.fitting import MODELS
from calibration.statistics.preferences.report import Choices
from calibration.statistics.preferences.votes import BOTH_BAD_POLICIES

KEYS = {"ties": tuple(MODELS), "both_bad": tuple(BOTH_BAD_POLICIES)}


def parse(raw: Any) -> Choices:
    """Return the choices of a definition's `preferences`; the defaults for None. Raises DefinitionError."""
    if raw is None:
        return Choices()
    if not isinstance(raw, Mapping) or (unknown := set(raw) - {*KEYS, "anchor"}):
        more = f", not {sorted(unknown)[0]!r}" if isinstance(raw, Mapping) else ""
        raise DefinitionError(f"preferences is an object with ties, both_bad and anchor{more}")
    told = {name: raw.get(name) or known[0] for name, known in KEYS.items()}
    for name, known in KEYS.items():
        if told[name] not in known:
            raise DefinitionError(f"{name} is one of {', '.join(known)}, not {told[name]!r}")
    anchor = raw.get("anchor") or ""
    if not isinstance(anchor, str):
        raise DefinitionError("anchor is the name of the system whose strength is 1000")
    return cast(Any, Choices)(told["ties"], told["both_bad"], anchor)


def written_choices(choices: Choices) -> dict[str, str]:
    """Return choices as definitions write them."""
    return {"ties": choices.model, "both_bad": choices.both_bad, "anchor": choices.anchor}
