"""ComperDial's rating of all of a system's responses to one dialogue, and what caused a low score.

The paper asks for the overall score first and then for a mark on each aspect that caused a low one
(appendix A.7.2). It does not define low for people; its own judge treats scores below 4 as the ones to
look into (the second step of CPDScore-Dialogue), so the aspects are asked for scores up to 3.
"""

from annotation.schemes.base import QuestionDefinition, SchemeDefinition
from annotation.schemes.comperdial_turn import ASPECTS, OVERALL_ANCHORS, SOURCE

LOW = 3
"""The highest overall score that is asked to be explained."""

GROUP = "What caused the low score?"

SHORTCUTS = dict(zip(ASPECTS, "asdjkl", strict=True))

GUIDELINES = """Read every exchange before rating: each shows the dialogue up to a point and the \
response given there. The dialogue itself is fixed, so a response does not know of the \
responses before it; rate them together, as the way in which this speaker talks.

Give the overall score first. If it is 1, 2 or 3, mark each aspect that pulled it down; leave the others \
unmarked.

{aspects}

Some weaknesses show only across several responses: always short and general; always the same pattern, \
such as sympathy first and then a story of one's own; always long and over-explained. A single short or \
long response is no fault: people vary, and so should the responses.""".format(
    aspects="\n".join(f"- {text}" for text in ASPECTS.values())
)


def _cause(aspect: str, text: str) -> QuestionDefinition:
    return QuestionDefinition(
        key=f"low_{aspect}",
        wording=aspect.replace("_", " ").capitalize(),
        level="binary",
        values=(0, 1),
        positive=1,
        group=GROUP,
        help={"definition": text.split(": ", 1)[1].capitalize()},
        shortcut=SHORTCUTS[aspect],
        show_if={"question": "overall", "max": LOW},
    )


SCHEME = SchemeDefinition(
    key="comperdial_dialogue",
    version=1,
    title="Quality of all responses, 1 to 5",
    item_kind="dialogue",
    unit="item",
    introduction="Read all exchanges, then rate the responses together.",
    questions=(
        QuestionDefinition(
            key="overall",
            wording="How good are these responses overall, taken together?",
            level="ordinal",
            values=(1, 2, 3, 4, 5),
            anchors=OVERALL_ANCHORS,
            help={"keep_in_mind": "\n".join(ASPECTS.values())},
        ),
        *(_cause(aspect, text) for aspect, text in ASPECTS.items()),
    ),
    guidelines=GUIDELINES,
    source=SOURCE,
    about_open=True,  # persona consistency cannot be judged without the profiles
)
