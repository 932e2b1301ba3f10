"""ComperDial's rating of one response: overall quality from 1 to 5, with six aspects in mind.

The scale, its two described ends and the six aspects are those of the ComperDial annotation guidelines
(Wakaki et al. 2024, appendix A.7); the wording is Concord's own.
"""

from annotation.schemes.base import QuestionDefinition, SchemeDefinition

SOURCE = "ComperDial (Wakaki et al. 2024), appendix A.7"

OVERALL_ANCHORS = {
    1: "Very bad: broken or unnatural; it makes no sense here, or feels strange as soon as one reads it",
    2: "Rather bad",
    3: "Neither good nor bad",
    4: "Fairly good",
    5: "Very good: like hearing from a real person; it makes sense, flows and varies its words",
}

ASPECTS = {
    "fluency": "Fluency: the wording is natural, correct and easy to understand.",
    "coherence": "Coherence: it follows from what was just said and from the situation.",
    "consistency": "Consistency: it agrees with everything said earlier in the dialogue.",
    "engagingness": "Engagingness: it is interesting, and the speaker takes an active part.",
    "persona_consistency": "Persona consistency: it fits, and where it can shows, the speaker's profile.",
    "humanness": "Humanness: it feels as if a person wrote it, not a machine.",
}
"""Aspect to what it asks, in the order in which it is shown."""

GUIDELINES = """Read the dialogue up to the response, and both speakers' profiles. Then rate the \
response as a whole.

Keep six aspects in mind; together they make one score, not six:

{aspects}

Judge the response that is marked, not the turns before it: those are the same for every response. \
Length alone is neither good nor bad. If two scores seem equally right, choose the one you would still \
defend tomorrow.""".format(aspects="\n".join(f"- {text}" for text in ASPECTS.values()))

SCHEME = SchemeDefinition(
    key="comperdial_turn",
    version=1,
    title="Response quality, 1 to 5",
    item_kind="turn",
    unit="item",
    introduction="Rate the marked response as a reply at this point of the dialogue.",
    questions=(
        QuestionDefinition(
            key="overall",
            wording="How good is this response overall?",
            level="ordinal",
            values=(1, 2, 3, 4, 5),
            anchors=OVERALL_ANCHORS,
            help={"keep_in_mind": "\n".join(ASPECTS.values())},
        ),
    ),
    guidelines=GUIDELINES,
    source=SOURCE,
    about_open=True,  # persona consistency cannot be judged without the profiles
)
