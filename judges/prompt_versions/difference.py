"""What two versions of a prompt differ by, part by part."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.text.differences import Row, rows
from judges.protocols import Wording


@dataclass(frozen=True, slots=True)
class Part:
    """A part of two texts side by side."""

    name: str
    rows: tuple[Row, ...]

    @property
    def changed(self) -> bool:
        """Whether there is any difference."""
        return any(not (row.same or row.skipped) for row in self.rows)


def difference(first: Wording, second: Wording) -> list[Part]:
    """Return the parts of two texts: system, user, and, where either has them, form and examples."""
    found = [
        Part("system", rows(first.system, second.system)),
        Part("user", rows(first.user, second.user)),
    ]
    if first.form or second.form:
        found.append(Part("form", rows(first.form, second.form)))
    if first.examples or second.examples:
        found.append(Part("examples", rows(_listed(first), _listed(second))))
    return found


def _listed(wording: Wording) -> str:
    told = [f"{name}: {value}" for name, value in sorted(wording.picking.items())]
    return "\n".join(
        [*told, *(f"{one['key']} ({one['corpus']}): {one['reply']}" for one in wording.examples)]
    )
