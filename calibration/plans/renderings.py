"""The forms a plan is given in: text for a terminal, JSON, CSV and Markdown, all from one table."""

from __future__ import annotations

import csv
import io
import json
import textwrap
from collections.abc import Callable

from annotation.text.display import number
from annotation.text.table_cells import guarded
from calibration.agree.words import plain
from calibration.plans import wording
from calibration.plans.answer import PlanAnswer
from calibration.plans.wording import figure_name
from calibration.rendering import Rendering
from calibration.reports.charts import Chart, Point
from calibration.statistics.planning import RANGE

# The chart of a plan: expected width, or power, by number of dialogues, with its range over pilots.

SERIES = {"width": "Expected width", "power": "Power"}


def chart_of(answer: PlanAnswer) -> Chart | None:
    """Return a plan's chart, None where there is no plan."""
    if answer.reason:
        return None
    is_width = answer.goal == "width"
    points = tuple(
        Point(
            answer.title,
            SERIES[answer.goal],
            row.expected,
            row.low if row.high is not None else None,
            row.high,
            answer.n_items,
            row.n_clusters,
            "" if row.expected is not None else "no interval: undefined in too many resamples",
            float(row.n_clusters),
        )
        for row in answer.rows
    )
    axis = f"Width of the {answer.level:.0%} interval" if is_width else "Share of studies that pass"
    name = figure_name(answer)
    return Chart(
        "plan",
        f"{SERIES[answer.goal]} by number of dialogues",
        axis,
        points,
        caption=f"{name[:1].upper()}{name[1:]}. Lines: the range over pilots like this one ({RANGE:.0%}). "
        "Dashed: what is wanted.",
        x_axis="Dialogues rated twice",
        target=answer.target,
    )


WIDTH = 100
COLUMNS = ("n_clusters", "expected", "low", "high", "share_undefined")


def headings(answer: PlanAnswer) -> list[str]:
    """Return the columns of the table."""
    return ["Dialogues", "Expected width" if answer.goal == "width" else "Power", "Range over pilots"]


def rows(answer: PlanAnswer) -> list[list[str]]:
    """Return the table in words: number of dialogues, expected width or power, its range."""
    digits = 3 if answer.goal == "width" else 2
    found = []
    for row in answer.rows:
        span = f"{number(row.low, digits)} to {number(row.high, digits)}"
        if row.high is None:
            span = f"{number(row.low, digits)} or more" if row.low is not None else ""
        expected = number(row.expected, digits)
        if row.expected is None:
            expected = f"no interval: undefined in {row.share_undefined:.0%} of studies"
        found.append([f"{row.n_clusters:,}", expected, span])
    return found


EFFORT = ("Raters an item", "Dialogues", "Ratings", "Hours", "Cost")


def effort_headings(answer: PlanAnswer) -> list[str]:
    """Return the columns of what the plan takes; those of hours and costs only where they are known."""
    known = 5 if answer.pay is not None else 4
    return list(EFFORT[: known if answer.timing else 3])


def efforts(answer: PlanAnswer) -> list[list[str]]:
    """Return what the plan takes in words, a row for each number of raters an item; [] without a plan."""
    found = []
    for place, one in enumerate(answer.efforts):
        raters = f"{number(one.raters, 1)} (the pilot)" if place == 0 else f"{one.raters:g}"
        if one.dialogues is None:
            row = [raters, "no plan" if one.reason else "more than were looked at", "", "", ""]
        else:
            row = [
                raters,
                f"{one.dialogues:,}",
                f"{one.ratings:,}",
                _between(one.hours, one.hours_low, one.hours_high, wording.hours_of),
                _between(one.cost, one.cost_low, one.cost_high, wording.money_of),
            ]
        found.append(row[: len(effort_headings(answer))])
    return found


def _between(
    value: float | None, low: float | None, high: float | None, written: Callable[[float | None], str]
) -> str:
    if value is None:
        return ""
    if low is None:
        return written(value)
    return f"{written(value)} ({written(low)} {'or more' if high is None else 'to ' + written(high)})"


def as_text(answer: PlanAnswer) -> str:
    """Return the plan for a terminal."""
    lines = [wording.title(answer), ""]
    for sentence in wording.sentences(answer):
        lines += textwrap.wrap(plain(sentence), WIDTH)
    if answer.rows:
        lines += ["", *_table([headings(answer), *rows(answer)])]
    if answer.efforts:
        lines += ["", *_table([effort_headings(answer), *efforts(answer)])]
    lines += [""] * bool(answer.rows)
    for sentence in wording.cautions(answer):
        lines += textwrap.wrap(plain(sentence), WIDTH, initial_indent="* ", subsequent_indent="  ")
    return "\n".join([*lines, *([f"({answer.method})"] if answer.method else []), ""])


def _table(table: list[list[str]]) -> list[str]:
    widths = [max(len(row[place]) for row in table) for place in range(len(table[0]))]
    return ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in table]


def as_json(answer: PlanAnswer) -> str:
    """Return everything, unrounded, with the answer in words."""
    said = {"answer": wording.sentences(answer), "cautions": wording.cautions(answer)}
    return json.dumps(answer.as_dict() | said, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def as_csv(answer: PlanAnswer) -> str:
    """Return the table, unrounded; without a plan one line that says why."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["question", "rater", "statistic", "target", *COLUMNS, "reason"])
    about = [guarded(text) for text in (answer.question, answer.rater, answer.statistic)]
    for row in answer.rows:
        writer.writerow([*about, answer.target, *(getattr(row, column) for column in COLUMNS), ""])
    if not answer.rows:
        writer.writerow([*about, answer.target, *("" for _ in COLUMNS), guarded(answer.reason)])
    return out.getvalue()


def as_markdown(answer: PlanAnswer) -> str:
    """Return the plan as Markdown."""
    lines = [f"# {_plain(wording.title(answer))}", ""]
    lines += [_plain(" ".join(wording.sentences(answer))), ""]
    if answer.rows:
        lines += [f"| {' | '.join(headings(answer))} |", "| ---: | ---: | ---: |"]
        lines += [f"| {' | '.join(map(_plain, row))} |" for row in rows(answer)]
        lines += [""]
    if answer.efforts:
        heads = effort_headings(answer)
        lines += [f"| {' | '.join(heads)} |", f"|{' ---: |' * len(heads)}"]
        lines += [f"| {' | '.join(map(_plain, row))} |" for row in efforts(answer)]
        lines += [""]
    lines += [f"- {_plain(sentence)}" for sentence in wording.cautions(answer)]
    return "\n".join([*lines, "", _plain(answer.method), ""])


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    return " ".join("".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in text).split())


FORMS: dict[str, Rendering[PlanAnswer, str]] = {
    form.key: form
    for form in (
        Rendering("text", "Text", "txt", "text/plain; charset=utf-8", as_text),
        Rendering("json", "JSON", "json", "application/json", as_json),
        Rendering("csv", "CSV", "csv", "text/csv; charset=utf-8", as_csv),
        Rendering("md", "Markdown", "md", "text/markdown; charset=utf-8", as_markdown),
    )
}
