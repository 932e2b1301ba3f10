"""Three to ten responses to one context, or continuations of one dialogue, put into an order."""

from annotation.kinds.base import ItemKind

RANKING = ItemKind(
    key="ranking",
    singular="ranking",
    plural="rankings",
    heading="Rankings",
    points_at="members",
    imported=False,
    shows="members",
    key_form="dialogue/one/+/another/+/third",
    members=(3, 10),
)
