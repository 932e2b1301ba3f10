"""Scores in people's terms: thresholds, probabilities with their diagrams, maps to people's scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from annotation.text.display import number
from calibration.reports.charts import Chart, Point
from calibration.reports.contents import ScoreMap, ScoreMarks, ScoreProbabilities, Scores
from calibration.reports.figures import JUDGE, crowd, figures, worded
from calibration.reports.sections.base import Asked, CsvLine, Section, Switch, View
from calibration.reports.snapshot import Figure, Snapshot
from calibration.reports.tables import Row, Table, noted
from calibration.reports.wording import counted
from calibration.statistics.scores import ERRORS, MAPS, MARKS, RULES

RULE = "rule"
MOST_CHARTS = 6
FEW = (
    " Some figures rest on fewer than 30 of the rarer answer: their intervals may hold the truth less often "
    "than they say."
)
HEADINGS = {
    "balanced_accuracy": "Balanced acc.",
    "mae": "MAE",
    "rmse": "RMSE",
    "mean_error": "Mean error",
}
METHODS = {"isotonic": "isotonic", "platt": "Platt"}
OF_PROBABILITIES = {
    "expected_calibration_error": "ECE",
    "brier": "Brier",
    "reliability": "Reliability",
    "resolution": "Resolution",
    "uncertainty": "Uncertainty",
    "within": "Within bins",
}
Scored = TypeVar("Scored", ScoreMarks, ScoreProbabilities, ScoreMap)


def views(result: Snapshot, asked: Asked | None = None) -> list[View]:
    """Return the tables that there are; thresholds by the rule asked for, in files by each."""
    found = result.scores
    if found is None:
        return []
    out = []
    chosen = _rule(asked)
    for rule in RULES:
        members = [marks for marks in found.marks if marks.rule == rule]
        if members and chosen in (None, rule):
            switches = () if chosen is None else _switches(chosen)
            out.append(View(_thresholds(members, rule), _of_marks(found, members, result), switches))
    if found.probabilities:
        out.append(View(_probabilities(found.probabilities), _of_probabilities(found)))
    if found.maps:
        out.append(View(_maps(found.maps), _of_maps(found, result)))
    return out


def _rule(asked: Asked | None) -> str | None:
    if asked is None:
        return None
    rule = asked.get(RULE)
    return rule if rule in RULES else next(iter(RULES))


def _switches(chosen: str) -> tuple[Switch, ...]:
    return tuple(Switch(rule.name, {RULE: key}, key == chosen) for key, rule in RULES.items())


def _thresholds(members: Sequence[ScoreMarks], rule: str) -> Table:
    columns = [(key, HEADINGS.get(key) or worded(key).heading) for key in MARKS]
    return _table(f"Thresholds by {RULES[rule].name}", columns, members, [_mark(one) for one in members])


def _mark(one: ScoreMarks) -> str:
    """Return `gpt-4 ≥ 3.5 (3 to 3.5 over folds)`."""
    if one.threshold is None:
        return one.rater
    sign = "≥" if one.rising else "≤"
    span = ""
    if one.least is not None and one.most is not None and one.least < one.most:
        span = f" ({_short(one.least)} to {_short(one.most)} over folds)"
    return f"{one.rater} {sign} {_short(one.threshold)}{span}"


def _short(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")


def _probabilities(members: Sequence[ScoreProbabilities]) -> Table:
    who = [f"{one.rater}, {METHODS[one.method]}" for one in members]
    return _table("Scores as probabilities", list(OF_PROBABILITIES.items()), members, who)


def _maps(members: Sequence[ScoreMap]) -> Table:
    who = [f"{one.rater}, {MAPS[one.map]}" for one in members]
    return _table("Scores on people’s scale", [(key, HEADINGS[key]) for key in ERRORS], members, who)


def _table(
    title: str, columns: list[tuple[str, str]], members: Sequence[Scored], who: Sequence[str]
) -> Table:
    notes: list[str] = []
    rows: list[Row] = []
    for one, text in zip(members, who, strict=True):
        cells = list(one.figures) or [_missing(name, one.reason) for name, _ in columns]
        items, clusters = cells[0].n_items, cells[0].n_clusters
        first = not rows or rows[-1].question != one.title
        rows.append(
            Row(one.title, text, items, clusters, [noted(cell, notes) for cell in cells], first=first)
        )
    return Table(title, columns, rows, notes)


def _missing(name: str, reason: str) -> Figure:
    return Figure(name, status="insufficient", reason=reason)


def _kept_apart(found: Scores) -> str:
    if found.held_out:
        return "Learned on dev’s labels of this study, and shown here on test: nothing was learned on test."
    return (
        f"Cross-fitted: the dialogues are dealt into {found.folds} folds, and each item is read by what the "
        "other folds teach, so no figure is of dialogues that were learned from."
    )


def _of_marks(found: Scores, members: Sequence[ScoreMarks], result: Snapshot) -> tuple[str, ...]:
    who = crowd(figures(result)).many
    ties = max(one.n_ties for one in members)
    left = f" Items on which they tie are left out (up to {counted(ties, 'item')})." if ties else ""
    here = (
        "The threshold named is the one to use from now on"
        if found.held_out
        else "The threshold named is learned on all of them, to be used on other dialogues"
    )
    return (
        f"The reference is the majority of {who}.{left}",
        f"{_kept_apart(found)} {here}.",
        "Of equally good thresholds the one counts that marks most nearly as many items as "
        f"{who} do, then the lowest.{FEW if _few(members) else ''}",
    )


def _few(members: Sequence[ScoreMarks]) -> bool:
    return any("few_events" in figure.flags for one in members for figure in one.figures)


def _of_probabilities(found: Scores) -> tuple[str, ...]:
    return (
        f"{_kept_apart(found)} ECE: mean distance of predicted and observed shares over ten bins of equal "
        "width; it comes out too large on few items.",
        "Brier score = reliability − resolution + uncertainty + within bins: the less of the first and the "
        "more of the second, the better; uncertainty is the question’s own.",
    )


def _of_maps(found: Scores, result: Snapshot) -> tuple[str, ...]:
    who = crowd(figures(result)).own
    return (
        f"Errors against the {who} mean, in units of their scale. {_kept_apart(found)}",
        f"A map is worth something where its error is below that of the {who} mean for all, which reads "
        "nothing of the score.",
    )


def charts(result: Snapshot) -> list[Chart]:
    """Return the reliability diagrams: of judges first, then of metrics, few where there are many."""
    found = result.scores
    if found is None:
        return []
    pairs: dict[tuple[str, str], list[ScoreProbabilities]] = {}
    for one in sorted(found.probabilities, key=lambda p: p.kind != JUDGE):
        if one.bins:
            pairs.setdefault((one.ref, one.rater), []).append(one)
    drawn = list(pairs.values())[:MOST_CHARTS]
    left = len(pairs) - len(drawn)
    more = (
        f" {counted(left, 'more diagram')} would be drawn; their bins are in the JSON and CSV."
        if left
        else ""
    )
    return [_diagram(number, members, found, more) for number, members in enumerate(drawn, 1)]


def _diagram(place: int, members: Sequence[ScoreProbabilities], found: Scores, more: str) -> Chart:
    points = tuple(_point(one, place) for one in members for place in range(len(one.bins)))
    errors = "; ".join(f"ECE {METHODS[one.method]} {number(one.figures[0].value, 3)}" for one in members)
    how = "learned on dev" if found.held_out else "cross-fitted"
    return Chart(
        f"reliability-{place}",
        f"Reliability of {members[0].rater} on {members[0].title}",
        "Share that people affirm",
        points,
        caption=f"{errors}. Each point is a bin of items (the larger, the more), {how}; on the dashed line "
        "probabilities are right."
        f"{more}",
        x_axis="Probability read from the score",
        diagonal=True,
    )


def _point(one: ScoreProbabilities, place: int) -> Point:
    own = one.bins[place]
    entry = own.observed
    reason = "" if entry.ok else entry.reason
    return Point(
        one.title,
        METHODS[one.method],
        entry.value,
        entry.low,
        entry.high,
        own.n,
        entry.n_clusters,
        reason,
        own.predicted,
    )


def lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield every figure, named after its table, and each bin of the diagrams."""
    found = result.scores
    if found is None:
        return
    for marks in found.marks:
        for figure in _figures(marks, MARKS):
            yield CsvLine(marks.ref, marks.title, f"threshold_{marks.rule}_{figure.name}", figure)
    for one in found.probabilities:
        for figure in _figures(one, tuple(OF_PROBABILITIES)):
            yield CsvLine(one.ref, one.title, f"{one.method}_{figure.name}", figure)
        for bin_ in one.bins:
            name = f"{one.method}_bin_{bin_.low:g}_{bin_.high:g}_at_{bin_.predicted:.4g}"
            yield CsvLine(one.ref, one.title, name, bin_.observed)
    for mapped in found.maps:
        for figure in _figures(mapped, ERRORS):
            yield CsvLine(mapped.ref, mapped.title, f"map_{mapped.map}_{figure.name}", figure)


def _figures(one: Scored, names: Sequence[str]) -> list[Figure]:
    return list(one.figures) or [replace(_missing(name, one.reason), raters=(one.rater,)) for name in names]


SCORES = Section("scores", views, lines, charts)
