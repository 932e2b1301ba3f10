"""CPDScore-Detail: one humanness score from 1 to 5 with steps and a brief explanation.

After Wakaki et al. 2024 (ComperDial), appendix B.2: the same criterion, scale and steps, with and without a
reference; the wording is Concord's own. Both speakers' profiles are the paper's "facts".
"""

from __future__ import annotations

from collections.abc import Mapping

from annotation.schemes.comperdial_turn import SCHEME as TURN_SCHEME
from judges.protocols.base import Asking, Case, Reading, Verdict
from judges.protocols.cpdscore_simple import WITH, WITHOUT
from judges.protocols.material import FACTS, REFERENCE, no_reference, reference_block
from judges.protocols.quoting import Seen, quote
from judges.protocols.replies import explained, explanation, scores
from judges.protocols.wording import Filling, Variable
from judges.protocols.writing import said, score

SCALE = (1, 2, 3, 4, 5)


class CpdscoreDetail(Asking):
    """One call per turn; the humanness score answers the ComperDial turn question `overall`."""

    key = "cpdscore_detail"
    title = "CPDScore-Detail: humanness from 1 to 5 with an explanation"
    covers = "turn"
    variants = (WITHOUT, WITH)
    answers = {"overall": (TURN_SCHEME, "overall")}

    def refusal(self, case: Case, variant: str) -> str:
        """A turn without a reference cannot be judged against one."""
        return no_reference(case) if variant == WITH else ""

    def prompt_file(self, variant: str) -> str:
        """One text per variant."""
        return f"{self.key}_{variant}"

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """The response, the turns before it, the speakers' profiles, and the reference where it is used."""
        return (
            Variable("profiles", "what is known of each speaker"),
            Variable("history", "the turns before the response"),
            Variable("response", "the response that is judged", required=True),
            *((REFERENCE,) if variant == WITH else ()),
            FACTS,
        )

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Show the profiles, the history, the response, and the reference where it is used."""
        assert case.turn is not None
        seen = Seen(case)
        history = seen.before()
        values: dict[str, Filling] = {
            "profiles": lambda: quote("PROFILES", seen.people()),
            "history": lambda: quote("HISTORY", seen.transcript(history)),
            "response": lambda: quote("RESPONSE", seen.response(history)),
            "facts": lambda: quote("FACTS", seen.facts()),
        }
        if variant == WITH:
            values["reference"] = lambda: reference_block(case, seen)
        return values

    def parse(self, reply: str, case: Case) -> Reading:
        """Read the line `Humanness: x` and keep the explanation."""
        assert case.turn is not None
        score = scores(reply, ["humanness"], SCALE, case)["humanness"]
        why = explanation(reply, until="humanness")
        return Reading((Verdict("overall", case.turn, score, explanation=why),))

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Say the explanation, where there is one, and the score."""
        why = explained(said(reading, "overall", case.turn).explanation, until="humanness")
        line = f"Humanness: {score(reading, 'overall', case.turn)}"
        return f"{why}\n{line}" if why else line
