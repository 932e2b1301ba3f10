"""CPDScore-Detail: one humanness score from 1 to 5 with steps and a brief explanation, without a reference.

After Wakaki et al. 2024 (ComperDial), appendix B.2: the same criterion, scale and steps; the wording is
Concord's own. Both speakers' profiles are the paper's "facts".
"""

from __future__ import annotations

from annotation.schemes.comperdial_turn import SCHEME as TURN_SCHEME
from jobs.prompt import Prompt
from judges.protocols.base import Asking, Case, Reading, Verdict
from judges.protocols.prompting import render
from judges.protocols.quoting import NOTICE, Seen, quote
from judges.protocols.replies import explanation, scores

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

    def prompt(self, case: Case, variant: str) -> Prompt:
        """Show the profiles, the history and the response."""
        assert case.turn is not None
        seen = Seen(case)
        history = seen.before()
        values = {
            "notice": NOTICE,
            "profiles": quote("PROFILES", seen.people()),
            "history": quote("HISTORY", seen.transcript(history)),
            "response": quote("RESPONSE", seen.response(history)),
        }
        return render(self.prompt_file(variant), self.version, values)

    def parse(self, reply: str, case: Case) -> Reading:
        """Read the line `Humanness: x` and keep the explanation."""
        assert case.turn is not None
        score = scores(reply, ["humanness"], SCALE, case)["humanness"]
        why = explanation(reply, until="humanness")
        return Reading((Verdict("overall", case.turn, score, explanation=why),))
