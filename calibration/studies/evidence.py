"""How far raters who gave the same answer point at the same turns and words, question by question."""

from __future__ import annotations

from calibration.reading.definitions import Definition
from calibration.reading.evidence import Evidence
from calibration.reports.evidence import EvidenceRow, EvidenceTable
from calibration.reports.figure import Figure
from calibration.statistics.evidence.overlap import overlaps


def evidence_tables(read: tuple[Evidence, ...], definition: Definition) -> tuple[EvidenceTable, ...]:
    """Return a table for each question with answers that may point at something."""
    return tuple(_table(one, definition) for one in read if one.pointings)


def _table(read: Evidence, definition: Definition) -> EvidenceTable:
    asked = read.question
    rows = tuple(
        EvidenceRow(
            found.name,
            found.kind,
            found.raters,
            tuple(Figure.of(result, raters=found.raters, question=asked.title) for result in found.figures),
        )
        for found in overlaps(read.pointings, read.asks, definition.plan)
    )
    pointed = sum(bool(one.stretches) for one in read.pointings)
    return EvidenceTable(
        asked.ref, asked.title, asked.item_kind, read.asks, len(read.pointings), pointed, rows
    )
