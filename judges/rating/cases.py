"""From a call to the case that a protocol reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.text.views import DEFAULT, View
from judges.material.loading import Material
from judges.protocols import Case
from judges.protocols.needs import Given


def case_of(
    material: Material,
    item: int | None,
    spec: Mapping[str, Any],
    given: Given | None = None,
    part: str = "",
) -> Case:
    """Return the case of an item (None: the whole continuation) as a judge of this spec sees it."""
    turn = None
    if item is not None:
        turn = next(index for index, pk in material.items.items() if pk == item)
    view = View(material.systems, tuple(spec.get("shows", DEFAULT)), told=material.told)
    return Case(material.dialogue, material.continuation, turn, view, given or {}, part)
