"""`agree --table7`: CoCoEval's table 7 of the file's binary questions, each a behaviour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from calibration.agree.report import Block, Section
from calibration.statistics import Analysis, Entry, Ratings, Result
from calibration.statistics.cocoeval import OVERALL, POLICIES, Policy, Row, TagTable, tables_of
from calibration.statistics.core.resampling import Plan


def computed(questions: Mapping[str, Ratings], policy: Policy, plan: Plan) -> tuple[TagTable, ...]:
    """Return the table of each judge. Raises ValueError where the ratings have no tags, people or judge."""
    tags = {name: ratings for name, ratings in questions.items() if ratings.level == "binary"}
    if not tags:
        raise ValueError("--table7 needs binary questions: --scale binary, or a column level that says so")
    found = tables_of(tags, policies=[policy], plan=plan)
    if not found:
        raise ValueError(
            "--table7 compares judges with people: the column kind must say judge of one rater and human of "
            "another, and both must have answered every question"
        )
    return found


def section(table: TagTable, ratings: Ratings) -> Section:
    """Return a judge's table as a section of the report: a block per behaviour, the last of all joined."""
    blocks = tuple(
        Block(f"{_name(row)}: {table.judge} against {len(table.people)} people", entries(row, table))
        for row in table.rows
    )
    facts = (
        f"{table.n_items:,} turns that all of them answered for every behaviour; {table.n_dropped:,} that "
        "only some of them answered are left out.",
        f"Policy {table.policy}: {POLICIES[table.policy]}.",
    )
    every = tuple(entry for block in blocks for entry in block.entries)
    said = (f"{table.reason[:1].upper()}{table.reason[1:]}.",) if table.reason else ()
    title = f"Tags together, {table.judge}"
    return Section(title, ratings, Analysis(panel=every), facts, said, blocks, ())


def entries(row: Row, table: TagTable) -> tuple[Entry, ...]:
    """Return the figures of a behaviour, named `table7_...`, with the raters that each compares."""
    everyone = (table.judge, *table.people)
    found = [
        _entry(row.detected_by_people, "", everyone, row),
        _entry(row.detected_by_judge, "", everyone, row),
        *(_entry(result, "judge_", everyone, row) for result in row.judge.values()),
        *(_entry(result, "people_", everyone, row) for result in row.people.values()),
    ]
    return tuple(found)


def _entry(result: Result, side: str, raters: Sequence[str], row: Row) -> Entry:
    return Entry(replace(result, name=f"table7_{side}{result.name}"), tuple(raters), row.behaviour)


def as_json(tables: Sequence[TagTable]) -> list[dict[str, Any]]:
    """Return a row per judge and behaviour, the overall row last; null where there is no figure.

    `intervals` holds low and high by the name of the figure.
    """
    return [_plain(row, table) for table in tables for row in table.rows]


def _plain(row: Row, table: TagTable) -> dict[str, Any]:
    named = {
        "detected_people": row.detected_by_people,
        "detected_judge": row.detected_by_judge,
        **row.judge,
        **{f"people_{name}": result for name, result in row.people.items()},
    }
    people = {f"people_{name}": None for name in row.judge} if not row.people else {}
    return {
        "question": row.behaviour,
        "judge": table.judge,
        "policy": table.policy,
        **{name: result.value for name, result in named.items()},
        **people,
        "intervals": {name: [result.low, result.high] for name, result in named.items()},
        "reasons": {name: result.reason for name, result in named.items() if not result.ok},
        "n_items": table.n_items,
        "n_dropped": table.n_dropped,
        "n_clusters": row.detected_by_judge.n_clusters,
    }


def _name(row: Row) -> str:
    return "All behaviours joined" if row.behaviour == OVERALL else row.behaviour
