"""A whole continuation."""

from annotation.kinds.base import ItemKind

DIALOGUE = ItemKind(
    key="dialogue",
    singular="dialogue",
    plural="dialogues",
    heading="Conversations",
    points_at="continuation",
    imported=True,
    shows="whole",
    key_form="dialogue/continuation",
)
