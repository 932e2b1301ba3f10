"""What the decision cascade says of a decision, and what people say who stand in the agent's place.

The stages and their order are those of the group-chat framework; `cascade` is answered by answer keys and by
what is computed, `cascade_human` by people who see what the agent sees. Sets of participants are written as
their ids, sorted and joined by `;`, the empty set as `nobody`.
"""

from __future__ import annotations

from annotation.scenarios.records import ACTS, FORM, MOVES, NONE, STAGES
from annotation.schemes.base import Level, QuestionDefinition, SchemeDefinition

SOURCE = "Group chat: the decision cascade"
NOBODY = "nobody"
JOIN = ";"
ATTEND, SPEAK, ADDRESSED, TARGET, GROUND = "attend", "speak", "addressed", "target", "ground"
FAILED_AT, COMPETENCE, TURN_SCORE = "failed_at", "competence", "turn_score"
STAGE = "stage_"
"""Before a stage's name: the question of its score."""
DECIDED = (ATTEND, SPEAK, ADDRESSED, TARGET, GROUND)
"""What is decided, by an agent, a person or a key."""


def written(ids: frozenset[str] | tuple[str, ...]) -> str:
    """Return a set of ids as an answer: sorted and joined by `;`, `nobody` for none."""
    return JOIN.join(sorted(ids)) or NOBODY


def read_set(answer: str) -> frozenset[str]:
    """Return the set of ids that an answer says."""
    return frozenset() if answer == NOBODY else frozenset(answer.split(JOIN))


ATTEND_ASKS = QuestionDefinition(
    key=ATTEND,
    wording="Is this for the agent?",
    level="binary",
    values=(0, 1),
    anchors={0: "No: the others are among themselves", 1: "Yes: it is meant, asked or needed"},
    positive=1,
)
SPEAK_ASKS = QuestionDefinition(
    key=SPEAK,
    wording="What should it do?",
    level="nominal",
    values=ACTS,
    anchors={
        "message": "Say something",
        "reaction": "React with a sign, without words",
        "silence": "Stay silent",
    },
)


def _set(key: str, wording: str, *, required: bool = True) -> QuestionDefinition:
    return QuestionDefinition(key=key, wording=wording, level="nominal", required=required)


def _score(key: str, wording: str) -> QuestionDefinition:
    level: Level = "interval"
    return QuestionDefinition(key=key, wording=wording, level=level, minimum=0, maximum=1, required=False)


SCHEME = SchemeDefinition(
    key="cascade",
    version=1,
    title="The decision cascade",
    item_kind="decision",
    unit="item",
    introduction="What an agent decided at this point, stage by stage.",
    questions=(
        ATTEND_ASKS,
        SPEAK_ASKS,
        _set(ADDRESSED, "Whom was the last message for?", required=False),
        _set(TARGET, "Whom does the decision speak to?", required=False),
        QuestionDefinition(
            key=GROUND,
            wording="What does it do about what is shared and what is not?",
            level="nominal",
            values=MOVES,
            anchors={
                "answer": "Answers on what is there",
                "clarify": "Asks what is meant",
                "reground": "Tells a newcomer what the others know",
                "none": "None of these",
            },
            required=False,
        ),
        *(_score(STAGE + stage, f"Score of the stage {stage.upper()}") for stage in STAGES),
        QuestionDefinition(
            key=FAILED_AT,
            wording="At which stage did it fail first?",
            level="nominal",
            values=(NONE, FORM, *STAGES),
            required=False,
        ),
        _score(COMPETENCE, "Competence: the product of the stages from ATTEND to GROUND"),
        _score(TURN_SCORE, "The product of all stages"),
    ),
    source=SOURCE,
)

GUIDELINES = """You sit in a group chat in the place of the assistant: its name and what it knows stand \
beside the chat. You see what it has seen, up to the last message, and decide what it should do now.

Most messages in a group chat are not for the assistant. Silence is a good answer wherever the others are \
talking among themselves, also when you would know what to say, and also when somebody speaks about the \
assistant without speaking to it.

A reaction is a sign without words, such as a thumbs-up: it takes no turn.

Say whom the last message was for: the people it was meant for, not all who could read it. Where you would \
speak, say whom you would speak to. Decide by what has been said so far; nobody knows how it goes on."""

HUMAN = SchemeDefinition(
    key="cascade_human",
    version=1,
    title="In the agent's place: attend, speak, to whom",
    item_kind="decision",
    unit="item",
    introduction="You are the assistant in this chat. What do you do after the last message?",
    questions=(
        QuestionDefinition(
            key=ATTEND,
            wording="Is the last message for you?",
            level="binary",
            values=(0, 1),
            anchors={0: "No: they are among themselves", 1: "Yes: I am meant, asked or needed"},
            positive=1,
        ),
        QuestionDefinition(
            key=SPEAK,
            wording="What do you do?",
            level="nominal",
            values=ACTS,
            anchors={
                "message": "I say something",
                "reaction": "I react with a sign, without words",
                "silence": "I stay silent",
            },
        ),
        _set(ADDRESSED, "Whom was the last message for?"),
        QuestionDefinition(
            key=TARGET,
            wording="Whom do you speak to?",
            level="nominal",
            show_if={"question": SPEAK, "in": ["message", "reaction"]},
        ),
    ),
    guidelines=GUIDELINES,
    source=SOURCE,
    about_open=True,
)
