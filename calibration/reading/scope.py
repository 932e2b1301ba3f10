"""Which labels a study, a gold derivation or an export speaks of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from annotation.models import Campaign, Corpus, Label, Occasion, Rater, Task

STATISTICS_READ: tuple[str, ...] = (Occasion.MAIN, Occasion.IMPORTED)
"""The occasions whose labels statistics read unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The labels of a corpus, or of one campaign in it, given on some occasions.

    A campaign's scope holds its people's labels, and what judges, metrics and answer keys said about its
    items, wherever they said it.
    """

    corpus: Corpus
    campaign: Campaign | None = None
    occasions: tuple[str, ...] = STATISTICS_READ

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
        if self.campaign is None:
            return found
        own = Q(campaign=self.campaign)
        machine = ~Q(rater__kind=Rater.Kind.HUMAN) & (Q(campaign__isnull=True) | own)
        return found.filter(own | (machine & Q(_in_tasks(self.campaign))))

    def stamp(self, questions: Iterable[int] | None = None) -> str:
        """Return a short text that changes whenever labels of the scope (or of some questions) do."""
        labels = self.labels() if questions is None else self.labels().filter(question__in=questions)
        found = labels.aggregate(n=Count("pk"), last=Max("pk"))
        return f"{found['n']}:{found['last'] or 0}"


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


def _in_tasks(campaign: Campaign) -> Exists:
    """Whether a label's item is on one of the campaign's tasks."""
    tasks = Task.objects.filter(campaign=campaign, continuation=OuterRef("item__continuation"))
    return Exists(tasks.filter(Q(item__isnull=True) | Q(item=OuterRef("item"))))
