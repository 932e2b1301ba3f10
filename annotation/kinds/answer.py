"""A reply of a script's main character to a question: a turn of a static continuation of the script."""

from annotation.kinds.base import ItemKind

ANSWER = ItemKind(
    key="answer",
    singular="answer",
    plural="answers",
    heading="Answers",
    points_at="turn",
    imported=False,
    shows="before",
    key_form="dialogue/continuation/turn",
)
