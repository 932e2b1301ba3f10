"""Who answered what: the questions and raters that a scope's labels speak of, with counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, cast

from django.db.models import Count, Q

from annotation.models import Question, Rater
from annotation.work import labels
from annotation.work.labels import name_of
from calibration.reading.scope import Scope
from calibration.statistics.core.types import Level

Pairs = dict[tuple[int, int], tuple[int, int]]
"""Per (question id, rater id): the numbers of labels and of missing ones."""

MOST_COUNTED = 20_000
"""Machines' answers of a corpus up to which a page looks which are about a campaign's items."""
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
        """A short heading: the wording where it is one, else the key (`topic_depth`: Topic depth).

        A metric's own question has its wording: the key alone would not say which variant was computed.
        """
        if self.scheme.startswith("metric:"):
            return self.wording
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
    """A rater as studies read it. `name` is unique within the scope; nobody is behind a simulated one.

    A person with an account is called by their pseudonym in the corpus. `address` and `revision` are those
    of the server that a judge asks.
    """

    id: int
    name: str
    kind: str
    identified: bool
    simulated: bool = False
    address: str = ""
    revision: str = ""


@dataclass(frozen=True)
class Census:
    """Questions and raters by id, and per (question, rater) the numbers of labels and of missing ones."""

    questions: dict[int, QuestionInfo]
    raters: dict[int, RaterInfo]
    counts: Pairs = field(default_factory=dict)

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
    """Count a scope's labels by question and rater. Only machines' answers in a campaign are counted anew."""
    return _census(scope, _summed(labels.label_counts_by_pair(scope.counts()), _machine_pairs(scope)))


def offered(scope: Scope) -> Census:
    """Count as `census` does, for a page that waits: machines' answers in a campaign at most, where many.

    Where machines gave more than MOST_COUNTED labels in the corpus, all of these are taken for the
    campaign's: a form may then offer a judge or metric that answered nothing about the campaign's items.
    """
    machines = labels.label_counts_by_pair(scope.machine_counts())
    if sum(n for n, _ in machines.values()) <= MOST_COUNTED:
        machines = _machine_pairs(scope)
    return _census(scope, _summed(labels.label_counts_by_pair(scope.counts()), machines))


def _machine_pairs(scope: Scope) -> Pairs:
    if scope.campaign is None or not labels.total_labels(scope.machine_counts()).n:
        return {}
    rows = scope.machine_labels().order_by().values("question_id", "rater_id")
    counted = rows.annotate(n=Count("pk"), gone=Count("pk", filter=~Q(missing="")))
    return {(row["question_id"], row["rater_id"]): (row["n"], row["gone"]) for row in counted}


def _summed(one: Pairs, other: Pairs) -> Pairs:
    none = (0, 0)
    return {
        pair: (
            one.get(pair, none)[0] + other.get(pair, none)[0],
            one.get(pair, none)[1] + other.get(pair, none)[1],
        )
        for pair in sorted(one.keys() | other.keys())
    }


def _census(scope: Scope, pairs: Pairs) -> Census:
    """Name the questions and raters of counted labels: two queries."""
    questions = Question.objects.filter(pk__in={question for question, _ in pairs})
    raters = Rater.objects.filter(pk__in={rater for _, rater in pairs})
    return Census(
        {info.id: info for info in map(question_info, _ordered(questions))},
        _raters(list(raters.order_by("pk")), scope.corpus.pk),
        pairs,
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
        scheme_title=version.name,
        key=question.key,
        wording=question.wording,
        level=question.level,
        values=list(question.values),
        anchors=dict(question.anchors),
        positive=question.positive,
        group=question.group,
        item_kind=question.about,
        position=question.position,
    )


def _raters(raters: list[Rater], corpus: int) -> dict[int, RaterInfo]:
    """Name each rater uniquely: the kind is added where two share a name, and then the number.

    People with accounts stand in the order of their pseudonyms among themselves, which says nothing of them.
    """
    called = {rater.pk: name_of(rater, corpus) for rater in raters}
    people = iter(sorted((r for r in raters if r.user_id is not None), key=lambda r: called[r.pk]))
    raters = [rater if rater.user_id is None else next(people) for rater in raters]
    names = Counter(called.values())
    with_kind = Counter((called[rater.pk], rater.kind) for rater in raters)
    found = {}
    for rater in raters:
        name = known = called[rater.pk]
        if names[known] > 1:
            name = f"{known} ({rater.kind})"
        if with_kind[known, rater.kind] > 1:
            name = f"{known} ({rater.kind} {rater.pk})"
        simulated = bool(rater.spec.get("simulated"))
        server = (str(rater.spec.get(part, "")) for part in ("address", "revision"))
        found[rater.pk] = RaterInfo(rater.pk, name, rater.kind, rater.identified, simulated, *server)
    return found
