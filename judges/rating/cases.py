"""From a call to the case that a protocol reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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
    sample: int = 0,
) -> Case:
    """Return the case of an item (None: the whole continuation) as a judge of this spec sees it.

    What is compared is shown in its own order in an even sample, the other way round in an odd one.
    """
    view = View(material.systems, tuple(spec.get("shows", DEFAULT)), told=material.told)
    if item is not None and (members := material.compared.get(item)):
        shown = tuple(range(len(members)))[:: -1 if sample % 2 else 1]
        own = tuple({one.continuation.id: one.continuation for one in members}.values())
        dialogue = replace(material.dialogue, continuations=own)
        whole = members[0].continuation
        return Case(dialogue, whole, None, view, given or {}, part, members, shown)
    turn = None
    if item is not None:
        turn = next(index for index, pk in material.items.items() if pk == item)
    return Case(material.dialogue, material.continuation, turn, view, given or {}, part)
