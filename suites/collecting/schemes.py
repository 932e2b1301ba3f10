"""Schemes of collecting: the review of personas."""

from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition
from suites.collecting.personas import (
    BOTH,
    CONSISTENT,
    CORRECTED,
    FIRST,
    NEGATIVE,
    NEGATIVE_HEAD,
    SECOND,
)

PERSONA_GUIDELINES = """\
You see one persona: a name, an age, something about the family, and two descriptions of a person with some \
details of each. The sentences were drawn by chance, so they may not fit each other. Somebody else will play \
this person in a conversation.

It is consistent if one person could truthfully say all of it: the age fits what they have done, they have \
one family, one home town and one job at a time. Unusual is fine: a boxer may knit. What a rule has flagged \
is listed beside it. A flag may be wrong, and there may be more that no rule finds.

Where it is not consistent, write the whole persona again, one sentence a line, and change as little as you \
can: rather the age or the family than what the person does. Keep the name, and write *I*. Leave the text \
empty where it cannot be mended.

It is negative if most people would not like to play this person, or to be taken for them: a criminal, \
somebody who is cruel or dishonest. Being poor, ill, old or unlucky is not negative."""


def _yes_or_no(key: str, wording: str, yes: str, no: str) -> QuestionDefinition:
    return QuestionDefinition(
        key=key, wording=wording, level="binary", values=(0, 1), anchors={0: no, 1: yes}, positive=1
    )


PERSONA_REVIEW = SchemeDefinition(
    key="persona_review",
    version=1,
    title="Review of a persona",
    item_kind="dialogue",
    unit="item",
    introduction="Could one person truthfully say all of this?",
    questions=(
        _yes_or_no(
            CONSISTENT,
            "Is the persona consistent?",
            "Yes: one person could say all of it",
            "No: something contradicts something else",
        ),
        QuestionDefinition(
            key=CORRECTED,
            wording="Write the corrected persona, one sentence a line.",
            level="text",
            required=False,
            show_if={"question": CONSISTENT, "in": [0]},
        ),
        _yes_or_no(
            NEGATIVE,
            "Does the persona make a negative impression?",
            "Yes: most people would not like to play it",
            "No",
        ),
        QuestionDefinition(
            key=NEGATIVE_HEAD,
            wording="Which of the two descriptions makes the negative impression?",
            level="nominal",
            values=(FIRST, SECOND, BOTH),
            anchors={FIRST: "The first", SECOND: "The second", BOTH: "Both"},
            show_if={"question": NEGATIVE, "in": [1]},
        ),
    ),
    guidelines=PERSONA_GUIDELINES,
    source="Concord, for the personas of ComperDial",
)

SCHEMES: dict[str, SchemeDefinition] = {scheme.key: scheme for scheme in (PERSONA_REVIEW,)}
