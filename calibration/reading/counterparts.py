"""Questions known to ask the same thing on different scales, in one table.

Each row: the people's question, the question that answers it too, and how their scales meet. A study may
say otherwise; nothing outside this table (and identical questions of another version) is matched by itself.
"""

from __future__ import annotations

from calibration.reading.scale_maps import ScaleMap

RANK = ScaleMap("rank")
SAME = ScaleMap("identity")
EXPECTED = ("rubric_expected:", "g_eval:")
"""How the schemes of expected scores begin (`judges.protocols.rubric`)."""

COUNTERPARTS: tuple[tuple[str, str, str, str, ScaleMap], ...] = (
    # scheme, question, other scheme, other question, map
    ("fed_dialogue", "overall", "fed_gpt4", "ovr", RANK),
    ("fed_dialogue", "coherent", "fed_gpt4", "coh", RANK),
    ("fed_dialogue", "diverse", "fed_gpt4", "div", RANK),
    ("fed_dialogue", "informative", "fed_gpt4", "inf", RANK),
    ("comperdial_turn", "overall", "original_simple", "overall", SAME),
    ("comperdial_turn", "overall", "original_detail", "engagingness", RANK),
    ("comperdial_dialogue", "overall", "cpdscore_dialogue", "turn_score", SAME),
    ("comperdial_dialogue", "overall", "cpdscore_dialogue", "final", SAME),
)


def counterpart(scheme: str, question: str, other_scheme: str, other_question: str) -> ScaleMap | None:
    """Return the map by which the other question answers this one, None where the table knows none.

    Schemes are named by key, without their version. Expected scores of a scheme's questions answer these.
    """
    if question == other_question and other_scheme in [f"{start}{scheme}" for start in EXPECTED]:
        return SAME
    wanted = (scheme, question, other_scheme, other_question)
    return next((row[4] for row in COUNTERPARTS if row[:4] == wanted), None)
