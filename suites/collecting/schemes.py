"""Schemes of collecting: the review of personas, and the release check."""

from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition
from annotation.work.screens import Screen
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

Where it is not consistent, correct the persona, one sentence a line, and change as little as you can: \
rather the age or the family than what the person does. Keep the name, and write *I*. The text begins with \
the persona as it is; leave it so, or empty it, where it cannot be mended.

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
            wording="Correct the persona, one sentence a line.",
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
    about_open=True,
)


def persona_text(screen: Screen) -> dict[str, str]:
    """Return the sentences of the persona on a screen as the text that its reviewers correct."""
    return {CORRECTED: "\n".join(sentence for person in screen.people for sentence in person.profile)}


START_TEXTS = {PERSONA_REVIEW.key: persona_text}

OBJECTION, REASON = "objection", "reason"
REVIEWERS = 4
"""Reviewers of a dialogue before its release, as for ComperDial (Wakaki et al. 2024, appendix A.9)."""

RELEASE_GUIDELINES = """\
You see a conversation that is to be published for research. Read all of it, and object if publishing it \
could harm somebody.

Object if it

- insults or threatens people, or speaks ill of a group because of origin, belief, gender, orientation, \
age or disability;
- describes sex or violence beyond what a film for everybody would show, or encourages people to harm \
themselves or others, or to break the law;
- tells something by which a real person can be found or recognised: a full name, an address, a phone \
number, an e-mail address, a place of work together with a job, a picture behind a link. The people of \
the conversation may be made up; if you cannot tell, object.

Bad English, boring talk and opinions that you do not share are no reason. Names of well-known people, \
places and brands are none either, unless something harmful is said about them.

What a scan has flagged as possible personal data is listed beside the conversation. It may be wrong, and \
it finds far from everything.

One objection is enough to leave the conversation out, so say in one sentence which turn it is about and \
what is wrong."""

ETHICS = SchemeDefinition(
    key="ethics",
    version=1,
    title="Release check: may it be published?",
    item_kind="dialogue",
    unit="item",
    introduction="Read the whole conversation, then decide whether it may be published.",
    questions=(
        QuestionDefinition(
            key=OBJECTION,
            wording="Do you object to publishing this conversation?",
            short_name="Objection",
            level="binary",
            values=(0, 1),
            anchors={0: "No: it may be published", 1: "Yes: it should be left out"},
            positive=1,
        ),
        QuestionDefinition(
            key=REASON,
            wording="Which turn is it, and what is wrong?",
            short_name="Reason of the objection",
            level="text",
            show_if={"question": OBJECTION, "in": [1]},
        ),
    ),
    guidelines=RELEASE_GUIDELINES,
    source="Concord, for the release check of ComperDial",
    about_open=True,
)

RATERS_PER_ITEM = {ETHICS.key: REVIEWERS}
SCHEMES: dict[str, SchemeDefinition] = {scheme.key: scheme for scheme in (PERSONA_REVIEW, ETHICS)}
