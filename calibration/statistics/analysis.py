"""All statistics that apply to the ratings of one question: the panel first, then pairs, then the gaps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.base import Statistic
from calibration.statistics.core.data import Ratings
from calibration.statistics.core.engine import Estimate, estimates, result_of
from calibration.statistics.core.resampling import Plan, Resampling, resampling_of
from calibration.statistics.core.result import Result
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.gaps import Comparison, Member, gap_results, pooled_results
from calibration.statistics.replacement import (
    JUDGE_TESTS,
    StandIn,
    alternative_annotator_test,
    is_testable,
    stand_in,
)
from calibration.statistics.table import STATISTICS, described

PEOPLE = "human"
MEAN_OF_PEOPLE = f"mean(kind:{PEOPLE})"
PANEL = "panel"
KIND_ORDER = {"key": 0, PEOPLE: 1, "judge": 2, PANEL: 3, "": 3, "metric": 4, "composite": 5}
"""A panel is made of judges: it meets people and keys as a judge does, and is no judge more beside them."""
MANY_PAIRS = 300
"""Pairs of raters from which on they are a crowd's: of a crowd not all pairs are compared, but"""
LEAST_SHARED = 10
"""those that share at least so many items, and of these"""
MOST_PAIRS = 1_000
"""at most so many, whoever is not a person first, then those that share the most."""
KAPPA = {"binary": "cohen_kappa", "nominal": "cohen_kappa", "ordinal": "cohen_kappa_quadratic"}
"""What says on a level whether a judge agrees with people beyond chance; else it is a correlation."""


@dataclass(frozen=True)
class Entry:
    """A result with the raters it compares and the question they answered."""

    result: Result
    raters: tuple[str, ...]
    question: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready values: the result's, and raters and question."""
        plain = self.result.as_dict()
        return {"name": plain.pop("name"), "raters": list(self.raters), "question": self.question, **plain}


@dataclass(frozen=True)
class Analysis:
    """The entries of one question, in the order they are read, and a verdict a judge (``stand_ins``).

    ``left_out`` says which pairs of a crowd were not compared, with each other or in means over pairs.
    """

    panel: tuple[Entry, ...] = ()
    pairs: tuple[Entry, ...] = ()
    replacement: tuple[Entry, ...] = ()
    gaps: tuple[Entry, ...] = ()
    stand_ins: tuple[StandIn, ...] = ()
    left_out: str = ""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries: panel, pairs, alternative annotator test, gaps."""
        return self.panel + self.pairs + self.replacement + self.gaps

    def find(self, name: str, raters: Sequence[str] | None = None) -> Entry | None:
        """Return the first entry of this name (and these raters, in this order), or None."""
        for entry in self.entries:
            if entry.result.name == name and (raters is None or entry.raters == tuple(raters)):
                return entry
        return None


def analyse(
    ratings: Ratings,
    *,
    question: str = "",
    statistics: Iterable[str] | None = None,
    against: str | None = None,
    plan: Plan | None = None,
    epsilon: float = 0.15,
) -> Analysis:
    """Compute every statistic that applies, or those named, all on the same resamples.

    ``against`` limits pairs to those with this rater, who comes first as the reference. Raises KeyError for
    a statistic or rater that does not exist.
    """
    plan = plan or Plan()
    run = _Run(ratings, question, _chosen(statistics), plan, resampling_of(ratings, plan))
    if against is not None:
        ratings.column(against)
    if against is not None:
        return Analysis(pairs=run.pairs(against), left_out=run.left_out)
    wanted = statistics is None or any(name in JUDGE_TESTS for name in statistics)
    panel, pairs, gaps = run.panel(), run.pairs(None), run.gaps()
    replacement, stand_ins = run.replacement(epsilon, pairs + gaps) if wanted else ((), ())
    return Analysis(panel, pairs, replacement, gaps, stand_ins, run.left_out)


def _chosen(names: Iterable[str] | None) -> tuple[Statistic, ...]:
    if names is None:
        return tuple(STATISTICS.values())
    unknown = [name for name in names if name not in described()]
    if unknown:
        raise KeyError(f"no statistic {unknown[0]!r}; there are {', '.join(described())}")
    return tuple(STATISTICS[n] for n in names if n in STATISTICS)


@dataclass
class _Run:
    """One analysis under way; keeps the estimates of pairs for the gaps."""

    ratings: Ratings
    question: str
    chosen: tuple[Statistic, ...]
    plan: Plan
    resampling: Resampling

    def __post_init__(self) -> None:
        self.on_scale = self.ratings.as_answered().on_scale
        self.kept: dict[tuple[int, ...], list[Estimate]] = {}
        self.items: dict[tuple[int, ...], Ints] = {}
        self.left_out = ""

    def panel(self) -> tuple[Entry, ...]:
        """Statistics of the whole panel once, then of each kind of rater where kinds are mixed."""
        ratings = self.ratings
        columns = [j for j, on in enumerate(self.on_scale) if on and ratings.kinds[j] != PANEL]
        if len(columns) < 2 and len(columns) < len(ratings.raters):
            return ()
        groups = [tuple(columns)]
        kinds = sorted({ratings.kinds[j] for j in columns}, key=lambda k: KIND_ORDER.get(k, 9))
        if len(kinds) > 1:
            groups += [tuple(j for j in columns if ratings.kinds[j] == kind) for kind in kinds]
        every = np.ones(ratings.n_items, np.bool_)
        meeting = [self._meeting(group, every) for n, group in enumerate(groups) if n == 0 or len(group) > 1]
        return tuple(entry for group in dict.fromkeys(meeting) for entry in self._of_panel(group))

    def _of_panel(self, columns: tuple[int, ...]) -> list[Entry]:
        known = all(self.ratings.identified[j] for j in columns)
        chosen = [s for s in self.chosen if s.raters == "panel" or s.key == "percent_agreement"]
        return self._entries(columns, [s for s in chosen if known or s.exchangeable])

    def _meeting(self, columns: tuple[int, ...], items: npt.NDArray[np.bool_]) -> tuple[int, ...]:
        """Return the raters who share one of these items with another: they are who is in a figure.

        All of them, where nobody meets anybody: the figure then says so.
        """
        given = ~np.isnan(self.ratings.values[:, list(columns)]) & items[:, None]
        meets = given[given.sum(axis=1) >= 2].any(axis=0)
        return tuple(np.array(columns)[meets].tolist()) if meets.any() else columns

    def pairs(self, against: str | None) -> tuple[Entry, ...]:
        """Statistics of identified pairs, then of the people's mean with everyone else.

        Where pairs are many (a crowd), those that share few items are not compared: see ``left_out``.
        """
        ratings = self.ratings
        columns = [j for j, known in enumerate(ratings.identified) if known]
        columns.sort(key=lambda j: KIND_ORDER.get(ratings.kinds[j], 3))
        found = [pair for pair in combinations(columns, 2) if self._may_meet(pair)]
        if against is not None:
            first = ratings.column(against)
            found = [(first, j) for j in columns if j != first]
        if len(found) > MANY_PAIRS:
            found = self._of_crowd(found)
        whole = tuple(j for j, on in enumerate(self.on_scale) if on) if against is None else ()
        chosen = [s for s in self.chosen if s.raters == "pair"]
        out: list[Entry] = []
        for pair in found:
            once = [s for s in chosen if s.key != "percent_agreement" or set(pair) != set(whole)]
            out += self._entries(pair, once)
        if against is None:
            out += self._with_mean_of_people(chosen)
        return tuple(out)

    def _may_meet(self, pair: tuple[int, int]) -> bool:
        """A panel meets people and keys; beside its own members agreement says nothing."""
        kinds = {self.ratings.kinds[j] for j in pair}
        return PANEL not in kinds or bool(kinds & {PEOPLE, "key", ""})

    def _of_crowd(self, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the pairs that are compared, in their order, and say which are not."""
        given = (~np.isnan(self.ratings.values)).astype(np.float32)
        shared = given.T @ given
        meeting = [pair for pair in pairs if shared[pair]]
        enough = [pair for pair in meeting if shared[pair] >= LEAST_SHARED]

        def rank(pair: tuple[int, int]) -> tuple[bool, float]:
            return all(self.ratings.kinds[j] == PEOPLE for j in pair), -float(shared[pair])

        compared = set(sorted(enough, key=rank)[:MOST_PAIRS])
        if few := len(meeting) - len(enough):
            self.left_out = f"{few:,} share fewer than {LEAST_SHARED} items"
        if more := len(enough) - len(compared):
            others = f"{more:,} are beyond the {MOST_PAIRS:,} pairs that share the most"
            self.left_out = f"{self.left_out}, {others}" if few else others
        if self.left_out:
            self.left_out = (
                f"Of {len(meeting):,} pairs of raters who share items, {len(compared):,} are compared one by "
                f"one and in means over pairs: {self.left_out}"
            )
        return [pair for pair in enough if pair in compared]

    def _with_mean_of_people(self, chosen: Sequence[Statistic]) -> list[Entry]:
        people = self.ratings.of_kind(PEOPLE)
        others = [j for j, kind in enumerate(self.ratings.kinds) if kind not in (PEOPLE, "")]
        if len(people) < 2 or not others or self.ratings.level == "nominal":
            return []
        with_mean = self.ratings.with_column(MEAN_OF_PEOPLE, mean_of(self.ratings.values[:, list(people)]))
        inner = replace_ratings(self, with_mean)
        last = len(with_mean.raters) - 1
        return [entry for j in others for entry in inner._entries((last, j), chosen)]

    def _entries(self, columns: tuple[int, ...], chosen: Sequence[Statistic]) -> list[Entry]:
        estimated = self._estimates(self.ratings, columns, chosen)
        self.kept[columns] = self.kept.get(columns, []) + [estimate for estimate, _ in estimated]
        self.items[columns] = np.flatnonzero((~np.isnan(self.ratings.values[:, columns])).sum(axis=1) >= 2)
        names = tuple(self.ratings.raters[j] for j in columns)
        results = [result_of(estimate, sample, self.plan) for estimate, sample in estimated]
        return [Entry(self._read(result, names), names, self.question) for result in results]

    def _estimates(
        self, ratings: Ratings, columns: tuple[int, ...], chosen: Sequence[Statistic]
    ) -> list[tuple[Estimate, Sample]]:
        """Estimate the statistics that apply, each with the sample it read.

        Of repeated answers whose mean left the scale, agreement reads the first and correlation the mean.
        """
        sample = Sample(ratings, columns, self.resampling)
        if not any(ratings.raters[j] in ratings.firsts for j in columns):
            applying = [s for s in chosen if s.applies(sample)]
            return [(e, sample) for e in estimates(sample, applying, self.resampling)]
        answered = Sample(ratings.as_answered(), columns, self.resampling)
        found: dict[str, tuple[Estimate, Sample]] = {}
        for read, needs_scale in ((answered, True), (sample, False)):
            applying = [s for s in chosen if s.needs_scale is needs_scale and s.applies(read)]
            found |= {e.statistic.key: (e, read) for e in estimates(read, applying, self.resampling)}
        return [found[s.key] for s in chosen if s.key in found]

    def _read(self, result: Result, names: Sequence[str]) -> Result:
        """Return a result whose method says of whom the first of repeated answers was read."""
        first = [name for name in names if name in self.ratings.firsts]
        key = result.name.partition("_mean_")[2] or result.name.partition("_")[2]
        statistic = STATISTICS.get(result.name) or STATISTICS.get(key)
        if not first or statistic is None or not statistic.needs_scale:
            return result
        said = f"the first of the repeated answers of {', '.join(first)}"
        return replace(result, method=f"{result.method}; {said}")

    def replacement(
        self, epsilon: float, computed: Sequence[Entry]
    ) -> tuple[tuple[Entry, ...], tuple[StandIn, ...]]:
        """The alternative annotator test of every judge against identified people, and its verdicts.

        Where several judges can be tested, the winning rate corrected over them stands beside. ``computed``
        are the entries that may hold a judge's agreement with people.
        """
        ratings = self.ratings
        people = [j for j in ratings.of_kind(PEOPLE) if ratings.identified[j]]
        judges = [
            j
            for j in (*ratings.of_kind("judge"), *ratings.of_kind(PANEL))
            if ratings.on_scale[j] or ratings.level not in ("binary", "nominal")
        ]
        if len(people) < 2:
            return (), ()
        tested = sum(is_testable(ratings, judge, people) for judge in judges)
        out: list[Entry] = []
        verdicts = []
        for judge in judges:
            test = alternative_annotator_test(
                ratings, judge, people, epsilon=epsilon, plan=self.plan, judges=max(1, tested)
            )
            name = ratings.raters[judge]
            agreement = None if test.constant is None else self._beyond_chance(judge, tuple(people), computed)
            title = described()[agreement.name.removeprefix("judge_")].title if agreement else ""
            test, verdict = stand_in(test, name, agreement, title)
            verdicts.append(verdict)
            names = (name, *(ratings.raters[j] for j in people))
            out += [Entry(r, names, self.question) for r in test.results]
        return tuple(out), tuple(verdicts)

    def _beyond_chance(self, judge: int, people: tuple[int, ...], computed: Sequence[Entry]) -> Result | None:
        """Return a judge's kappa with people on a scale of categories, else its rank correlation.

        Taken from what was computed; computed here where a study did not ask for it.
        """
        ratings, name = self.ratings, self.ratings.raters[judge]
        key = KAPPA.get(ratings.level, "")
        if key and ratings.on_scale[judge]:
            found = (e for e in computed if e.result.name == f"judge_{key}" and e.raters[0] == name)
            if (entry := next(found, None)) is not None:
                return entry.result
            given = ~np.isnan(ratings.values)
            shared = (given[:, people].sum(axis=1) >= 2) & given[:, judge]
            cut = replace(ratings, values=np.where(shared[:, None], ratings.values, np.nan))
            comparison = Comparison(ratings, cut, people, judge, self.resampling)
            results = pooled_results(comparison, [key])
            return next((result for result in results if result.name == f"judge_{key}"), None)
        if ratings.level == "nominal":
            return None
        pair = {MEAN_OF_PEOPLE, name}
        found = (e for e in computed if e.result.name == "spearman" and set(e.raters) == pair)
        entry = next(found, None)
        if entry is None:
            spearman = [STATISTICS["spearman"]]
            entry = next((e for e in self._with_mean_of_people(spearman) if set(e.raters) == pair), None)
        return entry.result if entry else None

    def gaps(self) -> tuple[Entry, ...]:
        """People with people; then, by judge, both sides and their difference on the same items.

        First come the people alone, on all they rated. Beside a judge the items are those that the judge and
        two people or more rated: an item that one person rated says nothing of people with each other.
        """
        ratings = self.ratings
        people = tuple(j for j in ratings.of_kind(PEOPLE) if ratings.identified[j])
        judges = [j for j in (*ratings.of_kind("judge"), *ratings.of_kind(PANEL)) if ratings.identified[j]]
        if len(people) < 2:
            return ()
        given = ~np.isnan(ratings.values)
        several = given[:, people].sum(axis=1) >= 2
        out = self._gap(people, None, several)
        for judge in judges:
            out += self._gap(people, judge, several & given[:, judge])
        return tuple(out)

    def _gap(self, people: tuple[int, ...], judge: int | None, shared: npt.NDArray[np.bool_]) -> list[Entry]:
        people = self._meeting(people, shared)
        cut = replace(self.ratings, values=np.where(shared[:, None], self.ratings.values, np.nan))
        whole = self.ratings.as_answered()
        comparison = Comparison(whole, cut.as_answered(), people, judge, self.resampling)
        among = self._members(list(combinations(people, 2)), cut)
        beside = self._members([(p, judge) for p in people], cut) if judge is not None else []
        columns = people if judge is None else (judge, *people)
        names = tuple(self.ratings.raters[j] for j in columns)
        results = gap_results(comparison, among, beside)
        return [Entry(self._read(r, names), names, self.question) for r in results]

    def _members(self, pairs: list[tuple[int, int]], cut: Ratings) -> list[Member]:
        """Estimates of pairs on the shared items, computed again only for pairs that rated others too."""
        out = []
        for pair in pairs:
            key = pair if pair in self.kept else (pair[1], pair[0])
            if key not in self.kept:
                continue
            found, items = self.kept[key], self.items[key]
            left = ~np.isnan(cut.values[items][:, key[0]])
            if not left.all():
                chosen = list(
                    {e.statistic.key: e.statistic for e in found}.values()
                )  # a panel of two has some
                found, items = [e for e, _ in self._estimates(cut, key, chosen)], items[left]
            out.append(Member(key, items, {e.statistic.key: e for e in found}))
        return out


def replace_ratings(run: _Run, ratings: Ratings) -> _Run:
    """Return a run over other ratings of the same items, on the same resamples."""
    return _Run(ratings, run.question, run.chosen, run.plan, run.resampling)


def mean_of(block: Floats) -> Floats:
    """Mean of the ratings each item has, NaN where it has none."""
    given = ~np.isnan(block)
    n = given.sum(axis=1)
    return np.where(n > 0, np.where(given, block, 0).sum(axis=1) / np.maximum(n, 1), np.nan)
