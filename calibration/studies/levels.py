"""Correlations at turn, dialogue and system level: from what a study at levels read to its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibration.reading.definitions import Definition
from calibration.reading.level_sources import LevelInputs, LevelQuestion
from calibration.reading.levels import TURN, Levels
from calibration.reading.ratings import SubjectData
from calibration.reports.contents import LevelCell, LevelRow, LevelTable, SystemDot
from calibration.statistics import RatingError, by_level
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.by_level import Options, Scored
from calibration.studies.floors import Lengths
from calibration.studies.level_scores import DIALOGUE, HUMAN, Laid, ScoredRow, by_length, laid_out, sides
from calibration.studies.panels import Panels

STATIC, ROLLOUT = "static", "rollout"


def level_tables(
    read: LevelInputs | None,
    definition: Definition,
    own: Sequence[SubjectData],
    panels: Panels,
    lengths: Lengths,
) -> tuple[LevelTable, ...]:
    """Return the tables of a study at levels, question by question; none for a study of items alone.

    `own` are the questions' own answers with those of the study's panels, in the order of the questions;
    `lengths` the characters and words of their items by key, for the baselines.
    """
    if read is None:
        return ()
    read = _with_panels(read, own, panels)
    return tuple(table for asked in read.questions for table in _tables(asked, read, definition, lengths))


def _with_panels(read: LevelInputs, own: Sequence[SubjectData], panels: Panels) -> LevelInputs:
    """Return what was read with the answers of panels; judges of turns and of wholes make panels apart."""
    questions = []
    for asked, data in zip(read.questions, own, strict=True):
        across = [replace(source, data=panels.among(source.data)) for source in asked.sources[1:]]
        questions.append(replace(asked, sources=(replace(asked.sources[0], data=data), *across)))
    return replace(read, questions=tuple(questions))


def _tables(
    asked: LevelQuestion, read: LevelInputs, definition: Definition, lengths: Lengths
) -> list[LevelTable]:
    """Return a question's table; two where static continuations are mixed with rollouts or own turns."""
    empty = _empty(asked, read.asked)
    if asked.subject.question.level == "nominal":
        return [replace(empty, reason="categories have no mean")]
    if not empty.levels:
        return [replace(empty, reason="whole dialogues have no turn level")]
    laid = laid_out(asked, read)
    try:
        reference, rows = sides(asked, read, laid, definition.samples)
    except RatingError as error:
        return [replace(empty, reason=str(error))]
    if reference is None:
        who = "nobody" if read.asked.reference == MEAN_OF_PEOPLE else read.asked.reference
        return [replace(empty, reason=f"the reference is missing: {who} did not answer this question")]
    if not rows:
        return [replace(empty, reason="nobody else answered it, nor a question that answers it")]
    if definition.baselines:
        rows = [*rows, *by_length(asked, laid, rows, lengths)]
    frames = laid.frames.get(TURN), laid.frames.get(DIALOGUE)
    scored = Scored(laid.units, reference, tuple(row.scores for row in rows), *frames)
    missing = asked.subject.missing
    options = Options(
        missing=missing,
        system_score=read.asked.system_score,
        unit=read.asked.unit,
        p=read.asked.p,
        shared=read.asked.shared_dialogues,
    )
    return [
        _table(replace(empty, made=made), part, rows, options, definition)
        for made, part in _parts(scored, laid, read.asked)
    ]


def _empty(asked: LevelQuestion, levels: Levels) -> LevelTable:
    question = asked.subject.question
    return LevelTable(
        question=question.ref,
        title=question.title,
        scheme_title=question.scheme_title,
        about=question.item_kind,
        reference=levels.reference,
        people=sum(info.kind == HUMAN for info in asked.sources[0].data.raters),
        made="",
        levels=tuple(level for level in levels.levels if level != TURN or question.item_kind == TURN),
        n_turns=0,
        n_continuations=0,
        n_dialogues=0,
        n_systems=0,
    )


def _parts(scored: Scored, laid: Laid, asked: Levels) -> list[tuple[str, Scored]]:
    """Return all units together, or static ones and rollouts apart where there are both."""
    if asked.unit == "dialogue_system" or laid.static.all() or not laid.static.any():
        return [("", scored)]
    return [(STATIC, scored.take(laid.static)), (ROLLOUT, scored.take(~laid.static))]


def _table(
    empty: LevelTable, scored: Scored, rows: Sequence[ScoredRow], options: Options, definition: Definition
) -> LevelTable:
    """Correlate the rows with the reference; a row without a score on these units is left out."""
    there = [number for number, side in enumerate(scored.rows) if not np.isnan(side.values).all()]
    if np.isnan(scored.reference.values).all() or not there:
        return replace(empty, reason="the reference and the others did not answer about the same ones")
    kept = replace(scored, rows=tuple(scored.rows[number] for number in there))
    try:
        found = by_level.level_table(
            kept, empty.levels, options=options, plan=definition.plan, points="system" in empty.levels
        )
    except ValueError as error:
        return replace(empty, reason=str(error))
    units = kept.joined().units if options.unit == "dialogue_system" else kept.units
    return replace(
        empty,
        n_turns=int((~np.isnan(kept.reference.values)).sum()) if empty.about == TURN else 0,
        n_continuations=len(units),
        n_dialogues=len(np.unique(units.dialogues)),
        n_systems=len(np.unique(units.systems)),
        rows=tuple(_row(rows[number], row) for number, row in zip(there, found.rows, strict=True)),
        warnings=found.warnings,
    )


def _row(asked: ScoredRow, row: by_level.LevelRow) -> LevelRow:
    left = row.left_out
    return LevelRow(
        name=row.name,
        kind=row.kind,
        scores=row.scores,
        samples=asked.samples,
        heading=asked.heading,
        group=row.group,
        cells=tuple(
            LevelCell(
                level=entry.level,
                coefficient=entry.coefficient,
                result=entry.result,
                p=entry.p,
                p_method=entry.p_method,
                p_reason=entry.p_reason,
                starred=entry.starred,
                best=entry.best,
                best_of_group=entry.best_of_group,
            )
            for entry in row.entries
        ),
        turns_left_out=left.turns,
        turns=left.of_turns,
        continuations_left_out=left.units,
        continuations=left.of_units,
        dots=tuple(_dot(point) for point in row.points),
    )


def _dot(point: by_level.SystemPoint) -> SystemDot:
    x, y = point.x, point.y
    return SystemDot(point.system, x.value, x.low, x.high, y.value, y.low, y.high)
