"""Two responses to one context, or two continuations of one dialogue, compared with each other."""

from annotation.kinds.base import ItemKind

PAIR = ItemKind(
    key="pair",
    singular="pair",
    plural="pairs",
    heading="Pairs",
    points_at="members",
    imported=False,
    shows="members",
    key_form="dialogue/first/+/second",
    members=(2, 2),
)
