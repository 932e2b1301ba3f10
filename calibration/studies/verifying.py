"""A kept report computed once more from its labels, and held against what was kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from calibration.errors import StudyError
from calibration.models import Report
from calibration.reports.sections import SECTIONS
from calibration.reports.snapshot import snapshot_of, written
from calibration.statistics.core.engine import second_opinions
from calibration.studies import inputs
from calibration.studies.computing import Progress, result_of


@dataclass(frozen=True, slots=True)
class Verified:
    """How many figures a report holds, and every place whose digits are not the same now.

    `second_opinions` of them were computed by a library as well, and found the same.
    """

    figures: int
    second_opinions: int
    different: tuple[str, ...]


def verify(report: Report, progress: Progress | None = None) -> Verified:
    """Compute a report again and compare all that it holds, digit for digit. Nothing is kept or logged.

    Kappa and MCC of two raters are computed by scikit-learn as well; a difference raises Disagreement.

    Raises OlderFormat for a report of an older format, and StudyError where its inputs are no longer those of
    now: labels came or changed, or the definition or the split did.
    """
    kept = snapshot_of(report)
    read = inputs.read(report.study, report.part)
    if read.hash != report.inputs_hash:
        raise StudyError(
            f"the report of {report.created_at:%d %B %Y %H:%M} UTC was made from inputs "
            f"{report.inputs_hash[:16]}, and they are {read.hash[:16]} now: labels, definition or split "
            "changed, so there is nothing to hold it against"
        )
    with second_opinions() as asked:
        now = result_of(read, progress)
    figures = sum(len(question.figures) for question in kept.questions)
    figures += sum(1 for section in SECTIONS for _ in section.lines(kept))
    return Verified(figures, asked.asked, tuple(_different("", report.result, written(now))))


def _different(place: str, kept: Any, now: Any) -> Iterator[str]:
    """Yield each place where two JSON values differ, with both."""
    if isinstance(kept, dict) and isinstance(now, dict):
        for key in sorted(kept.keys() | now.keys()):
            yield from _different(f"{place}.{key}" if place else key, kept.get(key), now.get(key))
    elif isinstance(kept, list) and isinstance(now, list) and len(kept) == len(now):
        for number, (old, new) in enumerate(zip(kept, now, strict=True)):
            yield from _different(f"{place}[{number}]", old, new)
    elif kept != now:
        yield f"{place} was {kept!r} and is {now!r}"
