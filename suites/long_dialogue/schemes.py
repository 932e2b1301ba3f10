"""Schemes of long dialogues: the review of facts and questions, and the score of an answer."""

from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition
from annotation.script_records import LETTERS, UNKNOWN

# Schemes for the review of a long dialogue's facts and questions before their use: facts, quiz, wording.
#
# `suites.long_dialogue.scripts.reviewing` derives decisions from the answers. The questions are Concord's
# own.

SOURCE = "Concord, for the questions of DialSim"
RIGHT, HEAD, RELATION, TAIL, TURN = "right", "head", "relation", "tail", "evidence_turn"
CORRECTED = (HEAD, RELATION, TAIL)
"""Fields of a wrong fact that a reviewer may correct."""
ANSWERABLE, SESSIONS, ALL, ANSWER = "answerable", "evidence_sessions", "all_needed", "answer_right"
MEANING, CHARACTER = "same_meaning", "in_character"
NOTE = "note"
JOIN = ";"
"""Separator between ids of sessions."""

FACT_GUIDELINES = """\
A fact says that somebody or something stands in a relation to something else, as *Ana, roommate, Cara*: \
Ana's roommate is Cara. You see the session in which it is said, with the turn marked that says it.

It is right if somebody who has read this session alone would take it as true at the time of the session: it \
is said, or follows from what is said without guessing. A joke, a plan, a wish, a lie that is seen through \
and something that is denied say no fact. Who is head and who is tail matters: *boss* and *subordinate* are \
two relations.

Where it is wrong but close to one that is said, put right what is wrong: head, relation or tail. Leave \
empty what stays as it is, and leave all three empty where no such fact is said. People go by their names as \
listed beside the text; a relation is one of those in the list.

Give the turn only where another one than the marked one says it."""

QUIZ_GUIDELINES = """\
The question comes from a quiz; its answer and the other choices stand beside it. Say whether somebody who \
has heard the script, and nothing else, can answer it, and which sessions they would have to have heard.

List every session that gives the answer, by its id, with a semicolon between two ids. Then say whether \
hearing one of them is enough, or whether the answer has to be put together from all of them. A session that \
only helps to guess is none of them.

The answer is right if these sessions give it, and no other choice fits as well."""

STYLE_GUIDELINES = """\
You see a question and how each of the recurring characters would ask it, with one wording for everybody \
else.

The meaning is the same if every wording would be answered in the same way as the question: the same people, \
the same dates, and neither more nor less told than the question tells.

Then rate how well the wordings fit those who ask, all in all. The one for everybody else only has to sound \
like talk."""


def _yes_or_no(
    key: str, wording: str, yes: str, no: str, *, after: dict[str, object] | None = None
) -> QuestionDefinition:
    return QuestionDefinition(
        key=key,
        wording=wording,
        level="binary",
        values=(0, 1),
        anchors={0: no, 1: yes},
        positive=1,
        show_if=after,
    )


def _put_right(key: str, wording: str) -> QuestionDefinition:
    return QuestionDefinition(
        key=key, wording=wording, level="text", required=False, show_if={"question": RIGHT, "in": [0]}
    )


def _note(wording: str) -> QuestionDefinition:
    return QuestionDefinition(key=NOTE, wording=wording, level="text", required=False)


FACT = SchemeDefinition(
    key="fact_review",
    version=1,
    title="Review of a fact",
    item_kind="fact",
    unit="item",
    introduction="Is this fact said in the session? Put right what is wrong.",
    questions=(
        _yes_or_no(
            RIGHT,
            "Is the fact right?",
            "Yes: it is said in this session, or follows from it",
            "No: it is not said, or not like this",
        ),
        _put_right(HEAD, "Whom or what is it about? Leave it empty where that is right."),
        _put_right(RELATION, "Which relation is it? Leave it empty where that is right."),
        _put_right(TAIL, "Who or what stands in this relation? Leave it empty where that is right."),
        QuestionDefinition(
            key=TURN,
            wording="Which turn says it, where it is not the marked one? Give its number.",
            level="interval",
            minimum=1,
            whole=True,
            required=False,
        ),
        _note("What is wrong, or doubtful?"),
    ),
    guidelines=FACT_GUIDELINES,
    source=SOURCE,
    about_open=True,
)

QUIZ = SchemeDefinition(
    key="quiz_review",
    version=1,
    title="Review of a quiz question: its evidence",
    item_kind="question",
    unit="item",
    introduction="Can this question be answered from the script, and which sessions give the answer?",
    questions=(
        _yes_or_no(
            ANSWERABLE,
            "Can it be answered from the script?",
            "Yes: somebody who has heard it can answer",
            "No: nothing in it gives the answer",
        ),
        QuestionDefinition(
            key=SESSIONS,
            wording="Which sessions give the answer? Write their ids, with a semicolon between two.",
            level="text",
            show_if={"question": ANSWERABLE, "in": [1]},
        ),
        _yes_or_no(
            ALL,
            "Are all of these sessions needed?",
            "All are needed: the answer has to be put together",
            "One suffices, whichever it is",
            after={"question": ANSWERABLE, "in": [1]},
        ),
        _yes_or_no(
            ANSWER,
            "Is the answer right?",
            "Yes: these sessions give it, and no other choice fits as well",
            "No: they give another one, or several",
            after={"question": ANSWERABLE, "in": [1]},
        ),
        _note("What should others know about it?"),
    ),
    guidelines=QUIZ_GUIDELINES,
    source=SOURCE,
    about_open=True,
)

STYLE = SchemeDefinition(
    key="style_review",
    version=1,
    title="Review of a question's wordings by those who ask it",
    item_kind="question",
    unit="item",
    introduction="Does every wording ask the same, and does it sound like the one who asks?",
    questions=(
        _yes_or_no(
            MEANING,
            "Do all wordings ask the same as the question?",
            "Yes: all would be answered in the same way",
            "No: one asks something else, or gives something away",
        ),
        QuestionDefinition(
            key=CHARACTER,
            wording="How well do the wordings fit the characters?",
            level="ordinal",
            values=(1, 2, 3, 4, 5),
            anchors={
                1: "None sounds like the one who asks",
                2: "Most could be anybody's",
                3: "Half of them fit",
                4: "Most fit, one or two could be anybody's",
                5: "I would know each by the wording",
            },
        ),
        _note("Which wording is wrong, and why?"),
    ),
    guidelines=STYLE_GUIDELINES,
    source=SOURCE,
)


# Answers in a long dialogue: the choice, whether it is right, and whether it abstains.
#
# `choice` is read from the reply (rater `observed`) and given by the key (rater `key`); `right` and
# `abstained` are computed by the scoring rules, and `right` is also rated by judges and people.

CHOICE, ANSWER_RIGHT, ABSTAINED = "choice", "right", "abstained"

GUIDELINES = """\
You see what the main character has heard up to the question, the question with the answer that is right, \
and the reply.

The reply is right if it says the same as the right answer, in whatever words: *the blue one* is right where \
*a blue coat* is asked for, if nothing else there is blue. It is wrong if it names somebody or something \
else, says more than one thing of which one is wrong, or does not answer.

Where the right answer is that it cannot be known, a reply is right if it says so, and wrong if it gives \
any answer, also a good guess. Where it can be known, a reply that says it does not know is wrong."""

ANSWERS = SchemeDefinition(
    key="long_dialogue_answers",
    version=1,
    title="Answers in a long dialogue",
    item_kind="answer",
    unit="item",
    introduction="Is the reply right, by what could be known at this point?",
    questions=(
        QuestionDefinition(
            key=ANSWER_RIGHT,
            wording="Is the reply right?",
            short_name="Right",
            level="binary",
            values=(0, 1),
            anchors={0: "No", 1: "Yes: it says what the right answer says"},
            positive=1,
        ),
        QuestionDefinition(
            key=ABSTAINED,
            wording="Does it say that it does not know?",
            short_name="Abstained",
            level="binary",
            values=(0, 1),
            anchors={0: "No: it gives an answer", 1: "Yes: it says that this cannot be known"},
            positive=1,
            required=False,
        ),
        QuestionDefinition(
            key=CHOICE,
            wording="Which of the options does it choose?",
            short_name="Choice",
            level="nominal",
            values=tuple(LETTERS),
            anchors={UNKNOWN: "I don't know"},
            required=False,
        ),
    ),
    guidelines=GUIDELINES,
    source="DialSim: answers of an agent that is asked at unforeseen moments; wording by Concord",
)


SCHEMES = {scheme.key: scheme for scheme in (FACT, QUIZ, STYLE, ANSWERS)}
