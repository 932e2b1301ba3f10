"""The prompt that CPDScore-Simple was made from: five scores from 1 to 5 for one response.

After Wakaki et al. 2024 (ComperDial), appendix B.1.1: the same scores, scale and output lines; the wording is
Concord's own.
"""

from __future__ import annotations

from collections.abc import Mapping

from annotation.schemes.base import QuestionDefinition, SchemeDefinition
from judges.protocols.base import Asking, Case, Reading, Verdict
from judges.protocols.material import AROUND, around
from judges.protocols.quoting import Seen, quote
from judges.protocols.replies import scores
from judges.protocols.wording import Filling, Variable
from judges.protocols.writing import score

SCALE = (1, 2, 3, 4, 5)
ASPECTS = {
    "relevance": "How much does the response bear on what was said before?",
    "specificity": "How particular is the response to this dialogue, rather than fit for any?",
    "interestingness": "How interesting is the response?",
    "understandability": "How easily can the response be understood?",
    "overall": "How good is the response on the whole?",
}

SCHEME = SchemeDefinition(
    key="original_simple",
    version=1,
    title="Five scores of a response, 1 to 5",
    item_kind="turn",
    unit="item",
    introduction="Rate the marked response from 1 (lowest) to 5 (highest).",
    questions=tuple(
        QuestionDefinition(
            key=key, wording=wording, level="ordinal", values=SCALE, anchors={1: "lowest", 5: "highest"}
        )
        for key, wording in ASPECTS.items()
    ),
    source="ComperDial (Wakaki et al. 2024), appendix B.1.1",
)


class CpdscoreOriginalSimple(Asking):
    """One call per turn; its `overall` meets the ComperDial turn question on the same scale."""

    key = "cpdscore_original_simple"
    title = "The original of CPDScore-Simple: five scores from 1 to 5 per response"
    covers = "turn"
    reply_tokens = 40
    answers = {key: (SCHEME, key) for key in ASPECTS}

    def prompt_file(self, variant: str) -> str:
        """The one text."""
        return self.key

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """The response and the turns before it."""
        return (
            Variable("context", "the turns before the response"),
            Variable("response", "the response that is judged", required=True),
            *AROUND,
        )

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Show the context and the response."""
        seen = Seen(case)
        context = seen.before()
        return {
            "context": lambda: quote("CONTEXT", seen.transcript(context)),
            "response": lambda: quote("RESPONSE", seen.response(context)),
            **around(seen),
        }

    def parse(self, reply: str, case: Case) -> Reading:
        """Read five lines `name - x`, in any order."""
        found = scores(reply, list(ASPECTS), SCALE, case)
        return Reading(tuple(Verdict(key, case.turn, found[key]) for key in ASPECTS))

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Say the five lines."""
        return "\n".join(f"{key} - {score(reading, key, case.turn)}" for key in ASPECTS)
