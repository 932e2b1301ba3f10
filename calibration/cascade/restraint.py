"""The restraint panel: whether an agent stays out where it must, and joins in where it must.

`group_chat.md`, section 7. Replies that could not be read are left out: they are no right silences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from calibration.cascade.decided import MUST_SPEAK, STAY_OUT, Decided
from calibration.cascade.figures import Families, divided
from calibration.statistics import Plan, Result
from calibration.statistics.core.sums import finished
from calibration.statistics.core.types import Floats

Figure = Callable[[Floats], Floats]
"""From sums (must speak, stay out, said where it must, said where not, silent where it must) to a figure."""
SUMS = 5
NO_POINT = "no point where one must speak or stay out"


def _recall(sums: Floats) -> Floats:
    return divided(sums[:, 2], sums[:, 0])


def _intrusion(sums: Floats) -> Floats:
    return divided(sums[:, 3], sums[:, 1])


def _f1(sums: Floats) -> Floats:
    """Return the harmonic mean of precision and recall: 2 hits / (2 hits + intrusions + not said)."""
    hits = sums[:, 2]
    return divided(2 * hits, 2 * hits + sums[:, 3] + (sums[:, 0] - hits))


PANEL: Mapping[str, tuple[str, Figure, tuple[int, ...], str]] = {
    "intrusion_rate": ("Intrusion rate", _intrusion, (1,), "no point to stay out of"),
    "miss_rate": (
        "Miss rate",
        lambda sums: divided(sums[:, 4], sums[:, 0]),
        (0,),
        "no point where one must speak",
    ),
    "recall": ("Recall", _recall, (0,), "no point where one must speak"),
    "precision": (
        "Precision",
        lambda sums: divided(sums[:, 2], sums[:, 2] + sums[:, 3]),
        (2, 3),
        "it never said anything at these points",
    ),
    "f1": ("F1", _f1, (0, 1), "it never said anything, and never had to"),
    "balanced_accuracy": (
        "Balanced accuracy",
        lambda sums: (_recall(sums) + 1 - _intrusion(sums)) / 2,
        (0, 1),
        "one of the two classes has no point",
    ),
}
"""The figures: title, formula, which sums are their n, and why there may be none."""


def panel(decisions: Sequence[Decided], families: Families, plan: Plan) -> dict[str, Result]:
    """Return the figures of the panel, each with its interval over families."""
    used = _used(decisions)
    if not used:
        return {name: Result(name, status="insufficient", reason=NO_POINT) for name in PANEL}
    whole, drawn = families.summed(used, _rows(used), plan)
    n_clusters = len({one.family for one in used})
    return {
        name: finished(
            name,
            float(figure(whole)[0]),
            figure(drawn),
            plan,
            n_items=int(sum(whole[0, at] for at in counted)),
            n_clusters=n_clusters,
            n_raters=1,
            method="share of decisions",
            undefined=undefined,
        )
        for name, (_, figure, counted, undefined) in PANEL.items()
    }


def panel_difference(
    one: Sequence[Decided], other: Sequence[Decided], families: Families, plan: Plan
) -> dict[str, Result]:
    """Return the paired differences of two panels, one minus other, on the same resamples of families."""
    first, second = _used(one), _used(other)
    if not first or not second:
        return {name: Result(name, status="insufficient", reason=NO_POINT) for name in PANEL}
    rows = np.zeros((len(first) + len(second), 2 * SUMS))
    rows[: len(first), :SUMS], rows[len(first) :, SUMS:] = _rows(first), _rows(second)
    whole, drawn = families.summed([*first, *second], rows, plan)
    n_clusters = len({each.family for each in first})
    return {
        name: finished(
            name,
            float((figure(whole[:, :SUMS]) - figure(whole[:, SUMS:]))[0]),
            figure(drawn[:, :SUMS]) - figure(drawn[:, SUMS:]),
            plan,
            n_items=int(sum(whole[0, at] for at in counted)),
            n_clusters=n_clusters,
            method="difference of shares on the same resamples",
            undefined=f"for one of the two: {undefined}",
        )
        for name, (_, figure, counted, undefined) in PANEL.items()
    }


def unread(decisions: Sequence[Decided]) -> int:
    """Return how many replies could not be read."""
    return sum(not one.is_read for one in decisions)


def _used(decisions: Sequence[Decided]) -> list[Decided]:
    return [one for one in decisions if one.must and one.is_read]


def _rows(decisions: Sequence[Decided]) -> Floats:
    return np.array([_row(one) for one in decisions], dtype=np.float64).reshape(len(decisions), SUMS)


def _row(one: Decided) -> tuple[bool, bool, bool, bool, bool]:
    must, out = one.must == MUST_SPEAK, one.must == STAY_OUT
    message, silence = one.act == "message", one.act == "silence"
    return must, out, must and message, out and message, must and silence
