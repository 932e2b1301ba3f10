"""The prompt that CPDScore-Detail was made from: how engaging one response is, 1 to 3, with steps.

After Wakaki et al. 2024 (ComperDial), appendix B.2.1: the same score, scale and steps; the wording is
Concord's own. Both speakers' profiles are the fact that the response is about.
"""

from __future__ import annotations

from collections.abc import Mapping

from annotation.schemes.base import QuestionDefinition, SchemeDefinition
from judges.protocols.base import Asking, Case, Reading, Verdict
from judges.protocols.material import FACTS
from judges.protocols.quoting import Seen, quote
from judges.protocols.replies import explained, explanation, scores
from judges.protocols.scales import scale_lines
from judges.protocols.wording import Filling, Variable
from judges.protocols.writing import said, score

QUESTION = "engagingness"

SCALE = (1, 2, 3)

SCHEME = SchemeDefinition(
    key="original_detail",
    version=1,
    title="How engaging a response is, 1 to 3",
    item_kind="turn",
    unit="item",
    introduction="Rate how engaging the marked response is, in view of what is known of the speakers.",
    questions=(
        QuestionDefinition(
            key="engagingness",
            wording="How engaging is this response?",
            level="ordinal",
            values=SCALE,
            anchors={
                1: "Dull: it could be said anywhere, and leads nowhere",
                2: "Somewhat interesting: an opinion or a thought that one could take up",
                3: "Interesting: one wants to go on, or learns something worth knowing",
            },
        ),
    ),
    source="ComperDial (Wakaki et al. 2024), appendix B.2.1",
)


class CpdscoreOriginalDetail(Asking):
    """One call per turn; the score meets the ComperDial turn question by order only."""

    key = "cpdscore_original_detail"
    title = "The original of CPDScore-Detail: engagingness from 1 to 3"
    covers = "turn"
    answers = {QUESTION: (SCHEME, QUESTION)}

    def prompt_file(self, variant: str) -> str:
        """The one text."""
        return self.key

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """The response, the turns before it, the fact, and the scale."""
        return (
            Variable("history", "the turns before the response"),
            Variable("fact", "what is known of each speaker"),
            Variable("response", "the response that is judged", required=True),
            Variable("scale", "the three scores and what they stand for"),
            FACTS,
        )

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Show the history, both profiles and the response."""
        seen = Seen(case)
        history = seen.before()
        return {
            "history": lambda: quote("HISTORY", seen.transcript(history)),
            "fact": lambda: quote("FACT", seen.people()),
            "response": lambda: quote("RESPONSE", seen.response(history)),
            "scale": lambda: "\n".join(scale_lines(SCHEME.question(QUESTION))),
            "facts": lambda: quote("FACTS", seen.facts()),
        }

    def parse(self, reply: str, case: Case) -> Reading:
        """Read the line `Engagingness: x`, and keep an explanation where one is given."""
        found = scores(reply, [QUESTION], SCALE, case)[QUESTION]
        why = explanation(reply, until=QUESTION)
        return Reading((Verdict(QUESTION, case.turn, found, explanation=why),))

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Say the explanation, where there is one, and the score."""
        why = explained(said(reading, QUESTION, case.turn).explanation, until=QUESTION)
        line = f"Engagingness: {score(reading, QUESTION, case.turn)}"
        return f"{why}\n{line}" if why else line
