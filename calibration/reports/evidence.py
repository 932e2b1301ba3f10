"""What a report keeps of how alike raters point at turns and words."""

from __future__ import annotations

from dataclasses import dataclass

from calibration.reports.figure import Figure
from calibration.statistics.evidence.overlap import Asks


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """People with each other ('' as the name), or another rater with people."""

    name: str
    kind: str
    raters: tuple[str, ...]
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class EvidenceTable:
    """A question whose answers may point at something: `n_answers` of them do so, or might have.

    `n_pointed` of these point at something; no rows where one rater answered alone.
    """

    ref: str
    title: str
    item_kind: str
    asks: Asks
    n_answers: int
    n_pointed: int
    rows: tuple[EvidenceRow, ...]
