"""How figures, raters and names are written in a report, whatever its form."""

from __future__ import annotations

from annotation.text import display
from calibration.statistics import STATISTICS, Entry, Result
from calibration.statistics.icc_intervals import BY_F
from calibration.statistics.prevalence import NAME as PREVALENCE
from calibration.statistics.prevalence import TITLES as PREVALENCES
from calibration.statistics.rater_panel import figure_title
from calibration.statistics.score_calibration import METHODS
from calibration.statistics.scores import ERRORS, MAPS, MARKS, RULES
from calibration.statistics.table import described
from calibration.statistics.unanswered.figures import GAP, MEAN, NAME, SHARE, WITH_MEAN

NAMES = {
    "balanced_accuracy": "Balanced accuracy",
    "mae": "Mean absolute error",
    "rmse": "Root mean squared error",
    "mean_error": "Mean error",
    "mean_absolute_error": "Mean absolute error",
}
BOUNDS = {SHARE: "Share of the positive class, bounds", MEAN: "Mean, bounds"}
FLOORS = {"floor_": "with people", "baseline_": "baseline with people"}
SIDES = (
    ("people_", "people with people"),
    ("judge_", "judge with people"),
    ("gap_", "judge less people"),
    ("margin_", "margin of one more person"),
)
TABLE_SEVEN = {
    "table7_detected_by_people": "Marked turns, people’s mean",
    "table7_detected_by_judge": "Marked turns, judge",
    "table7_judge_kappa": "Cohen's kappa, judge with people",
    "table7_people_kappa": "Cohen's kappa, people with people",
}
SCORED = {
    **{
        f"threshold_{rule.key}_{key}": f"{NAMES.get(key) or described()[key].title} of marks"
        for rule in RULES.values()
        for key in MARKS
    },
    **{
        f"{method}_{key}": f"{name}, {method}"
        for method in METHODS
        for key, name in {
            "expected_calibration_error": "Expected calibration error",
            "brier": "Brier score",
            "reliability": "Brier's reliability part",
            "resolution": "Brier's resolution part",
            "uncertainty": "Brier's uncertainty part",
            "within": "Brier's part within bins",
        }.items()
    },
    **{f"map_{key}_{error}": f"{NAMES[error]}, {text}" for key, text in MAPS.items() for error in ERRORS},
}
JOINERS = "\u200c\u200d"  # zero width, but part of words in Persian, Hindi and others


def title_of(name: str) -> str:
    """Return the readable name of a statistic, also of its mean among people, with a judge, and their gap."""
    if name in described():
        return described()[name].title
    if name in TABLE_SEVEN:
        return TABLE_SEVEN[name]
    if name.removesuffix(BY_F) in STATISTICS:
        return f"{STATISTICS[name.removesuffix(BY_F)].title}, F interval"
    if name.removeprefix(PREVALENCE) in PREVALENCES:
        return PREVALENCES[name.removeprefix(PREVALENCE)]
    if name.startswith(NAME):
        return _bound(name)
    for prefix in ("floor_", "baseline_"):
        if name.startswith(prefix):
            key = name.removeprefix(prefix)
            return f"{NAMES.get(key) or title_of(key)}, {FLOORS[prefix]}"
    if told := SCORED.get(name) or figure_title(name):
        return told
    name = name.removeprefix("table7_")
    for prefix, words in SIDES:
        key = name.removeprefix(prefix)
        if name.startswith(prefix) and key.removeprefix("mean_") in STATISTICS:
            how = ", mean over pairs" if key.startswith("mean_") else ""
            return f"{STATISTICS[key.removeprefix('mean_')].title}, {words}{how}"
    return name


def _bound(name: str) -> str:
    if name in BOUNDS:
        return BOUNDS[name]
    if name.startswith(GAP):
        return f"{title_of(name.removeprefix(GAP))}, bounds with people less people with people"
    if name.startswith(WITH_MEAN):
        return f"{title_of(name.removeprefix(WITH_MEAN))}, bounds with the people’s mean"
    return f"{title_of(name.removeprefix(NAME))}, bounds with people"


def counted(count: int, noun: str) -> str:
    """Write a number with its noun, in the plural but for one."""
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def number(value: float | None) -> str:
    """Write a value with three decimals, a dash where there is none."""
    return display.number(value, 3)


def interval(result: Result) -> str:
    """Write a result's interval, or a dash; of bounds, which are none, the lowest and the highest."""
    if result.low is None:
        return "–"
    low, high = number(result.low), number(result.high)
    return f"lowest {low}, highest {high}" if result.name.startswith(NAME) else f"{low} to {high}"


def raters_of(entry: Entry, longest: int = 4) -> str:
    """Name the raters of an entry, or count them where there are many."""
    if len(entry.raters) <= longest:
        return ", ".join(entry.raters)
    return f"{len(entry.raters)} raters: {', '.join(entry.raters[:longest])}, ..."


def plain(text: str) -> str:
    """Return a text of one line without characters that steer a terminal or turn its direction."""
    spaced = " ".join(text.split())
    return "".join(c if c.isprintable() or c in JOINERS else "\ufffd" for c in spaced)
