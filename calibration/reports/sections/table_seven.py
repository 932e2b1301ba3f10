"""Tags, judge against people: CoCoEval's table 7, and its chart of marked turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from calibration.reports.charts import Chart, Point
from calibration.reports.figures import Figure, crowd, figures, worded
from calibration.reports.sections.base import Asked, Line, Section, Switch, View
from calibration.reports.snapshot import Snapshot, TagRow, TagTable
from calibration.reports.tables import Row, Table, noted
from calibration.reports.wording import Crowd, counted, listed
from calibration.statistics.cocoeval import FIGURES as TAG_FIGURES
from calibration.statistics.cocoeval import POLICIES

DEFAULT = next(iter(POLICIES))
STATISTIC = {"kappa": "cohen_kappa"}
"""Which statistic of the table words a figure of table 7, where the name is another."""


SHARES = frozenset({"precision", "recall"})


@dataclass(frozen=True)
class Percent(Figure):
    """A share that is shown in percent."""

    percent: ClassVar[bool] = True


@dataclass(frozen=True)
class Marked(Figure):
    """A number of turns."""

    digits: ClassVar[int] = 1
    end_digits: ClassVar[int] = 1


def views(result: Snapshot, asked: Asked | None = None) -> list[View]:
    """Return table 7 of each judge, in the order of the study: of the policy asked for, in files of each.

    With `percent` asked for, precision and recall are shown in percent, as the paper prints them.
    """
    who = crowd(figures(result))
    policy = None if asked is None else _policy(asked)
    percent = asked is not None and "percent" in asked
    found = [table for table in result.tags if policy in (None, table.policy)]
    switches = () if policy is None else _switches(policy, percent)
    return [View(_table(t, who, percent), _what(t, who), switches) for t in found]


def _policy(asked: Asked) -> str:
    policy = asked.get("policy")
    return policy if policy in POLICIES else DEFAULT


def _switches(policy: str, percent: bool) -> tuple[Switch, ...]:
    """Return each policy in the present form of shares, and the other form in the present policy."""
    form = {"percent": ""} if percent else {}
    other = {} if percent else {"percent": ""}
    policies = [Switch(name, {"policy": name, **form}, name == policy) for name in POLICIES]
    words = "as shares" if percent else "in percent"
    return (*policies, Switch(words, {"policy": policy, **other}))


def _what(table: TagTable, who: Crowd) -> tuple[str, ...]:
    if table.reason:
        return (f"{table.reason[:1].upper()}{table.reason[1:]}.",)
    left = f"{counted(table.n_dropped, 'turn')} that only some of them answered " if table.n_dropped else ""
    out = f"; {left}{'is' if table.n_dropped == 1 else 'are'} left out" if left else ""
    not_asked = f"{table.judge} did not answer {listed(table.unanswered)}." if table.unanswered else ""
    alone = "" if len(table.people) > 1 else f"With one {who.one} nobody can be compared with each other."
    said = (
        f"{counted(table.n_items, 'turn')} that {table.judge} and {who.counted(len(table.people))} answered"
        f"{out}. Policy {table.policy}: {POLICIES[table.policy]}.",
        alone,
        not_asked,
        f"Each figure is the mean over {who.many}, each the reference; the last row joins all behaviours end "
        "to end.",
    )
    return tuple(filter(None, said))


def _table(table: TagTable, who: Crowd, percent: bool) -> Table:
    several = len(table.people) > 1
    heads = [(name, worded(STATISTIC.get(name, name)).heading) for name in TAG_FIGURES]
    columns = [
        ("detected_by_people", f"Marked by {who.many}"),
        ("detected_by_judge", "Marked by judge"),
        *heads,
        *((f"people_{name}", f"{heading}, {who.many}") for name, heading in heads if several),
    ]
    notes: list[str] = []
    rows = [
        Row(
            row.title,
            "",
            row.detected_by_judge.n_items,
            row.detected_by_judge.n_clusters,
            [noted(cell, notes) for cell in _cells(row, several, percent)],
            first=True,
            pooled=row is table.rows[-1],
        )
        for row in table.rows
    ]
    title = f"Tags: {table.judge} against {who.many}, {table.scheme_title} (policy {table.policy})"
    return Table(title, columns, rows, notes, first="Behaviour")


def _cells(row: TagRow, several: bool, percent: bool) -> Sequence[Figure]:
    shares = [*row.judge, *(row.people if several else ())]
    if percent:
        shares = [Percent(**vars(cell)) if cell.name in SHARES and cell.ok else cell for cell in shares]
    marked = [Marked(**vars(cell)) for cell in (row.detected_by_people, row.detected_by_judge)]
    return [*marked, *shares]


def marked(result: Snapshot) -> list[Chart]:
    """Return, per judge, the marked turns by behaviour: people beside judge. No policy changes them."""
    who = crowd(figures(result))
    found = []
    for number, table in enumerate(t for t in result.tags if t.policy == DEFAULT):
        points = [
            Point(
                row.title,
                series,
                entry.value,
                entry.low,
                entry.high,
                entry.n_items,
                entry.n_clusters,
                entry.reason if entry.value is None else "",
            )
            for row in table.rows[:-1]
            for series, entry in ((who.many, row.detected_by_people), (table.judge, row.detected_by_judge))
        ]
        if points:
            title = f"Turns marked by {table.judge} and by {who.many}"
            axis = f"Marked turns of {table.n_items:,} ({who.many}: their mean), intervals over dialogues"
            found.append(Chart(f"marked-{number + 1}", title, axis, tuple(points), bars=True))
    return found


def lines(result: Snapshot) -> Iterator[Line]:
    """Yield the cells of table 7, named after what they are and their policy."""
    for table in result.tags:
        for row in table.rows:
            ref = f"{table.scheme}/{row.key}"
            cells = [("", row.detected_by_people), ("", row.detected_by_judge)]
            cells += [("judge_", cell) for cell in row.judge] + [("people_", cell) for cell in row.people]
            for side, cell in cells:
                yield ref, row.title, f"table7_{table.policy}_{side}{cell.name}", cell


SECTION = Section("tags", views, lines, marked)
