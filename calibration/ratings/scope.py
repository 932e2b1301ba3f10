"""Scope of a study, gold derivation or export: its labels, the raters of each question, and later changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce
from hashlib import sha256
from operator import or_
from typing import Any, cast

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from annotation.campaigns.choice import by_review, by_speakers
from annotation.corpora import exclusion, splits
from annotation.corpora.splits import TRAINING
from annotation.errors import SplitRefused
from annotation.models import Campaign, Corpus, Item, ItemMember, LabelCount, Occasion, Question, Split, Task
from annotation.models.labels import Label, Rater
from annotation.work import labels
from annotation.work import labels as label_counts
from annotation.work.check_stages import LeftOut, left_out
from annotation.work.labels import name_of
from calibration.models import Study
from calibration.ratings.subsets import ALL_LABELS, Subset, parse_subset
from calibration.statistics.core.ratings import Level

# Labels that belong to a study, a gold derivation or an export.

PARTS = ("", "dev", "test", "all", TRAINING)
"""Valid values of the URL parameter for the part shown."""
STATISTICS_READ: tuple[str, ...] = (Occasion.MAIN, Occasion.IMPORTED)
"""Occasions whose labels statistics read by default."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The labels of a corpus, or of one of its campaigns, given on certain occasions.

    A campaign's scope holds its people's labels, and the labels of judges, metrics and answer keys on its
    items, wherever they were given. `without` lists people whose labels in a campaign are excluded. With
    `training` the scope holds only labels of training dialogues; without it, none of them. `subset` narrows
    it to the labels of some systems, conditions and days; `excluded` are the ids of the dialogues that its
    exclusion leaves out (`narrowed`).
    """

    corpus: Corpus
    campaign: Campaign | None = None
    occasions: tuple[str, ...] = STATISTICS_READ
    without: tuple[LeftOut, ...] = ()
    training: bool = False
    subset: Subset = ALL_LABELS
    excluded: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """Name of the scope on pages."""
        name = self.campaign.name if self.campaign else self.corpus.name
        return f"{name}, training part" if self.training else name

    @property
    def part(self) -> str:
        """The part of dialogues in the form that `annotation.corpora.splits` expects."""
        return TRAINING if self.training else ""

    def labels(self) -> QuerySet[Label]:
        """Return the live labels in scope."""
        return self.ever().filter(superseded_at__isnull=True)

    def ever(self) -> QuerySet[Label]:
        """Return the labels in scope, superseded ones included."""
        labels = Label.objects.filter(
            item__corpus=self.corpus, item__training=self.training, occasion__in=self.occasions
        )
        if self.without:
            labels = labels.exclude(_by_any(self.without))
        if self.subset:
            labels = labels.filter(self.of_items("item__"), self.subset.of_days("created_at"))
        if self.campaign is None:
            return labels
        own = Q(campaign=self.campaign)
        machine = ~Q(rater__kind=Rater.Kind.HUMAN) & Q(campaign__isnull=True)
        return labels.filter(own | (machine & _in_tasks(self.campaign)))

    def of_items(self, prefix: str = "") -> Q:
        """Condition: an item is in the subset. `prefix` leads from rows to the item."""
        excluded = exclusion.without(self.excluded, f"{prefix}continuation__dialogue__")
        return self.subset.of_items(prefix) & excluded

    def of_continuations(self, prefix: str = "") -> Q:
        """Condition: a continuation is in the subset. `prefix` leads from rows to the continuation."""
        return self.subset.of_continuations(prefix) & exclusion.without(self.excluded, f"{prefix}dialogue__")

    def counts(self) -> QuerySet[LabelCount]:
        """Return the counts of labels that are in scope whatever their items.

        For a corpus these are all its labels, for a campaign the labels given in it.
        """
        counts = self._counts()
        if self.without:
            counts = counts.exclude(_by_any(self.without))
        return counts if self.campaign is None else counts.filter(campaign=self.campaign)

    def machine_counts(self) -> QuerySet[LabelCount]:
        """Return counts of machine labels; those labels on a campaign's items are in its scope, too."""
        if self.campaign is None:
            return LabelCount.objects.none()
        return self._counts().filter(campaign__isnull=True).exclude(rater__kind=Rater.Kind.HUMAN)

    def _counts(self) -> QuerySet[LabelCount]:
        return LabelCount.objects.filter(
            corpus=self.corpus, training=self.training, occasion__in=self.occasions
        )

    def machine_labels(self) -> QuerySet[Label]:
        """Return the labels behind `machine_counts`, restricted to the campaign's items."""
        return self.labels().filter(campaign__isnull=True) if self.campaign else Label.objects.none()

    def most(self) -> int:
        """Return an upper bound for the number of labels; exact for a corpus."""
        return label_counts.total_labels(self.counts()).n + label_counts.total_labels(self.machine_counts()).n

    def stamp(self) -> str:
        """Return a short text that changes whenever labels of the scope do.

        For a campaign it also changes with machine labels on other items of its corpus. A subset's labels
        are counted afresh.
        """
        if self.subset:
            counts = self.ever().aggregate(
                n=Count("pk", filter=Q(superseded_at=None)), changes=Count("pk"), last=Max("pk")
            )
            stamp = "{n}:{changes}:{last}".format(**counts)
            excluded = sha256(repr(self.excluded).encode()).hexdigest()[:16] if self.subset.exclude else ""
            return f"{stamp}:{excluded}" if excluded else stamp
        parts = [label_counts.total_labels(self.counts())]
        if self.campaign is not None:
            parts.append(label_counts.total_labels(self.machine_counts()))
        return " ".join(f"{part.n}:{part.changes}:{part.last}" for part in parts)


def items_of(scope: Scope) -> QuerySet[Item]:
    """Return the items of a scope: those of a corpus, or those of a campaign's tasks."""
    items = Item.objects.filter(scope.of_items(), corpus=scope.corpus, training=scope.training)
    return items.filter(_in_tasks(scope.campaign, "")) if scope.campaign else items


def of_corpus(corpus: Corpus) -> Scope:
    """Return the scope of a whole corpus without its training dialogues."""
    return Scope(corpus)


def of_campaign(campaign: Campaign) -> Scope:
    """Return a campaign's scope, including the campaign's own occasion if that is a special one."""
    special = () if campaign.occasion in STATISTICS_READ else (str(campaign.occasion),)
    occasions, training = STATISTICS_READ + special, campaign.part == TRAINING
    return Scope(campaign.corpus, campaign, occasions, training=training)


def scope_of(corpus: Corpus, campaign: Campaign | None, part: str = "") -> Scope:
    """Return the scope of a campaign, else of the corpus; with `part` training, of its training dialogues.

    A campaign about training dialogues reads these, whatever the part.
    """
    scope = of_campaign(campaign) if campaign else of_corpus(corpus)
    return replace(scope, training=True) if part == TRAINING else scope


def of_study(study: Study) -> Scope:
    """Return a study's scope: its subset, without people left out of gold if the study excludes them.

    A study whose split is called training covers the training dialogues.
    """
    scope = scope_of(study.corpus, study.campaign, str(study.definition.get("split") or ""))
    scope = narrowed(scope, parse_subset(study.definition.get("subset")))
    return without_left_out(scope) if leaves_out(study) else scope


def narrowed(scope: Scope, subset: Subset) -> Scope:
    """Return a scope narrowed to a subset; the dialogues that its exclusion leaves out are those of now."""
    result = exclusion.left_out(scope.corpus, subset.exclude, training=scope.training)
    return replace(scope, subset=subset, excluded=tuple(result.ids) if result else ())


def leaves_out(study: Study) -> bool:
    """Whether a study excludes people left out of gold: its own setting; by default automatic studies do."""
    return bool(study.definition.get("leave_out", study.automatic))


def without_left_out(scope: Scope) -> Scope:
    """Return a scope without the labels of people left out of gold, in the campaigns concerned."""
    return replace(scope, without=left_out(scope.corpus, scope.campaign))


def shown_part(scope: Scope, part: str) -> tuple[Split | None, str]:
    """Return the split that locks a scope's corpus, and the part to show: dev by default.

    Training has no split. Raises SplitRefused for an unopened test part, and for an unknown part.
    """
    name = scope.corpus.name
    if scope.training:
        if part not in ("", TRAINING):
            raise SplitRefused(f"{scope.name} is of training alone: there is no {part} part of it")
        if not scope.corpus.has_training:
            raise SplitRefused(f"no dialogue of {name} is in training")
        return None, TRAINING
    split = splits.lock_of(scope.corpus)
    if split is None:
        if part in ("", "all"):
            return None, "all"
        raise SplitRefused(f"the corpus {name} has no split, so there is no {part} part")
    if part == "all":
        raise SplitRefused(f"the corpus {name} has a split: show dev, or test")
    if part == "test" and not split.looks.exists():
        raise SplitRefused("test was not opened: say what it is needed for first")
    return split, part or "dev"


def _by_any(people: tuple[LeftOut, ...]) -> Q:
    """Condition: a label was given by a person in a campaign from which the person is left out."""
    return reduce(or_, (Q(campaign=person.campaign, rater=person.rater) for person in people))


def _in_tasks(campaign: Campaign, item: str = "item__") -> Q:
    """Condition: an item, or a label's item, is rated in one of the campaign's tasks."""
    tasks = Task.objects.filter(campaign=campaign)
    own = tasks.filter(continuation=OuterRef(f"{item}continuation"))
    on_task = Q(Exists(own.filter(Q(item__isnull=True) | Q(item=OuterRef(f"{item}pk")))))
    on_task &= by_speakers(campaign.speakers, item) & by_review(campaign, item)
    if not campaign.side_by_side:
        return on_task
    beside = ItemMember.objects.filter(turn=OuterRef(f"{item}turn"), item__in=tasks.values("item"))
    return on_task | Q(Exists(beside))


# Census: questions and raters of a scope's labels, with counts.

Pairs = dict[tuple[int, int], tuple[int, int]]
"""Per (question id, rater id): the numbers of labels and of missing ones."""

MOST_COUNTED = 20_000
"""Up to this many machine labels in a corpus, a page checks which are on a campaign's items."""


@dataclass(frozen=True, slots=True)
class QuestionInfo:
    """A question as studies read it. `ref` is `scheme@version/key`, its name in definitions and files.

    `title` is its name on pages: its short name, else its wording.
    """

    id: int
    ref: str
    scheme: str
    scheme_title: str
    key: str
    title: str
    wording: str
    level: str
    values: list[Any]
    anchors: dict[str, str]
    positive: float | None
    group: str
    item_kind: str
    position: int

    @property
    def measured(self) -> Level:
        """The level in the statistics library's type; a text has none."""
        return cast(Level, self.level)


@dataclass(frozen=True, slots=True)
class RaterInfo:
    """A rater as studies read it. `name` is unique within the scope; a simulated rater is no real person.

    A person with an account appears under their pseudonym in the corpus. `address` and `revision` describe
    the server that a judge calls. Pages show a judge or metric by its `title`, with `detail` in small print.
    """

    id: int
    name: str
    kind: str
    identified: bool
    simulated: bool = False
    address: str = ""
    revision: str = ""
    short_name: str = ""
    detail: str = ""

    @property
    def title(self) -> str:
        """Name on pages: the short name, else the name."""
        return self.short_name or self.name

    @property
    def choice(self) -> str:
        """Name in a list of choices: `Support judge v1 (judge, gpt-4o · support@1)`."""
        return f"{self.title} ({', '.join(filter(None, (self.kind, self.detail)))})"


@dataclass(frozen=True)
class Census:
    """Questions and raters by id, and per (question, rater) the numbers of labels and of missing ones."""

    questions: dict[int, QuestionInfo]
    raters: dict[int, RaterInfo]
    counts: Pairs = field(default_factory=dict)

    @property
    def n_labels(self) -> int:
        """Total number of labels."""
        return sum(total for total, _ in self.counts.values())

    def raters_of(self, question: int) -> list[RaterInfo]:
        """Return the raters of a question, those with missing answers included."""
        return [self.raters[rater] for (question_id, rater) in self.counts if question_id == question]

    def by_ref(self, ref: str) -> QuestionInfo | None:
        """Return a question by its reference; None if the scope has no label of it."""
        return next((q for q in self.questions.values() if q.ref == ref), None)


def census(scope: Scope) -> Census:
    """Count a scope's labels by question and rater.

    Only machine labels of a campaign, and the labels of a subset, are counted afresh.
    """
    if scope.subset:
        return _census(scope, _pairs(scope.labels()))
    return _census(scope, _summed(labels.label_counts_by_pair(scope.counts()), _machine_pairs(scope)))


def offered(scope: Scope) -> Census:
    """Like `census`, but fast enough for a page: machine labels of a campaign may be overestimated.

    If machines gave more than MOST_COUNTED labels in the corpus, all of them count as the campaign's: a form
    may then offer a judge or metric that answered nothing about the campaign's items.
    """
    if scope.subset:
        return census(scope)
    machines = labels.label_counts_by_pair(scope.machine_counts())
    if sum(n for n, _ in machines.values()) <= MOST_COUNTED:
        machines = _machine_pairs(scope)
    return _census(scope, _summed(labels.label_counts_by_pair(scope.counts()), machines))


def _machine_pairs(scope: Scope) -> Pairs:
    if scope.campaign is None or not labels.total_labels(scope.machine_counts()).n:
        return {}
    return _pairs(scope.machine_labels())


def _pairs(labels: QuerySet[Label]) -> Pairs:
    rows = labels.order_by().values("question_id", "rater_id")
    counted = rows.annotate(n=Count("pk"), gone=Count("pk", filter=~Q(missing="")))
    return {(row["question_id"], row["rater_id"]): (row["n"], row["gone"]) for row in counted}


def _summed(first: Pairs, second: Pairs) -> Pairs:
    none = (0, 0)
    return {
        pair: (
            first.get(pair, none)[0] + second.get(pair, none)[0],
            first.get(pair, none)[1] + second.get(pair, none)[1],
        )
        for pair in sorted(first.keys() | second.keys())
    }


def _census(scope: Scope, pairs: Pairs) -> Census:
    """Add names of questions and raters to counted pairs, in two queries."""
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
    """Return the facts that studies read of a question; select its version and scheme with it."""
    version = question.version
    return QuestionInfo(
        id=question.pk,
        ref=f"{version.scheme.key}@{version.version}/{question.key}",
        scheme=f"{version.scheme.key}@{version.version}",
        scheme_title=version.name,
        key=question.key,
        title=question.title,
        wording=question.wording,
        level=question.level,
        values=list(question.values),
        anchors=dict(question.anchors),
        positive=question.positive,
        group=question.group,
        item_kind=question.about,
        position=question.position,
    )


def question_choices(questions: Iterable[QuestionInfo]) -> list[tuple[str, str]]:
    """Return questions as choices, `(ref, title)`; questions of one title are told apart by their schemes."""
    questions = list(questions)
    titles = Counter(question.title for question in questions)
    in_schemes = Counter((question.title, question.scheme_title) for question in questions)
    choices = []
    for question in questions:
        text = question.title
        if in_schemes[text, question.scheme_title] > 1:
            text = f"{text} ({question.ref})"
        elif titles[text] > 1:
            text = f"{text} ({question.scheme_title})"
        choices.append((question.ref, text))
    return choices


def _raters(raters: list[Rater], corpus: int) -> dict[int, RaterInfo]:
    """Give each rater a unique name: where two share one, the kind is added, and if need be the id.

    People with accounts are ordered by pseudonym, which reveals nothing about them.
    """
    called = {rater.pk: name_of(rater, corpus) for rater in raters}
    people = iter(sorted((r for r in raters if r.user_id is not None), key=lambda r: called[r.pk]))
    raters = [rater if rater.user_id is None else next(people) for rater in raters]
    names = Counter(called.values())
    with_kind = Counter((called[rater.pk], rater.kind) for rater in raters)
    infos = {}
    for rater in raters:
        name = called_name = called[rater.pk]
        if names[called_name] > 1:
            name = f"{called_name} ({rater.kind})"
        if with_kind[called_name, rater.kind] > 1:
            name = f"{called_name} ({rater.kind} {rater.pk})"
        simulated = bool(rater.spec.get("simulated"))
        server = (str(rater.spec.get(part, "")) for part in ("address", "revision"))
        short_names = (rater.title, rater.detail) if rater.short_name else ()
        infos[rater.pk] = RaterInfo(
            rater.pk, name, rater.kind, rater.identified, simulated, *server, *short_names
        )
    return infos


# Changes to a scope's labels since a report or gold was made.

MOST = 1000
"""Upper limit when counting labels: beyond it, pages say only that there are more."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Number of labels added since a moment, and of earlier ones revised or no longer valid."""

    came: int
    changed: int

    def __bool__(self) -> bool:
        return bool(self.came or self.changed)

    def __str__(self) -> str:
        """Return `12 labels came and 1 changed or was voided`."""
        parts = []
        if self.came:
            parts.append(f"{_count(self.came)} label{'' if self.came == 1 else 's'} came")
        if self.changed:
            noun = "" if parts else f" label{'' if self.changed == 1 else 's'}"
            verb = "was" if self.changed == 1 else "were"
            parts.append(f"{_count(self.changed)}{noun} changed or {verb} voided")
        return " and ".join(parts)


def since(scope: Scope, moment: datetime, questions: Iterable[int] | None = None) -> Changes:
    """Count the changes to a scope's labels (or those of some questions) after a moment.

    Both counts use an index by time, so their cost depends on the changes, not on all labels.
    """
    labels = scope.ever() if questions is None else scope.ever().filter(question__in=questions)
    new = Q(supersedes__isnull=True) | Q(supersedes__created_at__gt=moment)
    came = labels.filter(new, created_at__gt=moment, superseded_at__isnull=True)
    changed = labels.filter(superseded_at__gt=moment, created_at__lte=moment)
    return Changes(_capped(came), _capped(changed))


def _capped(labels: QuerySet[Label]) -> int:
    return labels.order_by().values("pk")[: MOST + 1].count()


def _count(number: int) -> str:
    return f"more than {MOST:,}" if number > MOST else f"{number:,}"
