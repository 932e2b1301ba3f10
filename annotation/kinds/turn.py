"""A turn of a continuation that is not given."""

from annotation.kinds.base import ItemKind

TURN = ItemKind(
    key="turn",
    singular="turn",
    plural="turns",
    heading="Turns",
    points_at="turn",
    imported=True,
    shows="before",
    key_form="dialogue/continuation/turn",
)
