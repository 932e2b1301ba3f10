"""What a report keeps of how far unanswered items could move a rater's figures."""

from __future__ import annotations

from dataclasses import dataclass

from calibration.reports.figure import Figure


@dataclass(frozen=True, slots=True)
class BoundsRow:
    """A judge or metric that left items of a question unanswered; the bounds of its figures.

    Of `n_asked` items it left `n_unanswered` open, `n_failed` of these because a call failed, the others with
    a reason. `n_partial` have some of its samples and count as answered. A figure's value is what the
    report says of the answered items, `low` and `high` what it could be; its `name` is one of
    `statistics.unanswered`. `unbounded` are statistics asked for without bounds, and why.
    """

    ref: str
    title: str
    rater: str
    kind: str
    n_asked: int
    n_unanswered: int
    n_failed: int
    n_partial: int
    figures: tuple[Figure, ...]
    unbounded: tuple[tuple[str, str], ...]

    def figure(self, name: str) -> Figure | None:
        """Return a figure by its name, None where there is none."""
        return next((figure for figure in self.figures if figure.name == name), None)
