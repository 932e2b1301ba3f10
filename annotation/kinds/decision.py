"""What an agent did at a point of a scenario: a turn of a static continuation of one."""

from annotation.kinds.base import ItemKind

DECISION = ItemKind(
    key="decision",
    singular="decision",
    plural="decisions",
    heading="Decisions",
    points_at="turn",
    imported=False,
    shows="before",
    key_form="dialogue/continuation/turn",
)
