"""An answer in a long dialogue: what was chosen, whether it is right, and whether it says not to know.

`choice` is read from the reply (rater `observed`) and told by the key (rater `key`); `right` and `abstained`
are computed by the rules of scoring, and `right` is answered by judges and people, too.
"""

from annotation.schemes.base import QuestionDefinition, SchemeDefinition
from annotation.scripts.records import LETTERS, UNKNOWN

CHOICE, RIGHT, ABSTAINED = "choice", "right", "abstained"

GUIDELINES = """\
You see what the main character has heard up to the question, the question with the answer that is right, \
and the reply.

The reply is right if it says the same as the right answer, in whatever words: *the blue one* is right where \
*a blue coat* is asked for, if nothing else there is blue. It is wrong if it names somebody or something \
else, says more than one thing of which one is wrong, or does not answer.

Where the right answer is that it cannot be known, a reply is right if it says so, and wrong if it gives \
any answer, also a good guess. Where it can be known, a reply that says it does not know is wrong."""

SCHEME = SchemeDefinition(
    key="long_dialogue_answers",
    version=1,
    title="Answers in a long dialogue",
    item_kind="answer",
    unit="item",
    introduction="Is the reply right, by what could be known at this point?",
    questions=(
        QuestionDefinition(
            key=RIGHT,
            wording="Is the reply right?",
            level="binary",
            values=(0, 1),
            anchors={0: "No", 1: "Yes: it says what the right answer says"},
            positive=1,
        ),
        QuestionDefinition(
            key=ABSTAINED,
            wording="Does it say that it does not know?",
            level="binary",
            values=(0, 1),
            anchors={0: "No: it gives an answer", 1: "Yes: it says that this cannot be known"},
            positive=1,
            required=False,
        ),
        QuestionDefinition(
            key=CHOICE,
            wording="Which of the options does it choose?",
            level="nominal",
            values=tuple(LETTERS),
            anchors={UNKNOWN: "I don't know"},
            required=False,
        ),
    ),
    guidelines=GUIDELINES,
    source="DialSim: answers of an agent that is asked at unforeseen moments; wording by Concord",
)
