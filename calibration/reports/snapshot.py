"""A report as it is stored: typed, so that tables, sentences, charts, pages and files read the same fields.

A report's row holds it as JSON (`to_json`), nothing rounded; `snapshot_of` reads it back into these types.
FORMAT is raised whenever reports compute or record something else; a report in an older format is computed
again where it is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from calibration.errors import OlderFormat
from calibration.ratings.calls import Calls
from calibration.ratings.coverage import CoverageTable
from calibration.ratings.definitions import Definition, parse
from calibration.ratings.ratings import Answered
from calibration.ratings.votes import Uncompared
from calibration.reports.results import (
    BoundsRow,
    ComparedJudges,
    EvidenceTable,
    Floor,
    JudgeBiases,
    KeyTable,
    LevelTable,
    PanelSummary,
    PreferenceTable,
    PrevalenceRow,
    Question,
    QuestionRaters,
    RaterVerdict,
    Scores,
    SplitUsed,
    SystemTable,
    TagSet,
    TagTable,
    Totals,
)

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from calibration.models import Report

FORMAT = 14
READ = "_snapshot"
"""Attribute that caches the snapshot on a report's row."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A report: its definition, its inputs, and all its results."""

    format: int
    study: str
    corpus: str
    campaign: str | None
    occasions: tuple[str, ...]
    definition: Definition
    part: str
    split: SplitUsed | None
    counts: Totals
    calls: tuple[Calls, ...]
    answered: tuple[Answered, ...]
    uncompared: tuple[Uncompared, ...]
    questions: tuple[Question, ...]
    tags: tuple[TagTable, ...] = ()
    levels: tuple[LevelTable, ...] = ()
    prevalence: tuple[PrevalenceRow, ...] = ()
    raters: tuple[QuestionRaters, ...] = ()
    coverage: tuple[CoverageTable, ...] = ()
    sets: tuple[TagSet, ...] = ()
    compared: tuple[ComparedJudges, ...] = ()
    keys: tuple[KeyTable, ...] = ()
    scores: Scores | None = None
    panels: tuple[PanelSummary, ...] = ()
    floors: tuple[Floor, ...] = ()
    biases: tuple[JudgeBiases, ...] = ()
    systems: tuple[SystemTable, ...] = ()
    bounds: tuple[BoundsRow, ...] = ()
    left_out: tuple[str, ...] = ()
    excluded: dict[str, Any] | None = None
    evidence: tuple[EvidenceTable, ...] = ()
    preferences: tuple[PreferenceTable, ...] = ()
    fake_systems: tuple[str, ...] = ()
    verdicts: tuple[RaterVerdict, ...] = ()


@cache
def _adapter() -> TypeAdapter[Snapshot]:
    from pydantic import TypeAdapter  # loading takes 0.1 s, and few requests show reports

    return TypeAdapter(Snapshot)


def to_json(snapshot: Snapshot) -> dict[str, Any]:
    """Convert a snapshot to JSON-ready values, its definition in the format of definitions."""
    fields: dict[str, Any] = _adapter().dump_python(snapshot, mode="json")
    return fields | {"definition": snapshot.definition.as_dict()}


def is_readable(report: Report) -> bool:
    """Whether a report was stored in a format that this version shows."""
    return report.result.get("format") == FORMAT


def snapshot_of(report: Report) -> Snapshot:
    """Read the snapshot of a report's row, once per row: a page and its parts request it several times.

    Raises OlderFormat if it was stored in an earlier format.
    """
    snapshot: Snapshot | None = vars(report).get(READ)
    if snapshot is None:
        snapshot = vars(report)[READ] = _read(report.result, is_readable(report))
    return snapshot


def _read(stored: dict[str, Any], readable: bool) -> Snapshot:
    if not readable:
        raise OlderFormat(
            f"was kept in format {stored.get('format')}, which this version does not show: compute it again "
            "or download its JSON as it was kept"
        )
    return _adapter().validate_python(stored | {"definition": parse(stored["definition"])})
