"""CoCoEval's schemes: behaviours tagged turn by turn, behaviours counted, and overall scores."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition

# CoCoEval's ten inconsistent and uncollaborative behaviours, tagged on every turn of a continuation.
#
# The ten behaviours and their grouping are those of CoCoEval (table 1); definitions and examples are
# Concord's own. The paper asked its annotators for behaviours outside the ten, hence `another_behaviour`.

INCONSISTENT = "Inconsistent"
UNCOLLABORATIVE = "Uncollaborative"
OTHER = "Other"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One of the ten behaviours, with its explanation; `shortcut` is its key on the keyboard."""

    key: str
    name: str
    group: str
    shortcut: str
    definition: str
    example: str
    not_this: str


BEHAVIOURS: tuple[Behaviour, ...] = (
    Behaviour(
        "logical_contradiction",
        "Logical contradiction",
        INCONSISTENT,
        "a",
        "The speaker contradicts something they themselves said before, or what is stated about them.",
        "“I never drink coffee”, and some turns later “my third espresso today”.",
        "Disagreeing with somebody else, or openly changing one's mind.",
    ),
    Behaviour(
        "factual_inaccuracy",
        "Factual inaccuracy",
        INCONSISTENT,
        "s",
        "The turn states something as fact that is wrong by common knowledge.",
        "“Water boils at eighty degrees down at sea level.”",
        "Opinions, guesses marked as such, and claims about the people present that nobody can check.",
    ),
    Behaviour(
        "misunderstanding",
        "Misunderstanding",
        INCONSISTENT,
        "d",
        "The speaker takes up something that another person said, but gets it wrong.",
        "One says the room is free on Tuesday; another plans the party there for Thursday “as you said”.",
        "Getting one's own earlier words wrong: that is a contradiction.",
    ),
    Behaviour(
        "redundant_information",
        "Redundant information",
        INCONSISTENT,
        "f",
        "The turn is much longer than what it contributes: words that tell the others nothing of use.",
        "Asked for a date, somebody retells how the last three dates were found before naming one.",
        "Saying again what was already said: that is repetition.",
    ),
    Behaviour(
        "repetition",
        "Repetition",
        INCONSISTENT,
        "r",
        "The turn says again, without need, what somebody already said clearly.",
        "“I'll order the pizza.” “So it is you who orders the pizza?”",
        "Summing up at the end, or confirming something that was truly unclear.",
    ),
    Behaviour(
        "persistent_disagreement",
        "Persistent disagreement",
        UNCOLLABORATIVE,
        "h",
        "The speaker goes on objecting although the others agree or the evidence is on the table.",
        "Everyone has settled on the train and seen the fares; one turn again insists on driving.",
        "A first objection, or one that brings a new reason.",
    ),
    Behaviour(
        "interruption",
        "Interruption",
        UNCOLLABORATIVE,
        "j",
        "The speaker cuts in while another is still talking, so that the other's turn stays unfinished.",
        "“What matters most in the budget is” “Can we talk about lunch?” Tag the second turn.",
        "The turn that was cut off, and short signs of listening such as “right”.",
    ),
    Behaviour(
        "off_topic",
        "Off topic",
        UNCOLLABORATIVE,
        "k",
        "The turn leaves what is being talked about, for no reason that the dialogue gives.",
        "In the middle of choosing a supplier, a story about a cousin's holiday.",
        "Moving to the next point of the agenda, or a short joke that fits the topic.",
    ),
    Behaviour(
        "under_answering",
        "Under-answering",
        UNCOLLABORATIVE,
        "l",
        "Somebody was asked, and the turn avoids the question or leaves out what was asked for.",
        "“Will it cost more than last year?” “We are working hard to give you the best.”",
        "Saying plainly that one does not know or will not say.",
    ),
    Behaviour(
        "unclear_intent",
        "Unclear intent",
        UNCOLLABORATIVE,
        "i",
        "One cannot tell what the speaker wants or means by the turn.",
        "Asked to vote for or against, somebody says only “well, it is what it is”.",
        "An uncertain answer whose meaning is clear, such as “I have not decided yet”.",
    ),
)

BEHAVIOUR_GUIDELINES = """\
Read from the first turn on and tag every turn from the line “to be tagged”. A turn \
may show several behaviours, or, as most do, none. People do all of this in ordinary \
talk: a tag is an observation, not a reproach.

Tag the turn in which the behaviour happens, knowing only what came before it. Judge each turn for \
itself: if a mistake is repeated in a later turn, tag that turn too. When in doubt, read the “not this” \
line; if still in doubt, leave the tag out and comment.

Submitting records an answer for every behaviour on every turn: what is not tagged is recorded as not \
shown."""


def _tag(behaviour: Behaviour) -> QuestionDefinition:
    return QuestionDefinition(
        key=behaviour.key,
        wording=behaviour.name,
        level="binary",
        values=(0, 1),
        positive=1,
        group=behaviour.group,
        shortcut=behaviour.shortcut,
        help={
            "definition": behaviour.definition,
            "example": behaviour.example,
            "not_this": behaviour.not_this,
        },
    )


BEHAVIOUR_TAGS = SchemeDefinition(
    key="cocoeval_behaviours",
    version=1,
    title="Inconsistent and uncollaborative behaviours, turn by turn",
    item_kind="turn",
    unit="continuation",
    one_conversation=True,
    introduction="Tag each turn with the behaviours that it shows. Most turns show none.",
    questions=(
        *map(_tag, BEHAVIOURS),
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
            short_name="Another behaviour: what it is",
            level="text",
            group=OTHER,
            required=False,
            show_if={"question": "another_behaviour", "min": 1},
        ),
    ),
    guidelines=BEHAVIOUR_GUIDELINES,
    source="CoCoEval, table 1 and appendix on human evaluation",
)


# CoCoEval's ten behaviours as counts over whole continuations, without the turns they occur in.
#
# A judge run elsewhere with the paper's own prompt gives such counts. The behaviours and their definitions
# are those of `cocoeval_behaviours`.

COUNT = "_count"
KEYS = tuple(behaviour.key + COUNT for behaviour in BEHAVIOURS)
PAPER_NAMES = {
    (BEHAVIOUR_TAGS.key, "interruptions"): "interruption",
    ("cocoeval_counts", "interruptions_count"): "interruption_count",
}
"""Names of questions in CoCoEval's own files where they differ, by scheme."""
GROUPS = {behaviour.key + COUNT: behaviour.group for behaviour in BEHAVIOURS}
"""Behaviour group of each count; on a screen, only tags are shown in groups."""
MOST = 10_000
"""No continuation has more turns; a count above its continuation's turns is detected where it is stored."""


def _counted(key: str) -> QuestionDefinition:
    tag = BEHAVIOUR_TAGS.question(key)
    return QuestionDefinition(
        key=key + COUNT,
        wording=tag.wording,
        level="ratio",
        help=tag.help,
        minimum=0,
        maximum=MOST,
        whole=True,
    )


BEHAVIOUR_COUNTS = SchemeDefinition(
    key="cocoeval_counts",
    version=1,
    title="Inconsistent and uncollaborative behaviours, counted in a continuation",
    item_kind="dialogue",
    unit="item",
    one_conversation=True,
    introduction="Count, for each behaviour, the turns of the marked part that show it.",
    questions=tuple(_counted(behaviour.key) for behaviour in BEHAVIOURS),
    guidelines="""Read what came before, then the part below the line “to be rated”, and count for each \
behaviour the turns that show it, from 0 to the number of turns. A turn counts once for each behaviour, \
and one turn may show several.

Where you can say which turns show a behaviour, tag them instead, with the questions about turns: counts \
alone cannot be compared turn by turn.""",
    source="CoCoEval, table 15",
)


# CoCoEval's overall scores of a continuation: consistency and collaborativeness, 1 to 10.
#
# The two criteria, the scale and its bands are those of CoCoEval (table 14); the wording is Concord's own.
# The paper's lower bands overlap at 3 and at 5, so those two scores are described as borders.

VALUES = tuple(range(1, 11))

_LOGIC_FAILS = (
    "Logic fails badly: contradicts earlier turns or what is known, or ignores what matters; incoherent"
)
_LOGIC_BREAKS = (
    "On the subject in part, but the thread breaks: turns misread, steps skipped, questions passed over"
)
CONSISTENCY_ANCHORS = {
    1: _LOGIC_FAILS,
    2: _LOGIC_FAILS,
    3: "On the border: a milder failure, or the worst of broken threads",
    4: _LOGIC_BREAKS,
    5: "On the border: a thread that barely breaks, or barely holds",
    6: "The order holds and nothing is contradicted outright; the reasoning is thin or loosely tied",
    7: "Follows what was said openly; misses some of what was implied, or has small inner inconsistencies",
    8: "Follows what was said and most of what was implied; a nuance or a partial link is lost",
    9: "Precise throughout, implied steps and intentions included; at most a little is over-explained",
    10: "Nothing to object to: consistent in itself and with everything that came before, stated or implied",
}

_CONFLICT = "People work against each other without cause: needless opposition, no shared purpose"
_STALLED = (
    "People notice each other at times, but brush reasons aside or pull apart; progress is partial or stops"
)
COLLABORATIVENESS_ANCHORS = {
    1: _CONFLICT,
    2: _CONFLICT,
    3: "On the border: milder conflict, or the worst of pulling apart",
    4: _STALLED,
    5: "On the border: little progress together, or people merely side by side",
    6: "Polite and without open conflict, but people talk side by side and hardly build on one another",
    7: "Cooperative on the whole; chances to combine or refine ideas are missed, support is uneven",
    8: "Strong: ideas taken up and carried on, small conflicts settled, steady progress; small gaps remain",
    9: "Everyone contributes and builds on the others throughout; only trifles are inefficient",
    10: "Complete: all support and extend each other's reasoning and move together towards the goal",
}

OVERALL_GUIDELINES = """Read what came before, then the whole of the part below the line “to be rated”, and \
give two scores from 1 to 10.

Consistency asks whether the turns agree with one another, with what is known about the speakers and \
with what came before, and whether one follows from another. Length and style do not count.

Collaborativeness asks whether the speakers take up each other's contributions, reason together and move \
towards what they share, without disagreement that nothing calls for.

Start from the description that fits best. Below 10, be able to name the turns that cost the points; a \
comment is a good place for them. You do not know whether people or a program wrote the turns, and it \
should not matter."""

OVERALL_SCORES = SchemeDefinition(
    key="cocoeval_overall",
    version=1,
    title="Consistency and collaborativeness, 1 to 10",
    item_kind="dialogue",
    unit="item",
    one_conversation=True,
    introduction="Rate the marked part as a whole, as a continuation of what came before.",
    questions=(
        QuestionDefinition(
            key="consistency",
            wording="How consistent is it, in itself and with what came before?",
            short_name="Consistency",
            level="ordinal",
            values=VALUES,
            anchors=CONSISTENCY_ANCHORS,
        ),
        QuestionDefinition(
            key="collaborativeness",
            wording="How well do the speakers work together?",
            short_name="Collaborativeness",
            level="ordinal",
            values=VALUES,
            anchors=COLLABORATIVENESS_ANCHORS,
        ),
    ),
    guidelines=OVERALL_GUIDELINES,
    source="CoCoEval, table 14",
)
