"""What `agree` computes of a question only where it is asked to: an option, and the blocks it adds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from calibration.agree import raters
from calibration.agree.report import Block
from calibration.agree.words import raters_of, title_of
from calibration.statistics import STATISTICS, Analysis, Entry, Plan, Ratings
from calibration.statistics.corrected_share import corrected_shares
from calibration.statistics.icc_intervals import f_intervals
from calibration.statistics.unanswered.figures import bounds_of


@dataclass(frozen=True, slots=True)
class More:
    """An option of `agree`, what its help says, and the blocks that it adds to a question's report.

    `without` says why there may be none, for a file in which no question has any.
    `repeats` adds those on repeated answers, given the ratings with each sample as a rater as well.
    """

    option: str
    help: str
    without: str
    blocks: Callable[[Ratings, Analysis, Plan], Sequence[Block]]
    repeats: Callable[[Ratings, Ratings, Plan], Sequence[Block]] | None = None


def _with_f_intervals(ratings: Ratings, analysis: Analysis, plan: Plan) -> list[Block]:
    note = "Items are taken as independent and normal, which makes the intervals of turns too short."
    found: dict[tuple[str, ...], list[Entry]] = {}
    for entry in f_intervals(ratings, analysis.panel, plan.level):
        found.setdefault(entry.raters, []).append(entry)
    return [Block(f"With F intervals: {raters_of(g[0])}", tuple(g), note=note) for g in found.values()]


def _corrected(ratings: Ratings, analysis: Analysis, plan: Plan) -> list[Block]:
    found = []
    for one in corrected_shares(ratings, plan):
        raters = (one.judge, *one.people)
        note = (
            f"People answered {one.n_labelled:,} of the items, {one.judge} these and {one.n_unlabelled:,} "
            "more. A bad judge does not bias the prediction-powered share if these were drawn at random."
        )
        entries = tuple(Entry(result, raters) for result in one.figures.values())
        found.append(Block(f"How often it occurs, by {one.judge} and corrected", entries, note=note))
    return found


def _bounds(ratings: Ratings, analysis: Analysis, plan: Plan) -> list[Block]:
    people = tuple(ratings.raters[j] for j in ratings.of_kind("human"))
    keys = list(
        dict.fromkeys(entry.result.name for entry in analysis.pairs if entry.result.name in STATISTICS)
    )
    ends = (ratings.scale[0], ratings.scale[-1]) if ratings.scale and not ratings.names else None
    found = []
    for column, kind in enumerate(ratings.kinds):
        own = ends if ratings.on_scale[column] or kind == "judge" else None
        one = bounds_of(ratings, column, statistics=keys, ends=own) if kind in ("judge", "metric") else None
        if one is not None and one.figures:
            without = "; ".join(f"{title_of(key)} is not bounded: {reason}" for key, reason in one.unbounded)
            note = (
                f"{one.rater} left {one.n_unanswered:,} of {one.n_asked:,} items unanswered. Low and "
                "high are what each figure could be had they been answered, in whatever way: bounds, no "
                f"confidence interval.{f' {without}.' if without else ''}"
            )
            entries = tuple(Entry(result, (one.rater, *people)) for result in one.figures)
            found.append(Block(f"Had {one.rater} answered every item", entries, note=note))
    return found


MORE = (
    More(
        "--bounds",
        "also how far the items that a judge or metric left unanswered could move its figures with people; "
        "the column kind says who is a judge, a metric, human",
        "no judge or metric left an item unanswered that it was asked about, or nobody is named as one "
        "(column kind, or --judges)",
        _bounds,
    ),
    More(
        "--icc-f",
        "also intraclass correlations with F intervals, for few complete, independent items",
        "no intraclass correlation was computed, which needs numbers and two raters of the same items",
        _with_f_intervals,
    ),
    More(
        "--prevalence",
        "also how often a binary question is answered yes, corrected for a judge's errors where it answered "
        "more items than people did",
        "no question is binary with a judge that answered more items than people did, or nobody is named as "
        "the judge and as people (column kind, or --judges)",
        _corrected,
    ),
    More(
        "--raters",
        "also each rater beside the rest: severity, spread, agreement, and how alike it answers again",
        "nobody has a row, as no rater is identified",
        raters.raters,
        raters.repeats,
    ),
)
