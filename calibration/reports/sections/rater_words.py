"""What is said under the tables of raters: what the figures mean, and who is not compared with whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from annotation.text.numbers import number
from calibration.reports.figures import worded
from calibration.reports.raters import QuestionRaters
from calibration.reports.wording import Crowd, counted, listed

MEANS = (
    "The rest of a rater are the {many} other than it (where there are none, the other raters), on the items "
    "that both rated. Below 0 a rater rates lower than the rest."
)
SEVERITY = (
    "Severity fits value = item + rater by least squares, so that nobody looks severe for having had the "
    "weak items; 0 is the average {one}, each by the number of ratings, below 0 a rater is severe (rates "
    "lower), above 0 lenient. It takes a rater to be off by the "
    "same amount on every item. Misfit is the mean square of what the model leaves, over that of all: about "
    "1 where a rater is as predictable as the others, above 1 where it is less so."
)
SPREAD = (
    "Spread: standard deviation over that of the rest; below 1 a rater keeps to the middle. Ends: share of "
    "ratings at either end of the scale, less that of the rest. Limits: 95 in 100 single differences from "
    "the rest lie between them, if these are normal."
)
FEW = 10
"""Dialogues below which resampling says little of how far a figure may be off."""
ALPHA = "α gained: α of the rest with the rater less α without it, on the same resamples."
REPEATED = (
    "Answering alike is not answering right: a rater can repeat its mistakes. pass^k: the chance that all k "
    "answers are so; right is what the answer key, else most people, say."
)


def meaning(questions: Iterable[QuestionRaters], who: Crowd) -> tuple[str, ...]:
    """Return what the figures of some questions mean: each sentence once."""
    questions = list(questions)
    rows = [row for raters in questions for row in raters.rows]
    named = {figure.name for row in rows for figure in row.figures}
    found = [MEANS.format(many=who.many)] if "rater_difference" in named else []
    found += [SEVERITY.format(one=who.one)] if "rater_severity" in named else []
    found += [SPREAD] if "rater_spread" in named else []
    found += [ALPHA] if "rater_alpha_gain" in named else []
    return (*found, REPEATED) if any(raters.repeats for raters in questions) else tuple(found)


def notes(raters: QuestionRaters, who: Crowd) -> tuple[str, ...]:
    """Return what limits the comparison of a question's raters, and what others would have said."""
    found = _apart(raters, who)
    found += _over(raters, who)
    few = sum(figure.n_clusters < FEW for row in raters.rows for figure in row.figures[:1])
    if few:
        told = counted(few, "rater")
        found.append(f"{told} answered in fewer than {FEW} dialogues: their intervals run far too short.")
    if raters.unidentified and raters.rows:
        found.append(
            f"{counted(raters.unidentified, 'rater')} unidentified: a slot is not one {who.one} across "
            "items, so it has no row."
        )
    return tuple(found)


def _apart(raters: QuestionRaters, who: Crowd) -> list[str]:
    """Say who cannot be compared with whom, or is through judges alone."""
    if raters.groups:
        sizes = [len(group) for group in raters.groups]
        alone = [group[0] for group in raters.groups if len(group) == 1]
        joined = [group for group in raters.groups if len(group) > 1]
        said = "; ".join(listed(group) for group in joined[:3]) + (" and others" if len(joined) > 3 else "")
        text = f"These raters fall into {len(sizes)} groups that share no item"
        text += f" ({said})" if said else ""
        text += (
            f"; {listed(alone)} {'shares' if len(alone) == 1 else 'share'} none with anybody" if alone else ""
        )
        return [
            f"{text}. Severities of different groups cannot be compared: each group has a zero of its own."
        ]
    if raters.through_judges:
        return [
            f"The {who.many} share no items that would join all of them: their severities are compared "
            "through judges, and rest on these rating all items by the same standard."
        ]
    return []


def _over(raters: QuestionRaters, who: Crowd) -> list[str]:
    over = raters.over
    if over is None or not over.ok or over.low is None:
        return []
    name = worded(over.name.removeprefix("over_raters_")).name
    ends = f"{number(over.low, 2)} to {number(over.high, 2)}"
    return [
        f"Over pairs of {who.many} {name} is {number(over.value, 3)} on average; had other {who.many} been "
        f"asked about these items, {ends}."
    ]


def unknown(found: Sequence[tuple[str, Any, QuestionRaters]]) -> tuple[str, ...]:
    """Say of which questions no rater is described, and why."""
    by_reason: dict[str, list[str]] = {}
    for title, _, raters in found:
        if raters.reason and not raters.rows:
            by_reason.setdefault(raters.reason, []).append(title)
    return tuple(
        f"On {listed(titles)} no rater is described: {reason}." for reason, titles in by_reason.items()
    )
