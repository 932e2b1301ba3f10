"""From a query to its report of preferences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from django.contrib.auth.models import User
from django.db import transaction

from annotation.corpora import openings, splits
from annotation.errors import SplitRefused
from annotation.models import Campaign, Corpus, Rater, TestLook
from annotation.models.corpora import Split
from calibration.counts.query import MOST_RESAMPLES, CountsQuery, part_of
from calibration.errors import PreferencesRefused
from calibration.preferences import reading
from calibration.reading.census import Census, QuestionInfo, census
from calibration.reading.scope import PARTS, Scope, scope_of
from calibration.statistics import Plan
from calibration.statistics.preferences.fitting import MODELS
from calibration.statistics.preferences.report import Choices, Preferences, preferences
from calibration.statistics.preferences.votes import BOTH_BAD_POLICIES, Vote

# What a report of preferences is made of: per question the figures, and the facts that go with them.


@dataclass(frozen=True)
class Asked:
    """One question's figures. ``title`` is empty where a file has one question without a name."""

    key: str
    title: str
    figures: Preferences


@dataclass(frozen=True)
class Report:
    """All questions of a file, a corpus or a campaign: its name, what was read, and what limits it."""

    name: str
    questions: tuple[Asked, ...]
    facts: tuple[str, ...] = ()


# What a report of preferences is asked for, in the same words by page, command and API.

NAMES = ("question", "systems", "ties", "both_bad", "anchor", "part", "resamples", "seed")
"""What an address may ask for."""


@dataclass(frozen=True)
class PreferencesQuery:
    """A question put to the answers about pairs and rankings of a corpus or campaign.

    ``question`` is `scheme@version/key` or a key, empty for all. ``systems`` keeps comparisons among these
    alone. ``part`` is dev, test (once it was opened), training, or all without a split.
    """

    corpus: Corpus
    campaign: Campaign | None = None
    question: str = ""
    systems: tuple[str, ...] = ()
    choices: Choices = field(default_factory=Choices)
    part: str = ""
    plan: Plan = field(default_factory=Plan)

    @property
    def scope(self) -> Scope:
        """The labels that are read."""
        return scope_of(self.corpus, self.campaign, self.part)

    def parted(self) -> tuple[Split | None, str]:
        """Return the split that locks the corpus and the part to show. Raises CalibrationError."""
        return part_of(CountsQuery(self.corpus, self.campaign, part=self.part))


def read(given: Mapping[str, Any], corpus: Corpus, campaign: Campaign | None) -> PreferencesQuery:
    """Return the query that plain texts (of an address, a form, a command) ask for.

    Systems are separated by commas. Raises PreferencesRefused with one clear line.
    """
    text = {key: str(value).strip() for key, value in given.items() if value is not None}
    ties, both_bad = text.get("ties") or "half", text.get("both_bad") or "tie"
    for name, value, known in (("ties", ties, MODELS), ("both_bad", both_bad, BOTH_BAD_POLICIES)):
        if value not in known:
            raise PreferencesRefused(f"{name} is one of {', '.join(known)}, not {value!r}")
    if (part := text.get("part", "")) not in PARTS:
        raise PreferencesRefused(f"a part is dev, test, all or training, not {part!r}")
    resamples = _whole("resamples", text.get("resamples", ""), MOST_RESAMPLES, 2000)
    return PreferencesQuery(
        corpus,
        campaign,
        text.get("question", ""),
        tuple(name.strip() for name in text.get("systems", "").split(",") if name.strip()),
        cast(Any, Choices)(ties, both_bad, text.get("anchor", "")),
        part,
        Plan(resamples, _whole("seed", text.get("seed", ""), 2**31, 0)),
    )


def _whole(name: str, text: str, most: int, usual: int) -> int:
    if not text:
        return usual
    if not (text.isascii() and text.isdigit() and len(text) < 12 and int(text) <= most):
        raise PreferencesRefused(f"{name}: a whole number from 0 to {most:,}, not {text!r}")
    return int(text)


NOTHING = "nobody compared responses here yet: collect answers about pairs, import some, or run a judge"


@dataclass(frozen=True)
class Computed:
    """A report with what it was made of: the part of a split it shows, and the looks at test."""

    query: PreferencesQuery
    report: Report
    part: str
    split: Split | None
    looks: tuple[TestLook, ...]


def compute(*, query: PreferencesQuery, by: User | None) -> Computed:
    """Return the report of a query. A split is fixed by it, as by every look at labels.

    Raises CalibrationError, in one line, where there is none, and for a test part that was not opened.
    """
    split, part = query.parted()
    counted = census(query.scope)
    asked = _asked(query, reading.comparing(counted))
    if split is not None:
        splits.fix(split=split, by=by)
        if part == "test":
            _check_opened(split, asked, counted)
    clusters = None if split is None else splits.clusters(split=split, part=part)
    votes = reading.votes(query.scope, asked, counted, clusters)
    among = {question: reading.among(given, query.systems) for question, given in votes.items()}
    found = [_of(query, one, among[one.id]) for one in asked if among[one.id]]
    if not found:
        where = f"the {part} part" if split else query.scope.name
        raise PreferencesRefused(
            f"{where} has no answers about these systems" if any(votes.values()) else NOTHING
        )
    looks = split.looks.select_related("by") if split is not None and part == "test" else ()
    name = f"Preferences in {query.scope.name}{f', {part} part' if split else ''}"
    report = Report(name, tuple(found), _facts(query, votes, among))
    return Computed(query, report, part, split, tuple(looks))


@transaction.atomic
def open_test(*, query: PreferencesQuery, by: User | None, purpose: str) -> TestLook:
    """Log a look at test, with who and for what. Its preferences can then be computed.

    Raises PreferencesRefused without a purpose, or where the corpus has no split.
    """
    split = splits.lock_of(query.corpus)
    if split is None:
        raise PreferencesRefused(f"the corpus {query.corpus.name} has no split, so there is no test to open")
    counted = census(query.scope)
    judges = _judges(reading.comparing(counted), counted)
    try:
        return splits.open_test(split=split, by=by, purpose=purpose, raters=judges)
    except SplitRefused as error:
        raise PreferencesRefused(str(error)) from error


@transaction.atomic
def compute_on_test(*, query: PreferencesQuery, by: User | None, purpose: str) -> Computed:
    """Log a look at test and return the report there; where it cannot be made, there was no look."""
    open_test(query=query, by=by, purpose=purpose)
    return compute(query=replace(query, part="test"), by=by)


def _asked(query: PreferencesQuery, known: list[QuestionInfo]) -> list[QuestionInfo]:
    if not known:
        raise PreferencesRefused(NOTHING)
    if not query.question:
        return known
    found = [one for one in known if query.question in (one.ref, one.key)]
    if not found:
        there_are = ", ".join(one.ref for one in known)
        raise PreferencesRefused(f"no question {query.question!r} compares responses; there are {there_are}")
    return found


def _of(query: PreferencesQuery, question: QuestionInfo, votes: list[Vote]) -> Asked:
    try:
        return Asked(question.ref, question.title, preferences(votes, query.choices, query.plan))
    except ValueError as error:
        raise PreferencesRefused(f"{question.ref}: {error}") from error


def _judges(questions: list[QuestionInfo], counted: Census) -> list[Rater]:
    ids = {rater.id for one in questions for rater in counted.raters_of(one.id)}
    return list(Rater.objects.filter(pk__in=ids, kind=Rater.Kind.JUDGE))


def _check_opened(split: Split, questions: list[QuestionInfo], counted: Census) -> None:
    if closed := openings.unopened(split, _judges(questions, counted)):
        raise PreferencesRefused(f"test was not opened for {closed[0].name}: open it, and say what for")


def _facts(
    query: PreferencesQuery,
    votes: dict[int, list[Vote]],
    among: dict[int, list[Vote]],
) -> tuple[str, ...]:
    facts = ["Clusters: dialogues, or what dialogues share."]
    left = sum(map(len, votes.values())) - sum(map(len, among.values()))
    if left:
        facts.append(f"{left:,} answers are about systems that were not chosen.")
    return tuple(facts)
