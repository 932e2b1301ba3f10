"""CoCoEval's ten inconsistent and uncollaborative behaviours, tagged on every turn of a continuation.

The ten behaviours and their grouping are those of CoCoEval (table 1); definitions and examples are
Concord's own. The paper asked its annotators for behaviours outside the ten, hence `another_behaviour`.
"""

from annotation.schemes.base import QuestionDefinition, SchemeDefinition

INCONSISTENT = "Inconsistent"
UNCOLLABORATIVE = "Uncollaborative"
OTHER = "Other"

BEHAVIOURS: tuple[tuple[str, str, str, str, str, str, str], ...] = (
    (
        "logical_contradiction",
        "Logical contradiction",
        INCONSISTENT,
        "a",
        "The speaker contradicts something they themselves said before, or what is stated about them.",
        "“I never drink coffee”, and some turns later “my third espresso today”.",
        "Disagreeing with somebody else, or openly changing one's mind.",
    ),
    (
        "factual_inaccuracy",
        "Factual inaccuracy",
        INCONSISTENT,
        "s",
        "The turn states something as fact that is wrong by common knowledge.",
        "“Water boils at eighty degrees down at sea level.”",
        "Opinions, guesses marked as such, and claims about the people present that nobody can check.",
    ),
    (
        "misunderstanding",
        "Misunderstanding",
        INCONSISTENT,
        "d",
        "The speaker takes up something that another person said, but gets it wrong.",
        "One says the room is free on Tuesday; another plans the party there for Thursday “as you said”.",
        "Getting one's own earlier words wrong: that is a contradiction.",
    ),
    (
        "redundant_information",
        "Redundant information",
        INCONSISTENT,
        "f",
        "The turn is much longer than what it contributes: words that tell the others nothing of use.",
        "Asked for a date, somebody retells how the last three dates were found before naming one.",
        "Saying again what was already said: that is repetition.",
    ),
    (
        "repetition",
        "Repetition",
        INCONSISTENT,
        "r",
        "The turn says again, without need, what somebody already said clearly.",
        "“I'll order the pizza.” “So it is you who orders the pizza?”",
        "Summing up at the end, or confirming something that was truly unclear.",
    ),
    (
        "persistent_disagreement",
        "Persistent disagreement",
        UNCOLLABORATIVE,
        "h",
        "The speaker goes on objecting although the others agree or the evidence is on the table.",
        "Everyone has settled on the train and seen the fares; one turn again insists on driving.",
        "A first objection, or one that brings a new reason.",
    ),
    (
        "interruption",
        "Interruption",
        UNCOLLABORATIVE,
        "j",
        "The speaker cuts in while another is still talking, so that the other's turn stays unfinished.",
        "“What matters most in the budget is” “Can we talk about lunch?” Tag the second turn.",
        "The turn that was cut off, and short signs of listening such as “right”.",
    ),
    (
        "off_topic",
        "Off topic",
        UNCOLLABORATIVE,
        "k",
        "The turn leaves what is being talked about, for no reason that the dialogue gives.",
        "In the middle of choosing a supplier, a story about a cousin's holiday.",
        "Moving to the next point of the agenda, or a short joke that fits the topic.",
    ),
    (
        "under_answering",
        "Under-answering",
        UNCOLLABORATIVE,
        "l",
        "Somebody was asked, and the turn avoids the question or leaves out what was asked for.",
        "“Will it cost more than last year?” “We are working hard to give you the best.”",
        "Saying plainly that one does not know or will not say.",
    ),
    (
        "unclear_intent",
        "Unclear intent",
        UNCOLLABORATIVE,
        "i",
        "One cannot tell what the speaker wants or means by the turn.",
        "Asked to vote for or against, somebody says only “well, it is what it is”.",
        "An uncertain answer whose meaning is clear, such as “I have not decided yet”.",
    ),
)
"""Key, name, group, shortcut, definition, example, and what it is not, of each behaviour."""

GUIDELINES = """Read from the first turn on and tag every turn from the line “to be tagged”. A turn \
may show several behaviours, or, as most do, none. People do all of this in ordinary \
talk: a tag is an observation, not a reproach.

Tag the turn in which the behaviour happens, knowing only what came before it. Judge each turn for \
itself: if a mistake is repeated in a later turn, tag that turn too. When in doubt, read the “not this” \
line; if still in doubt, leave the tag out and comment.

Submitting records an answer for every behaviour on every turn: what is not tagged is recorded as not \
shown."""


def _behaviour(
    key: str, name: str, group: str, shortcut: str, definition: str, example: str, not_this: str
) -> QuestionDefinition:
    return QuestionDefinition(
        key=key,
        wording=name,
        level="binary",
        values=(0, 1),
        positive=1,
        group=group,
        shortcut=shortcut,
        help={"definition": definition, "example": example, "not_this": not_this},
    )


SCHEME = SchemeDefinition(
    key="cocoeval_behaviours",
    version=1,
    title="Inconsistent and uncollaborative behaviours, turn by turn",
    item_kind="turn",
    unit="continuation",
    one_conversation=True,
    introduction="Tag each turn with the behaviours that it shows. Most turns show none.",
    questions=(
        *(_behaviour(*behaviour) for behaviour in BEHAVIOURS),
        QuestionDefinition(
            key="another_behaviour",
            wording="Another behaviour",
            level="binary",
            values=(0, 1),
            positive=1,
            group=OTHER,
            shortcut="o",
            help={"definition": "The turn is inconsistent or uncollaborative in some way not listed."},
        ),
        QuestionDefinition(
            key="another_behaviour_note",
            wording="What is it?",
            level="text",
            group=OTHER,
            required=False,
            show_if={"question": "another_behaviour", "min": 1},
        ),
    ),
    guidelines=GUIDELINES,
    source="CoCoEval, table 1 and appendix on human evaluation",
)
