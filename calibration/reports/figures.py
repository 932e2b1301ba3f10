"""Look-up of figures in a question's result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.kinds import KINDS
from calibration.ratings.coverage import ANOTHER
from calibration.reports.results import Answerer, Figure, Question
from calibration.reports.snapshot import Snapshot
from calibration.reports.wording import Crowd, crowd_of, in_words, without
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.core.engine import InReports
from calibration.statistics.replacement import CORRECTED, StandIn
from calibration.statistics.table import described

HUMAN, JUDGE, METRIC = "human", "judge", "metric"
PANEL = "panel"


def worded(statistic: str) -> InReports:
    """Return the wording of a statistic in reports; its key if it is no longer in the table."""
    statistic_entry = described().get(statistic)
    return statistic_entry.words if statistic_entry else InReports(statistic, statistic)


@dataclass(frozen=True)
class QuestionFigures:
    """A question's result, with look-ups of the figures that pages show."""

    data: Question

    @property
    def title(self) -> str:
        """Heading of the question."""
        return self.data.title

    @property
    def headline(self) -> str:
        """Statistic for the agreement of two raters on this question's scale."""
        if self.data.level in ("binary", "nominal"):
            return "cohen_kappa"
        return "cohen_kappa_quadratic" if self.data.level == "ordinal" else "spearman"

    def names(self, kind: str, *, identified_only: bool = False) -> list[str]:
        """Return the names of the raters of a kind who gave an answer."""
        raters = [r for r in self.data.raters if r.kind == kind and r.n]
        return [r.name for r in raters if r.identified or not identified_only]

    @property
    def judging(self) -> list[str]:
        """Judges, and panels of judges."""
        return [*self.names(JUDGE), *self.names(PANEL)]

    @property
    def people(self) -> list[str]:
        """People who answered."""
        return self.names(HUMAN)

    @property
    def crowd(self) -> Crowd:
        """Wording for these people, some of whom may be anonymous slots or simulated."""
        return crowd_of(rater for rater in self.data.raters if rater.n)

    @property
    def unidentified(self) -> bool:
        """Whether some of the people are anonymous slots."""
        return len(self.names(HUMAN, identified_only=True)) < len(self.people)

    def among(self, statistic: str, kind: str = HUMAN) -> Figure | None:
        """Return the agreement of the raters of a kind: all together, else people over all their pairs."""
        names = set(self.names(kind))
        if len(names) < 2:
            return None
        panel = _first(self.data.panel, statistic, lambda raters: set(raters) <= names and len(raters) > 1)
        if panel is not None:
            return panel
        if kind == HUMAN and (
            over_pairs := self._beside("people", statistic, lambda raters: set(raters) <= names)
        ):
            return over_pairs
        if len(names) > 2:
            return None
        return _first(self.data.pairs, statistic, lambda raters: set(raters) == names)

    def missing_from(self, entry: Figure, kind: str = HUMAN) -> list[Answerer]:
        """Return the raters of a kind who answered but are missing from a figure of several of them."""
        everybody = self.names(kind)
        absent = [self.rater(name) for name in everybody if name not in entry.raters]
        return absent if len(everybody) - len(absent) > 1 else []

    def among_whom(self, entry: Figure) -> str:
        """Return `three people`, or `two of three people (without dan, who ...)`."""
        absent, n = self.missing_from(entry), len(self.people)
        of = f"{in_words(n - len(absent))} of " if absent else ""
        return f"{of}{self.crowd.among(n)}{_without(absent)}"

    def counted_in(self, entry: Figure | None) -> str:
        """Return `3 people`, or `2 of 3 people (without dan, who ...)`."""
        absent, n = self.missing_from(entry) if entry is not None else [], len(self.people)
        of = f"{n - len(absent):,} of " if absent else ""
        return f"{of}{self.crowd.counted(n)}{_without(absent)}"

    def with_people(self, statistic: str, rater: str) -> Figure | None:
        """Return a rater's agreement with people: with all of them, or with the only person."""
        with_all = self._beside("judge", statistic, lambda raters: raters[0] == rater)
        if with_all is not None or len(self.people) != 1:
            return with_all
        pair = {rater, self.people[0]}
        return _first(self.data.pairs, statistic, lambda raters: set(raters) == pair)

    def gap(self, statistic: str, rater: str) -> Figure | None:
        """Return judge with people minus people with people, on the same items and resamples."""
        return self._beside("gap", statistic, lambda raters: raters[0] == rater)

    def people_beside(self, statistic: str, rater: str) -> Figure | None:
        """Return people with people on the items that a judge rated."""
        return self._beside("people", statistic, lambda raters: raters[0] == rater)

    def _beside(self, side: str, statistic: str, fits: Any) -> Figure | None:
        """Return one side of the gap from the table of all pairs, else as the mean over pairs."""
        gaps = self.data.gaps
        pooled = _first(gaps, f"{side}_{statistic}", fits)
        return pooled or _first(gaps, f"{side}_mean_{statistic}", fits)

    def with_mean(self, rater: str, statistic: str = "spearman") -> Figure | None:
        """Return a rater's correlation with the people's mean, or with the only person."""
        people = self.people
        against = MEAN_OF_PEOPLE if len(people) > 1 else (people[0] if people else "")
        return _first(self.data.pairs, statistic, lambda raters: set(raters) == {against, rater})

    def replacement(self, rater: str) -> Figure | None:
        """Return the alternative annotator test's winning rate of a judge."""
        return _first(self.data.replacement, "alt_test_winning_rate", lambda raters: raters[0] == rater)

    def stand_in(self, rater: str) -> StandIn | None:
        """Return the verdict whether a judge may stand in for a person, with its reason."""
        return next((verdict for verdict in self.data.stand_ins if verdict.rater == rater), None)

    def corrected(self, rater: str) -> Figure | None:
        """Return the winning rate corrected over judges, if several were tested."""
        return _first(self.data.replacement, CORRECTED, lambda raters: raters[0] == rater)

    def advantage(self, rater: str) -> Figure | None:
        """Return the alternative annotator test's advantage probability of a judge."""
        return _first(self.data.replacement, "alt_test_advantage", lambda raters: raters[0] == rater)

    def rater(self, name: str) -> Answerer:
        """Return the record of a rater; raise KeyError for an unknown name."""
        for rater in self.data.raters:
            if rater.name == name:
                return rater
        raise KeyError(name)


def _without(absent: Sequence[Answerer]) -> str:
    return without([r.name for r in absent if r.on_scale], [r.name for r in absent if not r.on_scale])


def _first(entries: Iterable[Figure], name: str, fits: Any) -> Figure | None:
    return next((e for e in entries if e.name == name and fits(e.raters)), None)


def figures(result: Snapshot) -> list[QuestionFigures]:
    """Return the figures of each question, pooled questions first."""
    all_figures = [QuestionFigures(data) for data in result.questions]
    return sorted(all_figures, key=lambda q: not q.data.pooled)


def crowd(questions: Iterable[QuestionFigures]) -> Crowd:
    """Return the wording for the people of all questions together."""
    return crowd_of(rater for question in questions for rater in question.data.raters if rater.n)


def leading_question(
    questions: Sequence[QuestionFigures], rater: str | None = None
) -> QuestionFigures | None:
    """Return the question that represents the others (for a rater, among those it answered).

    That is `overall`, else the first question asked by itself, else all tags pooled: pooled tags never
    replace a question that the study asks beside them.
    """
    candidates = [q for q in questions if rater is None or rater in [r.name for r in q.data.raters if r.n]]
    for choice in (
        lambda q: q.data.key == "overall",
        lambda q: bool(q.people) and not q.data.pooled and not q.data.group and q.data.key != ANOTHER,
        lambda q: q.data.pooled,
        lambda q: bool(q.people),
    ):
        if matching := [q for q in candidates if choice(q)]:
            return matching[0]
    return candidates[0] if candidates else None


def n_replaceable(entry: Figure) -> int:
    """Return the number of people a judge can replace, from an alternative annotator test's winning rate."""
    return round((entry.value or 0) * (entry.n_raters - 1))


def replaced_text(entry: Figure, people: Crowd) -> str:
    """Return `2 of 3 people` that a judge can replace, and the number that could not be tested."""
    tested, everybody = entry.n_raters - 1, len(entry.raters) - 1
    won_of_tested = f"{n_replaceable(entry)} of {people.counted(tested)}"
    if tested == everybody:
        return won_of_tested
    untested = everybody - tested
    share = "shares" if untested == 1 else "share"
    return f"{won_of_tested} tested ({untested} of {everybody} {share} too few items, fewer than 30)"


def ok(entry: Figure | None) -> bool:
    """Whether an entry has a value."""
    return entry is not None and entry.ok


def in_order(questions: Iterable[QuestionFigures], kind: str) -> list[str]:
    """Return the names of the raters of a kind over all questions, each once."""
    return list(dict.fromkeys(name for q in questions for name in q.names(kind)))


def label(questions: Sequence[QuestionFigures]) -> list[tuple[str, QuestionFigures]]:
    """Pair each question with a unique heading; shared headings get their kind of item or scheme added."""
    out = []
    for question in questions:
        same = [q for q in questions if q.title == question.title]
        title = question.title
        if len(same) > 1:
            kinds = {q.data.item_kind for q in same}
            plural = KINDS[question.data.item_kind].plural
            about = plural if len(kinds) == len(same) else question.data.scheme_title
            title = f"{title} ({about})"
        out.append((title, question))
    return out
