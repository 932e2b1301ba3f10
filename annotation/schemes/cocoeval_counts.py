"""CoCoEval's ten behaviours as counts of whole continuations, without saying which turns they are about.

A judge that was run elsewhere with the paper's own prompt gives such counts. The behaviours and
their definitions are those of `cocoeval_behaviours`.
"""

from annotation.schemes.base import QuestionDefinition, SchemeDefinition
from annotation.schemes.cocoeval_behaviours import BEHAVIOURS
from annotation.schemes.cocoeval_behaviours import SCHEME as TAGS

COUNT = "_count"
KEYS = tuple(behaviour[0] + COUNT for behaviour in BEHAVIOURS)
PAPER_NAMES = {
    (TAGS.key, "interruptions"): "interruption",
    ("cocoeval_counts", "interruptions_count"): "interruption_count",
}
"""Questions that CoCoEval's own files call otherwise, by scheme."""
GROUPS = {key + COUNT: TAGS.question(key).group for key, *_ in BEHAVIOURS}
"""The group of behaviours that each count is of; on a screen, only tags stand in groups."""
MOST = 10_000
"""No continuation has more turns; whether a count is above those of its own is seen where it is stored."""


def _counted(key: str) -> QuestionDefinition:
    tag = TAGS.question(key)
    return QuestionDefinition(
        key=key + COUNT,
        wording=tag.wording,
        level="ratio",
        help=tag.help,
        minimum=0,
        maximum=MOST,
        whole=True,
    )


SCHEME = SchemeDefinition(
    key="cocoeval_counts",
    version=1,
    title="Inconsistent and uncollaborative behaviours, counted in a continuation",
    item_kind="dialogue",
    unit="item",
    one_conversation=True,
    introduction="Count, for each behaviour, the turns of the marked part that show it.",
    questions=tuple(_counted(behaviour[0]) for behaviour in BEHAVIOURS),
    guidelines="""Read what came before, then the part below the line “to be rated”, and count for each \
behaviour the turns that show it, from 0 to the number of turns. A turn counts once for each behaviour, \
and one turn may show several.

Where you can say which turns show a behaviour, tag them instead, with the questions about turns: counts \
alone cannot be compared turn by turn.""",
    source="CoCoEval, table 15",
)
