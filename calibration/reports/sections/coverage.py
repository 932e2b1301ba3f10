"""Behaviours outside the scheme's list: how many turns show one, who says so, in what words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from annotation.text.display import percent
from calibration.reading.coverage import ANOTHER, Marked
from calibration.reports.contents import CoverageLine, CoverageTable
from calibration.reports.sections.base import Asked, Line, Section, View
from calibration.reports.snapshot import Figure, Snapshot
from calibration.reports.tables import Row, Table, noted
from calibration.reports.wording import Crowd, counted, crowd_of
from calibration.statistics import Result

MOST_NOTES = 20
MOST_ROWS = 12
"""Raters whom the page shows at once: those who marked most."""
NOTE = f"{ANOTHER}_note"
WILSON = "Wilson’s interval takes turns for independent; those of one dialogue are alike, so it is too short."


@dataclass(frozen=True)
class Share(Figure):
    """A share that may be small."""

    digits: ClassVar[int] = 4
    end_digits: ClassVar[int] = 4


@dataclass(frozen=True)
class Below:
    """What stands under the table: the raters who are folded, some notes, and how many more there are."""

    folded: Table | None
    notes: Sequence[Marked]
    left: int


def views(result: Snapshot, asked: Asked | None = None) -> list[View]:
    """Return a table per scheme: who marked how many turns; the notes stand under it."""
    return [_view(table, in_file=asked is None) for table in result.coverage]


def _view(table: CoverageTable, *, in_file: bool) -> View:
    title = f"Coverage: {table.title}, {table.scheme_title}"
    why: list[str] = []
    lines = sorted(table.rows, key=lambda row: (row.kind != "human", -row.marked))
    rows = [
        Row(
            row.name,
            f"{_kind(row)}, {counted(row.marked, 'turn')}",
            row.share.n_items,
            row.share.n_clusters,
            [noted(_shown(row.share, [row.name]), why)],
            first=True,
        )
        for row in lines
    ]
    left = max(0, len(table.notes) - MOST_NOTES)
    said = tuple(_said_of(note) for note in table.notes[:MOST_NOTES]) if in_file else ()
    shown = Table(title, [(ANOTHER, "Share of turns")], rows, why, first="Rater", said=said)
    folded = None
    if not in_file and len(rows) > MOST_ROWS:
        shown, folded = replace(shown, rows=rows[:MOST_ROWS]), replace(shown, rows=rows[MOST_ROWS:])
    below = Below(folded, table.notes[:MOST_NOTES], left) if folded or table.notes else None
    template = "calibration/_coverage.html" if below else ""
    return View(shown, (*_said(table), WILSON), template=template, data=below)


def _said_of(note: Marked) -> str:
    return f"{note.item}, {note.rater}: {f'“{note.note}”' if note.note else 'no note'}"


def _kind(row: CoverageLine) -> str:
    kind = {"human": "person"}.get(row.kind, row.kind)
    return "simulated" if row.simulated else kind if row.identified else "anonymous slot"


def _said(table: CoverageTable) -> tuple[str, ...]:
    """Return what people found, then what judges did; of nobody nothing."""
    who = crowd_of(table.rows)
    found = [] if table.share is None else [_sentence(_annotators(who, table), table.marked, table.share)]
    judges = [row for row in table.rows if row.kind != "human"]
    return (*found, *(_sentence((row.name, row.name), row.marked, row.share) for row in judges))


def _annotators(who: Crowd, table: CoverageTable) -> tuple[str, str]:
    one = who.one if who.many != "people" else "annotator"
    return f"no {one}", f"one {one} or more"


def _sentence(who: tuple[str, str], marked: int, share: Result) -> str:
    """Return `No annotator found one in 1,080 turns (at most 0.35%, Wilson).`, or in how many."""
    nobody, somebody = who
    turns = counted(share.n_items, "turn")
    if not share.ok:
        return f"{somebody}: {share.reason}."
    if not marked:
        text = f"{nobody} found {'one' if nobody.startswith('no ') else 'none'} in {turns}"
        text += f" (at most {percent(share.high, 2)}, Wilson)."
    else:
        ends = f"{percent(share.low, 2)} to {percent(share.high, 2)}"
        text = f"{somebody} found another behaviour in {marked:,} of {turns} "
        text += f"({percent(share.value, 2)}; {ends}, Wilson)."
    return text[:1].upper() + text[1:] if nobody.startswith("no ") else text


def _shown(share: Result, raters: Sequence[str]) -> Share:
    return Share(**vars(Figure.of(share, raters=raters, question="")))


def lines(result: Snapshot) -> Iterator[Line]:
    """Yield the share of people together and of each rater, then every note.

    A note's line is a marked turn: its title is the item, its reason the note.
    """
    for table in result.coverage:
        people = [row.name for row in table.rows if row.kind == "human"]
        if table.share is not None:
            figure = Figure.of(table.share, raters=people, question=table.title)
            yield table.ref, table.title, f"{ANOTHER}_by_anybody", figure
        for row in table.rows:
            yield (
                table.ref,
                table.title,
                ANOTHER,
                Figure.of(row.share, raters=[row.name], question=table.title),
            )
        for note in table.notes:
            told = Result(NOTE, 1.0, n_items=1, n_clusters=1, n_raters=1, reason=note.note)
            yield table.ref, note.item, NOTE, Figure.of(told, raters=[note.rater], question=table.title)


SECTION = Section("coverage", views, lines)
