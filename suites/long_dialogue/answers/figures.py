"""Figures of one row of the report: accuracy, abstention, retrieval, gaps, shares, counts and bounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.script_records import ANONYMISED, ORIGINAL, SWAPPED, UNKNOWN
from annotation.script_records import NAMES as KINDS
from annotation.text.display import number
from calibration.statistics import Plan, Result
from calibration.statistics.core.engine import finished
from calibration.statistics.core.ratings import Floats, Ints
from calibration.statistics.strata import WithinStrata
from suites.long_dialogue.answers.rows import (
    FACTORS,
    MEMORY,
    MODEL,
    NAMES,
    ORACLE,
    RETRIEVED,
    SCRIPT,
    AnswerRow,
    Group,
    Pairing,
    groups,
    held_across_names,
    held_with_oracle,
    less,
    name_kind,
    shared,
    varying,
)
from suites.long_dialogue.scripts.answers import AMBIGUOUS, FAILED, LATE, NONE, RULES, Rule
from suites.reports import PERCENT, OwnCell

# All answers of a report as arrays, and means over trials whose intervals resample sessions within scripts.
#
# All figures share one set of resamples: a drawn session brings all its questions, of every system and trial,
# so that differences are paired.

Mask = npt.NDArray[np.bool_]
METHOD = "mean over trials"
FEW = "no such answer"
UNKNOWN_ALL = "of none of these answers it is known whether it is right"


@dataclass(frozen=True)
class Figure(OwnCell):
    """A result with its spread over trials: ``sd`` is None with fewer than two trials.

    ``trials`` are the values per trial, in order, None for a trial without a value.
    """

    result: Result
    sd: float | None = None
    trials: tuple[float | None, ...] = ()

    @property
    def value(self) -> float | None:
        """The value, or None."""
        return self.result.value

    @property
    def statistic(self) -> Result:
        """The mean over trials, with its interval."""
        return self.result

    @property
    def spread(self) -> str:
        """Standard deviation over trials as text, '' without one."""
        return "" if self.sd is None else f"sd {number(self.sd, 3)}"

    def value_text(self, printed: bool) -> str:
        """Return the value as text; as printed, in per cent with the standard deviation."""
        if not printed:
            return number(self.value)
        return self.percent if self.sd is None else f"{self.percent} ({number(PERCENT * self.sd)})"

    @property
    def percent(self) -> str:
        """The value in per cent."""
        return number(None if self.value is None else PERCENT * self.value)

    def as_csv(self) -> dict[str, Any]:
        """Return the standard deviation in addition to the columns of every figure."""
        return {"sd": self.sd}

    def as_dict(self) -> dict[str, Any]:
        """Return plain data: value, low, high, sd, n, and the reason for a missing value or interval."""
        result = self.result
        return {
            "value": result.value,
            "low": result.low,
            "high": result.high,
            "sd": self.sd,
            "n": result.n_items,
            "n_clusters": result.n_clusters,
            "n_missing": result.n_missing,
            "trials": list(self.trials),
            "flags": list(result.flags),
            "reason": result.reason,
        }


def undefined(name: str, reason: str, n_missing: int = 0) -> Figure:
    """Return a figure without a value, with the reason."""
    return Figure(Result(name, status="insufficient", reason=reason, n_missing=n_missing))


class Sheet:
    """Answers of a report. ``unit`` is each answer's session or season, ``trial`` its trial's code."""

    def __init__(self, rows: Sequence[AnswerRow], plan: Plan) -> None:
        self.rows = rows
        self.plan = plan
        places = [(row.place.script, row.place.cluster) for row in rows]
        units = sorted(set(places))
        codes = {place: code for code, place in enumerate(units)}
        scripts = {name: code for code, name in enumerate(sorted({script for script, _ in units}))}
        self.unit: Ints = np.array([codes[place] for place in places], dtype=np.int64)
        self.strata: Ints = np.array([scripts[script] for script, _ in units], dtype=np.int64)
        self.trial_names = sorted({row.place.trial for row in rows})
        trials = {name: code for code, name in enumerate(self.trial_names)}
        self.trial: Ints = np.array([trials[row.place.trial] for row in rows], dtype=np.int64)

    @property
    def n_units(self) -> int:
        """Number of units to draw from: sessions, or seasons."""
        return len(self.strata)

    @cached_property
    def weights(self) -> Floats:
        """Number of draws of each unit, resamples x units: the same for every figure."""
        resamples = WithinStrata(self.plan, np.arange(self.n_units), self.n_units, strata=self.strata)
        parts = list(resamples.chunks()) if self.n_units else []
        return np.concatenate(parts) if parts else np.empty((0, self.n_units))

    def figures(
        self,
        name: str,
        rows: Ints,
        values: Floats,
        belongs: Mask | None = None,
        *,
        reason: str = FEW,
        method: str = METHOD,
    ) -> list[Figure]:
        """Return the mean over trials of each column of values, on the sheet's resamples.

        ``rows`` are positions on the sheet, ``values`` rows x columns with NaN for missing values, and
        ``belongs`` a mask of the values to include (all where None): missing values among these are counted.
        """
        values = values if values.ndim == 2 else values[:, None]
        belonging = np.ones(values.shape, dtype=bool) if belongs is None else belongs
        present = belonging & ~np.isnan(values)
        top, bottom = self._sums(rows, np.where(present, values, 0.0)), self._sums(rows, present)
        figures = []
        resampled = self._resampled_means(top, bottom)
        for column in range(values.shape[1]):
            own = present[:, column]
            missing = int((belonging[:, column] & ~own).sum())
            if not own.any():
                figures.append(undefined(name, UNKNOWN_ALL if missing else reason, missing))
                continue
            figure = self._figure(
                name,
                top[:, :, column],
                bottom[:, :, column],
                resampled[:, column],
                int(own.sum()),
                missing,
                method,
            )
            figures.append(figure)
        return figures

    def figure(
        self, name: str, rows: Ints, values: Floats, belongs: Mask | None = None, *, reason: str = FEW
    ) -> Figure:
        """Return the mean over trials of one column of values."""
        mask = None if belongs is None else belongs[:, None]
        return self.figures(name, rows, values[:, None], mask, reason=reason)[0]

    def _sums(self, rows: Ints, values: Floats | Mask) -> Floats:
        """Return the sums of values by unit and trial: units x trials x columns."""
        n_trials = max(len(self.trial_names), 1)
        cells = self.unit[rows] * n_trials + self.trial[rows]
        columns = [
            np.bincount(cells, weights=column, minlength=self.n_units * n_trials)
            for column in np.asarray(values, dtype=np.float64).T
        ]
        return np.asarray(np.stack(columns, axis=1).reshape(self.n_units, n_trials, -1), dtype=np.float64)

    def _resampled_means(self, top: Floats, bottom: Floats) -> Floats:
        """Return the mean over trials per resample, resamples x columns, NaN where undefined."""
        n_units, n_trials, columns = top.shape
        shape = (len(self.weights), n_trials, columns)
        above = (self.weights @ top.reshape(n_units, -1)).reshape(shape)
        below = (self.weights @ bottom.reshape(n_units, -1)).reshape(shape)
        return mean_over_trials(above, below)

    def _figure(
        self, name: str, top: Floats, bottom: Floats, resampled: Floats, n: int, missing: int, method: str
    ) -> Figure:
        above, below = top.sum(axis=0), bottom.sum(axis=0)
        trials = [float(a / b) if b else None for a, b in zip(above, below, strict=True)]
        defined = [value for value in trials if value is not None]
        sd = float(np.std(defined, ddof=1)) if len(defined) > 1 else None
        units = int(bottom.any(axis=1).sum())
        point = float(np.mean(defined))
        result = finished(
            name, point, resampled, self.plan, n_items=n, n_clusters=units, n_missing=missing, method=method
        )
        return Figure(result, sd, tuple(trials))


def mean_over_trials(above: Floats, below: Floats) -> Floats:
    """Return the mean of above / below over the trials (axis 1) that have any; NaN for none."""
    share = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    counted = (below > 0).sum(axis=1)
    return np.divide(share.sum(axis=1), counted, out=np.full(counted.shape, np.nan), where=counted > 0)


CHANCE = 0.2
"""Accuracy of guessing among five letters, whatever the key is."""
NO_ORACLE = "no oracle of the same model, names and format was asked the same questions"
IS_ORACLE = "this is the oracle"
NOTHING_SHARED = "no question was asked in every row"


@dataclass(frozen=True)
class Counts:
    """Counts of answers: `waiting` answers wait for a judge, `owed` classes were never paid."""

    asked: int
    trials: int
    ambiguous: int
    none: int
    late: int
    undecided: int
    failed: int
    waiting: int
    by_judge: int
    owed: int

    def as_dict(self) -> dict[str, int]:
        """Return plain data."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


class Answers:
    """All answers of a report as columns: the data of every row's figures."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        rows = sheet.rows
        self.right: dict[Rule, Floats] = {
            rule: np.array([_number(row.right(rule)) for row in rows]) for rule in RULES
        }
        self.abstained: Floats = np.array([_number(row.abstained) for row in rows])
        self.unknowable: Floats = np.array([float(row.key == UNKNOWN) for row in rows])
        self.answerable: Mask = np.array([row.answerable for row in rows], dtype=bool)
        self.quiz: Floats = np.array([float(row.source == "quiz") for row in rows])
        self.retrieval = np.array([row.retrieval for row in rows], dtype=object)
        self.failed: Mask = np.array([row.is_failed for row in rows], dtype=bool)

    @cached_property
    def oracle(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Positions of the oracle's answers."""
        rows = self.sheet.rows
        return np.array([at for at, row in enumerate(rows) if is_oracle(row)], dtype=np.int64)


def is_oracle(row: AnswerRow) -> bool:
    """Whether an answer was given with the evidence in the prompt."""
    return row.condition(MEMORY) == ORACLE


def _number(value: bool | None) -> float:
    return np.nan if value is None else float(value)


def accuracy(answers: Answers, group: Group, rule: Rule) -> Figure:
    """Return the accuracy, as a mean over trials; failed and waiting answers are missing."""
    return answers.sheet.figure("accuracy", group.rows, answers.right[rule][group.rows])


def bounds(answers: Answers, group: Group, rule: Rule) -> tuple[Figure, Figure]:
    """Return the accuracy with all missing answers counted as wrong, and with all counted as right."""
    right = answers.right[rule][group.rows]
    ends = np.column_stack([np.where(np.isnan(right), end, right) for end in (0.0, 1.0)])
    low, high = answers.sheet.figures("accuracy", group.rows, ends)
    return low, high


def by_factor(answers: Answers, group: Group, rule: Rule) -> dict[str, dict[str, Figure]]:
    """Return the accuracy by factor and value."""
    rows = [answers.sheet.rows[at] for at in group.rows]
    masks: list[Mask] = []
    names: list[tuple[str, str]] = []
    for factor in FACTORS.values():
        own = [factor.values(row) for row in rows]
        for value in factor.sorted([value for values in own for value in values]):
            names.append((factor.key, value))
            masks.append(np.array([value in values for values in own], dtype=bool))
    by_value: dict[str, dict[str, Figure]] = {key: {} for key in FACTORS}
    if masks:
        right = np.repeat(answers.right[rule][group.rows][:, None], len(masks), axis=1)
        figures = answers.sheet.figures("accuracy", group.rows, right, np.column_stack(masks))
        for (factor_key, value), figure in zip(names, figures, strict=True):
            by_value[factor_key][value] = figure
    return by_value


def abstention(answers: Answers, group: Group) -> dict[str, Figure]:
    """Return the share of (E), its precision, and its recall.

    The precision is the share of keys (E) among choices of (E), the recall the share of choices of (E) among
    keys (E).
    """
    own, sheet = group.rows, answers.sheet
    chose, key = answers.abstained[own], answers.unknowable[own]
    return {
        "share": sheet.figure("share of (E)", own, chose),
        "precision": sheet.figure("precision", own, key, chose == 1, reason="(E) was never chosen"),
        "recall": sheet.figure("recall", own, chose, key == 1, reason="no key is (E)"),
    }


def retrieval(answers: Answers, group: Group, rule: Rule) -> dict[str, dict[str, Figure]]:
    """Return the share and the accuracy of answerable questions, by the extent of evidence in the prompt."""
    own, sheet = group.rows, answers.sheet
    extents = answers.retrieval[own]
    considered = answers.answerable[own] & np.isin(extents.astype(str), RETRIEVED)
    states = np.column_stack([(extents == state).astype(np.float64) for state in RETRIEVED])
    everywhere = np.repeat(considered[:, None], len(RETRIEVED), axis=1)
    reason = "no answer says what was retrieved"
    shares = sheet.figures("share", own, states, everywhere, reason=reason)
    right = np.repeat(answers.right[rule][own][:, None], len(RETRIEVED), axis=1)
    within = sheet.figures("accuracy", own, right, everywhere & (states == 1))
    pairs = zip(RETRIEVED, shares, within, strict=True)
    return {state: {"share": share, "accuracy": accuracy} for state, share, accuracy in pairs}


def oracle_gap(answers: Answers, group: Group, rule: Rule) -> Figure:
    """Return the oracle's accuracy minus the group's, over the questions and trials that both answered.

    Positive is a loss; undefined for the oracle itself, and without an oracle.
    """
    rows = answers.sheet.rows
    if all(is_oracle(rows[at]) for at in group.rows):
        return undefined("gap to the oracle", IS_ORACLE)
    places, differences = less(rows, group.rows, answers.oracle, answers.right[rule], held_with_oracle)
    if not len(places):
        return undefined("gap to the oracle", NO_ORACLE)
    return answers.sheet.figure("gap to the oracle", places, -differences)


def shares(answers: Answers, group: Group) -> dict[str, Figure]:
    """Return the achieved shares: of unanswerable questions, wanted and asked, and of quiz questions.

    `always_e` is the accuracy of always choosing (E): the share of keys (E).
    """
    own, sheet = group.rows, answers.sheet
    drawn_classes = [sheet.rows[at].drawn_class for at in own]
    asks = np.array(
        [
            float(drawn_class.lower().startswith("u")) if drawn_class else np.nan
            for drawn_class in drawn_classes
        ]
    )
    return {
        "unanswerable": sheet.figure("share", own, (~answers.answerable[own]).astype(np.float64)),
        "unanswerable_wanted": sheet.figure("share", own, asks, reason="no answer says what was wanted"),
        "quiz": sheet.figure("share", own, answers.quiz[own]),
        "always_e": sheet.figure("accuracy of always (E)", own, answers.unknowable[own]),
    }


def counts(answers: Answers, group: Group) -> Counts:
    """Count the answers of a group, by outcome."""
    rows = [answers.sheet.rows[at] for at in group.rows]
    outcomes = Counter(row.outcome for row in rows)
    return Counts(
        asked=len(rows),
        trials=len({row.place.trial for row in rows}),
        ambiguous=outcomes[AMBIGUOUS],
        none=outcomes[NONE],
        late=outcomes[LATE],
        undecided=sum(row.undecided for row in rows),
        failed=outcomes[FAILED],
        waiting=sum(row.strict is None and not row.is_failed for row in rows),
        by_judge=sum(row.by_judge for row in rows),
        owed=_owed(rows),
    )


def _owed(rows: list[AnswerRow]) -> int:
    """Return the number of classes still owed after the last question of each walk."""
    last: dict[tuple[object, ...], AnswerRow] = {}
    for row in rows:
        place = row.place
        walk = (place.script, place.system, tuple(sorted(place.condition.items())), place.trial)
        if walk not in last or row.session >= last[walk].session:
            last[walk] = row
    return sum(len(row.owed) for row in last.values())


@dataclass(frozen=True)
class RowFigures:
    """All figures of a row of the report, by the selected rule, with `strict` and `lenient` beside it."""

    group: Group
    accuracy: Figure
    on_shared: Figure
    """Accuracy on the questions that every row of the report has in common, in the same trials."""
    strict: Figure
    lenient: Figure
    low: Figure
    high: Figure
    by: Mapping[str, Mapping[str, Figure]]
    abstention: Mapping[str, Figure]
    retrieval: Mapping[str, Mapping[str, Figure]]
    gap: Figure
    shares: Mapping[str, Figure]
    counts: Counts

    @property
    def label(self) -> str:
        """Name of the row, with a note for a fake model."""
        return f"{self.group.name} (fake model)" if self.group.fake_model else self.group.name


def row_figures(answers: Answers, groups: Sequence[Group], rule: Rule) -> tuple[RowFigures, ...]:
    """Return the figures of each group of answers."""
    common = shared(answers.sheet.rows, {at: group.rows for at, group in enumerate(groups)})
    return tuple(of_group(answers, group, rule, common[at]) for at, group in enumerate(groups))


def of_group(answers: Answers, group: Group, rule: Rule, common: Ints) -> RowFigures:
    """Return the figures of a group; ``common`` are its answers to questions that all groups share."""
    scored = {scoring_rule: accuracy(answers, group, scoring_rule) for scoring_rule in RULES}
    low, high = bounds(answers, group, rule)
    return RowFigures(
        group,
        scored[rule],
        answers.sheet.figure("accuracy", common, answers.right[rule][common], reason=NOTHING_SHARED),
        scored["strict"],
        scored["lenient"],
        low,
        high,
        by_factor(answers, group, rule),
        abstention(answers, group),
        retrieval(answers, group, rule),
        oracle_gap(answers, group, rule),
        shares(answers, group),
        counts(answers, group),
    )


# Effect of names: accuracy under original, anonymised and swapped names, paired by question.

COMPARED = ((ORIGINAL, ANONYMISED), (SWAPPED, ANONYMISED), (SWAPPED, ORIGINAL))
"""Compared kinds of names: the first minus the second."""
UNPAIRED = "no question was asked under both"


@dataclass(frozen=True, eq=False)
class NamesRow:
    """A model under one condition: its accuracy by kind of names, and paired differences of kinds."""

    group: Group
    accuracy: Mapping[str, Figure]
    differences: Mapping[tuple[str, str], Figure]

    @property
    def label(self) -> str:
        """Name of the row."""
        return f"{self.group.name} (fake model)" if self.group.fake_model else self.group.name


def names_rows(answers: Answers, rows_by: tuple[str, ...], rule: Rule) -> list[NamesRow]:
    """Return a row for every model and condition with answers under more than one kind of names."""
    rows = answers.sheet.rows
    keys = (MODEL, *(key for key in varying(rows) if key not in (MODEL, NAMES)))
    name_groups = groups(rows, (*keys, SCRIPT) if SCRIPT in rows_by else keys)
    return [row for group in name_groups if (row := names_row(answers, group, rule)) is not None]


def names_row(answers: Answers, group: Group, rule: Rule) -> NamesRow | None:
    """Return the effect of names within a group; None where all answers have one kind of names."""
    parts = parts_of(answers, group)
    if len(parts) < 2:
        return None
    accuracy = {
        kind: answers.sheet.figure("accuracy", own, answers.right[rule][own]) for kind, own in parts.items()
    }
    return NamesRow(
        group,
        accuracy,
        {
            (first, second): difference(answers, parts[first], parts[second], rule)
            for first, second in COMPARED
            if first in parts and second in parts
        },
    )


def parts_of(answers: Answers, group: Group) -> dict[str, Ints]:
    """Return the positions of a group's answers by the kind of their names."""
    rows = answers.sheet.rows
    kinds = [name_kind(rows[at].condition(NAMES)) for at in group.rows]
    by_kind = {
        kind: group.rows[np.array([row_kind == kind for row_kind in kinds], dtype=bool)] for kind in KINDS
    }
    return {kind: own for kind, own in by_kind.items() if len(own)}


def difference(answers: Answers, first: Ints, second: Ints, rule: Rule) -> Figure:
    """Return the accuracy of the first minus that of the second, over the questions that both have."""
    return paired(answers, first, second, rule, held_across_names, UNPAIRED)


def gap(answers: Answers, oracle: Ints, own: Ints, rule: Rule) -> Figure:
    """Return the accuracy of the oracle minus that of others, over the questions that both have."""
    return paired(answers, oracle, own, rule, held_with_oracle, UNPAIRED)


def paired(answers: Answers, first: Ints, second: Ints, rule: Rule, pairing: Pairing, reason: str) -> Figure:
    """Return the paired difference of two accuracies; undefined, with the reason, without pairs."""
    places, differences = less(answers.sheet.rows, first, second, answers.right[rule], pairing)
    if not len(places):
        return undefined("difference", reason)
    return answers.sheet.figure("difference", places, differences)
