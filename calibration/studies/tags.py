"""The tags of a scheme together: table 7 of each judge with the people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from calibration.reading.census import QuestionInfo
from calibration.reading.definitions import Definition
from calibration.reading.ratings import SubjectData
from calibration.reports.snapshot import Figure, TagRow, TagTable
from calibration.statistics import RatingError, Result, cocoeval

OVERALL = "Overall"
T = TypeVar("T")


def tag_sets(subjects: Sequence[SubjectData]) -> list[list[SubjectData]]:
    """Return, per scheme, its binary questions that stand in a group with others; the rest stays out."""
    return in_sets(subjects, lambda data: data.subject.question)


def in_sets(members: Sequence[T], question: Callable[[T], QuestionInfo]) -> list[list[T]]:
    """Return, per scheme, the members whose question is a tag: binary, and in a group with others."""
    sets: dict[str, list[T]] = {}
    groups: dict[tuple[str, str], int] = {}
    tagged = [m for m in members if question(m).level == "binary" and question(m).group]
    for member in tagged:
        place = question(member).scheme, question(member).group
        groups[place] = groups.get(place, 0) + 1
    for member in tagged:
        asked = question(member)
        if groups[asked.scheme, asked.group] > 1:
            sets.setdefault(asked.scheme, []).append(member)
    return list(sets.values())


def tags(subjects: Sequence[SubjectData], definition: Definition) -> tuple[TagTable, ...]:
    """Return table 7 of every judge on each scheme's tags, by both policies (CoCoEval, table 7).

    Tags that cannot be read as ratings are left out; their question says why.
    """
    return tuple(table for members in tag_sets(subjects) for table in _of_scheme(members, definition))


def _of_scheme(members: Sequence[SubjectData], definition: Definition) -> list[TagTable]:
    ratings, titles = {}, {cocoeval.OVERALL: OVERALL}
    for data in members:
        question = data.subject.question
        try:
            ratings[question.key] = data.ratings(definition.samples)
        except RatingError:
            continue
        titles[question.key] = question.title
    asked = members[0].subject.question
    return [
        TagTable(
            asked.scheme,
            asked.scheme_title,
            table.judge,
            table.people,
            tuple(titles[key] for key in ratings if key not in table.behaviours),
            table.policy,
            table.n_items,
            table.n_dropped,
            tuple(_row(row, table, titles[row.behaviour]) for row in table.rows),
            table.reason,
        )
        for table in cocoeval.tables_of(ratings, plan=definition.plan)
    ]


def _row(row: cocoeval.Row, table: cocoeval.TagTable, title: str) -> TagRow:
    everyone = (table.judge, *table.people)

    def figure(result: Result, raters: Sequence[str]) -> Figure:
        return Figure.of(result, raters=raters, question=title)

    return TagRow(
        row.behaviour,
        title,
        figure(row.detected_by_people, table.people),
        figure(row.detected_by_judge, (table.judge,)),
        tuple(figure(result, everyone) for result in row.judge.values()),
        tuple(figure(result, table.people) for result in row.people.values()),
    )
