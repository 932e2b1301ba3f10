"""All answers of a report as arrays, and means over trials whose intervals resample sessions within scripts.

One set of resamples serves every figure: a session is drawn with all that was asked in it, by whatever system
and in whatever trial, so that differences are paired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from calibration.answers.rows import AnswerRow
from calibration.statistics import Plan, Result
from calibration.statistics.core.sums import finished
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.strata import WithinStrata

Mask = npt.NDArray[np.bool_]
METHOD = "mean over trials"
FEW = "no such answer"
UNKNOWN_ALL = "of none of these answers it is known whether it is right"


@dataclass(frozen=True)
class Figure:
    """A result with the spread over trials: ``sd`` is None with fewer than two trials.

    ``trials`` are the values of the trials, in their order, None where a trial has none.
    """

    result: Result
    sd: float | None = None
    trials: tuple[float | None, ...] = ()

    @property
    def value(self) -> float | None:
        """The value, or None."""
        return self.result.value

    def as_dict(self) -> dict[str, object]:
        """Return plain data: value, low, high, sd, n, and why there is no value or interval."""
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
    """Return a figure that there is not, with the reason."""
    return Figure(Result(name, status="insufficient", reason=reason, n_missing=n_missing))


class Sheet:
    """The answers of a report. ``unit`` is each answer's session or season, ``trial`` its trial's code."""

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
        """How many sessions (or seasons) are drawn from."""
        return len(self.strata)

    @cached_property
    def weights(self) -> Floats:
        """How often each unit is drawn, resamples x units: the same for every figure."""
        drawn = WithinStrata(self.plan, np.arange(self.n_units), self.n_units, strata=self.strata)
        parts = list(drawn.chunks()) if self.n_units else []
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

        ``rows`` are positions on the sheet, ``values`` rows x columns with NaN for what is missing, and
        ``belongs`` which of them are meant (all where None): what is meant and missing is counted.
        """
        values = values if values.ndim == 2 else values[:, None]
        meant = np.ones(values.shape, dtype=bool) if belongs is None else belongs
        there = meant & ~np.isnan(values)
        top, bottom = self._sums(rows, np.where(there, values, 0.0)), self._sums(rows, there)
        found = []
        drawn = self._drawn(top, bottom)
        for column in range(values.shape[1]):
            own = there[:, column]
            missing = int((meant[:, column] & ~own).sum())
            if not own.any():
                found.append(undefined(name, UNKNOWN_ALL if missing else reason, missing))
                continue
            figure = self._figure(
                name,
                top[:, :, column],
                bottom[:, :, column],
                drawn[:, column],
                int(own.sum()),
                missing,
                method,
            )
            found.append(figure)
        return found

    def figure(
        self, name: str, rows: Ints, values: Floats, belongs: Mask | None = None, *, reason: str = FEW
    ) -> Figure:
        """Return the mean over trials of one column of values."""
        meant = None if belongs is None else belongs[:, None]
        return self.figures(name, rows, values[:, None], meant, reason=reason)[0]

    def _sums(self, rows: Ints, values: Floats | Mask) -> Floats:
        """Return the sums of values by unit and trial: units x trials x columns."""
        n_trials = max(len(self.trial_names), 1)
        cells = self.unit[rows] * n_trials + self.trial[rows]
        columns = [
            np.bincount(cells, weights=column, minlength=self.n_units * n_trials)
            for column in np.asarray(values, dtype=np.float64).T
        ]
        return np.asarray(np.stack(columns, axis=1).reshape(self.n_units, n_trials, -1), dtype=np.float64)

    def _drawn(self, top: Floats, bottom: Floats) -> Floats:
        """Return the mean over trials in every resample, resamples x columns, NaN where there is none."""
        n_units, n_trials, columns = top.shape
        shape = (len(self.weights), n_trials, columns)
        above = (self.weights @ top.reshape(n_units, -1)).reshape(shape)
        below = (self.weights @ bottom.reshape(n_units, -1)).reshape(shape)
        return mean_over_trials(above, below)

    def _figure(
        self, name: str, top: Floats, bottom: Floats, drawn: Floats, n: int, missing: int, method: str
    ) -> Figure:
        above, below = top.sum(axis=0), bottom.sum(axis=0)
        trials = [float(a / b) if b else None for a, b in zip(above, below, strict=True)]
        known = [value for value in trials if value is not None]
        sd = float(np.std(known, ddof=1)) if len(known) > 1 else None
        units = int(bottom.any(axis=1).sum())
        point = float(np.mean(known))
        result = finished(
            name, point, drawn, self.plan, n_items=n, n_clusters=units, n_missing=missing, method=method
        )
        return Figure(result, sd, tuple(trials))


def mean_over_trials(above: Floats, below: Floats) -> Floats:
    """Return the mean over trials (axis 1) of above / below, of the trials that have any; NaN for none."""
    share = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    counted = (below > 0).sum(axis=1)
    return np.divide(share.sum(axis=1), counted, out=np.full(counted.shape, np.nan), where=counted > 0)
