"""Who answered what: the questions and raters that a scope's labels speak of, with counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, cast

from django.db.models import Count, Q

from annotation.models import Question, Rater
from calibration.reading.scope import Scope
from calibration.statistics.core.types import Level

SHORT = 32
"""A wording of at most this many characters serves as a heading."""


@dataclass(frozen=True, slots=True)
class QuestionInfo:
    """A question as studies read it. `ref` is `scheme@version/key`, how definitions and files name it."""

    id: int
    ref: str
    scheme: str
    scheme_title: str
    key: str
    wording: str
    level: str
    values: list[Any]
    anchors: dict[str, str]
    positive: float | None
    group: str
    item_kind: str
    position: int

    @property
    def title(self) -> str:
        """A short heading: the wording where it is one, else the key (`topic_depth`: Topic depth)."""
        if len(self.wording) <= SHORT and not self.wording.endswith((".", "?", ":")):
            return self.wording
        text = self.key.replace("_", " ").replace("-", " ").strip()
        return text[:1].upper() + text[1:]

    @property
    def measured(self) -> Level:
        """The level as the statistics know it; a text has none."""
        return cast(Level, self.level)


@dataclass(frozen=True, slots=True)
class RaterInfo:
    """A rater as studies read it. `name` is unique within the scope; nobody is behind a simulated one."""

    id: int
    name: str
    kind: str
    identified: bool
    simulated: bool = False


@dataclass(frozen=True)
class Census:
    """Questions and raters by id, and per (question, rater) the numbers of labels and of missing ones."""

    questions: dict[int, QuestionInfo]
    raters: dict[int, RaterInfo]
    counts: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)

    @property
    def n_labels(self) -> int:
        """Number of labels in all."""
        return sum(total for total, _ in self.counts.values())

    def raters_of(self, question: int) -> list[RaterInfo]:
        """Return who answered a question, missing answers included."""
        return [self.raters[rater] for (asked, rater) in self.counts if asked == question]

    def by_ref(self, ref: str) -> QuestionInfo | None:
        """Return a question by its reference, None where the scope has no label of it."""
        return next((q for q in self.questions.values() if q.ref == ref), None)


def census(scope: Scope) -> Census:
    """Count a scope's labels by question and rater: three queries, however many labels there are."""
    rows = (
        scope.labels()
        .values("question_id", "rater_id")
        .annotate(n=Count("pk"), gone=Count("pk", filter=~Q(missing="")))
        .order_by("question_id", "rater_id")
        .values_list("question_id", "rater_id", "n", "gone")
    )
    counts = {(question, rater): (n, gone) for question, rater, n, gone in rows}
    questions = Question.objects.filter(pk__in={question for question, _ in counts})
    raters = Rater.objects.filter(pk__in={rater for _, rater in counts})
    return Census(
        {info.id: info for info in map(question_info, _ordered(questions))},
        _raters(list(raters.order_by("pk"))),
        counts,
    )


def _ordered(questions: Any) -> Any:
    order = ("version__scheme__key", "version__version", "position")
    return questions.select_related("version__scheme").order_by(*order)


def question_info(question: Question) -> QuestionInfo:
    """Return what studies read of a question; select its version and scheme with it."""
    version = question.version
    return QuestionInfo(
        id=question.pk,
        ref=f"{version.scheme.key}@{version.version}/{question.key}",
        scheme=f"{version.scheme.key}@{version.version}",
        scheme_title=version.scheme.title,
        key=question.key,
        wording=question.wording,
        level=question.level,
        values=list(question.values),
        anchors=dict(question.anchors),
        positive=question.positive,
        group=question.group,
        item_kind=version.item_kind,
        position=question.position,
    )


def _raters(raters: list[Rater]) -> dict[int, RaterInfo]:
    """Name each rater uniquely: the kind is added where two share a name, and then the number."""
    names = Counter(rater.name for rater in raters)
    with_kind = Counter((rater.name, rater.kind) for rater in raters)
    found = {}
    for rater in raters:
        name = rater.name
        if names[rater.name] > 1:
            name = f"{rater.name} ({rater.kind})"
        if with_kind[rater.name, rater.kind] > 1:
            name = f"{rater.name} ({rater.kind} {rater.pk})"
        simulated = bool(rater.spec.get("simulated"))
        found[rater.pk] = RaterInfo(rater.pk, name, rater.kind, rater.identified, simulated)
    return found
