"""Texts and tables of a plan, and its download formats."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable

from django.utils import timezone

from annotation.text.display import moment, number, percent
from calibration.agree.report import plain
from calibration.renderings import Rendering, csv_text, markdown
from calibration.reports.charts import Chart, Point
from calibration.reports.figures import worded
from calibration.reports.wording import counted, units
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.planning import GAP, RANGE
from calibration.studies.plans import PEOPLE, PlanAnswer, PlanRow

# Sentences of a plan: the result, its basis, and its limits.

DIALOGUE = "double-rated dialogue"


def figure_name(answer: PlanAnswer) -> str:
    """Return the name of a plan's figure: `Cohen’s κ of gpt-4 with people on Overall`."""
    if answer.goal == "power":
        return f"{answer.rater} in the alternative annotator test on {answer.title}"
    key = answer.statistic.removeprefix(GAP)
    name = worded(key).name if key else "agreement"
    on = f"on {answer.title}"
    if answer.statistic != key:
        return f"the gap in {name} of {answer.rater} {on}"
    if answer.rater == PEOPLE:
        return f"{name} of {answer.crowd} with each other {on}"
    others = f"the mean of {answer.crowd}" if MEAN_OF_PEOPLE in answer.raters else answer.crowd
    return f"{name} of {answer.rater} with {others} {on}"


def title(answer: PlanAnswer) -> str:
    """Return the page's heading: the number of further dialogues, or that there is no plan."""
    if answer.reason:
        return "No plan from these labels"
    if answer.needed is None:
        return f"Not within {_most(answer):,} dialogues"
    if not answer.more:
        return "Enough dialogues already"
    return f"About {counted(answer.more or 0, f'more {DIALOGUE}')}"


def sentences(answer: PlanAnswer) -> list[str]:
    """Return the result with its range, then the description of the pilot."""
    if answer.reason:
        return [f"No plan for {figure_name(answer)}: {answer.reason}."]
    findings = _of_width(answer) if answer.goal == "width" else _of_power(answer)
    return [*findings, _pilot(answer), *_effort(answer)]


def _of_width(answer: PlanAnswer) -> list[str]:
    assert answer.target is not None
    target_text = f"{_width_text(answer.target)} wide (± {_width_text(answer.target / 2)})"
    name, level = figure_name(answer), percent(answer.level)
    if answer.needed is None:
        last = answer.rows[-1]
        still = (
            f" With them it would be {_width_text(last.expected)} wide{_range_of_row(last)}."
            if last.expected
            else ""
        )
        return [
            f"No number up to {_most(answer):,} dialogues makes the {level} interval of {name} {target_text}."
            f"{still}"
        ]
    if not answer.more:
        return [
            f"The {level} interval of {name} is to be {target_text}, and with the {answer.n_pilot:,} "
            f"{DIALOGUE}s there are it is {_width_text(answer.width)} wide already."
        ]
    return [
        f"To make the {level} interval of {name} {target_text}, about {counted(answer.needed, DIALOGUE)} are "
        f"needed: {answer.more:,} more than the {answer.n_pilot:,} there are, with which it is "
        f"{_width_text(answer.width)} wide.",
        _range(answer),
    ]


def _range(answer: PlanAnswer) -> str:
    """Sentence on the range of the plan over pilots, in numbers of dialogues."""
    low, high = answer.needed_low, answer.needed_high
    ends = _ends(low, high) if low and high else f"from {low or 2:,} to more than {_most(answer):,}"
    return (
        f"A plan from one pilot varies: over pilots like this one the number runs {ends} dialogues "
        f"({percent(RANGE)} of them)."
    )


def _ends(low: int, high: int) -> str:
    return f"from {low:,} to {high:,}" if low < high else f"to {low:,}"


def _of_power(answer: PlanAnswer) -> list[str]:
    assert answer.target is not None
    target_text = f"with a power of {percent(answer.target)} and a margin ε of {answer.epsilon:g}"
    judge, test = answer.rater, f"the alternative annotator test on {answer.title}"
    best = max((row.expected or 0.0 for row in answer.rows), default=0.0)
    if answer.needed is None:
        finding = (
            f"No number up to {_most(answer):,} dialogues lets {judge} pass {test} {target_text}: at best it "
            f"passes in {percent(best)} of the studies drawn from this pilot."
        )
    elif not answer.more:
        finding = (
            f"To let {judge} pass {test} {target_text}, {counted(answer.needed, 'dialogue')} would do: the "
            f"{answer.n_pilot:,} there are suffice, if the gap is the pilot’s."
        )
    else:
        finding = (
            f"To let {judge} pass {test} {target_text}, about {counted(answer.needed, 'dialogue')} are "
            f"needed: {answer.more:,} more than the {answer.n_pilot:,} there are, if the gap is the pilot’s."
        )
    return [finding, _power_range(answer)]


def _power_range(answer: PlanAnswer) -> str:
    low, high, reaching = answer.needed_low, answer.needed_high, answer.reaching or 0.0
    most = f"{_most(answer):,}"
    if low is None:
        return f"Of pilots like this one {percent(reaching)} would reach it within {most} dialogues."
    ends = _ends(low, high) if high else f"from {low:,} to more than {most}"
    return (
        f"A plan from one pilot varies, and power most of all: over pilots like this one the number runs "
        f"{ends} dialogues ({percent(RANGE)} of them); {percent(reaching)} reach it within {most}."
    )


def _pilot(answer: PlanAnswer) -> str:
    part = f", {answer.part} part" if answer.part != "all" else ""
    value = "" if answer.value is None else f"; the figure is {number(answer.value, 3)} there"
    dialogues = counted(answer.n_pilot, "dialogue")
    items = _items(answer)
    pilot_items = dialogues if items == dialogues else f"{items} in {dialogues}"
    return f"The pilot: {pilot_items} of {answer.corpus}{part}{value}."


def _effort(answer: PlanAnswer) -> list[str]:
    """Sentences on ratings, hours and cost of the plan, as far as known."""
    plan_efforts = answer.efforts
    if not plan_efforts or plan_efforts[0].dialogues is None:
        return []
    own = plan_efforts[0]
    total = f"All told that is {own.ratings:,} ratings, {number(own.raters, 1)} an item as in the pilot"
    if answer.timing is None or own.hours is None:
        return [f"{total}. How long they take is not known: nobody rated the pilot on Concord's own pages."]
    timing = answer.timing
    ends = "" if timing.low is None else f" ({number(timing.low, 1)} to {number(timing.high, 1)})"
    ratings, people = counted(timing.ratings, "rating"), counted(timing.people, "annotator")
    took = f"an item took {number(timing.seconds, 1)} s of attention{ends}, over {ratings} by {people}"
    money = "" if own.cost is None else f" and costs {money_of(own.cost)}, at {money_of(answer.pay)} an hour"
    return [f"{total}; it takes about {hours_of(own.hours)} hours{money}: {took}."]


def hours_of(hours: float | None) -> str:
    """Format hours: one decimal below 100."""
    return number(hours, 1) if hours is None or hours < 100 else f"{hours:,.0f}"


def money_of(amount: float | None) -> str:
    """Format an amount of money: whole from 100 up, else with two decimals."""
    return "" if amount is None else f"{amount:,.0f}" if amount >= 100 else f"{amount:.2f}"


def cautions(answer: PlanAnswer) -> list[str]:
    """Return the cautions for reading a plan; its own limits come first."""
    remarks = []
    if answer.labels_since and answer.computed_at:
        remarks.append(
            f"It is of the labels of {moment(timezone.localtime(answer.computed_at))}: labels have come "
            "since, or no longer count."
        )
    if answer.reason:
        return remarks
    if answer.rough:
        remarks.append(
            f"A pilot of {answer.n_pilot} dialogues is small: even the range holds the truth less often than "
            "it says. Plan again once 20 dialogues are rated twice."
        )
    if answer.design_effect is not None and answer.n_items > answer.n_pilot:
        remarks.append(_effect(answer))
    if answer.goal == "power":
        remarks += [
            "The pilot’s own gap between judge and people stands for the true one. A judge that only just "
            "passes or fails in the pilot may be on the other side in truth, and then no number of dialogues "
            "helps.",
            "Planning for a pass is not a reason to go on until it passes: fix the number, then test once.",
        ]
    else:
        remarks += [
            "The plan says how wide the interval will be, not where it will lie. Narrow does not mean good.",
            "Only dialogues that are rated as these were count: by two raters or more, and by the judge "
            "where it is about one.",
        ]
    if answer.crowds:
        remarks.append(
            "Other numbers of raters an item are planned from the pilot with some of its ratings left out by "
            "chance, so the same pilot speaks through less of it."
        )
    return [*remarks, "New dialogues are taken to be like the pilot’s, rated by raters like these."]


def _effect(answer: PlanAnswer) -> str:
    effect = answer.design_effect or 0.0
    if effect < 1.2 or answer.pooled:
        return (
            f"The design effect is {number(effect, 1)}: the variance over dialogues, relative to that over "
            "independent items."
        )
    worth = max(1, round(answer.n_items / effect))
    items = _items(answer)
    return (
        f"Items of one dialogue are alike: the design effect is {number(effect, 1)}, so these {items} are "
        f"worth {worth:,} independent ones. More dialogues help; more of the same dialogues help much less."
    )


def _items(answer: PlanAnswer) -> str:
    if not answer.item_kind:
        return counted(answer.n_items, "item")
    return units(answer.item_kind, answer.n_items, pooled=answer.pooled)


def _range_of_row(row: PlanRow) -> str:
    if row.low is None:
        return ""
    return (
        f" ({_width_text(row.low)} to {_width_text(row.high)})"
        if row.high is not None
        else f" ({_width_text(row.low)} or more)"
    )


def _width_text(value: float | None) -> str:
    return number(value, 3 if value is not None and value < 0.1 else 2)


def _most(answer: PlanAnswer) -> int:
    return answer.rows[-1].n_clusters


# Formats of a plan: text, JSON, CSV and Markdown.

# Chart of a plan: expected width or power by number of dialogues, with the range over pilots.

SERIES = {"width": "Expected width", "power": "Power"}


def chart_of(answer: PlanAnswer) -> Chart | None:
    """Return a plan's chart; None if there is no plan."""
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
    """Return the column headings of the table."""
    return ["Dialogues", "Expected width" if answer.goal == "width" else "Power", "Range over pilots"]


def rows(answer: PlanAnswer) -> list[list[str]]:
    """Return the table as text: number of dialogues, expected width or power, range."""
    digits = 3 if answer.goal == "width" else 2
    table_rows = []
    for row in answer.rows:
        span = f"{number(row.low, digits)} to {number(row.high, digits)}"
        if row.high is None:
            span = f"{number(row.low, digits)} or more" if row.low is not None else ""
        expected = number(row.expected, digits)
        if row.expected is None:
            expected = f"no interval: undefined in {row.share_undefined:.0%} of studies"
        table_rows.append([f"{row.n_clusters:,}", expected, span])
    return table_rows


EFFORT = ("Raters an item", "Dialogues", "Ratings", "Hours", "Cost")


def effort_headings(answer: PlanAnswer) -> list[str]:
    """Return the column headings of the effort table; hours and costs only if known."""
    n_columns = 5 if answer.pay is not None else 4
    return list(EFFORT[: n_columns if answer.timing else 3])


def efforts(answer: PlanAnswer) -> list[list[str]]:
    """Return ratings, hours and cost as text, one row per number of raters an item; [] without a plan."""
    table_rows = []
    for place, plan_effort in enumerate(answer.efforts):
        raters = f"{number(plan_effort.raters, 1)} (the pilot)" if place == 0 else f"{plan_effort.raters:g}"
        if plan_effort.dialogues is None:
            row = [raters, "no plan" if plan_effort.reason else "more than were looked at", "", "", ""]
        else:
            row = [
                raters,
                f"{plan_effort.dialogues:,}",
                f"{plan_effort.ratings:,}",
                _between(plan_effort.hours, plan_effort.hours_low, plan_effort.hours_high, hours_of),
                _between(plan_effort.cost, plan_effort.cost_low, plan_effort.cost_high, money_of),
            ]
        table_rows.append(row[: len(effort_headings(answer))])
    return table_rows


def _between(
    value: float | None, low: float | None, high: float | None, format_value: Callable[[float | None], str]
) -> str:
    if value is None:
        return ""
    if low is None:
        return format_value(value)
    end = "or more" if high is None else f"to {format_value(high)}"
    return f"{format_value(value)} ({format_value(low)} {end})"


def as_text(answer: PlanAnswer) -> str:
    """Return the plan as plain text."""
    lines = [title(answer), ""]
    for sentence in sentences(answer):
        lines += textwrap.wrap(plain(sentence), WIDTH)
    if answer.rows:
        lines += ["", *_table([headings(answer), *rows(answer)])]
    if answer.efforts:
        lines += ["", *_table([effort_headings(answer), *efforts(answer)])]
    lines += [""] * bool(answer.rows)
    for sentence in cautions(answer):
        lines += textwrap.wrap(plain(sentence), WIDTH, initial_indent="* ", subsequent_indent="  ")
    return "\n".join([*lines, *([f"({answer.method})"] if answer.method else []), ""])


def _table(table: list[list[str]]) -> list[str]:
    widths = [max(len(row[place]) for row in table) for place in range(len(table[0]))]
    return ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in table]


def as_json(answer: PlanAnswer) -> str:
    """Return everything, unrounded, with the result in words."""
    texts = {"answer": sentences(answer), "cautions": cautions(answer)}
    return json.dumps(answer.as_dict() | texts, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def as_csv(answer: PlanAnswer) -> str:
    """Return the table, unrounded; without a plan one line with the reason."""
    about = [answer.question, answer.rater, answer.statistic, answer.target]
    lines: list[list[object]] = [
        [*about, *(getattr(row, column) for column in COLUMNS), ""] for row in answer.rows
    ]
    without = [[*about, *("" for _ in COLUMNS), answer.reason]]
    return csv_text([["question", "rater", "statistic", "target", *COLUMNS, "reason"], *(lines or without)])


def as_markdown(answer: PlanAnswer) -> str:
    """Return the plan as Markdown."""
    lines = [f"# {markdown(title(answer))}", "", markdown(" ".join(sentences(answer))), ""]
    if answer.rows:
        lines += [f"| {' | '.join(headings(answer))} |", "| ---: | ---: | ---: |"]
        lines += [f"| {' | '.join(map(markdown, row))} |" for row in rows(answer)]
        lines += [""]
    if answer.efforts:
        heads = effort_headings(answer)
        lines += [f"| {' | '.join(heads)} |", f"|{' ---: |' * len(heads)}"]
        lines += [f"| {' | '.join(map(markdown, row))} |" for row in efforts(answer)]
        lines += [""]
    lines += [f"- {markdown(sentence)}" for sentence in cautions(answer)]
    return "\n".join([*lines, "", markdown(answer.method), ""])


FORMS: dict[str, Rendering[PlanAnswer, str]] = {
    form.key: form
    for form in (
        Rendering("text", "Text", "txt", "text/plain; charset=utf-8", as_text),
        Rendering("json", "JSON", "json", "application/json", as_json),
        Rendering("csv", "CSV", "csv", "text/csv; charset=utf-8", as_csv),
        Rendering("md", "Markdown", "md", "text/markdown; charset=utf-8", as_markdown),
    )
}
