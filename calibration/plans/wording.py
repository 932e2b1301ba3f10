"""A plan in sentences: the answer, what it rests on, and what one may and may not conclude."""

from __future__ import annotations

from annotation.text.display import number, percent
from calibration.plans.answer import PlanAnswer, PlanRow
from calibration.plans.query import PEOPLE
from calibration.reports.figures import worded
from calibration.reports.wording import counted, units
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.planned_figures import GAP
from calibration.statistics.planning import RANGE

DIALOGUE = "double-rated dialogue"


def figure_name(answer: PlanAnswer) -> str:
    """Return what is planned for: `Cohen’s κ of gpt-4 with people on Overall`."""
    if answer.goal == "power":
        return f"{answer.rater} in the alternative annotator test on {answer.title}"
    key = answer.statistic.removeprefix(GAP)
    name = worded(key).name if key else "agreement"
    on = f"on {answer.title}"
    if answer.statistic != key:
        return f"the gap in {name} of {answer.rater} {on}"
    if answer.rater == PEOPLE:
        return f"{name} of {answer.crowd} with each other {on}"
    whom = f"the mean of {answer.crowd}" if MEAN_OF_PEOPLE in answer.raters else answer.crowd
    return f"{name} of {answer.rater} with {whom} {on}"


def title(answer: PlanAnswer) -> str:
    """Return the page's heading: how many more, or that there is no plan."""
    if answer.reason:
        return "No plan from these labels"
    if answer.needed is None:
        return f"Not within {_most(answer):,} dialogues"
    if not answer.more:
        return "Enough dialogues already"
    return f"About {counted(answer.more or 0, f'more {DIALOGUE}')}"


def sentences(answer: PlanAnswer) -> list[str]:
    """Return the answer and its range, then what the pilot is."""
    if answer.reason:
        return [f"No plan for {figure_name(answer)}: {answer.reason}."]
    said = _of_width(answer) if answer.goal == "width" else _of_power(answer)
    return [*said, _pilot(answer), *_effort(answer)]


def _of_width(answer: PlanAnswer) -> list[str]:
    assert answer.target is not None
    wanted = f"{_wide(answer.target)} wide (± {_wide(answer.target / 2)})"
    name, level = figure_name(answer), percent(answer.level)
    if answer.needed is None:
        last = answer.rows[-1]
        still = (
            f" With them it would be {_wide(last.expected)} wide{_between(last)}." if last.expected else ""
        )
        return [
            f"No number up to {_most(answer):,} dialogues makes the {level} interval of {name} {wanted}."
            f"{still}"
        ]
    if not answer.more:
        return [
            f"The {level} interval of {name} is to be {wanted}, and with the {answer.n_pilot:,} {DIALOGUE}s "
            f"there are it is {_wide(answer.width)} wide already."
        ]
    return [
        f"To make the {level} interval of {name} {wanted}, about {counted(answer.needed, DIALOGUE)} are "
        f"needed: {answer.more:,} more than the {answer.n_pilot:,} there are, with which it is "
        f"{_wide(answer.width)} wide.",
        _range(answer),
    ]


def _range(answer: PlanAnswer) -> str:
    """Say what the pilot leaves open, in numbers of dialogues."""
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
    wanted = f"with a power of {percent(answer.target)} and a margin ε of {answer.epsilon:g}"
    who, test = answer.rater, f"the alternative annotator test on {answer.title}"
    best = max((row.expected or 0.0 for row in answer.rows), default=0.0)
    if answer.needed is None:
        said = (
            f"No number up to {_most(answer):,} dialogues lets {who} pass {test} {wanted}: at best it passes "
            f"in {percent(best)} of the studies drawn from this pilot."
        )
    elif not answer.more:
        said = (
            f"To let {who} pass {test} {wanted}, {counted(answer.needed, 'dialogue')} would do: the "
            f"{answer.n_pilot:,} there are suffice, if the gap is the pilot’s."
        )
    else:
        said = (
            f"To let {who} pass {test} {wanted}, about {counted(answer.needed, 'dialogue')} are needed: "
            f"{answer.more:,} more than the {answer.n_pilot:,} there are, if the gap is the pilot’s."
        )
    return [said, _power_range(answer)]


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
    what = dialogues if items == dialogues else f"{items} in {dialogues}"
    return f"The pilot: {what} of {answer.corpus}{part}{value}."


def _effort(answer: PlanAnswer) -> list[str]:
    """Say what it takes, as far as it is known."""
    found = answer.efforts
    if not found or found[0].dialogues is None:
        return []
    own = found[0]
    said = f"All told that is {own.ratings:,} ratings, {number(own.raters, 1)} an item as in the pilot"
    if answer.timing is None or own.hours is None:
        return [f"{said}. How long they take is not known: nobody rated the pilot on Concord's own pages."]
    timing = answer.timing
    ends = "" if timing.low is None else f" ({number(timing.low, 1)} to {number(timing.high, 1)})"
    ratings, people = counted(timing.ratings, "rating"), counted(timing.people, "annotator")
    took = f"an item took {number(timing.seconds, 1)} s of attention{ends}, over {ratings} by {people}"
    money = "" if own.cost is None else f" and costs {money_of(own.cost)}, at {money_of(answer.pay)} an hour"
    return [f"{said}; it takes about {hours_of(own.hours)} hours{money}: {took}."]


def hours_of(hours: float | None) -> str:
    """Return hours as they are read: one decimal below 100."""
    return number(hours, 1) if hours is None or hours < 100 else f"{hours:,.0f}"


def money_of(amount: float | None) -> str:
    """Return an amount of money as it is read: whole from 100 up, else with two decimals."""
    return "" if amount is None else f"{amount:,.0f}" if amount >= 100 else f"{amount:.2f}"


def cautions(answer: PlanAnswer) -> list[str]:
    """Return what one may and may not conclude, the plan's own limits first."""
    said = []
    if answer.labels_since and answer.computed_at:
        said.append(
            f"It is of the labels of {answer.computed_at:%-d %B %Y, %H:%M %Z}: labels have come since, or no "
            "longer count."
        )
    if answer.reason:
        return said
    if answer.rough:
        said.append(
            f"A pilot of {answer.n_pilot} dialogues is small: even the range holds the truth less often than "
            "it says. Plan again once 20 dialogues are rated twice."
        )
    if answer.design_effect is not None and answer.n_items > answer.n_pilot:
        said.append(_effect(answer))
    if answer.goal == "power":
        said += [
            "The pilot’s own gap between judge and people stands for the true one. A judge that only just "
            "passes or fails in the pilot may be on the other side in truth, and then no number of dialogues "
            "helps.",
            "Planning for a pass is not a reason to go on until it passes: fix the number, then test once.",
        ]
    else:
        said += [
            "The plan says how wide the interval will be, not where it will lie. Narrow does not mean good.",
            "Only dialogues that are rated as these were count: by two raters or more, and by the judge "
            "where it is about one.",
        ]
    if answer.crowds:
        said.append(
            "Other numbers of raters an item are planned from the pilot with some of its ratings left out by "
            "chance, so the same pilot speaks through less of it."
        )
    return [*said, "New dialogues are taken to be like the pilot’s, rated by raters like these."]


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


def _between(row: PlanRow) -> str:
    if row.low is None:
        return ""
    return (
        f" ({_wide(row.low)} to {_wide(row.high)})"
        if row.high is not None
        else f" ({_wide(row.low)} or more)"
    )


def _wide(value: float | None) -> str:
    return number(value, 3 if value is not None and value < 0.1 else 2)


def _most(answer: PlanAnswer) -> int:
    return answer.rows[-1].n_clusters
