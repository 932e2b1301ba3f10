"""Systems by win rate and strength, and head to head, with intervals by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from calibration.statistics.core.resampling import Plan
from calibration.statistics.core.result import Counts, Result
from calibration.statistics.core.sums import finished
from calibration.statistics.core.types import Floats
from calibration.statistics.preferences.connected import why_not
from calibration.statistics.preferences.fitting import MODELS, Fitted, Model, fitted, scored
from calibration.statistics.preferences.games import Games, Tables

CENTRE, PER_TENFOLD = 1000.0, 400.0
"""The scale of strengths: odds ten times as good are 400 points, as with Elo's ratings."""


@dataclass(frozen=True)
class Standing:
    """One system against all others: its games as counts, its win rate, its strength and the rank of that."""

    system: str
    wins: int
    ties: int
    losses: int
    win_rate: Result
    strength: Result
    rank: Result


@dataclass(frozen=True)
class Meeting:
    """Two systems: the first's wins, ties and losses, its win rate, and what the strengths expect."""

    first: str
    second: str
    wins: int
    ties: int
    losses: int
    win_rate: Result
    expected: Result


@dataclass(frozen=True)
class Standings:
    """All systems, the best first, and their meetings; ``tie`` only where the model has a parameter of it."""

    systems: tuple[Standing, ...]
    meetings: tuple[Meeting, ...]
    tie: Result | None
    model: Model
    anchor: str

    @property
    def scale(self) -> str:
        """What a strength of 1000 and a step of 400 mean."""
        at = self.anchor or "the mean of all systems"
        return f"{CENTRE:g} is {at}; {PER_TENFOLD:g} points are odds of ten to one"


@dataclass(frozen=True)
class _Drawn:
    """Figures of all games and of the resamples: rows x systems (x systems)."""

    rates: Floats
    meetings: Floats
    strengths: Floats
    ranks: Floats
    chances: Floats
    tie: Floats


def standings(games: Games, plan: Plan, model: Model = "half", anchor: str = "") -> Standings:
    """Return win rates and strengths. ``anchor``: the system at 1000, else the mean of all."""
    anchor = anchor if anchor in games.systems else ""
    if not games.a.size:
        return Standings((), (), None, model, anchor)
    whole, resamples = games.tables(plan)
    at = games.systems.index(anchor) if anchor else None
    point = _drawn(whole, model, at)
    parts = [_drawn(part, model, at) for part in resamples]
    drawn = _joined(parts) if parts else _none_of(point)
    made = _Results(games, plan, model, point, drawn, _reason(whole, games, model))
    tie = made.tie() if model == "davidson" else None
    systems = [made.standing(whole, j) for j in range(len(games.systems))]
    n = len(games.systems)
    meetings = [made.meeting(whole, i, j) for i in range(n) for j in range(i + 1, n)]
    return Standings(tuple(sorted(systems, key=_best_first)), tuple(meetings), tie, model, anchor)


def _best_first(one: Standing) -> tuple[float, float, str]:
    rate, strength = one.win_rate.value, one.strength.value
    return (-(strength or 0.0), -1.0 if rate is None else -rate, one.system)


def _drawn(tables: Tables, model: Model, anchor: int | None) -> _Drawn:
    points, n = scored(tables, model), tables.n
    if model == "drop":
        n = n - tables.ties
    fit = fitted(tables, model)
    strengths = fit.strengths if anchor is None else fit.strengths - fit.strengths[:, [anchor]]
    return _Drawn(
        _ratio(points.sum(axis=2), n.sum(axis=2)),
        _ratio(points, n),
        CENTRE + PER_TENFOLD / np.log(10) * strengths,
        _ranks(fit),
        fit.chances(),
        fit.tie,
    )


def _ratio(top: Floats, bottom: Floats) -> Floats:
    return np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), np.nan)


def _ranks(fit: Fitted) -> Floats:
    """Rank of each strength, 1 the greatest, equal ones sharing their mean rank; NaN without strengths."""
    mine, other = fit.strengths[:, :, None], fit.strengths[:, None, :]
    close = np.abs(other - mine) < 1e-9
    ranks = ((other > mine) & ~close).sum(axis=2) + (close.sum(axis=2) + 1) / 2
    return np.where(np.isnan(fit.strengths), np.nan, ranks)


def _joined(parts: Sequence[_Drawn]) -> _Drawn:
    names = [one.name for one in fields(_Drawn)]
    return _Drawn(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _none_of(drawn: _Drawn) -> _Drawn:
    """Return the same figures with no rows: no resamples were asked for."""
    return _Drawn(*(getattr(drawn, one.name)[:0] for one in fields(_Drawn)))


def _reason(whole: Tables, games: Games, model: Model) -> str:
    """Say why there are no strengths, empty where there are."""
    if len(games.systems) < 2:
        return "strengths need two systems"
    reason = why_not(scored(whole, "drop" if model == "drop" else "half")[0], games.systems)
    if reason and model == "drop":
        return f"{reason} (ties are left out)"
    if reason or model != "davidson":
        return reason
    return "wins and ties leave a system that never lost clearly: Davidson's likelihood has no maximum"


@dataclass(frozen=True)
class _Results:
    """Puts figures into results."""

    games: Games
    plan: Plan
    model: Model
    point: _Drawn
    drawn: _Drawn
    reason: str

    def standing(self, whole: Tables, j: int) -> Standing:
        """The row of system j."""
        a, b = self.games.a, self.games.b
        counts = self._counts((a == j) | (b == j))
        model = f"maximum likelihood, {MODELS[self.model]}"
        return Standing(
            self.games.systems[j],
            *_counted(whole, j),
            self._of("win_rate", self.point.rates[0, j], self.drawn.rates[:, j], counts, self._rate_method()),
            self._of("strength", self.point.strengths[0, j], self.drawn.strengths[:, j], counts, model),
            _whole(self._of("rank", self.point.ranks[0, j], self.drawn.ranks[:, j], counts, model)),
        )

    def meeting(self, whole: Tables, i: int, j: int) -> Meeting:
        """The row of systems i and j."""
        a, b = self.games.a, self.games.b
        counts = self._counts(((a == i) & (b == j)) | ((a == j) & (b == i)))
        wins, ties, losses = whole.wins[0, i, j], whole.ties[0, i, j], whole.wins[0, j, i]
        every = self._counts(np.ones(len(a), dtype=np.bool_))
        model = f"expected of the strengths, {MODELS[self.model]}"
        rates = self.point.meetings[0, i, j], self.drawn.meetings[:, i, j]
        chances = self.point.chances[0, i, j], self.drawn.chances[:, i, j]
        return Meeting(
            self.games.systems[i],
            self.games.systems[j],
            *(int(wins), int(ties), int(losses)),
            self._of("win_rate", *rates, counts, self._rate_method()),
            self._of("expected_win_rate", *chances, every, model),
        )

    def tie(self) -> Result:
        """Davidson's tie parameter: a tie of equals is nu / 2 times as likely as one of them winning."""
        every = self._counts(np.ones(len(self.games.a), dtype=np.bool_))
        return self._of("tie_parameter", self.point.tie[0], self.drawn.tie, every, MODELS["davidson"])

    def _rate_method(self) -> str:
        return "decided votes" if self.model == "drop" else "ties are half a win"

    def _counts(self, chosen: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Counts:
        games = self.games
        return {
            "n_items": len(np.unique(games.items[chosen])),
            "n_clusters": len(np.unique(games.units[chosen])),
            "n_raters": len(np.unique(games.raters[chosen])),
        }

    def _of(self, name: str, point: float, drawn: Floats, counts: Counts, method: str) -> Result:
        by_model = name in ("strength", "rank", "expected_win_rate", "tie_parameter")
        undefined = self.reason if by_model else self._no_rate(counts)
        return finished(name, float(point), drawn, self.plan, method=method, undefined=undefined, **counts)

    def _no_rate(self, counts: Counts) -> str:
        return "no decided vote" if counts["n_items"] else "never compared"


def _counted(whole: Tables, j: int) -> tuple[int, int, int]:
    return (
        int(whole.wins[0, j].sum()),
        int(whole.ties[0, j].sum()),
        int(whole.wins[0, :, j].sum()),
    )


def _whole(rank: Result) -> Result:
    """Return a rank with an interval of whole places, widened outwards."""
    if rank.low is None or rank.high is None:
        return rank
    return replace(rank, low=float(np.floor(rank.low)), high=float(np.ceil(rank.high)))
