"""The verdict on a rater: can a judge or metric answer a question in people's place, and if not, what next?

``decide`` is a pure function of figures (``Evidence``) and a ``VerdictRule``. Its four states:

do not trust   the rater gave a single answer; or it agrees with people by more than the rule's largest gap
               less than they do with each other; or less than they do and not shown to beat a guess. The
               last two only where one more person would hardly differ as much.
cannot say     too few people, clusters or events; or people are not shown to agree beyond chance; or the
               interval of the gap reaches from a judge like people to one beyond the largest gap
not yet        nothing of this, but a condition of trust does not hold
trust          above chance, above every answer given without reading, not worse than people by the largest
               gap, people agree enough, and nearly every item is answered (or the gap holds however the
               missing items had been answered)

The gap is the rater's agreement with people less people's agreement with each other, on the same items and
resamples. "Not worse by the largest gap" is a test of non-inferiority: the lower end of the gap's interval
lies above minus the largest gap (Walker and Nowacki 2011). ``benchmarks/verdicts.py`` simulates how often
each kind of judge gets each state.

Agreement is chance-corrected (kappa, weighted on ordinal scales) where the rater answers on the question's
scale of categories. Otherwise it is Spearman's rho with the mean of the other people: each person is left
out in turn, and the person and the rater are correlated with the mean of the rest, on the same items. People
who are not identified are taken together, as no slot is one person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, isfinite
from typing import Any, Literal

import numpy as np
from scipy import special

from calibration.statistics.analysis import KAPPA, PANEL, PEOPLE
from calibration.statistics.core.engine import Counts, Estimate, Result, estimates, result_of
from calibration.statistics.core.ratings import CATEGORIES, Floats, Ints, Ratings
from calibration.statistics.core.resampling import Plan, Resampling, resampling_of
from calibration.statistics.core.samples import Sample
from calibration.statistics.gaps import Comparison, Figure, defined_mean, difference, pooled_results, result
from calibration.statistics.replacement import StandIn
from calibration.statistics.table import STATISTICS
from calibration.statistics.unanswered import GAP, bounds_of

# The rule, the figures that it reads, and its verdict.

State = Literal["trust", "not_yet", "do_not_trust", "cannot_say"]
Step = Literal[
    "none", "disagreements", "more_ratings", "more_people", "unanswered", "guidelines", "baselines"
]
AlternativeTest = Literal["ignored", "enough", "needed"]
TITLES: dict[State, str] = {
    "trust": "Trust",
    "not_yet": "Not yet",
    "do_not_trust": "Do not trust",
    "cannot_say": "Cannot say yet",
}
KINDS = ("judge", PANEL, "metric")
RHO = "spearman"


@dataclass(frozen=True, slots=True)
class VerdictRule:
    """Thresholds of a verdict; a study may set them.

    ``gap`` is the largest acceptable gap to people, ``agreement`` the least agreement of people with each
    other, both in units of the statistic; ``coverage`` the least share of people's items that the rater
    answered. ``people``, ``clusters`` and ``events`` (items with another answer than the most frequent one)
    are the least numbers for a verdict. ``baselines``: it must beat every answer given without reading.
    ``alternative_test``: passing the alternative annotator test is ignored, enough in place of the gap, or
    needed beside it.
    """

    gap: float = 0.15
    agreement: float = 0.2
    coverage: float = 0.95
    people: int = 2
    clusters: int = 10
    events: int = 20
    baselines: bool = True
    alternative_test: AlternativeTest = "ignored"


@dataclass(frozen=True, slots=True)
class Words:
    """Nouns of a verdict's sentences: singular and plural of items and clusters, and of people."""

    items: tuple[str, str] = ("item", "items")
    clusters: tuple[str, str] = ("dialogue", "dialogues")
    people: tuple[str, str] = ("person", "people")

    def counted(self, count: int, noun: Literal["items", "clusters", "people"]) -> str:
        """Return `1 turn` or `12 turns`."""
        singular, plural = getattr(self, noun)
        return f"{count:,} {singular if count == 1 else plural}"


@dataclass(frozen=True, slots=True)
class Span:
    """A figure with the ends of its interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, entry: Result | None, sign: float = 1.0) -> Span | None:
        """Return a result's span, mirrored for sign -1; None without a value or an interval.

        A value that is the same in every resample is its own interval.
        """
        if entry is None or not entry.ok or entry.value is None:
            return None
        if entry.low is None or entry.high is None:
            if "degenerate_resamples" not in entry.flags:
                return None
            return cls(sign * entry.value, sign * entry.value, sign * entry.value)
        low, high = sorted((sign * entry.low, sign * entry.high))
        return cls(sign * entry.value, low, high)


@dataclass(frozen=True, slots=True)
class Errors:
    """How a rater differs from people, on the items that both answered.

    ``apart`` counts the items far apart: another category than most people's, or two steps of the scale from
    their mean. Of ``marked`` items that most people marked, the rater missed ``missed``; it marked
    ``extra`` others. ``shift`` is its mean less people's, on a scale of numbers.
    """

    apart: int = 0
    marked: int = 0
    missed: int = 0
    extra: int = 0
    shift: float | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """The best answer given without reading: its name, figure, and the rater's figure less that."""

    name: str
    figure: Result
    difference: Result


@dataclass(frozen=True)
class Evidence:
    """Figures on one rater and one question.

    ``agreement`` is the rater's with people, ``people`` people's with each other, ``gap`` their difference,
    all of ``statistic`` on the same items; None where undefined, ``reason`` says why. ``sign`` is -1 for a
    metric that falls as people's ratings rise. ``margin`` is the distance from 0 within which the gap of one
    more person would lie, None where these people cannot show it. ``constant``: the rater gave one answer
    throughout. ``n_events`` are the items with another answer than the most frequent one, None on scales of
    numbers. ``lowest_gap`` is the gap's value had the rater answered people's other items in the least
    favourable way, None if not bounded.
    """

    rater: str
    kind: str
    statistic: str
    n_people: int
    n_clusters: int
    n_events: int | None
    n_items: int
    n_answered: int
    agreement: Result | None = None
    people: Result | None = None
    gap: Result | None = None
    margin: float | None = None
    sign: float = 1.0
    baseline: Baseline | None = None
    constant: bool = False
    lowest_gap: float | None = None
    errors: Errors = field(default_factory=Errors)
    stand_in: StandIn | None = None
    reason: str = ""

    @property
    def share(self) -> float:
        """Share of people's items that the rater answered."""
        return self.n_answered / self.n_items if self.n_items else 0.0


@dataclass(frozen=True)
class Verdict:
    """A state with its reasons, the main one as a sentence, and the next step with its kind."""

    state: State
    reasons: tuple[str, ...]
    next_step: str
    step: Step

    @property
    def sentence(self) -> str:
        """The reasons that the reader sees first: the main one, and what illustrates it."""
        return " ".join(self.reasons[:2])


def decide(evidence: Evidence, rule: VerdictRule | None = None, words: Words | None = None) -> Verdict:
    """Return the verdict on a rater by a rule, in sentences with these nouns."""
    case = _Case(evidence, rule or VerdictRule(), words or Words())
    return case.missing() or case.untrusted() or case.unclear() or case.conditions()


class _Case:
    """One verdict in the making: the spans of its figures, and its sentences."""

    def __init__(self, evidence: Evidence, rule: VerdictRule, words: Words) -> None:
        self.evidence, self.rule, self.words = evidence, rule, words
        self.agreement = Span.of(evidence.agreement, evidence.sign)
        self.people, self.gap = Span.of(evidence.people), Span.of(evidence.gap)
        self.items, self.crowd = words.items[1], words.people[1]

    @property
    def compared(self) -> str:
        """Both figures in brackets, with the sign as measured."""
        assert self.agreement is not None
        assert self.people is not None
        symbol = "ρ" if self.evidence.statistic == RHO else "κ"
        own, people = self.evidence.sign * self.agreement.value, self.people.value
        return f"({symbol} {_number(own)} against {_number(people)})"

    @property
    def beyond_one_more(self) -> bool:
        """Whether one more person would hardly have such a gap."""
        assert self.gap is not None
        return self.evidence.margin is None or self.gap.value < -self.evidence.margin

    def missing(self) -> Verdict | None:
        """Return "cannot say" for too little data, and for figures without a value or an interval."""
        evidence, rule, words = self.evidence, self.rule, self.words
        needed = f"{rule.clusters - evidence.n_clusters:,} more {words.clusters[1]}"
        if evidence.n_people and not evidence.n_answered:
            reason = (
                f"It answered none of the {words.counted(evidence.n_items, 'items')} that {self.crowd} rated."
            )
            return Verdict("cannot_say", (reason,), f"Run it on these {self.items}.", "unanswered")
        if evidence.n_people < rule.people:
            person = words.people[0]
            reason = {
                0: f"No {person} rated these {self.items}; {rule.people} {self.crowd} are needed.",
                1: f"Only one {person} rated these {self.items}; {rule.people} {self.crowd} are needed.",
            }.get(
                evidence.n_people,
                f"Only {evidence.n_people} {self.crowd} rated these {self.items}; {rule.people} are needed.",
            )
            step = f"Have {rule.people} {self.crowd} rate the same {self.items}."
            return Verdict("cannot_say", (reason,), step, "more_people")
        if evidence.n_clusters < rule.clusters:
            rated = words.counted(evidence.n_clusters, "clusters")
            reason = f"Only {rated} can be compared; {rule.clusters} are needed."
            step = f"Rate {needed} with at least two {self.crowd} each."
            return Verdict("cannot_say", (reason,), step, "more_ratings")
        if evidence.n_events is not None and evidence.n_events < rule.events:
            rare = words.counted(evidence.n_events, "items")
            got = "got another answer than the most frequent one"
            reason = f"Only {rare} {got}; about {rule.events} are needed."
            factor = rule.events / evidence.n_events if evidence.n_events else 0.0
            more = _rounded(evidence.n_clusters * (factor - 1)) if factor else 0
            step = f"Rate about {more:,} more {words.clusters[1]}, or" if more else "Rate"
            step = f"{step} {words.clusters[1]} in which other answers are more frequent."
            return Verdict("cannot_say", (reason,), step, "more_ratings")
        if evidence.constant:
            return None
        if self.agreement is None or self.people is None or self.gap is None:
            reason = evidence.reason or "there is no interval"
            return Verdict("cannot_say", (f"No comparison with {self.crowd}: {reason}.",), "", "none")
        return None

    def untrusted(self) -> Verdict | None:
        """Return "do not trust" for a rater that gives one answer, is far worse than people, or guesses."""
        evidence = self.evidence
        if evidence.constant:
            reason = f"It gave the same answer to all {self.words.counted(evidence.n_answered, 'items')}."
            return self._rejected(reason)
        assert self.agreement is not None
        assert self.gap is not None
        if self.agreement.high < 0:
            return self._rejected(f"It tends to say the opposite of what {self.crowd} say {self.compared}.")
        if not self.beyond_one_more:
            return None
        if self.gap.high < -self.rule.gap:
            much_less = f"It agrees with {self.crowd} much less than they agree with each other"
            return self._rejected(f"{much_less} {self.compared}.")
        if self.agreement.low <= 0 and self.gap.high < 0:
            return self._rejected(
                f"It is not shown to agree with {self.crowd} beyond chance {self.compared}."
            )
        return None

    def _rejected(self, reason: str) -> Verdict:
        step, kind = self._read_disagreements()
        return Verdict("do_not_trust", (reason, *self._illustrations()), step, kind)

    def unclear(self) -> Verdict | None:
        """Return "cannot say" where people do not agree beyond chance, or the gap is too uncertain."""
        assert self.agreement is not None
        assert self.people is not None
        assert self.gap is not None
        rule, crowd = self.rule, self.crowd
        if self.people.low <= 0:
            reason = (
                f"{crowd[:1].upper()}{crowd[1:]} are not shown to agree with each other beyond chance "
                f"({_number(self.people.value)}, {_interval(self.people)})."
            )
            step = f"Clarify the question and its guidelines, then have more {self.words.clusters[1]} rated."
            return Verdict("cannot_say", (reason,), step, "guidelines")
        if self.gap.low <= -rule.gap and self.gap.high >= 0 and not self._passed_instead:
            reason = (
                f"It may agree with {crowd} as well as they agree with each other, or by "
                f"{_number(-self.gap.low)} less {self.compared}."
            )
            if self.gap.value <= -rule.gap:
                step, kind = self._read_disagreements()
                return Verdict("cannot_say", (reason,), step, kind)
            factor = ((self.gap.value - self.gap.low) / (self.gap.value + rule.gap)) ** 2
            more = _rounded(self.evidence.n_clusters * (factor - 1))
            step = f"Rate about {more:,} more {self.words.clusters[1]} with two {crowd} each."
            return Verdict("cannot_say", (reason,), step, "more_ratings")
        return None

    @property
    def _passed_instead(self) -> bool:
        """Whether the alternative annotator test stands in for the gap, and is passed."""
        test = self.evidence.stand_in
        return self.rule.alternative_test == "enough" and test is not None and test.state == "passed"

    def conditions(self) -> Verdict:
        """Return "trust" where all conditions hold, else "not yet" with those that do not."""
        shortfalls = list(self._shortfalls())
        if shortfalls:
            reasons, steps = zip(*shortfalls, strict=True)
            first, *others = reasons
            step, kind = steps[0]
            illustrated = self._illustrations() if kind == "disagreements" else ()
            return Verdict("not_yet", (first, *illustrated, *others), step, kind)
        step = f"Let it rate the rest, and have {self.crowd} check a sample."
        if self.evidence.kind == "metric":
            step = f"Use it to rank {self.items}: its values are on a scale of its own."
        explanation = [self._as_good_as_people()]
        if self.evidence.sign < 0:
            explanation.append("It falls as their ratings rise.")
        return Verdict("trust", tuple(explanation), step, "none")

    def _as_good_as_people(self) -> str:
        """Return how a trusted rater's agreement compares with that of people with each other."""
        assert self.gap is not None
        is_rank = self.evidence.statistic == RHO
        own = f"It {'follows' if is_rank else 'agrees with'} {self.crowd}"
        people = "one of them follows the others" if is_rank else "they agree with each other"
        if self.gap.low <= -self.rule.gap:
            return f"It passes the alternative annotator test {self.compared}."
        if self.gap.low > 0:
            return f"{own} better than {people} {self.compared}."
        if self.gap.high < 0:
            largest = _number(self.rule.gap)
            return f"{own} less than {people}, but by less than {largest} {self.compared}."
        return f"{own} about as well as {people} {self.compared}."

    def _shortfalls(self) -> Iterator[tuple[str, tuple[str, Step]]]:
        """Yield the conditions of trust that do not hold, each with its next step."""
        assert self.agreement is not None
        assert self.people is not None
        assert self.gap is not None
        evidence, rule, crowd = self.evidence, self.rule, self.crowd
        if self.gap.low <= -rule.gap and not self._passed_instead:
            text = f"It agrees with {crowd} less than they agree with each other {self.compared}."
            yield text, self._read_disagreements()
        if self.agreement.low <= 0:
            text = f"Its agreement with {crowd} is not shown to be above chance {self.compared}."
            yield text, self._read_disagreements()
        if rule.baselines and evidence.baseline is not None:
            ahead = Span.of(evidence.baseline.difference)
            if ahead is None or ahead.low <= 0:
                best = evidence.baseline
                text = (
                    f"It is not shown to do better than {best.name} (ρ {_number(best.figure.value or 0.0)})."
                )
                yield text, (f"Compare it with {best.name} before you use it.", "baselines")
        if self.people.value < rule.agreement:
            text = (
                f"{crowd[:1].upper()}{crowd[1:]} agree with each other by only {_number(self.people.value)}; "
                f"{_number(rule.agreement)} is needed before anybody can stand in for them."
            )
            yield text, ("Clarify the question and its guidelines.", "guidelines")
        if evidence.share < rule.coverage and (
            evidence.lowest_gap is None or evidence.lowest_gap <= -rule.gap
        ):
            of = self.words.counted(evidence.n_items, "items")
            text = f"It answered only {evidence.n_answered:,} of the {of} that {crowd} rated."
            open_items = self.words.counted(evidence.n_items - evidence.n_answered, "items")
            yield text, (f"Run it on the {open_items} without an answer.", "unanswered")
        test = evidence.stand_in
        if rule.alternative_test == "needed" and (test is None or test.state != "passed"):
            why = test.why if test is not None else "it could not be tested"
            text = f"It does not pass the alternative annotator test: {why}."
            yield text, self._read_disagreements()

    def _illustrations(self) -> tuple[str, ...]:
        """Return a sentence on how the rater differs from people, if one stands out."""
        errors, items = self.evidence.errors, self.words.items
        if errors.marked and errors.missed * 4 >= errors.marked and errors.missed >= errors.extra / 4:
            marked = self.words.counted(errors.marked, "items")
            return (f"It misses {errors.missed:,} of the {marked} that most {self.crowd} marked.",)
        if errors.extra > errors.marked / 4 and errors.extra > 1:
            return (f"It marks {errors.extra:,} {items[1]} that most {self.crowd} did not mark.",)
        if errors.shift is not None and abs(errors.shift) >= 0.5:
            way = "higher" if errors.shift > 0 else "lower"
            return (f"It rates {_number(abs(errors.shift), 1)} {way} than {self.crowd} on average.",)
        return ()

    def _read_disagreements(self) -> tuple[str, Step]:
        apart = self.evidence.errors.apart
        if not apart:
            return "Compare its answers with the transcripts.", "disagreements"
        if apart == 1:
            return (
                f"Read the {self.words.items[0]} on which it differs most from {self.crowd}.",
                "disagreements",
            )
        differs = f"on which it differs most from {self.crowd}"
        return f"Read the {apart:,} {self.words.items[1]} {differs}.", "disagreements"


def _number(value: float, digits: int = 2) -> str:
    text = f"{value:.{digits}f}"
    text = text.lstrip("-") if float(text) == 0 else text
    return text.replace("-", "\N{MINUS SIGN}")


def _interval(span: Span) -> str:
    return f"{_number(span.low)} to {_number(span.high)}"


def _rounded(count: float) -> int:
    """Round a number of further clusters up to one that reads as an estimate."""
    count = max(1, ceil(count))
    step = 1 if count < 10 else 5 if count < 100 else 10 ** (len(str(count)) - 2)
    return ceil(count / step) * step


# The figures of every judge, panel and metric on one question.


def evidence_of(
    ratings: Ratings,
    *,
    plan: Plan | None = None,
    lengths: Mapping[str, tuple[int, int]] | None = None,
    stand_ins: Sequence[StandIn] = (),
) -> list[Evidence]:
    """Return the evidence on each judge, panel and metric of a question, in the order of the ratings.

    ``lengths`` are the characters and words of items by key, ``stand_ins`` the outcomes of the alternative
    annotator test. Nominal questions have no evidence on raters off their scale.
    """
    question = _Question(ratings, plan or Plan(), lengths or {})
    tests = {test.rater: test for test in stand_ins}
    columns = [
        j
        for j, kind in enumerate(ratings.kinds)
        if kind in KINDS and (question.answered.on_scale[j] or ratings.level != "nominal")
    ]
    return [replace(question.evidence(j), stand_in=tests.get(ratings.raters[j])) for j in columns]


class _Question:
    """The ratings of a question, with what all its raters are compared with."""

    def __init__(self, ratings: Ratings, plan: Plan, lengths: Mapping[str, tuple[int, int]]) -> None:
        self.ratings, self.answered, self.plan = ratings, ratings.as_answered(), plan
        self.resampling: Resampling = resampling_of(ratings, plan)
        self.people = [j for j in ratings.of_kind(PEOPLE) if (~np.isnan(ratings.values[:, j])).any()]
        block = ratings.values[:, self.people]
        self.n_of_people = (~np.isnan(block)).sum(axis=1)
        sums = np.nansum(block, axis=1)
        self.mean = np.where(self.n_of_people > 0, sums / np.maximum(self.n_of_people, 1), np.nan)
        self.lengths = {
            name: np.array([lengths[i][at] if i in lengths else np.nan for i in ratings.items], np.float64)
            for at, name in enumerate(("the number of characters", "the number of words"))
            if lengths and ratings.level != "nominal"
        }
        self.by_items: dict[bytes, Rest] = {}

    def evidence(self, column: int) -> Evidence:
        """Return the evidence on one rater."""
        ratings, answers = self.ratings, self.ratings.values[:, column]
        key, present = KAPPA.get(ratings.level, ""), ~np.isnan(answers)
        on_scale = bool(key) and self.answered.on_scale[column]
        shared = present & (self.n_of_people >= 2)
        kind = ratings.kinds[column]
        evidence = Evidence(
            rater=ratings.raters[column],
            kind=kind,
            statistic=key if on_scale else RHO,
            n_people=self._n_people(shared),
            n_clusters=len(np.unique(ratings.clusters[shared])),
            n_events=self._n_events(shared) if ratings.level in KAPPA else None,
            n_items=int((self.n_of_people > 0).sum()),
            n_answered=int((present & (self.n_of_people > 0)).sum()),
            constant=int(present.sum()) > 1 and bool(np.ptp(answers[present]) == 0),
            errors=self._errors(column) if on_scale and not ratings.is_unequal else Errors(),
        )
        if not shared.any():
            with_person = self._with_person(column, evidence.statistic)
            return replace(
                evidence,
                agreement=with_person,
                reason=f"no item was rated by two people and {evidence.rater}",
            )
        if on_scale:
            evidence = self._by_kappa(evidence, column, shared, key)
        else:
            evidence = self._by_rank(evidence, answers, self._rest(shared))
        if self.lengths and not evidence.constant:
            evidence = replace(evidence, baseline=self._length(answers, self._rest(shared), evidence.sign))
        return evidence

    def _n_people(self, shared: Any) -> int:
        """Count the people behind the comparison: of the shared items, or of all where there are none."""
        block = self.ratings.values[:, self.people]
        return int((~np.isnan(block[shared] if shared.any() else block)).any(axis=0).sum())

    def _n_events(self, items: Any) -> int:
        """Count the items with another answer than people's most frequent one, as one person gives them."""
        block = self.ratings.values[items][:, self.people]
        values, counts = np.unique(block[~np.isnan(block)], return_counts=True)
        if not len(values):
            return 0
        return round(int(items.sum()) * (1 - int(counts.max()) / int(counts.sum())))

    def _errors(self, column: int) -> Errors:
        """Compare a rater's answers on the scale with people's majority, or with their mean."""
        ratings, answers = self.ratings, self.answered.values[:, column]
        both = ~np.isnan(answers) & (self.n_of_people > 0)
        if not both.any():
            return Errors()
        if ratings.level not in CATEGORIES:
            grid = np.array(ratings.scale or (0.0, 1.0))
            steps = 2 if len(grid) > 3 else 1
            far = steps * float(np.ptp(grid)) / max(len(grid) - 1, 1)
            apart = np.abs(answers - self.mean)[both]
            shift = float((answers - self.mean)[both].mean()) if not ratings.names else None
            return Errors(apart=int((apart >= far - 1e-9).sum()), shift=shift)
        block = self.answered.values[:, self.people]
        grid = np.unique(block[~np.isnan(block)])
        counts = np.array([(block == value).sum(axis=1) for value in grid])
        clear = both & ((counts == counts.max(axis=0)).sum(axis=0) == 1)
        majority = grid[counts.argmax(axis=0)]
        differs = clear & (answers != majority)
        if ratings.level != "binary" or ratings.positive is None:
            return Errors(apart=int(differs.sum()))
        marked = clear & (majority == ratings.positive)
        return Errors(
            apart=int(differs.sum()),
            marked=int(marked.sum()),
            missed=int((differs & marked).sum()),
            extra=int((differs & ~marked).sum()),
        )

    def _with_person(self, column: int, key: str) -> Result | None:
        """Return the agreement with the only person, if there is just one."""
        if len(self.people) != 1:
            return None
        pair = (self.people[0], column)
        sample = Sample(self.answered if key != RHO else self._of_numbers(), pair, self.resampling)
        statistic = STATISTICS[key]
        if not statistic.applies(sample):
            return None
        return result_of(estimates(sample, [statistic], self.resampling)[0], sample, self.plan)

    def _of_numbers(self) -> Ratings:
        """The ratings with yes and no as numbers, which have an order."""
        return replace(self.ratings, level="interval") if self.ratings.level == "binary" else self.ratings

    def _by_kappa(self, evidence: Evidence, column: int, shared: Any, key: str) -> Evidence:
        cut = self.answered.with_values(np.where(shared[:, None], self.answered.values, np.nan))
        comparison = Comparison(self.answered, cut, tuple(self.people), column, self.resampling)
        figures = {entry.name: entry for entry in pooled_results(comparison, [key])}
        agreement, people, gap, margin = (
            figures.get(f"{side}_{key}") for side in ("judge", "people", "gap", "margin")
        )
        reasons = [entry.reason for entry in (people, agreement, gap) if entry is not None and entry.reason]
        identified = all(self.ratings.identified[j] for j in self.people)
        is_bounded = evidence.n_answered < evidence.n_items and not self.ratings.is_unequal
        return replace(
            evidence,
            agreement=agreement,
            people=people,
            gap=gap,
            margin=margin.value if margin is not None and margin.ok and identified else None,
            lowest_gap=self._lowest_gap(column, key) if is_bounded else None,
            reason=reasons[0] if reasons else "",
        )

    def _lowest_gap(self, column: int, key: str) -> float | None:
        """Return the least gap had the rater answered every item that people rated."""
        scale = self.ratings.scale
        bounded = bounds_of(
            self.answered,
            column,
            self.n_of_people > 0,
            statistics=[key],
            ends=(scale[0], scale[-1]) if scale and not self.ratings.names else None,
        )
        if bounded is None:
            return None
        lows = [entry.low for entry in bounded.figures if entry.name == f"{GAP}{key}" and entry.ok]
        return lows[0] if lows else None

    def _by_rank(self, evidence: Evidence, answers: Floats, rest: Rest) -> Evidence:
        agreement = rest.correlated(answers)
        sign = -1.0 if evidence.kind == "metric" and agreement.point < 0 else 1.0
        gap = difference(agreement if sign > 0 else _mirrored(agreement), rest.people)
        figures = [
            result(f"{side}_{RHO}", figure, self.plan)
            for side, figure in (("judge", agreement), ("people", rest.people), ("gap", gap))
        ]
        reasons = [entry.reason for entry in figures if entry.reason]
        return replace(
            evidence,
            agreement=figures[0],
            people=figures[1],
            gap=figures[2],
            sign=sign,
            margin=rest.margin(gap.replicates),
            reason=reasons[0] if reasons else "",
        )

    def _rest(self, shared: Any) -> Rest:
        """Return the left-out people of these items, whom all raters of the same items share."""
        key = np.packbits(shared).tobytes()
        if key not in self.by_items:
            self.by_items[key] = Rest(self._of_numbers(), self.people, shared, self.resampling)
        return self.by_items[key]

    def _length(self, answers: Floats, rest: Rest, sign: float) -> Baseline | None:
        """Return the better of the lengths of the text, and the rater's correlation less that of it."""
        own, longest = rest.correlated(answers), rest.length(self.lengths)
        if longest is None or not isfinite(own.point):
            return None
        name, best = longest
        ahead = difference(own if sign > 0 else _mirrored(own), best)
        results = (
            result(f"{side}_{RHO}", figure, self.plan)
            for side, figure in (("baseline", best), ("gap", ahead))
        )
        return Baseline(name, *results)


def _mirrored(figure: Figure) -> Figure:
    """Return the figure of the same values with the opposite sign."""
    jackknife = None if figure.leave_one_out is None else -figure.leave_one_out
    return replace(figure, point=-figure.point, replicates=-figure.replicates, leave_one_out=jackknife)


LEAST_OF_PERSON = 10
"""Fewest items for which a person is correlated with the others alone."""


class Rest:
    """People left out in turn: each of their ratings beside the mean of the other people on that item."""

    def __init__(self, ratings: Ratings, people: Sequence[int], items: Any, resampling: Resampling) -> None:
        """Take the items that at least two people rated."""
        block = ratings.values[:, list(people)]
        block = np.where(items[:, None], block, np.nan)
        n, total = (~np.isnan(block)).sum(axis=1), np.nansum(block, axis=1)
        self.ratings, self.resampling = ratings, resampling
        rows, of = np.nonzero(~np.isnan(block) & (n >= 2)[:, None])
        self.rows: Ints = rows.astype(np.int64)
        self.own = block[rows, of]
        self.others = (total[rows] - self.own) / (n[rows] - 1)
        people_of_rows = np.array([j if ratings.identified[people[j]] else -1 for j in range(len(people))])
        groups = [np.flatnonzero(people_of_rows[of] == j) for j in np.unique(people_of_rows)]
        self.groups = [g for g in groups if len(g) >= LEAST_OF_PERSON] or [np.arange(len(rows))]
        self._figures: dict[bytes, Figure] = {}
        self._longest: tuple[str, Figure] | None = None
        self.people, self.points = self._figure(self.own)

    def correlated(self, values: Floats) -> Figure:
        """Return the correlation of a rater's values (one per item) with the same means."""
        key = values.tobytes()
        if key not in self._figures:
            self._figures = {key: self._figure(values[self.rows])[0]}
        return self._figures[key]

    def length(self, lengths: Mapping[str, Floats]) -> tuple[str, Figure] | None:
        """Return the length that follows people best, by name, in the direction in which it does."""
        if self._longest is None:
            figures = [(name, self._figure(values[self.rows])[0]) for name, values in lengths.items()]
            defined = [(name, figure) for name, figure in figures if isfinite(figure.point)]
            if not defined:
                return None
            name, best = max(defined, key=lambda pair: abs(pair[1].point))
            self._longest = name, _mirrored(best) if best.point < 0 else best
        return self._longest

    def margin(self, replicates: Floats) -> float | None:
        """Return the distance from 0 of one more person's gap in 95% of studies; None below three people.

        A prediction interval for one more of the people's correlations, and the resampled clusters on top.
        """
        points = np.array([p for p in self.points if isfinite(p)])
        if len(points) < 3 or not replicates.size:
            return None
        level = (1 + self.resampling.plan.level) / 2
        spread = float(special.stdtrit(len(points) - 1, level)) ** 2 * float(points.var(ddof=1))
        noise = float(special.ndtri(level)) ** 2 * float(np.nanvar(replicates))
        return float(np.sqrt(spread * (1 + 1 / len(points)) + noise))

    def _figure(self, values: Floats) -> tuple[Figure, list[float]]:
        """Return the mean over groups of a correlation with the others, weighted by their rows."""
        pairs = [self._pair(values, group) for group in self.groups]
        points = [pair.point if pair.ok else float("nan") for pair in pairs]
        defined = [(pair, group) for pair, group in zip(pairs, self.groups, strict=True) if pair.ok]
        items = np.unique(self.rows)
        units = self.resampling.units[items]
        counts: Counts = {
            "n_items": len(items),
            "n_clusters": len(np.unique(self.ratings.clusters[items])),
            "n_raters": len(self.groups),
            "n_missing": 0,
        }
        how = "each person left out in turn, with the mean of the others"
        if not defined:
            reason = pairs[0].verdict.reason or "not defined on these ratings"
            return Figure(float("nan"), np.empty(0), None, counts, 0, how, (), reason), points
        weights = self.ratings.weights_of(self.rows)
        each = np.ones(len(self.rows)) if weights is None else weights
        shared = np.array([each[group].sum() for _, group in defined])
        point = float(np.average([pair.point for pair, _ in defined], weights=shared))
        replicates = defined_mean(np.array([pair.replicates for pair, _ in defined]), shared)
        jackknives = [pair.leave_one_out for pair, _ in defined if pair.leave_one_out is not None]
        jackknife = defined_mean(np.array(jackknives), shared) if jackknives else None
        n_drawn = self.resampling.n_drawn(units)
        return Figure(point, replicates, jackknife, counts, n_drawn, how), points

    def _pair(self, values: Floats, group: Ints) -> Estimate:
        rows = self.rows[group]
        both = replace(
            self.ratings,
            values=np.column_stack([self.others[group], values[group]]),
            items=tuple(map(str, rows.tolist())),
            raters=("others", "rater"),
            clusters=self.ratings.clusters[rows],
            kinds=("", ""),
            identified=(True, True),
            on_scale=(False, False),
            firsts={},
            systems=None,
            continuations=None,
            weights=self.ratings.weights_of(rows),
        )
        sample = Sample(both, (0, 1), replace(self.resampling, units=self.resampling.units[rows]))
        return estimates(sample, [STATISTICS[RHO]], sample.resampling)[0]
