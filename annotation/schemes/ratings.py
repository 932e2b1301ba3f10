"""Small rating schemes: ComperDial, FED and USR of responses; comparisons; constraints of a conversation."""

from annotation.schemes.definitions import COMPARISON, Level, QuestionDefinition, SchemeDefinition

# ComperDial's rating of one response: overall quality from 1 to 5, with six aspects to consider.
#
# The scale, its two described ends and the six aspects are those of the ComperDial annotation guidelines
# (Wakaki et al. 2024, appendix A.7); the wording is Concord's own.

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
"""Aspect to its question, in display order."""

COMPERDIAL_TURN_GUIDELINES = """\
Read the dialogue up to the response, and both speakers' profiles. Then rate the \
response as a whole.

Keep six aspects in mind; together they make one score, not six:

{aspects}

Judge the response that is marked, not the turns before it: those are the same for every response. \
Length alone is neither good nor bad. If two scores seem equally right, choose the one you would still \
defend tomorrow.""".format(aspects="\n".join(f"- {text}" for text in ASPECTS.values()))

COMPERDIAL_TURN = SchemeDefinition(
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
            short_name="Overall",
            level="ordinal",
            values=(1, 2, 3, 4, 5),
            anchors=OVERALL_ANCHORS,
            help={"keep_in_mind": "\n".join(ASPECTS.values())},
        ),
    ),
    guidelines=COMPERDIAL_TURN_GUIDELINES,
    source=SOURCE,
    about_open=True,  # persona consistency cannot be judged without the profiles
)


# ComperDial's rating of all of a system's responses to one dialogue, and the causes of a low score.
#
# The paper asks for the overall score first and then for a mark on each aspect that caused a low one
# (appendix A.7.2). It does not define low for people; its own judge treats scores below 4 as the ones to
# look into (the second step of CPDScore-Dialogue), so the aspects are asked for scores up to 3.

LOW = 3
"""Highest overall score for which an explanation is asked."""

GROUP = "What caused the low score?"

SHORTCUTS = dict(zip(ASPECTS, "asdjkl", strict=True))

COMPERDIAL_DIALOGUE_GUIDELINES = """\
Read every exchange before rating: each shows the dialogue up to a point and the \
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


COMPERDIAL_DIALOGUE = SchemeDefinition(
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
            short_name="Overall",
            level="ordinal",
            values=(1, 2, 3, 4, 5),
            anchors=OVERALL_ANCHORS,
            help={"keep_in_mind": "\n".join(ASPECTS.values())},
        ),
        *(_cause(aspect, text) for aspect, text in ASPECTS.items()),
    ),
    guidelines=COMPERDIAL_DIALOGUE_GUIDELINES,
    source=SOURCE,
    about_open=True,  # persona consistency cannot be judged without the profiles
)


# FED's qualities of a response and of a whole conversation, and those that GPT-4 rated for it.
#
# The qualities and scales are those of the FED data (Mehri and Eskenazi 2020) and of GPT-4's annotations of
# its dialogues (Zhang et al. 2024); the wording is Concord's own. They describe imported answers.

FED_SOURCE = "FED (Mehri and Eskenazi 2020)"


def _short_name(key: str) -> str:
    """Return the name of a quality in its paper: `error_recovery` is Error recovery."""
    return key.replace("_", " ").capitalize()


def _quality(key: str, wording: str, top: int = 2) -> QuestionDefinition:
    """Define a quality scored from 0 to `top`; one that is present or absent is binary."""
    level: Level = "binary" if top == 1 else "ordinal"
    return QuestionDefinition(
        key=key,
        wording=wording,
        level=level,
        values=tuple(range(top + 1)),
        positive=1 if top == 1 else None,
        short_name=_short_name(key),
    )


FED_TURN = SchemeDefinition(
    key="fed_turn",
    version=1,
    title="FED qualities of a response",
    item_kind="turn",
    unit="item",
    introduction="How good is the system's response, in view of the conversation so far?",
    questions=(
        _quality("interesting", "Is the response interesting to an ordinary reader?"),
        _quality("engaging", "Does the response invite one to go on talking?"),
        _quality("specific", "Is the response particular to this conversation, rather than fit for any?"),
        _quality("relevant", "Does the response bear on what was said?"),
        _quality("correct", "Is the response right, or did it misunderstand the conversation?"),
        _quality("semantically_appropriate", "Does the meaning of the response suit the conversation?"),
        _quality("understandable", "Can the response be understood?", top=1),
        _quality("fluent", "Is the response well-formed language?"),
        _quality("overall", "How good is the response on the whole?", top=4),
    ),
    source=FED_SOURCE,
)

FED_DIALOGUE = SchemeDefinition(
    key="fed_dialogue",
    version=1,
    title="FED qualities of a conversation",
    item_kind="dialogue",
    unit="item",
    introduction="How good was the system throughout the conversation?",
    questions=(
        _quality("coherent", "Does the conversation hold together and flow?"),
        _quality("error_recovery", "Does the system get back on track after its errors?"),
        _quality("consistent", "Is what the system says free of contradictions?", top=1),
        _quality("diverse", "Is there variety in what the system says?"),
        _quality("depth", "Does the system go into the subjects?"),
        _quality("likeable", "Is the system pleasant to talk to?"),
        _quality("understanding", "Does the system understand the user?"),
        _quality("flexible", "Does the system adapt to the user and the user's interests?"),
        _quality("informative", "Does the system inform throughout the conversation?"),
        _quality("inquisitive", "Does the system ask the user questions?"),
        _quality("overall", "How good is the conversation on the whole?", top=4),
    ),
    source=FED_SOURCE,
)


def _score(key: str, wording: str) -> QuestionDefinition:
    return QuestionDefinition(
        key=key, wording=wording, level="ordinal", values=(1, 2, 3, 4, 5), short_name=wording.split(":")[0]
    )


FED_GPT4 = SchemeDefinition(
    key="fed_gpt4",
    version=1,
    title="GPT-4's scores of FED's conversations",
    item_kind="dialogue",
    unit="item",
    introduction="Scores from 1 to 5 of the whole conversation.",
    questions=(
        _score("coh", "Coherence: does the conversation hold together?"),
        _score("div", "Diversity: is there variety in the system's responses?"),
        _score("eng", "Engagement: is the system interesting to talk to?"),
        _score("inf", "Informativeness: does the system give information?"),
        _score("ovr", "Overall: how good is the conversation on the whole?"),
    ),
    source="Zhang et al. 2024",
)


# USR's six questions about a response (Mehri and Eskenazi 2020).
#
# The questions and scales are those of the USR data; the wording is Concord's own. They describe imported
# answers.


def _yes_no(key: str, wording: str) -> QuestionDefinition:
    return QuestionDefinition(
        key=key, wording=wording, level="binary", values=(0, 1), positive=1, short_name=_short_name(key)
    )


def _graded(key: str, wording: str, top: int) -> QuestionDefinition:
    values = tuple(range(1, top + 1))
    return QuestionDefinition(
        key=key, wording=wording, level="ordinal", values=values, short_name=_short_name(key)
    )


USR = SchemeDefinition(
    key="usr_turn",
    version=1,
    title="USR qualities of a response",
    item_kind="turn",
    unit="item",
    introduction="How good is the response, in view of the conversation and of what the speaker knows?",
    questions=(
        _yes_no("understandable", "Can the response be understood in this conversation?"),
        _graded("natural", "Does the response sound like something that a person would say?", 3),
        _graded("maintains_context", "Does the response go on from what was said before?", 3),
        _graded("engaging", "Is the response interesting, or is it dull?", 3),
        _yes_no("uses_knowledge", "Does the response make use of the fact or the persona that was given?"),
        _graded("overall", "How good is the response on the whole?", 5),
    ),
    source="USR (Mehri and Eskenazi 2020)",
)


# The better of two overall, and the ranking of several: the simplest comparisons.

PREFERENCE_SOURCE = (
    "Pairwise comparison as in MT-Bench and Chatbot Arena (Zheng et al. 2023); wording by Concord"
)

GUIDELINES = """Read what was said before, then all of the responses, and say which one you would rather \
have been given. Judge what they say, not where they stand: the order is drawn for each of you.

A response that is right and to the point is better than one that is longer. Say that both are alike where \
you would not mind which one you got, and that both are bad where you would want neither."""

PAIR = SchemeDefinition(
    key="preference",
    version=1,
    title="Overall preference between two",
    item_kind="pair",
    unit="item",
    introduction="Read both responses, then say which one is better.",
    questions=(
        QuestionDefinition(
            key="preference",
            wording="Which response is better, all in all?",
            short_name="Preference",
            level="nominal",
            values=COMPARISON,
        ),
    ),
    guidelines=GUIDELINES,
    source=PREFERENCE_SOURCE,
)

RANKING = SchemeDefinition(
    key="preference_ranking",
    version=1,
    title="Overall order of several",
    item_kind="ranking",
    unit="item",
    introduction="Read all responses, then put them into an order, best first.",
    questions=(
        QuestionDefinition(
            key="ranking",
            wording="In which order would you put the responses, best first?",
            short_name="Ranking",
            level="ranking",
        ),
    ),
    guidelines=GUIDELINES,
    source=PREFERENCE_SOURCE,
)


# Constraints on a conversation: one yes-or-no question per constraint, about the whole.
#
# The metric `constraints` answers the first five by counting. Whether stances were kept requires reading: by
# a person, or by a judge of the protocol `rubric` over this scheme.

KEPT, VIOLATED = 1, 0
COUNTED = {
    "listed_speakers": "Do only the listed speakers speak?",
    "turn_count": "Does it have as many turns as were asked for?",
    "everyone_speaks": "Does every listed speaker speak as often as was asked for?",
    "max_in_a_row": "Does nobody have more turns in a row than were allowed?",
    "addressee_named": "Does every turn say whom it is addressed to?",
}
"""Constraints that are counted without reading, with their questions."""
STANCE = "stance_kept"

CONSTRAINTS_GUIDELINES = """Look at the numbered turns only; what came before them is not rated.

For each constraint answer 1 where the conversation keeps it from beginning to end, and 0 where it is \
violated once or more. How good the conversation is otherwise does not count.

A stance is kept where a speaker argues throughout for what the profile says this speaker holds. Giving in \
to an argument that was made openly is no violation; holding the opposite without any such turn is one."""

CONSTRAINTS = SchemeDefinition(
    key="conversation_constraints",
    version=1,
    title="Constraints on a conversation",
    item_kind="dialogue",
    unit="item",
    one_conversation=True,
    introduction="Say of each constraint whether the conversation keeps it.",
    questions=tuple(
        QuestionDefinition(
            key=key,
            wording=wording,
            level="binary",
            values=(VIOLATED, KEPT),
            anchors={VIOLATED: "violated", KEPT: "kept"},
            positive=KEPT,
            required=False,
            short_name=_short_name(key),
        )
        for key, wording in {
            **COUNTED,
            STANCE: "Does every speaker keep to the stance that was given?",
        }.items()
    ),
    guidelines=CONSTRAINTS_GUIDELINES,
    source="constraints as generators of whole conversations state them",
)
