"""A fact that is said in a script, for review."""

from annotation.kinds.base import ItemKind

FACT = ItemKind(
    key="fact",
    singular="fact",
    plural="facts",
    heading="Facts",
    points_at="record",
    imported=False,
    shows="record",
    key_form="dialogue//fact/key",
)
