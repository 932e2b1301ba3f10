"""`agree --levels`: places of a ratings file's items, and the input and output of tables by level."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from calibration.agree.ratings_file import Part, RatingsFile, Spelling
from calibration.agree.readings import Numbered, RatingsFileError, Row
from calibration.agree.report import join_titles
from calibration.statistics import FLAGS, Plan, Ratings
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.core.ratings import Floats
from calibration.statistics.level_correlations import (
    NOT_AT_TURN_LEVEL,
    LevelRow,
    LevelTable,
    Options,
    level_table,
)
from calibration.statistics.level_scores import LEVELS, Frame, Kind, Level, Scored, Scores, Units

# The options of `agree --levels`.

ALONE = {
    "table7": "--table7",
    "compare": "--compare",
    "key": "--key",
    "aggregate": "--aggregate",
    "more": "options that add blocks to a question's report",
    "verify": "--verify",
    "no_cluster": "--no-cluster (whole dialogues are drawn)",
    "resample": "--resample (dialogues or systems are drawn, as the level asks)",
    "epsilon": "--epsilon (there is no alternative annotator test)",
    "policy": "--policy",
    "baselines": "--baselines",
    "threshold": "--threshold",
    "scale_maps": "--scale-maps",
    "plan_width": "--plan-width",
    "plan_power": "--plan-power",
    "plan_statistic": "--plan-statistic",
}
"""Options incompatible with --levels: names to their text in messages."""


@dataclass(frozen=True)
class LevelQuery:
    """Parsed options of --levels: levels, the reference's question ('' for the only one), and the rest."""

    levels: tuple[Level, ...]
    reference_question: str
    against: str | None
    best_of: str | None
    options: Options


def add_to(parser: ArgumentParser) -> None:
    """Add the options to the parser."""
    group = parser.add_argument_group("correlations by level, instead of the statistics of each question")
    group.add_argument(
        "--levels", help="comma-separated, of turn, dialogue and system: correlate scores with people's there"
    )
    group.add_argument(
        "--reference-question", help="the question people answered that all rows are compared with"
    )
    group.add_argument(
        "--p",
        choices=("clustered", "item"),
        help="test by exchanging systems and dialogues, or as if items were independent (clustered)",
    )
    group.add_argument(
        "--missing-turns",
        choices=("skip", "whole"),
        help="leave out turns without a value, or the whole continuations of such turns (skip)",
    )
    group.add_argument(
        "--system-score",
        choices=("all_turns", "mean_of_dialogues"),
        help="a system's score: the mean of all its turns, or of its dialogues' means (all_turns)",
    )
    group.add_argument(
        "--unit",
        choices=("continuation", "dialogue_system"),
        help="what has a dialogue's score (continuation); dialogue_system joins a system's continuations of "
        "a dialogue",
    )
    group.add_argument(
        "--shared-dialogues", action="store_true", help="only the dialogues that all systems answered"
    )
    group.add_argument(
        "--best-of",
        metavar="COLUMN",
        help="a column such as model: the best of each is underlined",
    )


def check(options: Mapping[str, Any]) -> None:
    """Raise ValueError for a given option that is incompatible with --levels."""
    for name, option in ALONE.items():
        if options[name] not in (None, False, []):
            raise ValueError(f"--levels does not go with {option}")


def query_of(options: Mapping[str, Any]) -> LevelQuery:
    """Return the parsed options. Raises ValueError for an unknown level."""
    requested = [level.strip() for level in options["levels"].split(",")]
    unknown = [level for level in requested if level not in LEVELS]
    if unknown:
        raise ValueError(f"--levels: {unknown[0]!r} is not a level; there are {', '.join(LEVELS)}")
    level_options = Options(
        options["missing_turns"] or "skip",
        options["system_score"] or "all_turns",
        options["unit"] or "continuation",
        options["p"] or "clustered",
        options["shared_dialogues"],
    )
    levels = cast(tuple[Level, ...], tuple(level for level in LEVELS if level in requested))
    return LevelQuery(
        levels, options["reference_question"] or "", options["against"], options["best_of"], level_options
    )


# Places of the items of a ratings file: dialogue, continuation, system and turn.


@dataclass(frozen=True, slots=True)
class Place:
    """An item's place; ``turn`` is None for an item that is a whole dialogue."""

    dialogue: str
    continuation: str
    system: str
    cluster: str
    turn: int | None


@dataclass
class Places:
    """The place of every item, and every rater's group: its cell in the grouping column."""

    of: dict[str, Place] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)

    def group(self, rater: str) -> str:
        """Return the group of a rater, or of one of its separate samples (`name#0`); '' for none."""
        return self.groups.get(rater) or self.groups.get(rater.rpartition("#")[0], "")


def read_places(
    file: RatingsFile, best_of: str | None, progress: Callable[[Iterable[Numbered]], Iterable[Numbered]]
) -> Places:
    """Read the places of items. Without a named cluster column, each dialogue is a cluster.

    A continuation without a name gets its system's name. Raises RatingsFileError with the line of an item in
    two places, of two items in one place, and of a continuation with two systems or two clusters.
    """
    table = file.tables[0]
    needed = [best_of] if best_of else []
    absent = [column for column in needed if column not in table.columns]
    if not (table.mapping.of("dialogue") or table.mapping.has_dialogues):
        absent.insert(0, "dialogue")
    if absent:
        columns = ", ".join(table.columns)
        raise RatingsFileError(
            table.path, f"--levels needs a column {absent[0]!r}; the columns are {columns}", 1
        )
    places = Places()
    items: dict[tuple[str, str, int | None], str] = {}
    units: dict[tuple[str, str], tuple[str, str]] = {}
    for table in file.tables:
        for line, row in progress(table.rows(needed)):
            _spell(row, file.spelling)
            path, line_of_file = table.place(line)
            item, place = row["item"], _place(path, line_of_file, row, file.cluster)
            existing = places.of.setdefault(item, place)
            if existing is place:
                _check_free(path, line_of_file, item, place, items, units)
            elif existing != place:
                raise RatingsFileError(path, f"item {item!r} lies in two places", line_of_file, "item")
            if best_of and row["rater"]:
                places.groups.setdefault(row["rater"], row[f"\0{best_of}"])
    return places


def _spell(cells: Row, spelling: Spelling) -> None:
    """Give names the same spelling as in the ratings of the file."""
    cells["item"] = spelling.item(cells["item"])
    for name, names in (
        ("rater", spelling.raters),
        ("system", spelling.systems),
        ("cluster", spelling.clusters),
    ):
        if name in cells:
            cells[name] = names[cells[name]]


def _check_free(
    path: Path,
    line: int,
    item: str,
    place: Place,
    items: dict[tuple[str, str, int | None], str],
    units: dict[tuple[str, str], tuple[str, str]],
) -> None:
    unit = place.dialogue, place.continuation
    first = items.setdefault((*unit, place.turn), item)
    if first != item:
        where = "the whole" if place.turn is None else f"turn {place.turn}"
        message = f"items {first!r} and {item!r} are both {where} of continuation {place.continuation!r}"
        raise RatingsFileError(path, f"{message} of dialogue {place.dialogue!r}", line, "item")
    about = place.system, place.cluster
    if units.setdefault(unit, about) != about:
        message = f"continuation {place.continuation!r} of dialogue {place.dialogue!r} has two"
        subject = "systems" if units[unit][0] != place.system else "clusters"
        raise RatingsFileError(path, f"{message} {subject}", line)


def _place(path: Path, line: int, cells: Row, cluster: str | None) -> Place:
    if not cells.get("dialogue"):
        raise RatingsFileError(path, "empty; --levels needs the dialogue of every item", line, "dialogue")
    turn = cells.get("turn", "").strip().removesuffix(".0")  # spreadsheets and data frames write 3.0
    if turn and not turn.isdecimal():
        message = f"value {cells['turn']!r}: expected a turn's number from 0, or nothing for a whole dialogue"
        raise RatingsFileError(path, message, line, "turn")
    system = cells.get("system", "")
    return Place(
        cells["dialogue"],
        cells.get("continuation", "") or system,
        system,
        cells["cluster"] if cluster else cells["dialogue"],
        int(turn) if turn else None,
    )


# From ratings by question and the places of items to the input of a table by level.

PEOPLE = "human"
LABELS = {"turn": "turn labels", "dialogue": "dialogue labels"}


@dataclass(frozen=True)
class Source:
    """Source of a row's scores: a rater, or people's mean, and the question answered."""

    rater: str
    question: str


@dataclass(frozen=True)
class Assembled:
    """Input of a table, and the sources of its reference and rows. ``notes`` list omissions."""

    scored: Scored
    reference: Source
    rows: tuple[Source, ...]
    notes: tuple[str, ...]


def assembled(questions: Mapping[str, Ratings], places: Places, query: LevelQuery) -> Assembled:
    """Return the input of a table: people's mean (or the named rater) on one question, and all other raters.

    Raises ValueError if the reference's question is ambiguous, missing or unanswered, for a question about
    both turns and dialogues, and if there is nothing to compare with.
    """
    name = _reference_question(questions, query)
    notes = [
        f"{question or 'The values'}: left out, as categories have no mean."
        for question, ratings in questions.items()
        if ratings.level == "nominal" and question != name
    ]
    numeric = {q: r for q, r in questions.items() if r.level != "nominal" or q == name}
    for question, ratings in numeric.items():
        if ratings.problem or ratings.level == "nominal":
            raise ValueError(f"{question or 'the values'}: {ratings.problem or 'categories have no mean'}")
    kinds = {question: _kind(question, ratings, places) for question, ratings in numeric.items()}
    layout = _Layout.of(numeric, kinds, places)
    reference = _reference(numeric[name], query)
    first = layout.scores(numeric[name], kinds[name], reference, LABELS[kinds[name]])
    sides = [(Source(reference, name), first)]
    for question, ratings in numeric.items():
        for rater in _raters(ratings, question == name, reference):
            sides.append((Source(rater, question), layout.scores(ratings, kinds[question], rater, "")))
    if len(sides) < 2:
        raise ValueError(
            f"nothing to compare with {reference} on {name or 'the question'}: "
            "no judge, metric or other question (a column kind tells judges and metrics from people)"
        )
    rows = _with_names(
        [source for source, _ in sides[1:]], [side for _, side in sides[1:]], kinds, name, places
    )
    scored = Scored(layout.units, sides[0][1], rows, layout.turns, layout.dialogues)
    return Assembled(scored, sides[0][0], tuple(source for source, _ in sides[1:]), tuple(notes))


def _reference_question(questions: Mapping[str, Ratings], query: LevelQuery) -> str:
    names = ", ".join(questions)
    if query.reference_question:
        if query.reference_question not in questions:
            raise ValueError(f"--reference-question: no {query.reference_question!r}; there are {names}")
        return query.reference_question
    if len(questions) > 1:
        raise ValueError(f"--reference-question is needed: the file has the questions {names}")
    return next(iter(questions))


def _reference(ratings: Ratings, query: LevelQuery) -> str:
    if query.against is not None:
        if query.against not in ratings.raters:
            raise ValueError(f"--against: no rater {query.against!r}; there are {', '.join(ratings.raters)}")
        return query.against
    if not ratings.of_kind(PEOPLE):
        raise ValueError(
            "no people to compare with: the column kind must say human of those who answered the reference's "
            "question, or --against names a rater"
        )
    return MEAN_OF_PEOPLE


def _raters(ratings: Ratings, is_reference: bool, reference: str) -> list[str]:
    """Return the raters of a question that have rows: people together, and each other rater.

    If the reference is a single rater, the people who answered its question have a row each.
    """
    people = {ratings.raters[column] for column in ratings.of_kind(PEOPLE)}
    others = [rater for rater in ratings.raters if rater not in people and rater != reference]
    if not is_reference:
        return ([MEAN_OF_PEOPLE] if people else []) + others
    if reference == MEAN_OF_PEOPLE:
        return others
    return [rater for rater in ratings.raters if rater != reference]


def _kind(question: str, ratings: Ratings, places: Places) -> Kind:
    is_dialogue = {places.of[item].turn is None for item in ratings.items}
    if len(is_dialogue) > 1:
        raise ValueError(
            f"{question or 'the question'} is about turns and whole dialogues both: name them apart in the "
            "column question"
        )
    return "dialogue" if is_dialogue == {True} else "turn"


@dataclass(frozen=True)
class _Layout:
    """The units and frames of all items, and each item's position in its frame."""

    units: Units
    turns: Frame | None
    dialogues: Frame | None
    at: dict[str, int]

    @staticmethod
    def of(questions: Mapping[str, Ratings], kinds: Mapping[str, Kind], places: Places) -> _Layout:
        by_kind: dict[Kind, dict[str, Place]] = {"turn": {}, "dialogue": {}}
        for question, ratings in questions.items():
            by_kind[kinds[question]].update((item, places.of[item]) for item in ratings.items)
        every = [place for items in by_kind.values() for place in items.values()]
        unit_of: dict[tuple[str, str], int] = {}
        first: list[Place] = []
        for place in every:
            if unit_of.setdefault((place.dialogue, place.continuation), len(first)) == len(first):
                first.append(place)
        units = Units.of(
            [place.dialogue for place in first],
            [place.cluster for place in first],
            [place.system for place in first],
        )
        frames = {
            kind: Frame(
                kind,
                np.array([unit_of[p.dialogue, p.continuation] for p in items.values()], np.int64),
                np.array([p.turn or 0 for p in items.values()], np.int64),
            )
            for kind, items in by_kind.items()
            if items
        }
        at = {item: place for items in by_kind.values() for place, item in enumerate(items)}
        return _Layout(units, frames.get("turn"), frames.get("dialogue"), at)

    def scores(self, ratings: Ratings, kind: Kind, rater: str, labels: str) -> Scores:
        """Return a rater's scores, or people's mean, on the frame of this kind."""
        frame = self.turns if kind == "turn" else self.dialogues
        assert frame is not None
        columns = ratings.of_kind(PEOPLE) if rater == MEAN_OF_PEOPLE else (ratings.column(rater),)
        values: Floats = np.full((len(frame), len(columns)), np.nan)
        values[[self.at[item] for item in ratings.items]] = ratings.values[:, list(columns)]
        if rater == MEAN_OF_PEOPLE:
            return Scores.of_people(f"people ({labels})" if labels else "people", kind, values)
        return Scores(rater, kind, values[:, 0], ratings.kinds[columns[0]])


def _with_names(
    sources: list[Source],
    rows: list[Scores],
    kinds: Mapping[str, Kind],
    reference: str,
    places: Places,
) -> tuple[Scores, ...]:
    """Give rows distinct names: people's rows by the labelled unit, and by the question if needed."""
    names = []
    for source in sources:
        kind = kinds[source.question]
        if source.rater != MEAN_OF_PEOPLE:
            names.append(source.rater)
        elif kind != kinds[reference]:
            names.append(f"people ({LABELS[kind]})")
        else:
            names.append("people")
    row_names = [
        f"{name}, {source.question}" if names.count(name) > 1 or name == "people" else name
        for name, source in zip(names, sources, strict=True)
    ]
    return tuple(
        replace(row, name=name, group=places.group(source.rater))
        for row, name, source in zip(rows, row_names, sources, strict=True)
    )


# Tables by level: groups of rows, and sentences on omissions, marks and methods, for all output formats.

STAR = "*"


@dataclass(frozen=True)
class StratumTable:
    """A table of one stratum, with the sources of its rows and its input."""

    title: str
    table: LevelTable
    assembled: Assembled
    stratum: str = ""


def groups(table: LevelTable) -> Iterator[tuple[str, list[LevelRow]]]:
    """Yield rows grouped by the source of their scores, under a heading; no heading if there is one group."""
    kinds = list(dict.fromkeys(row.scores for row in table.rows))
    for kind in kinds:
        heading = f"from {kind} scores" if len(kinds) > 1 else ""
        yield heading, [row for row in table.rows if row.scores == kind]


def meets(row: LevelRow, level: Level) -> bool:
    """Whether a row has values at a level: scores of whole dialogues have none at turn level."""
    return any(entry.level == level and entry.result.reason != NOT_AT_TURN_LEVEL for entry in row.entries)


def levels_of(table: LevelTable) -> list[Level]:
    """Return the levels at which at least one row has values."""
    return [level for level in table.levels if any(meets(row, level) for row in table.rows)]


def facts(stratum_table: StratumTable) -> list[str]:
    """Return sentences on the reference, the data, and omissions."""
    table, units = stratum_table.table, stratum_table.assembled.scored.units
    unit = "continuations" if table.options.unit == "continuation" else "answers of a system to a dialogue"
    question = stratum_table.assembled.reference.question
    out = [
        f"Compared with {table.reference}{', question ' + question if question else ''}.",
        f"{len(units):,} {unit} by {len(units.system_names):,} systems in {len(units.dialogue_names):,} "
        "dialogues.",
    ]
    return out + [*table.warnings, *stratum_table.assembled.notes]


def left_out(row: LevelRow) -> str:
    """Return a sentence with the numbers of turns and continuations omitted in a row; '' if none."""
    row_left_out, parts = row.left_out, []
    for n, of, share, unit in (
        (row_left_out.turns, row_left_out.of_turns, row_left_out.share_of_turns, "turns"),
        (row_left_out.units, row_left_out.of_units, row_left_out.share_of_units, "continuations"),
    ):
        if n and share is not None:
            parts.append(f"{n:,} of {of:,} {unit} ({100 * share:.1f}%)")
    return f"{row.name}: left out are {' and '.join(parts)}." if parts else ""


def notes(table: LevelTable, best: str, best_of_group: str) -> list[str]:
    """Return notes on stars and marks (if any), on missing values and p-values, and on flags.

    ``best`` and ``best_of_group`` name the marks, such as "Bold".
    """
    entries = [entry for row in table.rows for entry in row.entries]
    test = "permutation of systems and dialogues" if table.options.p == "clustered" else "test over items"
    out = []
    if any(entry.starred for entry in entries):
        out.append(f"{STAR} p is 0.05 or more by the {test}.")
    if any(entry.best for entry in entries):
        out.append(f"{best}: the highest of its column, people apart.")
    if any(entry.best_of_group for entry in entries):
        out.append(f"{best_of_group}: the highest of its column in its group.")
    reasons: dict[str, list[str]] = {}
    for row in table.rows:
        for entry in row.entries:
            for reason in (entry.result.reason, entry.p_reason if entry.result.ok else ""):
                if reason:
                    reasons.setdefault(reason, []).append(f"{row.name} at {entry.level} level")
    for reason, about in reasons.items():
        out.append(f"{reason[:1].upper()}{reason[1:]} ({join_titles(about)}).")
    out += filter(None, (left_out(row) for row in table.rows))
    for flag in dict.fromkeys(flag for entry in entries for flag in entry.result.flags):
        out.append(f"{FLAGS[flag][:1].upper()}{FLAGS[flag][1:]}.")
    return out


def methods(table: LevelTable) -> list[str]:
    """Return sentences on the methods of intervals and p-values, level by level."""
    out = []
    for level in table.levels:
        entries = [e for row in table.rows for e in row.entries if e.level == level and e.result.ok]
        if entries:
            how = "; ".join(dict.fromkeys(e.result.method for e in entries))
            tests = "; ".join(dict.fromkeys(e.p_method for e in entries if e.p_method))
            out.append(f"{level.capitalize()} level: {how}." + (f" p: {tests}." if tests else ""))
    return out


def entries(stratum_tables: Iterable[StratumTable]) -> Iterator[dict[str, Any]]:
    """Yield every figure as plain JSON, ordered by row, level and coefficient."""
    for stratum_table in stratum_tables:
        rows = zip(stratum_table.table.rows, stratum_table.assembled.rows, strict=True)
        for row, source in rows:
            for entry in row.entries:
                yield {
                    **entry.result.as_dict(),
                    "raters": [stratum_table.assembled.reference.rater, source.rater],
                    "question": source.question,
                    "reference_question": stratum_table.assembled.reference.question,
                    "row": row.name,
                    "scores": row.scores,
                    "level": entry.level,
                    "p": entry.p,
                    "p_test": stratum_table.table.options.p,
                    "p_method": entry.p_method,
                    "p_reason": entry.p_reason,
                    "starred": entry.starred,
                    "best": entry.best,
                    "best_of_group": entry.best_of_group,
                    "left_out_turns": row.left_out.turns,
                    "left_out_continuations": row.left_out.units,
                    **({"stratum": stratum_table.stratum} if stratum_table.stratum else {}),
                }


def tables(
    file: RatingsFile,
    query: LevelQuery,
    plan: Plan,
    ratings_of: Callable[[Part], Ratings],
    progress: Callable[[Iterable[Numbered]], Iterable[Numbered]],
    column: str | None,
) -> list[StratumTable]:
    """Return one table per stratum of the file. Raises ValueError and RatingsFileError with the reason."""
    places = read_places(file, query.best_of, progress)
    strata: dict[str, dict[str, Ratings]] = {}
    for part in file.parts:
        strata.setdefault(part.stratum, {})[part.question] = ratings_of(part)
    out = []
    for stratum, questions in strata.items():
        scores = assembled(questions, places, query)
        table = level_table(scores.scored, query.levels, options=query.options, plan=plan)
        out.append(StratumTable(f"{column} {stratum}" if column else "", table, scores, stratum))
    return out
