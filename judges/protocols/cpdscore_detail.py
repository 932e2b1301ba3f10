"""CPDScore-Detail: one humanness score from 1 to 5 with steps and a brief explanation, without a reference.

After Wakaki et al. 2024 (ComperDial), appendix B.2: the same criterion, scale and steps; the wording is
Concord's own. Both speakers' profiles are the paper's "facts".
"""

from __future__ import annotations

from collections.abc import Mapping

from annotation.schemes.comperdial_turn import SCHEME as TURN_SCHEME
from judges.protocols.base import Asking, Case, Reading, Verdict
from judges.protocols.material import FACTS
from judges.protocols.quoting import Seen, quote
from judges.protocols.replies import explanation, scores
from judges.protocols.wording import Filling, Variable

SCALE = (1, 2, 3, 4, 5)


class CpdscoreDetail(Asking):
    """One call per turn; the humanness score answers the ComperDial turn question `overall`."""

    key = "cpdscore_detail"
    title = "CPDScore-Detail: humanness from 1 to 5 with an explanation"
    covers = "turn"
    variants = ("without_reference",)
    answers = {"overall": (TURN_SCHEME, "overall")}

    def prompt_file(self, variant: str) -> str:
        """The text of the one variant."""
        return f"{self.key}_{variant}"

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """The response, the turns before it, and the speakers' profiles."""
        return (
            Variable("profiles", "what is known of each speaker"),
            Variable("history", "the turns before the response"),
            Variable("response", "the response that is judged", required=True),
            FACTS,
        )

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Show the profiles, the history and the response."""
        assert case.turn is not None
        seen = Seen(case)
        history = seen.before()
        return {
            "profiles": lambda: quote("PROFILES", seen.people()),
            "history": lambda: quote("HISTORY", seen.transcript(history)),
            "response": lambda: quote("RESPONSE", seen.response(history)),
            "facts": lambda: quote("FACTS", seen.facts()),
        }

    def parse(self, reply: str, case: Case) -> Reading:
        """Read the line `Humanness: x` and keep the explanation."""
        assert case.turn is not None
        score = scores(reply, ["humanness"], SCALE, case)["humanness"]
        why = explanation(reply, until="humanness")
        return Reading((Verdict("overall", case.turn, score, explanation=why),))
