"""Coverage of a scheme's behaviours: shares of turns with another one, each with Wilson's interval."""

from __future__ import annotations

from dataclasses import replace

from calibration.reading.coverage import ANOTHER, Coverage
from calibration.reports.coverage import CoverageLine, CoverageTable
from calibration.statistics import Result
from calibration.statistics.proportions import wilson
from calibration.studies.inputs import Inputs


def coverage_of(inputs: Inputs) -> tuple[CoverageTable, ...]:
    """Return the table of every question `another_behaviour` that a study's inputs hold."""
    return tuple(_table(read, inputs.definition.plan.level) for read in inputs.coverage)


def _table(read: Coverage, level: float) -> CoverageTable:
    rows = tuple(
        CoverageLine(
            rater.name,
            rater.kind,
            rater.identified,
            rater.simulated,
            rater.marked,
            _share(rater.marked, rater.n, level, 1),
        )
        for rater in read.raters
    )
    people = sum(rater.kind == "human" for rater in read.raters)
    share = _share(read.found, read.turns, level, people) if people else None
    return CoverageTable(read.ref, read.title, read.scheme_title, read.found, share, rows, read.notes)


def _share(marked: int, n: int, level: float, raters: int) -> Result:
    return replace(wilson(marked, n, level), name=ANOTHER, n_raters=raters)
