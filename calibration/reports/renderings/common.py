"""What the written forms of a report share."""

from __future__ import annotations

from annotation.text.numbers import number
from calibration.models import Report
from calibration.reports.snapshot import Figure, snapshot_of
from calibration.reports.view import looks
from calibration.reports.wording import counted, interval


def cell(entry: Figure | None) -> str:
    """Return `0.432 (0.21 to 0.60)`, the reason why there is no value, or nothing."""
    if entry is None:
        return ""
    if not entry.ok:
        return entry.reason
    value = number(entry.value, entry.digits)
    return value if entry.bare else f"{value} ({interval(entry)})"


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
    if split is None:
        return "No split: all dialogues."
    return f"Part {report.part} of split {split.name} (seed {split.seed})."


def look_lines(report: Report) -> list[str]:
    """Return a line per look at test."""
    return [f"{look.at:%d %B %Y}, {look.by or 'unknown'}: {look.purpose}" for look in looks(report)]
