"""CPDScore-Simple: six scores from 1 to 5 for one response, with or without a reference.

After Wakaki et al. 2024 (ComperDial), appendix B.1: the same six scores, scale and output lines; the wording
is Concord's own. The paper averages three calls: ask for three samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from annotation.schemes.base import QuestionDefinition, SchemeDefinition
from annotation.schemes.comperdial_turn import SCHEME as TURN_SCHEME
from judges.protocols.base import Asking, Case, Reading, Verdict
from judges.protocols.material import AROUND, REFERENCE, around, no_reference, reference_block
from judges.protocols.quoting import Seen, quote
from judges.protocols.replies import scores
from judges.protocols.wording import Filling, Variable
from judges.protocols.writing import score

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
        return no_reference(case) if variant == WITH else ""

    def prompt_file(self, variant: str) -> str:
        """One text per variant."""
        return f"{self.key}_{variant}"

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """The response, the turns before it, and the reference where there is one to compare with."""
        reference = (REFERENCE,) if variant == WITH else ()
        return (
            Variable("context", "the turns before the response"),
            Variable("response", "the response that is judged", required=True),
            *reference,
            *AROUND,
        )

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Show the context, the reference where wanted, and the response."""
        assert case.turn is not None
        seen = Seen(case)
        context = seen.before()
        values: dict[str, Filling] = {
            "context": lambda: quote("CONTEXT", seen.transcript(context)),
            "response": lambda: quote("RESPONSE", seen.response(context)),
            **around(seen),
        }
        if variant == WITH:
            values["reference"] = lambda: reference_block(case, seen)
        return values

    def parse(self, reply: str, case: Case) -> Reading:
        """Read six lines `name - x`."""
        assert case.turn is not None
        found = scores(reply, [*ASPECTS, "overall"], SCALE, case)
        return Reading(tuple(Verdict(key, case.turn, found[key]) for key in self.answers))

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Say the six lines."""
        return "\n".join(f"{key} - {score(reading, key, case.turn)}" for key in (*ASPECTS, "overall"))
