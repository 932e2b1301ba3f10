"""Cases of a round: the rules that pick them, and the answers and notes the rules read."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.corpora import exclusion, splits
from annotation.errors import ExclusionRefused
from annotation.models import Campaign, Corpus, Occasion, Question, SchemeVersion
from calibration.errors import AdjudicationRefused
from calibration.gold.rules import RULES as GOLD_RULES
from calibration.gold.rules import Answers
from calibration.models import ForAdjudication
from calibration.ratings.ratings import Place, Subject, SubjectData, load, places
from calibration.ratings.scope import QuestionInfo, Scope, census, narrowed, scope_of
from calibration.ratings.subsets import Subset
from calibration.statistics import Ratings
from calibration.statistics.core.ratings import CATEGORIES, ORDERED, Floats
from calibration.statistics.gold import GoldLabels, majority

# Settings of the picking rules: which are on, with which thresholds.

CONFIDENCE_RULES = ("dawid_skene", "mace", "majority")
"""Gold rules whose support is a confidence between 0 and 1."""
COMBINE = ("any", "all")
MOST_CONTROL = 100_000


@dataclass(frozen=True, slots=True)
class Settings:
    """Rules that pick a case; `combine` says whether one rule suffices (`any`) or `all` must apply.

    `spread`, `judge_apart` and `confidence` are thresholds, None if the rule is off: the people's answers
    differ by at least `spread`; the answer of `judge` is at least `judge_apart` from the people's mean (for
    categories: differs from their majority); the confidence of `confidence_rule` is at most `confidence`.
    `control` is the number of cases per question on which all people agree, drawn by the round's seed.
    `questions` are keys; none means all. `by_question` holds thresholds that apply to a single question.
    `exclude` leaves out dialogues by people's answers, as of the moment at which the cases are picked.
    """

    no_majority: bool = False
    spread: float | None = None
    flagged: bool = False
    commented: bool = False
    judge: str = ""
    judge_apart: float | None = None
    confidence_rule: str = "dawid_skene"
    confidence: float | None = None
    marked: bool = False
    everything: bool = False
    control: int = 0
    combine: str = "any"
    questions: tuple[str, ...] = ()
    by_question: Mapping[str, Mapping[str, float]] | None = None
    exclude: str = ""

    def of(self, question: str) -> Settings:
        """Return the settings for a question, with its own thresholds in place of the common ones."""
        own: Mapping[str, Any] = (self.by_question or {}).get(question, {})
        return replace(self, **own)

    @property
    def on(self) -> tuple[str, ...]:
        """Rules that are on, in the table's order."""
        switches = {
            "no_majority": self.no_majority,
            "spread": self.spread is not None,
            "flagged": self.flagged,
            "commented": self.commented,
            "judge": bool(self.judge),
            "confidence": self.confidence is not None,
            "marked": self.marked,
            "everything": self.everything,
        }
        return tuple(key for key, is_on in switches.items() if is_on)

    def as_dict(self) -> dict[str, Any]:
        """Return the settings that differ from the defaults, as stored."""
        default = asdict(Settings())
        values = asdict(self) | {"questions": list(self.questions)}
        return {key: value for key, value in values.items() if value not in (default[key], [])}


BOUNDS: dict[str, tuple[float, float]] = {
    "spread": (0.0, math.inf),
    "judge_apart": (0.0, math.inf),
    "confidence": (0.0, 1.0),
}


def parse(values: Mapping[str, Any]) -> Settings:
    """Return checked settings. Raises AdjudicationRefused, with a one-line message, for invalid ones."""
    rule_names = {field.name for field in fields(Settings)}
    if unknown := sorted(set(values) - rule_names):
        raise AdjudicationRefused(
            f"There is no rule {unknown[0]!r}; there are {', '.join(sorted(rule_names))}."
        )
    parsed: dict[str, Any] = {}
    for name, value in values.items():
        if value in (None, ""):
            continue
        parsed[name] = _read(name, value)
    settings = Settings(**parsed)
    if settings.judge_apart is not None and not settings.judge:
        raise AdjudicationRefused("judge_apart says how far which judge lies from people? Name the judge.")
    if not settings.on:
        raise AdjudicationRefused("Choose a rule: which items are to be decided on?")
    return settings


def _read(name: str, value: Any) -> Any:
    if name in BOUNDS:
        return _number(name, value)
    if name in ("judge", "confidence_rule", "combine", "exclude"):
        return _word(name, value)
    if name == "control":
        return _count(value)
    if name == "questions":
        if not isinstance(value, list | tuple) or not all(isinstance(key, str) for key in value):
            raise AdjudicationRefused("questions is a list of keys of questions.")
        return tuple(value)
    if name == "by_question":
        return _own_bounds(value)
    if not isinstance(value, bool):
        raise AdjudicationRefused(f"{name} is true or false, not {value!r}.")
    return value


def _number(name: str, value: Any) -> float:
    low, high = BOUNDS[name]
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not (math.isfinite(number) and low < number <= high):
        most = f" and at most {high:g}" if math.isfinite(high) else ""
        raise AdjudicationRefused(f"{name} is a number above {low:g}{most}, not {value!r}.")
    return number


def _word(name: str, value: Any) -> str:
    choices = {"confidence_rule": CONFIDENCE_RULES, "combine": COMBINE}.get(name)
    if not isinstance(value, str) or (choices and value not in choices):
        expected = f"one of {', '.join(choices)}" if choices else "a text"
        raise AdjudicationRefused(f"{name} is {expected}, not {value!r}.")
    return value


def _count(value: Any) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_CONTROL:
        raise AdjudicationRefused(f"control is a number of cases, 0 to {MOST_CONTROL:,}, not {value!r}.")
    return value


def _own_bounds(value: Any) -> dict[str, dict[str, float]]:
    if not isinstance(value, Mapping) or not all(isinstance(own, Mapping) for own in value.values()):
        raise AdjudicationRefused("by_question maps a question’s key to its own bounds.")
    if wrong := sorted({str(name) for own in value.values() for name in own} - BOUNDS.keys()):
        raise AdjudicationRefused(f"by_question takes {', '.join(BOUNDS)}, not {wrong[0]!r}.")
    return {
        str(key): {name: _number(name, bound) for name, bound in own.items()} for key, own in value.items()
    }


# Material for picking cases: the answers to a scheme version's questions, and notes on items.

# Rules that pick cases from the answers to one question: one table.

Bools = npt.NDArray[np.bool_]
CONTROL = "control"
"""Picked by: the control sample, on which all people agree."""


@dataclass(frozen=True)
class Answered:
    """Answers to one question, items x raters, with notes on the items.

    `people` and `judge` are columns; `judge` is None if it did not answer. `flagged`, `commented`, `marked`
    and `locked` (in an unopened test part) are one flag per item.
    """

    ratings: Ratings
    judge: int | None
    flagged: Bools
    commented: Bools
    marked: Bools
    locked: Bools

    @property
    def people(self) -> tuple[int, ...]:
        """Columns of the people."""
        return self.ratings.of_kind("human")

    @cached_property
    def people_values(self) -> Floats:
        """The people's answers, items x people."""
        return self.ratings.values[:, list(self.people)]

    @cached_property
    def n(self) -> npt.NDArray[np.int_]:
        """Number of people who answered, per item."""
        return (~np.isnan(self.people_values)).sum(axis=1)

    @cached_property
    def apart(self) -> Floats:
        """Range of the people's answers, per item; NaN if fewer than two answered."""
        low = np.where(np.isnan(self.people_values), np.inf, self.people_values).min(axis=1, initial=np.inf)
        high = np.where(np.isnan(self.people_values), -np.inf, self.people_values).max(
            axis=1, initial=-np.inf
        )
        return np.where(self.n >= 2, high - low, np.nan)

    @cached_property
    def strict(self) -> Floats:
        """Strict majority of the people's answers, per item; NaN if there is none."""
        return strict_majority(self.ratings)


def strict_majority(ratings: Ratings) -> Floats:
    """Return the answer of more than half of an item's people, per item; NaN if there is none."""
    people = ratings.of_kind("human")
    if not people:
        return np.full(ratings.n_items, np.nan)
    majorities: GoldLabels = majority(ratings, columns=people)
    return np.where(majorities.confidence > 0.5, majorities.values, np.nan)


@dataclass(frozen=True)
class PickRule:
    """A rule that picks cases; `unfit` returns why it does not apply to a question (empty if it does)."""

    key: str
    title: str
    picks: Callable[[Answered, Settings], Bools]
    unfit: Callable[[Answered, Settings], str] = lambda answered, settings: ""


def _no_majority(answered: Answered, settings: Settings) -> Bools:
    return (answered.n >= 2) & np.isnan(answered.strict)


def _spread(answered: Answered, settings: Settings) -> Bools:
    return np.nan_to_num(answered.apart, nan=-1.0) >= (settings.spread or 0.0)


def _ordered(answered: Answered, settings: Settings) -> str:
    return "" if answered.ratings.level in ORDERED else "its answers have no order"


def _judge(answered: Answered, settings: Settings) -> Bools:
    assert answered.judge is not None  # guaranteed by `unfit`
    theirs = answered.ratings.values[:, answered.judge]
    if answered.ratings.level in CATEGORIES:
        away = (theirs != answered.strict) & ~np.isnan(answered.strict)
    else:
        total = np.where(np.isnan(answered.people_values), 0.0, answered.people_values).sum(axis=1)
        mean = total / np.maximum(answered.n, 1)
        away = np.abs(theirs - mean) >= (settings.judge_apart or np.nextafter(0, 1))
    return away & ~np.isnan(theirs) & (answered.n > 0) & ~answered.locked


def _judged(answered: Answered, settings: Settings) -> str:
    return "" if answered.judge is not None else f"{settings.judge} has not answered it"


def _confidence(answered: Answered, settings: Settings) -> Bools:
    rule = GOLD_RULES[settings.confidence_rule]
    gold_values = rule.choose(Answers(answered.ratings.take(answered.people)), rule.checked({}))
    unsure = np.isnan(gold_values.confidence) | (gold_values.confidence <= (settings.confidence or 0.0))
    return unsure & (answered.n > 0)


def _sure(answered: Answered, settings: Settings) -> str:
    rule = GOLD_RULES[settings.confidence_rule]
    return rule.unfit(Answers(answered.ratings.take(answered.people)), rule.checked({}))


PICKS: dict[str, PickRule] = {
    rule.key: rule
    for rule in (
        PickRule("no_majority", "no strict majority", _no_majority),
        PickRule("spread", "answers far apart", _spread, _ordered),
        PickRule("flagged", "flagged by an annotator", lambda answered, settings: answered.flagged),
        PickRule("commented", "commented by an annotator", lambda answered, settings: answered.commented),
        PickRule("judge", "judge against people", _judge, _judged),
        PickRule("confidence", "low confidence", _confidence, _sure),
        PickRule("marked", "marked for adjudication", lambda answered, settings: answered.marked),
        PickRule("everything", "all that people answered", lambda answered, settings: answered.n > 0),
    )
}
TITLES = {key: rule.title for key, rule in PICKS.items()} | {CONTROL: "agreed upon (control)"}
"""Title of each rule on pages."""


@dataclass(frozen=True)
class Picked:
    """Rows of one question that the rules pick: by rule and in total, and the rules that do not fit."""

    by_rule: dict[str, Bools]
    selected: Bools
    unfit: dict[str, str]

    def rules_of(self, row: int) -> tuple[str, ...]:
        """Return the rules that pick a row."""
        return tuple(key for key, hits in self.by_rule.items() if hits[row])


def picked(answered: Answered, settings: Settings) -> Picked:
    """Apply the rules that are on: a row is selected by any of them, or only if all pick it."""
    by_rule: dict[str, Bools] = {}
    unfit: dict[str, str] = {}
    for key in settings.on:
        rule = PICKS[key]
        if reason := rule.unfit(answered, settings):
            unfit[key] = reason
        else:
            by_rule[key] = rule.picks(answered, settings)
    none = np.zeros(answered.ratings.n_items, dtype=np.bool_)
    if settings.combine == "all":
        all_fit = bool(by_rule) and not unfit
        selected = np.logical_and.reduce(list(by_rule.values())) if all_fit else none
    else:
        selected = np.logical_or.reduce(list(by_rule.values())) if by_rule else none
    return Picked(by_rule, selected, unfit)


def control(answered: Answered, picked_rows: Bools, *, n: int, seed: int, salt: str) -> list[int]:
    """Return up to `n` rows, drawn by the seed, on which two or more people agree and that no rule picked."""
    agreed = (answered.n >= 2) & (answered.apart == 0) & ~picked_rows
    rows = [int(row) for row in np.flatnonzero(agreed)]
    rows.sort(key=lambda row: draw_key(seed, salt, answered.ratings.items[row]))
    return rows[:n]


def draw_key(seed: int, *parts: str) -> str:
    """Return a sort key for a seeded random order that is the same on every machine."""
    return hashlib.sha256("\0".join([str(seed), *parts]).encode()).hexdigest()


@dataclass(frozen=True)
class QuestionAnswers:
    """A question with its answers; `items` are the item ids of the rows, `digest` identifies the content."""

    question: QuestionInfo
    data: SubjectData
    answered: Answered
    items: tuple[int, ...]
    digest: str


@dataclass(frozen=True)
class Material:
    """Input of a draw: questions with answers, the places of their items, and the locked clusters."""

    questions: tuple[QuestionAnswers, ...]
    where: Mapping[int, Place]
    locked: frozenset[str]


def locked_clusters(corpus: Corpus) -> frozenset[str]:
    """Return the clusters of an unopened test part."""
    return frozenset(splits.unopened(corpus).values_list("cluster", flat=True))


def raters_scope(corpus: Corpus, campaign: Campaign | None) -> Scope:
    """Return the scope of raters' labels, without adjudicators' decisions."""
    scope = scope_of(corpus, campaign)
    occasions = tuple(name for name in scope.occasions if name != Occasion.ADJUDICATION)
    return replace(scope, occasions=occasions)


def read(
    *,
    corpus: Corpus,
    campaign: Campaign | None,
    version: SchemeVersion,
    settings: Settings,
    takes_locked: bool,
) -> Material:
    """Read the material that cases are picked from; the locked part of the corpus only if `takes_locked`.

    Raises AdjudicationRefused for an unknown question or judge.
    """
    scope = _passed(raters_scope(corpus, campaign), settings.exclude)
    counted = census(scope)
    ref = f"{version.scheme.key}@{version.version}"
    by_key = {q.key: q for q in counted.questions.values() if q.scheme == ref and q.level != "text"}
    _require_known(settings, by_key, version)
    questions = [q for key, q in by_key.items() if not settings.questions or key in settings.questions]
    if settings.judge and settings.judge not in {
        info.name for q in questions for info in counted.raters_of(q.id) if info.kind == "judge"
    }:
        raise AdjudicationRefused(f"No judge {settings.judge!r} has answered these questions.")
    locked = locked_clusters(corpus)
    where = places(scope, {q.item_kind for q in questions} or {version.item_kind})
    if not takes_locked and locked:
        where = {pk: place for pk, place in where.items() if place.cluster not in locked}
    loaded = [(q, load(scope, Subject(q), counted, where)) for q in questions]
    answers = tuple(
        _question_answers(scope, q, data, where, locked, settings) for q, data in loaded if data.records
    )
    return Material(answers, where, locked)


def _passed(scope: Scope, exclude: str) -> Scope:
    """Return a scope without the dialogues that an exclusion leaves out as of now."""
    try:
        return narrowed(scope, Subset(exclude=exclusion.check(scope.corpus, exclude)))
    except ExclusionRefused as error:
        raise AdjudicationRefused(f"{error}.") from error


def _require_known(settings: Settings, questions: Mapping[str, QuestionInfo], version: SchemeVersion) -> None:
    names = [*settings.questions, *(settings.by_question or {})]
    if unknown := [key for key in names if key not in questions]:
        own = ", ".join(questions) or "none"
        raise AdjudicationRefused(
            f"No answers to a question {unknown[0]!r} of {version.name} are here; there are {own}."
        )


def _question_answers(
    scope: Scope,
    question: QuestionInfo,
    data: SubjectData,
    where: Mapping[int, Place],
    locked: frozenset[str],
    settings: Settings,
) -> QuestionAnswers:
    ratings = data.ratings()
    ids = {place.key: pk for pk, place in where.items()}
    items = tuple(ids[key] for key in ratings.items)
    labels = scope.labels().filter(question=question.id)
    flagged = set(labels.filter(assignment__flagged=True).values_list("item", flat=True))
    commented = set(
        labels.filter(assignment__isnull=False).exclude(assignment__comment="").values_list("item", flat=True)
    )
    marked = set(
        ForAdjudication.objects.filter(
            question=question.id, withdrawn_at=None, settled_at=None, item__corpus=scope.corpus
        ).values_list("item", flat=True)
    )
    judge = ratings.raters.index(settings.judge) if settings.judge in ratings.raters else None

    def among(noted: set[int]) -> Bools:
        return np.array([pk in noted for pk in items], dtype=np.bool_)

    content = repr([data.digest, *(sorted(noted & set(items)) for noted in (flagged, commented, marked))])
    return QuestionAnswers(
        question,
        data,
        Answered(
            ratings,
            judge,
            among(flagged),
            among(commented),
            among(marked),
            np.array([where[pk].cluster in locked for pk in items], dtype=np.bool_),
        ),
        items,
        hashlib.sha256(content.encode()).hexdigest(),
    )


def questions_with_answers(
    corpus: Corpus, campaign: Campaign | None, version: SchemeVersion | None = None
) -> list[QuestionInfo]:
    """Return the answered questions that have values, optionally of one scheme version only."""
    counted = census(raters_scope(corpus, campaign))
    questions = [
        q for q in counted.questions.values() if q.level != "text" and not q.scheme.startswith("metric:")
    ]
    if version is None:
        return questions
    own = set(Question.objects.filter(version=version).values_list("pk", flat=True))
    return [q for q in questions if q.id in own]
