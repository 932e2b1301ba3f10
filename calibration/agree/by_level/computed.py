"""From a ratings file read question by question to its tables by level, and to what is printed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from calibration.agree import csv_table
from calibration.agree.by_level import html, latex, text
from calibration.agree.by_level.assembling import assembled
from calibration.agree.by_level.options import Asked
from calibration.agree.by_level.places import read_places
from calibration.agree.by_level.report import Shown, entries, facts
from calibration.agree.collect import Part, RatingsFile
from calibration.agree.files import Row, Table
from calibration.statistics import Plan, Ratings
from calibration.statistics.by_level import level_table

FURTHER = (
    "level", "row", "scores", "reference_question", "p", "p_test", "p_method", "p_reason", "starred", "best",
    "best_of_group", "left_out_turns", "left_out_continuations",
)  # fmt: skip


def tables(
    file: RatingsFile,
    asked: Asked,
    plan: Plan,
    ratings_of: Callable[[Part], Ratings],
    progress: Callable[[Table], Iterable[tuple[int, Row]]],
    column: str | None,
) -> list[Shown]:
    """Return a table for each stratum of the file. ValueError and RatingsFileError say what is amiss."""
    places = read_places(file.path, file.cluster, asked.best_of, progress, file.spelling)
    strata: dict[str, dict[str, Ratings]] = {}
    for part in file.parts:
        strata.setdefault(part.stratum, {})[part.question] = ratings_of(part)
    out = []
    for stratum, questions in strata.items():
        found = assembled(questions, places, asked)
        table = level_table(found.scored, asked.levels, options=asked.options, plan=plan)
        out.append(Shown(f"{column} {stratum}" if column else "", table, found, stratum))
    return out


def written(file: RatingsFile, shown: list[Shown], form: str) -> str:
    """Return the tables as text, json, csv, latex or html."""
    if form == "json":
        read = {"file": file.path.name, "shape": file.shape, "cluster": file.cluster}
        said = [{"title": one.title, "facts": facts(one)} for one in shown]
        whole = {"input": {**read, "questions": said}, "statistics": list(entries(shown))}
        return json.dumps(whole, allow_nan=False)
    if form == "csv":
        return csv_table.written(entries(shown), (*csv_table.COLUMNS, *FURTHER))
    writers = {"html": html.written, "latex": latex.written, "text": text.written}
    return writers[form](file.path.name, shown)
