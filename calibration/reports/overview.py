"""The picture at the top of a report: people, raters with a verdict, and the best baseline on one axis."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from calibration.reports.charts import Chart, Point, point_of
from calibration.reports.figures import crowd, figures, label, leading_question, ok, worded
from calibration.reports.results import Figure, RaterVerdict
from calibration.reports.snapshot import Snapshot
from calibration.reports.wording import Crowd, counted, join_names, units

OVERVIEW = "overview"
MOST_ROWS = 15
"""Most rows of the leading question in the picture."""
MOST_WITH_OTHERS = 8
"""Most rows of the picture with further questions: more do not fit on one screen with the verdicts."""
MOST_NAMED = 3
"""Most questions measured otherwise that the caption names."""
BASELINES = {
    "majority": "Always the most frequent answer",
    "median": "Always the median answer",
    "mean": "Always the mean",
    "random by marginals": "Answers at random",
}
"""Names of baselines beside raters; others are called by their own name."""


def overview(result: Snapshot) -> Chart | None:
    """Return the agreement with people that the verdicts rest on, per question; None without a figure.

    The leading question comes first, and its statistic is that of the axis: all kappas share one. Rows that
    do not fit on one screen are counted in the caption.
    """
    questions = label(figures(result))
    leading = leading_question([question for _, question in questions])
    verdicts: dict[str, list[RaterVerdict]] = {}
    for verdict in result.verdicts:
        verdicts.setdefault(verdict.ref, []).append(verdict)
    has_value = {ref: any(ok(v.agreement) for v in of_ref) for ref, of_ref in verdicts.items()}
    pooled = {question.data.ref for _, question in questions if question.data.pooled}
    first = leading.data.ref if leading else ""
    refs = [ref for ref in verdicts if has_value[ref]]
    refs.sort(key=lambda ref: (ref != first, ref not in pooled))
    statistics = [v.statistic for ref in refs for v in verdicts[ref] if ok(v.agreement)]
    if not statistics:
        return None
    is_kappa = _is_kappa(statistics[0])
    headings, humans = {question.data.ref: heading for heading, question in questions}, crowd(figures(result))
    groups: dict[str, list[Point]] = {}
    for ref in refs:
        on_axis = [v for v in verdicts[ref] if _is_kappa(v.statistic) == is_kappa]
        if on_axis:
            heading = headings.get(ref, on_axis[0].title)
            groups[ref] = _rows(result, heading, on_axis, humans)
    fitting_groups = _fitting(groups)
    drawn_verdicts = [v for ref in fitting_groups for v in verdicts[ref] if ok(v.agreement)]
    axis = _axis_name({v.statistic for v in drawn_verdicts if _is_kappa(v.statistic) == is_kappa})
    points = [point for group in fitting_groups.values() for point in group]
    heading, level = points[0].question, f"{result.definition.plan.level:.0%}"
    others = f" and {counted(len(fitting_groups) - 1, 'more question')}" if len(fitting_groups) > 1 else ""
    n_left_out = sum(map(len, groups.values())) - len(points)
    return Chart(
        OVERVIEW,
        f"Agreement with {humans.many}: {heading}{others}",
        f"{axis}, {level} interval over dialogues",
        tuple(points),
        caption=" ".join(
            [
                _basis(result, axis, points, fitting_groups),
                *([f"{counted(n_left_out, 'more row')} in the sections below."] if n_left_out else []),
                *_off_axis(result, headings, is_kappa=is_kappa),
            ]
        ),
        top=1.0,
    )


def _is_kappa(statistic: str) -> bool:
    """Whether a statistic shares the axis of kappas: weighted and unweighted ones do."""
    return statistic.startswith("cohen_kappa")


def _axis_name(statistics: Collection[str]) -> str:
    """Return the name of the quantity on the axis."""
    if len(statistics) > 1:
        return f"{worded('cohen_kappa').name} (quadratic weights on ordered scales)"
    return worded(next(iter(statistics))).name


def _rows(result: Snapshot, heading: str, verdicts: Sequence[RaterVerdict], humans: Crowd) -> list[Point]:
    """Return a question's rows: people above the raters with the same items, the best baseline last."""
    by_people: dict[Figure | None, list[RaterVerdict]] = {}
    for verdict in verdicts:
        alike = next((figure for figure in by_people if _same_figure(figure, verdict.people)), verdict.people)
        by_people.setdefault(alike, []).append(verdict)
    name = f"{humans.many[:1].upper()}{humans.many[1:]} with each other"
    n_crowds = sum(figure is not None for figure in by_people)
    rows = []
    for people, of_people in by_people.items():
        if people is not None:
            raters = join_names([verdict.rater for verdict in of_people])
            row = name if n_crowds == 1 else f"{name}, items of {raters}"
            rows.append(replace(point_of(heading, row, people), role="people"))
        for verdict in of_people:
            agreement = verdict.agreement or Figure("", status="insufficient", reason=verdict.sentence)
            rows.append(point_of(heading, verdict.rater, agreement))
    if best := _best_baseline(result, verdicts):
        name, figure = best
        rows.append(replace(point_of(heading, BASELINES.get(name, name), figure), role="baseline"))
    return rows


def _same_figure(first: Figure | None, second: Figure | None) -> bool:
    if first is None or second is None:
        return first is second
    return (first.value, first.low, first.high, first.n_items) == (
        second.value,
        second.low,
        second.high,
        second.n_items,
    )


def _best_baseline(result: Snapshot, verdicts: Sequence[RaterVerdict]) -> tuple[str, Figure] | None:
    """Return the name and figure of the best baseline by the statistic of these verdicts, if any."""
    statistic, ref = verdicts[0].statistic, verdicts[0].ref
    baselines = [(v.baseline_name, v.baseline) for v in verdicts if v.baseline is not None]
    baselines += [
        (row.name, figure)
        for floor in result.floors
        for row in floor.rows
        for figure in row.figures
        if floor.ref == ref and row.kind == "baseline"
    ]
    comparable = [
        (name, figure)
        for name, figure in baselines
        if figure.ok and figure.name.removeprefix("baseline_") == statistic
    ]
    return max(comparable, key=lambda pair: pair[1].point, default=None)


def _fitting(groups: dict[str, list[Point]]) -> dict[str, list[Point]]:
    """Return the questions whose rows fit, the first one always: without its last raters if need be."""
    fitting_groups: dict[str, list[Point]] = {}
    n_rows = 0
    for ref, rows in groups.items():
        fitting = rows
        if not fitting_groups and len(rows) > MOST_ROWS:
            last = [row for row in rows[-1:] if row.role == "baseline"]
            fitting = [*rows[: MOST_ROWS - len(last)], *last]
        if fitting_groups and n_rows + len(fitting) > MOST_WITH_OTHERS:
            break
        fitting_groups[ref] = fitting
        n_rows += len(fitting)
    return fitting_groups


def _basis(result: Snapshot, name: str, points: Sequence[Point], refs: Collection[str]) -> str:
    """Return the caption's first sentence: statistic, items, interval and dialogues."""
    with_value = [point for point in points if point.value is not None]
    questions = [question for question in result.questions if question.ref in refs]
    kinds = {(question.item_kind, question.pooled) for question in questions}
    kind, pooled = next(iter(kinds)) if len(kinds) == 1 else ("", False)
    least, most = min(p.n_items for p in with_value), max(p.n_items for p in with_value)
    items = units(kind, most, pooled=pooled) if kind else counted(most, "item")
    clusters = sorted({point.n_clusters for point in with_value})
    dialogues = counted(clusters[-1], "dialogue")
    span = "" if len(clusters) == 1 else f"{clusters[0]:,} to "
    lines = f"; lines are {result.definition.plan.level:.0%} intervals over {span}{dialogues}"
    has_lines = any(point.low is not None for point in with_value)
    amount = items if least == most else f"{least:,} to {items}"
    return f"{name[:1].upper()}{name[1:]} on {amount}{lines if has_lines else ''}."


def _off_axis(result: Snapshot, headings: Mapping[str, str], *, is_kappa: bool) -> list[str]:
    """Return a sentence about the raters whose agreement is measured by another statistic, if any are."""
    names: dict[tuple[str, str], list[str]] = {}
    for verdict in result.verdicts:
        if _is_kappa(verdict.statistic) != is_kappa and ok(verdict.agreement):
            heading = headings.get(verdict.ref, verdict.title)
            names.setdefault((heading, worded(verdict.statistic).name), []).append(verdict.rater)
    texts = [f"{join_names(raters)} on {heading} ({other})" for (heading, other), raters in names.items()]
    if len(texts) > MOST_NAMED:
        texts = [*texts[:MOST_NAMED], f"{counted(len(texts) - MOST_NAMED, 'more question')}"]
    return [f"Measured otherwise, in the sections below: {'; '.join(texts)}."] if texts else []
