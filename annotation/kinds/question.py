"""A question about a script, for review."""

from annotation.kinds.base import ItemKind

QUESTION = ItemKind(
    key="question",
    singular="question",
    plural="questions",
    heading="Questions",
    points_at="record",
    imported=False,
    shows="record",
    key_form="dialogue//question/key",
)
