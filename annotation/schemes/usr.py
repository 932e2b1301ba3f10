"""USR's six questions about a response (Mehri and Eskenazi 2020).

The questions and scales are those of the USR data; the wording is Concord's own. They describe imported
answers.
"""

from annotation.schemes.base import QuestionDefinition, SchemeDefinition


def _there(key: str, wording: str) -> QuestionDefinition:
    return QuestionDefinition(key=key, wording=wording, level="binary", values=(0, 1), positive=1)


def _graded(key: str, wording: str, top: int) -> QuestionDefinition:
    return QuestionDefinition(key=key, wording=wording, level="ordinal", values=tuple(range(1, top + 1)))


SCHEME = SchemeDefinition(
    key="usr_turn",
    version=1,
    title="USR qualities of a response",
    item_kind="turn",
    unit="item",
    introduction="How good is the response, in view of the conversation and of what the speaker knows?",
    questions=(
        _there("understandable", "Can the response be understood in this conversation?"),
        _graded("natural", "Does the response sound like something that a person would say?", 3),
        _graded("maintains_context", "Does the response go on from what was said before?", 3),
        _graded("engaging", "Is the response interesting, or is it dull?", 3),
        _there("uses_knowledge", "Does the response make use of the fact or the persona that was given?"),
        _graded("overall", "How good is the response on the whole?", 5),
    ),
    source="USR (Mehri and Eskenazi 2020)",
)
