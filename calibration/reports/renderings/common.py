"""What the written forms of a report share."""

from __future__ import annotations

from annotation.models import TestLook
from annotation.text.display import number, percent
from calibration.models import Report
from calibration.reports.snapshot import Figure, snapshot_of
from calibration.reports.tables import Table
from calibration.reports.view import looks, openings_of
from calibration.reports.wording import counted, interval


def cell(entry: Figure | None) -> str:
    """Return `0.432 (0.21 to 0.60)`, `2.1%`, the reason why there is no value, or nothing."""
    if entry is None:
        return ""
    if not entry.ok:
        return entry.reason
    if entry.bare:
        return value(entry)
    return f"{value(entry)} ({interval(entry)})"


def value(entry: Figure) -> str:
    """Return the value of a figure that has one, with the sign that its table gives it."""
    if entry.percent:
        return percent(entry.value, 1)
    return f"{number(entry.value, entry.digits)}{entry.marks.sign if entry.marks else ''}"


def summary(report: Report) -> str:
    """Return what a report was made from, in one line."""
    result = snapshot_of(report)
    counts, plan = result.counts, result.definition.plan
    return (
        f"{counted(counts.labels, 'label')} of {counted(counts.raters, 'rater')} on "
        f"{counted(counts.items, 'item')} in {counted(counts.clusters, 'cluster')}; "
        f"{plan.resamples:,} cluster resamples, {plan.interval} interval, seed {plan.seed}; "
        f"computed {report.created_at:%d %B %Y %H:%M} UTC"
    )


def part_line(report: Report) -> str:
    """Return which part of the split a report shows."""
    split = snapshot_of(report).split
    if snapshot_of(report).definition.is_of_training:
        return "The training part: its dialogues are in no split."
    if split is None:
        return "No split: all dialogues."
    return f"Part {report.part} of split {split.name} (seed {split.seed})."


def look_lines(report: Report) -> list[str]:
    """Return a line per look at test, then one per judge that test was opened for."""
    found = [
        f"{look.at:%d %B %Y}, {look.by or 'unknown'}: {look.purpose}{_judges(look)}" for look in looks(report)
    ]
    return [*found, *(f"opened for a judge: {one.sentence()}" for one in openings_of(report))]


def _judges(look: TestLook) -> str:
    """Return whose figures a look was about."""
    return f" (judges: {', '.join(look.judges)})" if look.judges else ""


def headings(table: Table) -> list[str]:
    """Return what heads each column in one line: what stands above it, and its own heading."""
    above = [text for text, columns in table.over for _ in range(columns)] or [""] * len(table.columns)
    return [f"{text} {own}".strip() for text, (_, own) in zip(above, table.columns, strict=True)]
