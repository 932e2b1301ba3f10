"""What a new campaign starts with, from its corpus and the people."""

from __future__ import annotations

from itertools import chain, count
from typing import NamedTuple

from django.contrib.auth.models import User

from annotation import scheme_store
from annotation.corpora import queries
from annotation.formats.profile import names_a_system
from annotation.models import Corpus
from annotation.models.campaigns import NAME_LIMIT, Campaign
from annotation.people.accounts import annotators
from annotation.text.views import Blind

MOST_ANNOTATORS = 20


class Defaults(NamedTuple):
    """A free name ('' where the corpus's name would reveal a system), the newest own scheme ('' without one),
    the speakers, annotators, and raters per item."""

    name: str
    scheme: str
    speakers: list[str]
    annotators: list[User]
    raters_per_item: int


def defaults(*, corpus: Corpus, by: User) -> Defaults:
    """Return the defaults of a campaign: bots' turns, two ratings an item, all annotators or oneself."""
    people = list(annotators()[: MOST_ANNOTATORS + 1])
    people = people if 0 < len(people) <= MOST_ANNOTATORS else [by]
    own = dict(scheme_store.choices()).get(scheme_store.OWN, [])
    speakers = queries.speakers(corpus)
    bots = [name for name in speakers if names_a_system(name)]
    rated = bots if len(bots) < len(speakers) else []
    return Defaults(_free_name(corpus), own[0][0] if own else "", rated, people, min(2, len(people)))


def _free_name(corpus: Corpus) -> str:
    base = f"{corpus.name[: NAME_LIMIT - 20]} ratings"
    names = set(Campaign.objects.filter(name__startswith=base).values_list("name", flat=True))
    free = next(name for name in chain([base], (f"{base} {n}" for n in count(2))) if name not in names)
    is_blind = all(Blind(system.name).spoken(free) == free for system in corpus.systems.all())
    return free if is_blind else ""
