"""Bounds over unanswered items in words, the same in a report's caveats, under its table and in `agree`."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.text.display import number
from calibration.reports.contents import BoundsRow, Figure
from calibration.reports.figures import QuestionFigures, figures, worded
from calibration.reports.snapshot import Snapshot
from calibration.reports.wording import counted
from calibration.statistics import Result
from calibration.statistics.unanswered.figures import GAP, MEAN, NAME, SHARE, WITH_MEAN

ALONE = {SHARE: "the share that it says yes to", MEAN: "its mean"}
HEADINGS = {SHARE: "Says yes", MEAN: "Mean"}
WHAT = (
    "Each figure is that of the answered items, with the lowest and the highest that it could be had every "
    "item it was asked been answered, in whatever way, beside people’s answers as they are. These are "
    "bounds, no confidence intervals: they say nothing of chance.",
    "A share, a mean, kappa, MCC and the like have sharp bounds: some way to answer reaches each end. Those "
    "of correlations are conservative: no way to answer lies beyond, perhaps none reaches them.",
)


def statistic_of(name: str) -> str:
    """Return the key of the statistic that a bound is of."""
    prefix = next(prefix for prefix in (WITH_MEAN, GAP, NAME) if name.startswith(prefix))
    return name.removeprefix(prefix)


def heading(name: str, mean: str) -> str:
    """Return how a bound's column is headed; `mean` is what the mean of people is called."""
    if name in HEADINGS:
        return HEADINGS[name]
    words = worded(statistic_of(name))
    if name.startswith(GAP):
        return f"{words.heading}, less people’s own"
    return f"{words.symbol or words.heading}, {mean}" if name.startswith(WITH_MEAN) else words.heading


def told(result: Result) -> str:
    """Return `Cohen's kappa`, or what a share and a mean are, for a sentence."""
    name = ALONE.get(result.name)
    if name is not None:
        return name
    words = worded(statistic_of(result.name)).name
    if result.name.startswith(GAP):
        return f"{words}, less that of people with each other,"
    return f"{words} with the people’s mean" if result.name.startswith(WITH_MEAN) else words


def sentence(result: Result, title: str) -> str:
    """Return how far a figure could lie, and what the reported one leaves out."""
    where = f"{told(result)} on {title} could lie between {_ends(result)}"
    return f"{where}; the reported {number(result.value)} leaves them out"


def _ends(result: Result) -> str:
    return f"{number(result.low)} and {number(result.high)}"


def leading(row: BoundsRow, question: QuestionFigures | None) -> Figure | None:
    """Return the bound that stands for a row: of what the report leads with, else the first with people."""
    names = [f"{NAME}{question.headline}", f"{WITH_MEAN}spearman"] if question is not None else []
    found = [row.figure(name) for name in names] + [f for f in row.figures if f.name not in ALONE]
    return next((figure for figure in found if figure is not None), None)


def of_failures(result: Snapshot, rater: str) -> str:
    """Return what the failures of a judge could change of its leading figure; '' where nothing is bounded."""
    questions = {question.data.ref: question for question in figures(result)}
    rows = [row for row in result.bounds if row.rater == rater and row.n_failed]
    rows.sort(key=lambda row: _importance(questions.get(row.ref)))
    for row in rows:
        question = questions.get(row.ref)
        figure = leading(row, question)
        if figure is not None:
            said = f" Had they all been answered, {sentence(figure, row.title)}."
            return said + (turned(row, figure, question) if question is not None else "")
    return ""


def _importance(question: QuestionFigures | None) -> int:
    if question is None:
        return 3
    return 0 if question.data.pooled else 1 if question.data.key == "overall" else 2


def turned(row: BoundsRow, figure: Figure, question: QuestionFigures) -> str:
    """Return what wide bounds mean for what is said of the figure; '' where they are narrow.

    They are wide where the report shows a difference from people with each other and the bounds of that
    difference hold 0, or where they are wider than the figure's interval.
    """
    key = statistic_of(figure.name)
    gap, moved = question.gap(key, row.rater), row.figure(f"{GAP}{key}")
    shown = gap is not None and gap.low is not None and gap.high is not None and gap.low * gap.high > 0
    if shown and moved is not None and (moved.low or 0) <= 0 <= (moved.high or 0):
        return " That is enough to turn what is said of it beside people with each other."
    is_mean = figure.name.startswith(WITH_MEAN)
    reported = question.with_mean(row.rater, key) if is_mean else question.with_people(key, row.rater)
    if reported is not None and _width(figure) > _width(reported) > 0:
        return " That is wider than its interval: the failures matter more than chance does."
    return ""


def _width(figure: Figure) -> float:
    return 0.0 if figure.low is None or figure.high is None else figure.high - figure.low


def left_out(rows: Sequence[BoundsRow]) -> list[str]:
    """Return which statistics have no bounds, by reason."""
    by_reason: dict[str, dict[str, None]] = {}
    for row in rows:
        for key, reason in row.unbounded:
            by_reason.setdefault(reason, {})[worded(key).name] = None
    return [f"Not bounded: {', '.join(names)} ({reason})." for reason, names in by_reason.items()]


def counted_row(row: BoundsRow) -> str:
    """Return how many items a rater left unanswered, and why."""
    rest = row.n_unanswered - row.n_failed
    if row.n_failed and rest:
        why = f"{row.n_failed:,} because a call failed and {rest:,} with a reason"
    else:
        why = "each because a call failed" if row.n_failed else "each with a reason"
    said = f"{row.rater} left {row.n_unanswered:,} of {counted(row.n_asked, 'item')} unanswered"
    some = f"; {row.n_partial:,} more lack some samples and count as answered" if row.n_partial else ""
    return f"{said}, {why}{some}"
