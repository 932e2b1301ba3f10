"""Which labels a study, a gold derivation or an export speaks of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.corpora import splits
from annotation.corpora.parts import TRAINING
from annotation.errors import SplitRefused
from annotation.models import (
    Campaign,
    Corpus,
    Item,
    ItemMember,
    Label,
    LabelCount,
    Occasion,
    Rater,
    Split,
    Task,
)
from annotation.work import labels as label_counts
from annotation.work.check_stages import LeftOut, left_out
from calibration.models import Study

PARTS = ("", "dev", "test", "all", TRAINING)
"""What an address may name as the part that figures are shown of."""
STATISTICS_READ: tuple[str, ...] = (Occasion.MAIN, Occasion.IMPORTED)
"""The occasions whose labels statistics read unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The labels of a corpus, or of one campaign in it, given on some occasions.

    A campaign's scope holds its people's labels, and what judges, metrics and answer keys said about its
    items, wherever they said it. `without` are those whose labels of a campaign are left out of it. Labels
    about training dialogues are in a scope of `training`, and nothing else is.
    """

    corpus: Corpus
    campaign: Campaign | None = None
    occasions: tuple[str, ...] = STATISTICS_READ
    without: tuple[LeftOut, ...] = ()
    training: bool = False

    @property
    def name(self) -> str:
        """How the scope is called on pages."""
        name = self.campaign.name if self.campaign else self.corpus.name
        return f"{name}, training part" if self.training else name

    @property
    def part(self) -> str:
        """The part of dialogues as `annotation.corpora.parts` takes it."""
        return TRAINING if self.training else ""

    def labels(self) -> QuerySet[Label]:
        """Return the live labels in scope."""
        return self.ever().filter(superseded_at__isnull=True)

    def ever(self) -> QuerySet[Label]:
        """Return the labels in scope, those that no longer count among them."""
        found = Label.objects.filter(
            item__corpus=self.corpus, item__training=self.training, occasion__in=self.occasions
        )
        if self.without:
            found = found.exclude(_by_any(self.without))
        if self.campaign is None:
            return found
        own = Q(campaign=self.campaign)
        machine = ~Q(rater__kind=Rater.Kind.HUMAN) & Q(campaign__isnull=True)
        return found.filter(own | (machine & Q(_in_tasks(self.campaign))))

    def counts(self) -> QuerySet[LabelCount]:
        """Return the counts of the labels that are in scope without a look at their items.

        These are all labels of a corpus's scope, and of a campaign's those that were given in it.
        """
        kept = self._counts()
        if self.without:
            kept = kept.exclude(_by_any(self.without))
        return kept if self.campaign is None else kept.filter(campaign=self.campaign)

    def machine_counts(self) -> QuerySet[LabelCount]:
        """Return the counts of the labels of which those about a campaign's items are in its scope, too."""
        if self.campaign is None:
            return LabelCount.objects.none()
        return self._counts().filter(campaign__isnull=True).exclude(rater__kind=Rater.Kind.HUMAN)

    def _counts(self) -> QuerySet[LabelCount]:
        return LabelCount.objects.filter(
            corpus=self.corpus, training=self.training, occasion__in=self.occasions
        )

    def machine_labels(self) -> QuerySet[Label]:
        """Return the labels that `machine_counts` speaks of, those about the campaign's items alone."""
        return self.labels().filter(campaign__isnull=True) if self.campaign else Label.objects.none()

    def most(self) -> int:
        """Return how many labels there are at most; of a corpus's scope it is their number."""
        return label_counts.total_labels(self.counts()).n + label_counts.total_labels(self.machine_counts()).n

    def stamp(self) -> str:
        """Return a short text that changes whenever labels of the scope do.

        A campaign's changes with what machines say about other items of its corpus, too.
        """
        parts = [label_counts.total_labels(self.counts())]
        if self.campaign is not None:
            parts.append(label_counts.total_labels(self.machine_counts()))
        return " ".join(f"{part.n}:{part.changes}:{part.last}" for part in parts)


def items_of(scope: Scope) -> QuerySet[Item]:
    """Return the items that a scope is about: those of a corpus, or those on a campaign's tasks."""
    items = Item.objects.filter(corpus=scope.corpus, training=scope.training)
    return items.filter(_in_tasks(scope.campaign, "")) if scope.campaign else items


def of_corpus(corpus: Corpus) -> Scope:
    """Return the scope of a whole corpus but its training dialogues."""
    return Scope(corpus)


def of_campaign(campaign: Campaign) -> Scope:
    """Return a campaign's scope. Where its labels are given on a special occasion, it reads that one too."""
    special = () if campaign.occasion in STATISTICS_READ else (str(campaign.occasion),)
    occasions, training = STATISTICS_READ + special, campaign.part == TRAINING
    return Scope(campaign.corpus, campaign, occasions, training=training)


def scope_of(corpus: Corpus, campaign: Campaign | None, part: str = "") -> Scope:
    """Return the scope of a campaign, or of the corpus where there is none; of training where the part is.

    A campaign about training dialogues reads these, whatever the part.
    """
    found = of_campaign(campaign) if campaign else of_corpus(corpus)
    return replace(found, training=True) if part == TRAINING else found


def of_study(study: Study) -> Scope:
    """Return a study's scope: without the people left out of gold, where it leaves them out.

    A study whose split is called training is about the training dialogues.
    """
    found = scope_of(study.corpus, study.campaign, str(study.definition.get("split") or ""))
    return without_left_out(found) if leaves_out(study) else found


def leaves_out(study: Study) -> bool:
    """Whether a study leaves out who is left out of gold: as it says, else if it is an automatic one."""
    return bool(study.definition.get("leave_out", study.automatic))


def without_left_out(scope: Scope) -> Scope:
    """Return a scope without the labels of those who are left out of gold, in the campaigns concerned."""
    return replace(scope, without=left_out(scope.corpus, scope.campaign))


def shown_part(scope: Scope, part: str) -> tuple[Split | None, str]:
    """Return the split that locks a scope's corpus and the part to show: dev unless another one is named.

    Training has no split. Raises SplitRefused for test before it was opened, and for a part there is not.
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
    """Whether a label is one of those that people gave in a campaign from which they are left out."""
    return reduce(or_, (Q(campaign=one.campaign, rater=one.rater) for one in people))


def _in_tasks(campaign: Campaign, item: str = "item__") -> Exists | Q:
    """Whether an item, or a label's, is on one of the campaign's tasks."""
    tasks = Task.objects.filter(campaign=campaign)
    own = tasks.filter(continuation=OuterRef(f"{item}continuation"))
    found = Exists(own.filter(Q(item__isnull=True) | Q(item=OuterRef(f"{item}pk"))))
    if not campaign.side_by_side:
        return found
    beside = ItemMember.objects.filter(turn=OuterRef(f"{item}turn"), item__in=tasks.values("item"))
    return Q(found) | Q(Exists(beside))
