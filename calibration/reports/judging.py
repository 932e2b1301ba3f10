"""What a report keeps of judges beside each other and of raters beside an answer key."""

from __future__ import annotations

from dataclasses import dataclass

from calibration.reports.figure import Figure


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two judges or metrics on one statistic: both values, their difference, p-values.

    `names` are what they are called beside the others, `samples` how repeated answers were read (`first` or
    `mean`, empty of one who answered once). `reference` is `people` or the name of a key. `n_dropped` items
    with a reference were answered by one of the two only.
    """

    raters: tuple[str, str]
    samples: tuple[str, str]
    names: tuple[str, str]
    statistic: str
    reference: str
    first: Figure
    second: Figure
    difference: Figure
    p: Figure
    p_holm: Figure
    n_dropped: int


@dataclass(frozen=True, slots=True)
class ComparedJudges:
    """All pairs of judges and metrics of a question; `left_out` pairs of metrics are not compared."""

    ref: str
    title: str
    pairs: tuple[ComparedPair, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A rater or a baseline against a key: accuracy, balanced accuracy, kappa and MCC.

    `difference` is the accuracy less that of the baseline `best`, which is right as often as `best_accuracy`
    says. `matrix` counts items by the key's value (rows) and the rater's.
    """

    rater: str
    kind: str
    n: int
    missing: int
    figures: tuple[Figure, ...]
    difference: Figure | None
    best: str
    best_accuracy: float | None
    matrix: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class KeyTable:
    """The raters of a question against one of its keys; `reason` says why there is no table."""

    ref: str
    title: str
    level: str
    key: str
    values: tuple[str, ...]
    rows: tuple[KeyRow, ...]
    baselines: tuple[KeyRow, ...]
    reason: str
