"""FED's qualities of a response and of a whole conversation, and the qualities that GPT-4 was asked about it.

The qualities and scales are those of the FED data (Mehri and Eskenazi 2020) and of GPT-4's annotations of its
dialogues (Zhang et al. 2024); the wording is Concord's own. They describe imported answers.
"""

from annotation.schemes.base import Level, QuestionDefinition, SchemeDefinition

SOURCE = "FED (Mehri and Eskenazi 2020)"


def _quality(key: str, wording: str, top: int = 2) -> QuestionDefinition:
    """Return a quality scored from 0 to `top`; one that is there or not is binary."""
    level: Level = "binary" if top == 1 else "ordinal"
    return QuestionDefinition(
        key=key,
        wording=wording,
        level=level,
        values=tuple(range(top + 1)),
        positive=1 if top == 1 else None,
    )


TURN = SchemeDefinition(
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
    source=SOURCE,
)

DIALOGUE = SchemeDefinition(
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
    source=SOURCE,
)


def _score(key: str, wording: str) -> QuestionDefinition:
    return QuestionDefinition(key=key, wording=wording, level="ordinal", values=(1, 2, 3, 4, 5))


GPT4 = SchemeDefinition(
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
