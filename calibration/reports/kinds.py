"""Shared parts of all reports: parameters, the lock on the test part, the age of figures, the report kind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotation.corpora import exclusion, splits
from annotation.errors import ExclusionRefused, SplitRefused
from annotation.models import Campaign, Corpus, Rater, Split, TestLook
from calibration.errors import CalibrationError
from calibration.figure_cache import CachedFigures
from calibration.ratings import definitions
from calibration.ratings.scope import PARTS, RaterInfo, Scope, narrowed, scope_of, shown_part
from calibration.ratings.subsets import Subset
from calibration.renderings import Rendering
from calibration.statistics import Plan
from jobs.models import Job

if TYPE_CHECKING:
    from pydantic import TypeAdapter

# Parameters: the same strings from a URL, a form, a command or the API.

MOST_RESAMPLES, RESAMPLES, MOST_SEED = definitions.MOST_RESAMPLES, Plan().resamples, 2**31
Refusal = type[CalibrationError]


@dataclass(frozen=True)
class Parameters:
    """Strings by parameter name; an invalid value raises the report's refusal, with a one-line message."""

    texts: Mapping[str, str]
    refusal: Refusal

    @classmethod
    def of(cls, values: Mapping[str, Any], refusal: Refusal) -> Self:
        """Return the parameters for values as strings, without None values."""
        texts = {name: str(value).strip() for name, value in values.items() if value is not None}
        return cls(texts, refusal)

    def text(self, name: str, default: str = "") -> str:
        """Return a string, or the default if empty."""
        return self.texts.get(name) or default

    def names(self, name: str) -> tuple[str, ...]:
        """Return the distinct names in a comma-separated list."""
        return split_names(self.text(name))

    def integer(self, name: str, most: int, least: int = 0) -> int | None:
        """Return an integer within bounds, None if empty."""
        text = self.text(name)
        return self._integer(name, text, least, most) if text else None

    def integers(self, name: str, most: int, least: int = 0) -> tuple[int, ...]:
        """Return the distinct integers in a comma-separated list, in ascending order."""
        return tuple(sorted({self._integer(name, text, least, most) for text in self.names(name)}))

    def number(self, name: str, default: float, least: float, most: float) -> float:
        """Return a number within bounds, or the default if empty."""
        text = self.text(name)
        try:
            value = float(text) if text else default
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise self.refusal(f"{name}: a number from {least} to {most}, not {text!r}")
        return value

    def flag(self, name: str) -> bool:
        """Whether a box is ticked."""
        return self.text(name).lower() in ("1", "yes", "true", "on")

    def _integer(self, name: str, text: str, least: int, most: int) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 12 and least <= int(text) <= most):
            label = name.replace("_", " ")
            raise self.refusal(f"{label}: a whole number from {least} to {most:,}, not {text!r}")
        return int(text)

    @property
    def part(self) -> str:
        """The part of the corpus to report on; empty for the default."""
        part = self.text("part")
        if part not in PARTS:
            raise self.refusal(f"a part is dev, test, all or training, not {part!r}")
        return part

    def exclude(self, corpus: Corpus) -> str:
        """Return the exclusion of a corpus's dialogues by people's answers; empty for none."""
        try:
            return exclusion.check(corpus, self.text("exclude"))
        except ExclusionRefused as error:
            raise self.refusal(str(error)) from error

    def plan(self, level: float = 0.95) -> Plan:
        """Return the resampling plan for intervals at a confidence level."""
        resamples = self.integer("resamples", MOST_RESAMPLES)
        return Plan(
            RESAMPLES if resamples is None else resamples, self.integer("seed", MOST_SEED) or 0, level
        )


def split_names(text: str) -> tuple[str, ...]:
    """Return the distinct names in a comma-separated list."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


# The lock on the test part: its figures are shown once it was opened for the judges; every look is logged.


@dataclass(frozen=True)
class CorpusQuery:
    """A query on the labels of a corpus or campaign.

    ``part`` is dev, test (once opened), training, or all without a split; ``plan`` is the resampling plan
    for intervals; ``exclude`` leaves out dialogues by people's answers, such as `objection>=1`.
    """

    corpus: Corpus
    campaign: Campaign | None = None
    part: str = ""
    plan: Plan = field(default_factory=Plan)
    exclude: str = field(default="", kw_only=True)

    @property
    def scope(self) -> Scope:
        """The scope of the labels to read."""
        scope = scope_of(self.corpus, self.campaign, self.part)
        return narrowed(scope, Subset(exclude=self.exclude)) if self.exclude else scope

    def left_out(self) -> dict[str, Any] | None:
        """Return what `exclude` leaves out as of now, as plain data; None without it."""
        return exclusion.described(self.corpus, self.exclude, training=self.scope.training)


@dataclass(frozen=True)
class ReportPart:
    """The part of a corpus that a report covers, and the split that locks the corpus, if any."""

    split: Split | None
    name: str

    @cached_property
    def looks(self) -> tuple[TestLook, ...]:
        """All logged looks at test; empty unless the report covers test."""
        if self.split is None or self.name != "test":
            return ()
        return tuple(self.split.looks.select_related("by"))

    def check_opened(self, raters: Iterable[Rater], refusal: Refusal) -> None:
        """Raise the refusal if the report covers test and test was not opened for one of the raters."""
        if self.split is None or self.name != "test":
            return
        if closed := splits.unopened_raters(self.split, raters):
            raise refusal(f"test was not opened for {closed[0].name}: open it, and say what for")


def part_of(query: CorpusQuery, refusal: Refusal) -> ReportPart:
    """Return the part to show: dev unless test or training is named.

    Raises the refusal for test before it was opened, and for an unknown part.
    """
    try:
        return ReportPart(*shown_part(query.scope, query.part))
    except SplitRefused as error:
        raise refusal(str(error)) from error


def fix_part(part: ReportPart, by: User | None) -> frozenset[str] | None:
    """Return the part's clusters, None for all; this fixes the split, as does every look at labels."""
    if part.split is None:
        return None
    splits.fix(split=part.split, by=by)
    return splits.clusters(split=part.split, part=part.name)


def log_look(
    *,
    query: CorpusQuery,
    raters: Callable[[], Collection[Rater]],
    by: User | None,
    purpose: str,
    refusal: Refusal,
) -> TestLook:
    """Log a look at test, with user and purpose, for the judges among the raters that a report reads.

    Raises the refusal without a purpose, or if the corpus has no split.
    """
    split = splits.lock_of(query.corpus)
    if split is None:
        raise refusal(f"the corpus {query.corpus.name} has no split, so there is no test part to open")
    try:
        return splits.open_test(split=split, by=by, purpose=purpose, raters=raters())
    except SplitRefused as error:
        raise refusal(str(error)) from error


def rater_rows(raters: Iterable[RaterInfo]) -> QuerySet[Rater]:
    """Return the database rows of raters."""
    return Rater.objects.filter(pk__in={rater.id for rater in raters})


# The age of figures: for many labels a worker computes them; they are shown until newer ones are ready.

Figures = TypeVar("Figures")


class Dated:
    """Figures with the time of their computation; `cached` is None for figures of the current labels."""

    cached: CachedFigures | None

    @property
    def computed_at(self) -> datetime | None:
        """Time at which cached figures were computed, None if not cached."""
        return self.cached.at if self.cached else None

    @property
    def labels_since(self) -> bool:
        """Whether labels were added or withdrawn since."""
        return bool(self.cached and self.cached.labels_since)

    @property
    def calls_since(self) -> bool:
        """Whether calls of judges or metrics have ended since."""
        return bool(self.cached and self.cached.calls_since)


@cache
def adapter(figures: type[Figures]) -> TypeAdapter[Figures]:
    """Return the adapter that stores figures as JSON and reads them back."""
    from pydantic import TypeAdapter  # a tenth of a second, and most requests need none

    return TypeAdapter(figures)


# Report kind: everything that a report's page, files and route need.

Query = TypeVar("Query")
Report = TypeVar("Report")


@dataclass(frozen=True)
class ReportKind(Generic[Query, Report]):
    """A kind of report about a corpus (or a dialogue); ``name`` is used in its URLs and file names.

    ``read`` builds a query from parameters, the subject and a campaign. ``compute(query=, by=, again=)``
    returns the report, or the job that computes it; ``again`` requests newer figures. If there is a test
    part, ``open_test`` logs a look at it. ``file_detail`` is appended to a file's name, before its suffix.
    """

    name: str
    title: str
    read: Callable[[Mapping[str, Any], Any, Campaign | None], Query]
    compute: Callable[..., Report | Job]
    renderings: Mapping[str, Rendering[Report, Any]]
    open_test: Callable[..., TestLook] | None = None
    file_detail: Callable[[Report, str], str] = lambda report, form: ""

    def file_name(self, subject: int, report: Report, form: str) -> str:
        """Return the name of a downloaded file."""
        suffix = self.renderings[form].suffix
        return f"{self.name}-{subject}{self.file_detail(report, form)}.{suffix}"

    def compute_on_test(self, *, query: Query, by: User | None, purpose: str) -> Report | Job:
        """Log a look at test and compute the report there."""
        assert self.open_test is not None, "a kind without a test part has no form that opens it"
        return compute_on_test(self.compute, self.open_test, query=query, by=by, purpose=purpose)


@transaction.atomic
def compute_on_test(
    compute: Callable[..., Report],
    open_test: Callable[..., TestLook],
    *,
    query: Any,
    by: User | None,
    purpose: str,
) -> Report:
    """Log a look at test and compute the report there; a report refused at once is not logged as a look."""
    open_test(query=query, by=by, purpose=purpose)
    return compute(query=replace(query, part="test"), by=by)
