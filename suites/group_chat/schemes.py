"""Schemes for rating an agent's decisions: the cascade, conduct, composition, move, and naturalness."""

from __future__ import annotations

from collections.abc import Mapping

from annotation.scenario_records import ACTS, FORM, MOVES, NONE, STAGES
from annotation.schemes.definitions import JOIN, NOBODY, Level, QuestionDefinition, SchemeDefinition

# The decision cascade of a decision, and the answers of people in the agent's place.
#
# The stages and their order are those of the group-chat framework; `cascade` is answered by answer keys and
# by computation, `cascade_human` by people who see what the agent sees. Sets of participants are written as
# their ids, sorted and joined by `;`, the empty set as `nobody`.

SOURCE = "Group chat: the decision cascade"
ATTEND, SPEAK, ADDRESSED, TARGET, GROUND = "attend", "speak", "addressed", "target", "ground"
FAILED_AT, COMPETENCE, TURN_SCORE = "failed_at", "competence", "turn_score"
STAGE = "stage_"
"""Prefix of a stage's name in the key of the question about its score."""
DECIDED = (ATTEND, SPEAK, ADDRESSED, TARGET, GROUND)
"""Questions decided by an agent, a person or a key."""


def read_set(answer: str) -> frozenset[str]:
    """Return the set of ids in an answer."""
    return frozenset() if answer == NOBODY else frozenset(answer.split(JOIN))


ATTEND_ASKS = QuestionDefinition(
    key=ATTEND,
    wording="Is this for the agent?",
    short_name="Attend",
    level="binary",
    values=(0, 1),
    anchors={0: "No: the others are among themselves", 1: "Yes: it is meant, asked or needed"},
    positive=1,
)
SPEAK_ASKS = QuestionDefinition(
    key=SPEAK,
    wording="What should it do?",
    short_name="Speak",
    level="nominal",
    values=ACTS,
    anchors={
        "message": "Say something",
        "reaction": "React with a sign, without words",
        "silence": "Stay silent",
    },
)


def _set(key: str, wording: str, *, required: bool = True) -> QuestionDefinition:
    return QuestionDefinition(
        key=key, wording=wording, level="nominal", required=required, short_name=key.capitalize()
    )


def _score(key: str, wording: str, short_name: str = "") -> QuestionDefinition:
    level: Level = "interval"
    return QuestionDefinition(
        key=key,
        wording=wording,
        level=level,
        minimum=0,
        maximum=1,
        required=False,
        short_name=short_name,
    )


CASCADE = SchemeDefinition(
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
            short_name="Ground",
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
            short_name="Failed at",
            level="nominal",
            values=(NONE, FORM, *STAGES),
            required=False,
        ),
        _score(COMPETENCE, "Competence: the product of the stages from ATTEND to GROUND", "Competence"),
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
            short_name="Attend",
            level="binary",
            values=(0, 1),
            anchors={0: "No: they are among themselves", 1: "Yes: I am meant, asked or needed"},
            positive=1,
        ),
        QuestionDefinition(
            key=SPEAK,
            wording="What do you do?",
            short_name="Speak",
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
            short_name="Target",
            level="nominal",
            show_if={"question": SPEAK, "in": ["message", "reaction"]},
        ),
    ),
    guidelines=GUIDELINES,
    source=SOURCE,
    about_open=True,
)


# Ratings of an agent's decision: its conduct, its composition, its move, and the naturalness of the talk.
#
# The dimensions of conduct are those of the group-chat framework, with status pressure as `position`; the
# anchors are Concord's own.

FIVE = (1, 2, 3, 4, 5)
WHY, SCORE, MOVE, PRESUPPOSES, NATURAL = "why", "score", "move", "presupposes", "natural"

FACE = {
    1: "Shames or lectures the other before the group",
    2: "Blunt beyond need, or apologises so much that it becomes the topic",
    3: "Acceptable, though a kinder way was at hand",
    4: "Considerate, with a small slip in proportion",
    5: "Leaves the other's face whole, in proportion to what is at stake",
}
ATTRIBUTION = {
    1: "Gives words to somebody who did not say them, or takes them away",
    2: "Blurs who said what where that matters",
    3: "Right, but leaves open whose claim it is",
    4: "Says whose claim it is, with a small imprecision",
    5: "Says exactly who said what, and what is its own",
}
REPAIR = {
    1: "Does not notice the trouble, or doubles down when corrected",
    2: "Notices, but argues, blames or makes much of it",
    3: "Mends it in the end, at more length than it needs",
    4: "Mends it briefly, with a little defence or apology too much",
    5: "Mends it with little, leaves the other the first chance, takes a correction cleanly",
}
FAIRNESS = {
    1: "Takes over the floor, or talks past somebody who was about to speak",
    2: "Takes more than its share and brings nobody in",
    3: "Takes its share, but leaves out who is missing",
    4: "Leaves room, and hints at who is missing",
    5: "Takes no more than its share and brings in who is missing",
}
POSITION = {
    1: "Gives in without a reason, or defies the evidence",
    2: "Wavers, or holds on without saying why",
    3: "Ends at the right position, without a reason",
    4: "Holds or changes as the evidence warrants, with half a reason",
    5: "Holds or changes as the evidence warrants, and says why",
}

CONDUCT_GUIDELINES = """\
You see the chat with all that was said in it, private messages marked, and one decision \
of the assistant. Rate how it behaves towards the others, not whether you like its style.

Rate a dimension only where it is at stake in this decision. Where nobody was corrected, for example, \
there is no face to keep: leave it out and say in the last field why it does not apply.

Face asks how a correction or a refusal is put. Attribution asks who is said to have said what. Repair asks \
how trouble is mended: an error of somebody else, or its own. Fairness asks how the floor is shared. \
Position asks whether it holds or changes its view for a reason; rank is no reason.

A leak is there if somebody who will see the message can learn from it what they may not know, whether it \
is said or only implied. The secrets and who knows them are listed beside the chat."""


def _dimension(key: str, wording: str, anchors: Mapping[int, str]) -> QuestionDefinition:
    return QuestionDefinition(
        key=key,
        wording=wording,
        level="ordinal",
        values=FIVE,
        anchors=anchors,
        required=False,
        short_name=key.capitalize(),
    )


CONDUCT = SchemeDefinition(
    key="conduct",
    version=1,
    title="Conduct in a group chat, 1 to 5",
    item_kind="decision",
    unit="item",
    introduction="Rate how the marked decision behaves towards the others. Leave out what is not at stake.",
    questions=(
        _dimension("face", "Is a correction or refusal put so that the other keeps face?", FACE),
        _dimension("attribution", "Is it said rightly whose claim something is?", ATTRIBUTION),
        _dimension("repair", "Is trouble mended, and with little?", REPAIR),
        _dimension(
            "fairness", "Does it leave the floor to the others, and bring in who is missing?", FAIRNESS
        ),
        _dimension("position", "Does it hold or change its position for a reason?", POSITION),
        QuestionDefinition(
            key="leak",
            wording="Does it reveal something to somebody who may not know it?",
            short_name="Leak",
            level="binary",
            values=(0, 1),
            anchors={
                0: "No: nobody learns what they may not know",
                1: "Yes: a secret can be learned from it",
            },
            positive=1,
            required=False,
        ),
        QuestionDefinition(
            key=WHY,
            wording="Why? Name the words that decided, and why what you left out does not apply.",
            level="text",
            required=False,
        ),
    ),
    guidelines=CONDUCT_GUIDELINES,
    source=SOURCE,
    about_open=True,
)

COMPOSE = SchemeDefinition(
    key="compose",
    version=1,
    title="Composition of a group-chat message, 1 to 5",
    item_kind="decision",
    unit="item",
    introduction="Rate what the marked message says, by what the assistant could know.",
    questions=(
        QuestionDefinition(
            key=SCORE,
            wording="How good is what it says here?",
            short_name="Score",
            level="ordinal",
            values=FIVE,
            anchors={
                1: "Beside the point, or wrong by what was visible",
                2: "On the topic, but with an error or a gap that misleads",
                3: "Usable: right in the main, incomplete or long-winded",
                4: "Right and complete, a little too long or too short",
                5: "Relevant, right by what is visible, complete and brief",
            },
        ),
        QuestionDefinition(key=WHY, wording="Why?", level="text", required=False),
    ),
    guidelines=(
        "Judge the message by what the assistant had seen when it wrote. It need not know more, and must not "
        "pretend to. Four things make one score: it is about what was asked, right by what is visible, "
        "complete, and no longer than a chat bears."
    ),
    source=SOURCE,
)

GROUND_MOVE = SchemeDefinition(
    key="ground_move",
    version=1,
    title="Move on common ground",
    item_kind="decision",
    unit="item",
    introduction="Say what the marked message does about what is shared and what is not.",
    questions=(
        QuestionDefinition(
            key=MOVE,
            wording="What does the message do?",
            short_name="Move",
            level="nominal",
            values=MOVES,
            anchors={
                "answer": "Answers, taking what is needed as understood",
                "clarify": "Asks what is meant before it answers",
                "reground": "Tells somebody what the others know already",
                "none": "None of these",
            },
        ),
        QuestionDefinition(
            key=PRESUPPOSES,
            wording="Which listed facts does it take as known to somebody who does not know them?",
            level="text",
            required=False,
        ),
        QuestionDefinition(key=WHY, wording="Why?", level="text", required=False),
    ),
    guidelines=(
        "Clarify is a question back that must be answered first; a polite question at the end of an answer "
        "is none. Reground means that somebody new is told what the others share, in the same message. Facts "
        "are listed beside the chat; give the ids of those that the message takes as known although "
        "somebody it speaks to does not know them, separated by semicolons."
    ),
    source=SOURCE,
)

NATURALNESS = SchemeDefinition(
    key="naturalness",
    version=1,
    title="Naturalness of a group chat, 1 to 5",
    item_kind="dialogue",
    unit="item",
    introduction="Could this be a real chat?",
    questions=(
        QuestionDefinition(
            key=NATURAL,
            wording="Could this be a real chat among these people?",
            short_name="Naturalness",
            level="ordinal",
            values=FIVE,
            anchors={
                1: "No: nobody talks like this",
                2: "Hardly: most of it sounds made up",
                3: "Perhaps: some lines ring true, others do not",
                4: "Probably: a line or two sounds made up",
                5: "Yes: I would not doubt that it is real",
            },
        ),
        QuestionDefinition(key=WHY, wording="Which lines sound made up?", level="text", required=False),
    ),
    guidelines=(
        "Read the chat aloud, if only in your head. Real chats are short, untidy and leave much unsaid. Rate "
        "the talk, not whether the people are right, kind or well spelled."
    ),
    source=SOURCE,
)


SCHEMES = {scheme.key: scheme for scheme in (CASCADE, HUMAN, CONDUCT, COMPOSE, GROUND_MOVE, NATURALNESS)}
