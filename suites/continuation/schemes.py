"""Scheme for reviewing a new benchmark before use: the metadata and summary of each conversation.

CoCoEval's metadata are inferred from whole conversations, so they may reveal how a conversation continues
after the cut. The questions are Concord's own.
"""

from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition

FAITHFUL, TELLS, SUMMARY, NOTE = "metadata_faithful", "metadata_tell_ahead", "summary_faithful", "note"

GUIDELINES = """\
Compare what is told about the conversation with what is said in it. You see the description of the \
conversation and of those who take part, the summary of what came before, the last turns of the \
history, and below the line “to be rated” how people went on.

The description is faithful if nothing in it contradicts the turns that you see or is made up: the \
goal, the setting, who is who, and how each of them talks. It need not be complete, and something \
that you cannot check counts as faithful.

It tells what happens after the cut if somebody who has read it knows of a decision, a change of \
mind, a fact or an argument that comes up for the first time below the line. How people usually talk \
tells nothing of this kind, and neither does what was known before.

The summary is faithful if it contradicts neither the history nor itself and makes nobody say what \
somebody else said. It is about the turns before those that you see; where there is none, answer \
yes.

Write a note wherever an answer is unfavourable: which sentence, and what is wrong with it."""


def _yes_or_no(key: str, wording: str, yes: str, no: str) -> QuestionDefinition:
    return QuestionDefinition(
        key=key,
        wording=wording,
        level="binary",
        values=(0, 1),
        anchors={0: no, 1: yes},
        positive=1,
    )


SCHEME = SchemeDefinition(
    key="benchmark_review",
    version=1,
    title="Review of a benchmark: metadata and summary",
    item_kind="dialogue",
    unit="item",
    introduction="Check what is told about this conversation before anybody works with it.",
    questions=(
        _yes_or_no(
            FAITHFUL,
            "Are the description and the people's profiles faithful to the conversation?",
            "Yes: nothing contradicts it or is made up",
            "No: something is wrong",
        ),
        _yes_or_no(
            TELLS,
            "Do they tell something that happens only after the cut?",
            "Yes: they give something away",
            "No: they tell nothing ahead",
        ),
        _yes_or_no(
            SUMMARY,
            "Is the summary faithful to what came before?",
            "Yes: nothing contradicts it (or there is no summary)",
            "No: something is wrong",
        ),
        QuestionDefinition(
            key=NOTE,
            wording="What is wrong, and where?",
            level="text",
            required=False,
        ),
    ),
    guidelines=GUIDELINES,
    source="Concord, for the benchmark of CoCoEval",
    about_open=True,
)


SCHEMES = {SCHEME.key: SCHEME}
