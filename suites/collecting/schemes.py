"""Schemes of collecting: the review of personas, and the release check."""

from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition

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
SCHEMES: dict[str, SchemeDefinition] = {scheme.key: scheme for scheme in (ETHICS,)}
