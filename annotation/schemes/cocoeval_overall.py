"""CoCoEval's overall scores of a continuation: consistency and collaborativeness, 1 to 10.

The two criteria, the scale and its bands are those of CoCoEval (table 14); the wording is Concord's own.
The paper's lower bands overlap at 3 and at 5, so those two scores are described as borders.
"""

from annotation.schemes.base import QuestionDefinition, SchemeDefinition

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

GUIDELINES = """Read what came before, then the whole of the part below the line “to be rated”, and \
give two scores from 1 to 10.

Consistency asks whether the turns agree with one another, with what is known about the speakers and \
with what came before, and whether one follows from another. Length and style do not count.

Collaborativeness asks whether the speakers take up each other's contributions, reason together and move \
towards what they share, without disagreement that nothing calls for.

Start from the description that fits best. Below 10, be able to name the turns that cost the points; a \
comment is a good place for them. You do not know whether people or a program wrote the turns, and it \
should not matter."""

SCHEME = SchemeDefinition(
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
            level="ordinal",
            values=VALUES,
            anchors=CONSISTENCY_ANCHORS,
        ),
        QuestionDefinition(
            key="collaborativeness",
            wording="How well do the speakers work together?",
            level="ordinal",
            values=VALUES,
            anchors=COLLABORATIVENESS_ANCHORS,
        ),
    ),
    guidelines=GUIDELINES,
    source="CoCoEval, table 14",
)
