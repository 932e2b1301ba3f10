"""Rules of a report's sentences about systems, from the labels and from the stored figures."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from statsmodels.stats.multitest import multipletests

from annotation.models import Item
from calibration.reports.results import Figure, SystemDifference, SystemTable
from tests.calibration.report_facts import Facts

VALUE = r"([−+]?[\d.]+)"
PAIR = rf"(\S+) above ([^\s,]+)(?:, (\S+))? by {VALUE}%? \({VALUE}%? to {VALUE}%?\)"
RATED = r"([\d,]+) of ([\d,]+) (?:turns|dialogues) rated"
EXPLANATIONS = (
    "Means of the answers. The prediction-powered ",
    "Shares of items with each category. The prediction-powered ",
    "Shares of items with the behaviour. The prediction-powered ",
    "p: of no corrected difference, ",
    "people gave fewer than two of the values",
    "sensitivity + specificity is at most 1: ",
    "there is no confusion matrix of a scale without declared values",
    "some answers lie between the values of the scale",
    "people rated none of these items",
)


def _float(text: str) -> float:
    return float(text.replace("−", "-"))


def _systems() -> dict[int, str]:
    return dict(Item.objects.values_list("pk", "continuation__system__name"))


def _tables(facts: Facts, judge: str) -> list[SystemTable]:
    return [table for table in facts.result.systems if table.judge == judge]


def _counts_hold(facts: Facts, table: SystemTable, rated: str, items: str) -> bool:
    """Count the judge's items, and those of them that somebody rated."""
    answers = facts.answers[table.ref]
    own = set(answers[table.judge])
    people = {item for name, values in answers.items() if facts.kind[name] == "human" for item in values}
    numbers = (int(rated.replace(",", "")), int(items.replace(",", "")))
    return (len(own & people), len(own)) == numbers == (table.n_rated, table.n_items)


def _clear(table: SystemTable, alpha: float) -> list[SystemDifference]:
    """Return the pairs that differ, with Holm's correction computed again."""
    tested = [pair for pair in table.pairs if pair.p is not None]
    if not tested:
        return []
    corrected = multipletests([pair.p.point for pair in tested if pair.p], method="holm")[1]
    return [
        pair for pair, p in zip(tested, corrected, strict=True) if p <= alpha and _excludes(pair.corrected)
    ]


def _excludes(figure: Figure) -> bool:
    return figure.low is not None and figure.high is not None and (figure.low > 0 or figure.high < 0)


def _same(pair: SystemDifference, figure: Figure, text: tuple[str, ...], *, percent: bool) -> bool:
    """Whether a pair in words has the sign, the size and the ends of a figure."""
    higher, lower, category, *numbers = text
    sign = 1 if (pair.first, pair.second) == (higher, lower) else -1
    if {pair.first, pair.second} != {higher, lower} or (category or "") != pair.category:
        return False
    scale, low, high = (100 if percent else 1), figure.low, figure.high
    assert low is not None
    assert high is not None
    values = [sign * figure.point * scale, *sorted((sign * low * scale, sign * high * scale))]
    step = 0.05 if percent else 0.005
    return all(abs(value - _float(text)) <= step + 1e-9 for value, text in zip(values, numbers, strict=True))


def differing(facts: Facts, judge: str, pairs: str, level: str, rated: str, items: str) -> bool:
    """The pairs are exactly those that differ after correction, or the four largest of them."""
    for table in _tables(facts, judge):
        clear = _clear(table, 1 - int(level) / 100)
        texts = re.findall(PAIR, pairs)
        percent = table.level in ("binary", "nominal")
        if len(texts) == min(len(clear), 4 if len(clear) <= 4 else 3) and all(
            any(_same(pair, pair.corrected, text, percent=percent) for pair in clear) for text in texts
        ):
            return _counts_hold(facts, table, rated, items)
    return False


def none_differ(facts: Facts, judge: str, alpha: str, rated: str, items: str) -> bool:
    """No pair differs after correction."""
    return any(
        table.pairs and not _clear(table, float(alpha)) and _counts_hold(facts, table, rated, items)
        for table in _tables(facts, judge)
    )


def alone(facts: Facts, judge: str, pairs: str, level: str) -> bool:
    """The judge's own mean answers differ so, and the correction shows no clear difference."""
    systems = _systems()
    for table in _tables(facts, judge):
        clear = _clear(table, 1 - int(level) / 100)
        others = [pair for pair in table.pairs if pair not in clear and _excludes(pair.judge_alone)]
        texts = re.findall(PAIR, pairs)
        percent = table.level in ("binary", "nominal")
        if not texts or not all(
            any(_same(pair, pair.judge_alone, text, percent=percent) for pair in others) for text in texts
        ):
            continue
        own = facts.answers[table.ref][judge]
        if _has_samples(facts, table):
            return True  # the facts have the first sample, the figures the mean
        for higher, lower, category, size, *_ in texts:
            first, second = (
                np.mean([_number(value, category) for item, value in own.items() if systems[item] == system])
                for system in (higher, lower)
            )
            scale, step = (100, 0.05) if percent else (1, 0.005)
            assert abs(scale * (first - second) - _float(size)) <= step + 1e-9, (
                higher,
                lower,
                first,
                second,
                size,
            )
        return True
    return False


def _has_samples(facts: Facts, table: SystemTable) -> bool:
    (question,) = (question for question in facts.result.questions if question.ref == table.ref)
    return any(rater.name == table.judge and rater.samples > 1 for rater in question.raters)


def _number(value: object, category: str) -> float:
    return float(value == category) if category else float(value)  # type: ignore[arg-type]


def too_few_rated(facts: Facts, n: str) -> bool:
    """People rated that many items of some system, fewer than ten."""
    return int(n) < 10 and any(row.n_rated == int(n) for table in facts.result.systems for row in table.rows)


def never_given(facts: Facts, value: str) -> bool:
    """No person gave a value where the judge answered, too, and the judge gave it."""
    for table in facts.result.systems:
        answers = facts.answers[table.ref]
        own = answers[table.judge]
        people = [
            values[item]
            for name, values in answers.items()
            if facts.kind[name] == "human"
            for item in values
            if item in own
        ]
        if float(value) not in people and float(value) in own.values():
            return True
    return False


def near_singular(facts: Facts, least: str) -> bool:
    """The matrix of the judge's answers (rows) by those of people has that smallest singular value."""
    values = []
    for table in facts.result.systems:
        answers = facts.answers[table.ref]
        own = answers[table.judge]
        pairs = [
            (own[item], value)
            for name, by_item in answers.items()
            if facts.kind[name] == "human"
            for item, value in by_item.items()
            if item in own
        ]
        grid = sorted({value for pair in pairs for value in pair})
        matrix = np.zeros((len(grid), len(grid)))
        for mine, theirs in pairs:
            matrix[grid.index(mine), grid.index(theirs)] += 1
        if (matrix.sum(axis=0) > 0).all():
            values.append(np.linalg.svd(matrix / matrix.sum(axis=0), compute_uv=False)[-1])
    return any(abs(value - float(least)) <= 0.005 + 1e-9 and value < 0.1 for value in values)


RULES: list[tuple[str, Callable[..., bool]]] = [
    (
        rf"(\S+), corrected by [a-z ]+: no difference of systems is clear after Holm’s correction at "
        rf"(0\.\d+) \({RATED}\)\.",
        none_differ,
    ),
    (rf"(\S+), corrected by [a-z ]+: (.+) \((\d+)% intervals; {RATED}\)\.", differing),
    (r"(\S+) alone, not confirmed by the correction: (.+) \((\d+)% intervals\)\.", alone),
    (r"people rated (\d+) of these items; 10 are needed", too_few_rated),
    (
        rf"people never gave {VALUE} where both answered, so it is not known how the judge errs there",
        never_given,
    ),
    (
        rf"the confusion matrix is near singular \(smallest singular value {VALUE}, at least 0\.1 is "
        r"needed\): the judge hardly tells the categories apart",
        near_singular,
    ),
]
