"""What a report keeps of panels of judges, and of everybody beside the baselines."""

from __future__ import annotations

from dataclasses import dataclass

from calibration.reports.figure import Figure


@dataclass(frozen=True, slots=True)
class PanelMember:
    """A member; `weight` and the `agreement` with people it comes from only where weights are learned."""

    name: str
    weight: float | None
    agreement: float | None
    n_items: int


@dataclass(frozen=True, slots=True)
class PanelTold:
    """A panel on a question: its rule, its members, how many must answer, and what became of the items.

    `basis` is the part that is shown where weights were learned (always on dev), '' for other rules. `reason`
    says why the panel has no answer at all.
    """

    ref: str
    title: str
    name: str
    rule: str
    members: tuple[PanelMember, ...]
    least: int
    n_answered: int
    n_ties: int
    n_short: int
    basis: str
    reason: str


@dataclass(frozen=True, slots=True)
class FloorRow:
    """A judge, a panel or a baseline beside people; `told` is the value that a baseline always gives."""

    name: str
    kind: str
    told: str
    figures: tuple[Figure, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Floor:
    """A question's judges and panels above baselines `learned` on `dev`, or on `others`: other clusters."""

    ref: str
    title: str
    learned: str
    rows: tuple[FloorRow, ...]
