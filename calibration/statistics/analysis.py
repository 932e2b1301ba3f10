"""All statistics that apply to the ratings of one question: the panel first, then pairs, then the gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from calibration.statistics.core.engine import (
    Counts,
    Estimate,
    Result,
    Statistic,
    estimates,
    finished,
    result_of,
)
from calibration.statistics.core.ratings import Floats, Ints, Ratings
from calibration.statistics.core.resampling import Plan, Resampling, resampling_of
from calibration.statistics.core.samples import Sample
from calibration.statistics.gaps import Comparison, Member, gap_results, pooled_results
from calibration.statistics.icc import Form
from calibration.statistics.replacement import (
    JUDGE_TESTS,
    StandIn,
    alternative_annotator_test,
    is_testable,
    stand_in,
)
from calibration.statistics.table import STATISTICS, described

# Comparison of two raters, and several comparisons at once.
#
# Corrections of p-values: Holm (1979), Benjamini-Hochberg (1995), Benjamini-Yekutieli (2001). For the
# difference of any statistic with an interval, see ``analyse`` (gaps) and ``paired_difference``.

ROUNDING = 1e-12  # tolerance for equality, relative to the largest value
Correction = Literal["holm", "benjamini_hochberg", "benjamini_yekutieli", "bonferroni"]


@dataclass(frozen=True)
class Test:
    """A test's statistic and its p-value."""

    statistic: float
    p: float
    method: str


def corrected_p_values(p_values: Sequence[float], correction: Correction) -> Floats:
    """Return adjusted p-values in the order given; a test is rejected at q where its value is <= q."""
    p = np.asarray(p_values, np.float64)
    m = len(p)
    if m == 0:
        return p
    if np.isnan(p).any() or (p < 0).any() or (p > 1).any():
        raise ValueError("p-values lie between 0 and 1")
    if correction == "bonferroni":
        return np.minimum(p * m, 1)
    order = np.argsort(p, kind="stable")
    ranks = np.arange(1, m + 1)
    if correction == "holm":
        stepped = np.maximum.accumulate(p[order] * (m - ranks + 1))
    else:
        scale = m / ranks * ((1 / ranks).sum() if correction == "benjamini_yekutieli" else 1)
        stepped = np.minimum.accumulate((p[order] * scale)[::-1])[::-1]
    out = np.empty(m)
    out[order] = np.minimum(stepped, 1)
    return out


def paired_difference(
    ratings: Ratings,
    statistic: str | Statistic,
    first: tuple[str, str],
    second: tuple[str, str],
    plan: Plan | None = None,
) -> Result:
    """Return a pair statistic of ``first`` minus that of ``second``, on shared items and the same resamples.

    Raises KeyError for an unknown statistic or rater. Example: kappa of (ann, judge A) minus kappa of (ann,
    judge B).
    """
    plan = plan or Plan()
    definition = STATISTICS[statistic] if isinstance(statistic, str) else statistic
    columns = [tuple(ratings.column(r) for r in pair) for pair in (first, second)]
    everyone = sorted({c for pair in columns for c in pair})
    shared = np.isnan(ratings.values[:, everyone]).sum(axis=1) == 0
    limited = ratings.with_values(np.where(shared[:, None], ratings.values, np.nan))
    resampling = resampling_of(limited, plan)
    samples = [Sample(limited, pair, resampling) for pair in columns]
    pair_estimates = [estimates(sample, [definition], resampling)[0] for sample in samples]
    name = f"difference_{definition.key}"
    counts: Counts = {
        "n_items": samples[0].n_items,
        "n_clusters": samples[0].n_clusters,
        "n_raters": len(everyone),
        "n_missing": samples[0].n_missing,
    }
    bad = next((e.verdict for e in pair_estimates if not e.ok), None)
    if bad is not None:
        return Result(name, status=bad.status, reason=bad.reason, method=plan.method, **counts)
    method = f"{' and '.join(first)} less {' and '.join(second)}"
    jackknives = [e.leave_one_out for e in pair_estimates if e.leave_one_out is not None]
    return finished(
        name,
        pair_estimates[0].point - pair_estimates[1].point,
        pair_estimates[0].replicates - pair_estimates[1].replicates,
        plan,
        method=method,
        flags=tuple(dict.fromkeys(flag for e in pair_estimates for flag in e.verdict.flags)),
        leave_one_out=jackknives[0] - jackknives[1] if jackknives else None,
        **counts,
    )


PEOPLE = "human"
MEAN_OF_PEOPLE = f"mean(kind:{PEOPLE})"
PANEL = "panel"
KIND_ORDER = {"key": 0, PEOPLE: 1, "judge": 2, PANEL: 3, "": 3, "metric": 4, "composite": 5}
"""A panel consists of judges: it is compared with people and keys like a judge, but not with judges."""
MANY_PAIRS = 300
"""Number of rater pairs from which the raters count as a crowd: then only some pairs are compared."""
FEW_OF_A_KIND = 10
"""Most raters of a kind whose pairs are compared one by one where not all pairs are requested."""
LEAST_SHARED = 10
"""Fewest shared items of a compared pair in a crowd."""
MOST_PAIRS = 1_000
"""Most compared pairs in a crowd: pairs with a rater who is not a person first, then those sharing most."""
KAPPA = {"binary": "cohen_kappa", "nominal": "cohen_kappa", "ordinal": "cohen_kappa_quadratic"}
"""Measure, by level, of a judge's agreement with people beyond chance; on other levels a correlation."""


@dataclass(frozen=True)
class Entry:
    """A result with the raters it compares and the question they answered."""

    result: Result
    raters: tuple[str, ...]
    question: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready values: those of the result, and raters and question."""
        plain = self.result.as_dict()
        return {"name": plain.pop("name"), "raters": list(self.raters), "question": self.question, **plain}


@dataclass(frozen=True)
class Analysis:
    """The entries of one question, in reading order, and a verdict per judge (``stand_ins``).

    ``left_out`` describes the pairs of a crowd that were not compared, neither by themselves nor in means
    over pairs.
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
    few_pairs: bool = False,
) -> Analysis:
    """Compute every applicable statistic, or only those named, all on the same resamples.

    ``against`` limits pairs to those with this rater, who comes first as the reference. ``few_pairs`` leaves
    out the pairs of a kind of rater with more than `FEW_OF_A_KIND` members, and the means over them. Raises
    KeyError for a statistic or rater that does not exist.
    """
    plan = plan or Plan()
    run = _Run(
        ratings, question, _select_statistics(statistics), plan, resampling_of(ratings, plan), few_pairs
    )
    if against is not None:
        ratings.column(against)
    if against is not None:
        return Analysis(pairs=run.pairs(against), left_out=run.left_out)
    tests_judges = statistics is None or any(name in JUDGE_TESTS for name in statistics)
    panel, pairs, gaps = run.panel(), run.pairs(None), run.gaps()
    replacement, stand_ins = run.replacement(epsilon, pairs + gaps) if tests_judges else ((), ())
    return Analysis(panel, pairs, replacement, gaps, stand_ins, run.left_out)


def _select_statistics(names: Iterable[str] | None) -> tuple[Statistic, ...]:
    if names is None:
        return tuple(STATISTICS.values())
    unknown = [name for name in names if name not in described()]
    if unknown:
        raise KeyError(f"no statistic {unknown[0]!r}; there are {', '.join(described())}")
    return tuple(STATISTICS[n] for n in names if n in STATISTICS)


@dataclass
class _Run:
    """One analysis in progress; keeps the estimates of pairs for the gaps."""

    ratings: Ratings
    question: str
    statistics: tuple[Statistic, ...]
    plan: Plan
    resampling: Resampling
    few_pairs: bool = False

    def __post_init__(self) -> None:
        self.on_scale = self.ratings.as_answered().on_scale
        self.pair_estimates: dict[tuple[int, ...], list[Estimate]] = {}
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
        all_identified = all(self.ratings.identified[j] for j in columns)
        applicable = [s for s in self.statistics if s.raters == "panel" or s.key == "percent_agreement"]
        return self._entries(columns, [s for s in applicable if all_identified or s.exchangeable])

    def _meeting(self, columns: tuple[int, ...], items: npt.NDArray[np.bool_]) -> tuple[int, ...]:
        """Return the raters who share one of these items with another: the ones a figure rests on.

        All of them where no two raters share an item: the figure then reports that.
        """
        present = ~np.isnan(self.ratings.values[:, list(columns)]) & items[:, None]
        meets = present[present.sum(axis=1) >= 2].any(axis=0)
        return tuple(np.array(columns)[meets].tolist()) if meets.any() else columns

    def pairs(self, against: str | None) -> tuple[Entry, ...]:
        """Statistics of identified pairs, then of the people's mean with every other rater.

        Where pairs are many (a crowd), those that share few items are not compared: see ``left_out``.
        """
        ratings = self.ratings
        columns = [j for j, is_identified in enumerate(ratings.identified) if is_identified]
        columns.sort(key=lambda j: KIND_ORDER.get(ratings.kinds[j], 3))
        pairs = [pair for pair in combinations(columns, 2) if self._may_meet(pair)]
        if against is not None:
            first = ratings.column(against)
            pairs = [(first, j) for j in columns if j != first]
        elif self.few_pairs:
            pairs = self._of_small_kinds(pairs)
        if len(pairs) > MANY_PAIRS:
            pairs = self._of_crowd(pairs)
        panel = tuple(j for j, on in enumerate(self.on_scale) if on) if against is None else ()
        pair_statistics = [s for s in self.statistics if s.raters == "pair"]
        out: list[Entry] = []
        for pair in pairs:
            once = [s for s in pair_statistics if s.key != "percent_agreement" or set(pair) != set(panel)]
            out += self._entries(pair, once)
        if against is None:
            out += self._with_mean_of_people(pair_statistics)
        return tuple(out)

    def _may_meet(self, pair: tuple[int, int]) -> bool:
        """A panel is compared with people and keys; agreement with its own members means nothing."""
        kinds = {self.ratings.kinds[j] for j in pair}
        return PANEL not in kinds or bool(kinds & {PEOPLE, "key", ""})

    def _of_small_kinds(self, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the pairs whose raters are both of a kind with few members, and record how many are left."""
        kinds = self.ratings.kinds
        members = Counter(kinds)
        large = {kind for kind, count in members.items() if count > FEW_OF_A_KIND}
        only_person = self.ratings.of_kind(PEOPLE) if members[PEOPLE] == 1 else ()
        compared = [
            pair
            for pair in pairs
            if large.isdisjoint(kinds[j] for j in pair) or not set(pair).isdisjoint(only_person)
        ]
        if len(compared) < len(pairs):
            self.left_out = (
                f"{len(compared):,} of {len(pairs):,} pairs of raters are compared one by one: pairs of more "
                f"than {FEW_OF_A_KIND} raters of a kind are left out"
            )
        return compared

    def _of_crowd(self, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the pairs to compare, in order, and record those left out."""
        present = (~np.isnan(self.ratings.values)).astype(np.float32)
        shared = present.T @ present
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
                f"{len(compared):,} of {len(meeting):,} pairs of raters who share items are compared one by "
                f"one and in means over pairs: {self.left_out}"
            )
        return [pair for pair in enough if pair in compared]

    def _with_mean_of_people(self, statistics: Sequence[Statistic]) -> list[Entry]:
        people = self.ratings.of_kind(PEOPLE)
        others = [j for j, kind in enumerate(self.ratings.kinds) if kind not in (PEOPLE, "")]
        if len(people) < 2 or not others or self.ratings.level == "nominal":
            return []
        with_mean = self.ratings.with_column(MEAN_OF_PEOPLE, mean_of(self.ratings.values[:, list(people)]))
        inner = replace_ratings(self, with_mean)
        last = len(with_mean.raters) - 1
        return [entry for j in others for entry in inner._entries((last, j), statistics)]

    def _entries(self, columns: tuple[int, ...], statistics: Sequence[Statistic]) -> list[Entry]:
        estimated = self._estimates(self.ratings, columns, statistics)
        self.pair_estimates[columns] = self.pair_estimates.get(columns, []) + [
            estimate for estimate, _ in estimated
        ]
        self.items[columns] = np.flatnonzero((~np.isnan(self.ratings.values[:, columns])).sum(axis=1) >= 2)
        names = tuple(self.ratings.raters[j] for j in columns)
        results = [result_of(estimate, sample, self.plan) for estimate, sample in estimated]
        return [Entry(self._read(result, names), names, self.question) for result in results]

    def _estimates(
        self, ratings: Ratings, columns: tuple[int, ...], statistics: Sequence[Statistic]
    ) -> list[tuple[Estimate, Sample]]:
        """Estimate the applicable statistics, each with the sample it read.

        Of repeated answers whose mean left the scale, agreement reads the first and correlation the mean.
        """
        sample = Sample(ratings, columns, self.resampling)
        if not any(ratings.raters[j] in ratings.firsts for j in columns):
            applying = [s for s in statistics if s.applies(sample)]
            return [(e, sample) for e in estimates(sample, applying, self.resampling)]
        answered = Sample(ratings.as_answered(), columns, self.resampling)
        by_key: dict[str, tuple[Estimate, Sample]] = {}
        for read, needs_scale in ((answered, True), (sample, False)):
            applying = [s for s in statistics if s.needs_scale is needs_scale and s.applies(read)]
            by_key |= {e.statistic.key: (e, read) for e in estimates(read, applying, self.resampling)}
        return [by_key[s.key] for s in statistics if s.key in by_key]

    def _read(self, result: Result, names: Sequence[str]) -> Result:
        """Return the result; its method names the raters whose first of repeated answers was read."""
        first = [name for name in names if name in self.ratings.firsts]
        key = result.name.partition("_mean_")[2] or result.name.partition("_")[2]
        statistic = STATISTICS.get(result.name) or STATISTICS.get(key)
        if not first or statistic is None or not statistic.needs_scale:
            return result
        remark = f"the first of the repeated answers of {', '.join(first)}"
        return replace(result, method=f"{result.method}; {remark}")

    def replacement(
        self, epsilon: float, computed: Sequence[Entry]
    ) -> tuple[tuple[Entry, ...], tuple[StandIn, ...]]:
        """Run the alternative annotator test of every judge against identified people, with verdicts.

        Where several judges can be tested, the winning rate corrected over them is added. ``computed`` are
        the entries that may hold a judge's agreement with people.
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
        """Return a judge's kappa with people on a scale of categories, otherwise its rank correlation.

        Taken from the computed entries; computed here where a study did not request it.
        """
        ratings, name = self.ratings, self.ratings.raters[judge]
        key = KAPPA.get(ratings.level, "")
        if key and ratings.on_scale[judge]:
            matches = (e for e in computed if e.result.name == f"judge_{key}" and e.raters[0] == name)
            if (entry := next(matches, None)) is not None:
                return entry.result
            present = ~np.isnan(ratings.values)
            shared = (present[:, people].sum(axis=1) >= 2) & present[:, judge]
            cut = replace(ratings, values=np.where(shared[:, None], ratings.values, np.nan))
            comparison = Comparison(ratings, cut, people, judge, self.resampling)
            results = pooled_results(comparison, [key])
            return next((result for result in results if result.name == f"judge_{key}"), None)
        if ratings.level == "nominal":
            return None
        pair = {MEAN_OF_PEOPLE, name}
        matches = (e for e in computed if e.result.name == "spearman" and set(e.raters) == pair)
        entry = next(matches, None)
        if entry is None:
            spearman = [STATISTICS["spearman"]]
            entry = next((e for e in self._with_mean_of_people(spearman) if set(e.raters) == pair), None)
        return entry.result if entry else None

    def gaps(self) -> tuple[Entry, ...]:
        """People with people; then, per judge, both sides and their difference on the same items.

        First come the people alone, on all they rated. For a judge, the items are those rated by the judge
        and at least two people: an item that one person rated says nothing about agreement among people.
        """
        ratings = self.ratings
        people = tuple(j for j in ratings.of_kind(PEOPLE) if ratings.identified[j])
        judges = [j for j in (*ratings.of_kind("judge"), *ratings.of_kind(PANEL)) if ratings.identified[j]]
        if len(people) < 2:
            return ()
        present = ~np.isnan(ratings.values)
        several = present[:, people].sum(axis=1) >= 2
        out = self._gap(people, None, several)
        for judge in judges:
            out += self._gap(people, judge, several & present[:, judge])
        return tuple(out)

    def _gap(self, people: tuple[int, ...], judge: int | None, shared: npt.NDArray[np.bool_]) -> list[Entry]:
        people = self._meeting(people, shared)
        cut = replace(self.ratings, values=np.where(shared[:, None], self.ratings.values, np.nan))
        as_answered = self.ratings.as_answered()
        comparison = Comparison(as_answered, cut.as_answered(), people, judge, self.resampling)
        among = self._members(list(combinations(people, 2)), cut)
        beside = self._members([(p, judge) for p in people], cut) if judge is not None else []
        columns = people if judge is None else (judge, *people)
        names = tuple(self.ratings.raters[j] for j in columns)
        results = gap_results(comparison, among, beside, self._of_pooled(comparison))
        return [Entry(self._read(r, names), names, self.question) for r in results]

    def _of_pooled(self, comparison: Comparison) -> set[str]:
        """Return the statistics of pairs that apply to these raters together, where pairs are left out."""
        if not self.few_pairs:
            return set()
        first, second = (*comparison.people, *(() if comparison.judge is None else (comparison.judge,)))[-2:]
        sample = Sample(comparison.cut, (first, second), self.resampling)
        return {s.key for s in self.statistics if s.raters == "pair" and s.applies(sample)}

    def _members(self, pairs: list[tuple[int, int]], cut: Ratings) -> list[Member]:
        """Estimate pairs on the shared items, recomputing only pairs that also rated others."""
        out = []
        for pair in pairs:
            key = pair if pair in self.pair_estimates else (pair[1], pair[0])
            if key not in self.pair_estimates:
                continue
            pair_estimates, items = self.pair_estimates[key], self.items[key]
            remaining = ~np.isnan(cut.values[items][:, key[0]])
            if not remaining.all():
                statistics = list(
                    {e.statistic.key: e.statistic for e in pair_estimates}.values()
                )  # a panel of two has some
                pair_estimates, items = (
                    [e for e, _ in self._estimates(cut, key, statistics)],
                    items[remaining],
                )
            out.append(Member(key, items, {e.statistic.key: e for e in pair_estimates}))
        return out


def replace_ratings(run: _Run, ratings: Ratings) -> _Run:
    """Return a run over other ratings of the same items, on the same resamples."""
    return _Run(ratings, run.question, run.statistics, run.plan, run.resampling)


def mean_of(block: Floats) -> Floats:
    """Mean of each item's ratings, NaN where it has none."""
    present = ~np.isnan(block)
    n = present.sum(axis=1)
    return np.where(n > 0, np.where(present, block, 0).sum(axis=1) / np.maximum(n, 1), np.nan)


# Intervals of intraclass correlations from the F distribution, for complete tables of independent items.
#
# Source: McGraw and Wong (1996), tables 4 and 7. They assume normal effects and no clusters; the bootstrap of
# ``analyse`` assumes neither and is the default. Use these with few items, where resampling is uninformative.


def f_interval(ratings: Ratings, form: Form, average: bool = False, level: float = 0.95) -> Result:
    """Return ICC(form,1) or ICC(form,k) with its F interval.

    With missing cells, fewer than two items or no variation between items there is no F interval; the result
    then gives the reason, or has a value without an interval.
    """
    statistic: Statistic = STATISTICS[f"icc_{form}_{'k' if average else '1'}"]
    resampling = resampling_of(ratings, Plan(resamples=0))
    sample = Sample(ratings, range(len(ratings.raters)), resampling)
    plain = result_of(estimates(sample, [statistic], resampling)[0], sample, resampling.plan)
    method = f"F distribution, {level:.0%}; items independent and normal"
    if not plain.ok:
        return replace(plain, method=method)
    if np.isnan(sample.values).any() or sample.n_items < len(ratings.values):
        return replace(plain, method=method, reason="no F interval with missing cells; use the bootstrap")
    low, high = _bounds(sample.values, form, average, (1 + level) / 2)
    if np.isinf(low):
        return replace(plain, method=method, reason="no F interval: the raters agree without error")
    if not low <= (plain.value or 0.0) <= high:
        reason = (
            "no F interval: its approximation fails on so little variation between items; use the bootstrap"
        )
        return replace(plain, method=method, reason=reason)
    return replace(plain, low=low, high=high, method=method, reason="")


BY_F = "_f"
"""Suffix of the name of an intraclass correlation with its F interval."""


def f_intervals(ratings: Ratings, panel: Iterable[Entry], level: float = 0.95) -> tuple[Entry, ...]:
    """Repeat each intraclass correlation of a panel with its F interval, `_f` appended to its name.

    ``panel`` are the entries of ``analyse`` over these ratings; other statistics are skipped.
    """
    entries = []
    for entry in panel:
        family, *rest = entry.result.name.split("_")
        if family != "icc":
            continue
        form: Form = int(rest[0])  # type: ignore[assignment]
        panel_ratings = ratings.take([ratings.column(rater) for rater in entry.raters])
        result = f_interval(panel_ratings, form, rest[1] == "k", level)
        entries.append(replace(entry, result=replace(result, name=result.name + BY_F)))
    return tuple(entries)


def _bounds(block: Floats, form: Form, average: bool, tail: float) -> tuple[float, float]:
    n, k = block.shape
    between, within, raters, error = mean_squares(block)
    if form == 2:
        low, high = _two_way_random(between, raters, error, n, k, tail)
        return (_of_average(low, k), _of_average(high, k)) if average else (low, high)
    noise, df = (within, n * (k - 1)) if form == 1 else (error, (n - 1) * (k - 1))
    if noise <= 0:
        return np.inf, np.inf
    ratio = between / noise
    low, high = ratio / _f(tail, n - 1, df), ratio * _f(tail, df, n - 1)
    if average:
        return 1 - 1 / low, 1 - 1 / high
    return (low - 1) / (low + k - 1), (high - 1) / (high + k - 1)


def _two_way_random(
    between: float, raters: float, error: float, n: int, k: int, tail: float
) -> tuple[float, float]:
    """Limits of ICC(2,1), with Satterthwaite's degrees of freedom for its noise."""
    if error <= 0:
        return np.inf, np.inf
    icc = (between - error) / (between + (k - 1) * error + k * (raters - error) / n)
    a, b = k * icc * raters / error, n * (1 + (k - 1) * icc) - k * icc
    df = (k - 1) * (n - 1) * (a + b) ** 2 / ((n - 1) * a**2 + b**2)
    upper, lower = _f(tail, n - 1, df), _f(tail, df, n - 1)
    noise = k * raters + (k * n - k - n) * error
    return (
        n * (between - upper * error) / (upper * noise + n * between),
        n * (lower * between - error) / (noise + n * lower * between),
    )


def _of_average(limit: float, k: int) -> float:
    """Return the limit for the mean of k raters; NaN at or below -1 / (k - 1), where there is none."""
    bottom = 1 + limit * (k - 1)
    return limit * k / bottom if bottom > 0 else np.nan


def mean_squares(block: Floats) -> tuple[float, float, float, float]:
    """Return the mean squares between items, within items, between raters and of error."""
    n, k = block.shape
    rows, columns, grand = block.mean(axis=1, keepdims=True), block.mean(axis=0), block.mean()
    between = k * float(((rows - grand) ** 2).sum()) / (n - 1)
    within = float(((block - rows) ** 2).sum()) / (n * (k - 1))
    raters = n * float(((columns - grand) ** 2).sum()) / (k - 1)
    error = float(((block - rows - columns + grand) ** 2).sum()) / ((n - 1) * (k - 1))
    return between, within, raters, error


def _f(probability: float, first: float, second: float) -> float:
    return float(special.fdtri(first, second, probability))
