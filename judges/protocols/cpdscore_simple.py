"""CPDScore-Simple: six scores from 1 to 5 for one response, with or without a reference.

After Wakaki et al. 2024 (ComperDial), appendix B.1: the same six scores, scale and output lines; the wording
is Concord's own. The paper averages three calls: ask for three samples.
"""

from __future__ import annotations

from typing import ClassVar

from annotation.records import Turn
from annotation.schemes.base import QuestionDefinition, SchemeDefinition
from annotation.schemes.comperdial_turn import SCHEME as TURN_SCHEME
from jobs.prompt import Prompt
from judges.protocols.base import Asking, Case, Reading, Verdict
from judges.protocols.prompting import render
from judges.protocols.quoting import NOTICE, Seen, quote
from judges.protocols.replies import scores

SCALE = (1, 2, 3, 4, 5)
ASPECTS = {
    "humanness": "How much does the response read as if a person had written it?",
    "fluency": "How natural and correct is the wording?",
    "coherency": "How well does the response follow from what was said before?",
    "consistency": "How well does the response agree with what was said before?",
    "engagingness": "How much does the response invite the talk to go on?",
}
WITHOUT, WITH = "without_reference", "with_reference"

SCHEME = SchemeDefinition(
    key="cpdscore_simple",
    version=1,
    title="CPDScore-Simple: five aspects of a response",
    item_kind="turn",
    unit="item",
    introduction="Rate five aspects of the marked response from 1 (very bad) to 5 (very good).",
    questions=tuple(
        QuestionDefinition(
            key=key,
            wording=wording,
            level="ordinal",
            values=SCALE,
            anchors={1: "very bad", 5: "very good"},
            required=False,
        )
        for key, wording in ASPECTS.items()
    ),
    source="ComperDial (Wakaki et al. 2024), appendix B.1",
)


class CpdscoreSimple(Asking):
    """One call per turn; `overall` answers the ComperDial turn question, the rest a scheme of its own."""

    key = "cpdscore_simple"
    title = "CPDScore-Simple: six scores from 1 to 5 per response"
    covers = "turn"
    reply_tokens = 40
    variants: ClassVar[tuple[str, ...]] = (WITHOUT, WITH)
    answers = {"overall": (TURN_SCHEME, "overall")} | {key: (SCHEME, key) for key in ASPECTS}

    def refusal(self, case: Case, variant: str) -> str:
        """A turn without a reference cannot be judged against one."""
        if variant == WITH and self._reference(case) is None:
            return "no reference response"
        return ""

    def prompt_file(self, variant: str) -> str:
        """One text per variant."""
        return f"{self.key}_{variant}"

    def prompt(self, case: Case, variant: str) -> Prompt:
        """Show the context, the reference where wanted, and the response."""
        assert case.turn is not None
        seen = Seen(case)
        context = seen.before()
        values = {
            "notice": NOTICE,
            "context": quote("CONTEXT", seen.transcript(context)),
            "response": quote("RESPONSE", seen.response(context)),
        }
        reference = self._reference(case)
        if variant == WITH and reference is not None:
            values["reference"] = quote("REFERENCE", seen.turn(reference, reference))
        return render(self.prompt_file(variant), self.version, values)

    def parse(self, reply: str, case: Case) -> Reading:
        """Read six lines `name - x`."""
        assert case.turn is not None
        found = scores(reply, [*ASPECTS, "overall"], SCALE, case)
        return Reading(tuple(Verdict(key, case.turn, found[key]) for key in self.answers))

    @staticmethod
    def _reference(case: Case) -> Turn | None:
        return None if case.turn is None else case.dialogue.reference(case.continuation, case.turn)
