"""Which labels a study, a gold derivation or an export speaks of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.checks.left_out import LeftOut, left_out
from annotation.labels import counts
from annotation.models import Campaign, Corpus, Item, ItemMember, Label, LabelCount, Occasion, Rater, Task
from calibration.models import Study

STATISTICS_READ: tuple[str, ...] = (Occasion.MAIN, Occasion.IMPORTED)
"""The occasions whose labels statistics read unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The labels of a corpus, or of one campaign in it, given on some occasions.

    A campaign's scope holds its people's labels, and what judges, metrics and answer keys said about its
    items, wherever they said it. `without` are those whose labels of a campaign are left out of it.
    """

    corpus: Corpus
    campaign: Campaign | None = None
    occasions: tuple[str, ...] = STATISTICS_READ
    without: tuple[LeftOut, ...] = ()

    @property
    def name(self) -> str:
        """How the scope is called on pages."""
        return self.campaign.name if self.campaign else self.corpus.name

    def labels(self) -> QuerySet[Label]:
        """Return the live labels in scope."""
        return self.ever().filter(superseded_at__isnull=True)

    def ever(self) -> QuerySet[Label]:
        """Return the labels in scope, those that no longer count among them."""
        found = Label.objects.filter(item__corpus=self.corpus, occasion__in=self.occasions)
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
        kept = LabelCount.objects.filter(corpus=self.corpus, occasion__in=self.occasions)
        if self.without:
            kept = kept.exclude(_by_any(self.without))
        return kept if self.campaign is None else kept.filter(campaign=self.campaign)

    def machine_counts(self) -> QuerySet[LabelCount]:
        """Return the counts of the labels of which those about a campaign's items are in its scope, too."""
        if self.campaign is None:
            return LabelCount.objects.none()
        kept = LabelCount.objects.filter(corpus=self.corpus, occasion__in=self.occasions)
        return kept.filter(campaign__isnull=True).exclude(rater__kind=Rater.Kind.HUMAN)

    def machine_labels(self) -> QuerySet[Label]:
        """Return the labels that `machine_counts` speaks of, those about the campaign's items alone."""
        return self.labels().filter(campaign__isnull=True) if self.campaign else Label.objects.none()

    def most(self) -> int:
        """Return how many labels there are at most; of a corpus's scope it is their number."""
        return counts.total(self.counts()).n + counts.total(self.machine_counts()).n

    def stamp(self) -> str:
        """Return a short text that changes whenever labels of the scope do.

        A campaign's changes with what machines say about other items of its corpus, too.
        """
        parts = [counts.total(self.counts())]
        if self.campaign is not None:
            parts.append(counts.total(self.machine_counts()))
        return " ".join(f"{part.n}:{part.changes}:{part.last}" for part in parts)


def items_of(scope: Scope) -> QuerySet[Item]:
    """Return the items that a scope is about: all of a corpus, or those on a campaign's tasks."""
    items = Item.objects.filter(corpus=scope.corpus)
    return items.filter(_in_tasks(scope.campaign, "")) if scope.campaign else items


def of_corpus(corpus: Corpus) -> Scope:
    """Return the scope of a whole corpus."""
    return Scope(corpus)


def of_campaign(campaign: Campaign) -> Scope:
    """Return a campaign's scope. Where its labels are given on a special occasion, it reads that one too."""
    special = () if campaign.occasion in STATISTICS_READ else (str(campaign.occasion),)
    return Scope(campaign.corpus, campaign, STATISTICS_READ + special)


def scope_of(corpus: Corpus, campaign: Campaign | None) -> Scope:
    """Return the scope of a campaign, or of the corpus where there is none."""
    return of_campaign(campaign) if campaign else of_corpus(corpus)


def of_study(study: Study) -> Scope:
    """Return a study's scope: without the people left out of gold, where it leaves them out."""
    found = scope_of(study.corpus, study.campaign)
    return without_left_out(found) if leaves_out(study) else found


def leaves_out(study: Study) -> bool:
    """Whether a study leaves out who is left out of gold: as it says, else if it is an automatic one."""
    return bool(study.definition.get("leave_out", study.automatic))


def without_left_out(scope: Scope) -> Scope:
    """Return a scope without the labels of those who are left out of gold, in the campaigns concerned."""
    return replace(scope, without=left_out(scope.corpus, scope.campaign))


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
