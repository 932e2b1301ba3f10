"""Whether gold still says what the labels of now would: what came or changed since it was made."""

from __future__ import annotations

from dataclasses import replace

from django.db.models import Exists, OuterRef

from annotation.labels.pseudonyms import name_of
from annotation.models import Occasion, Rater
from calibration.gold.rules import RULES
from calibration.gold.rules.adjudicated import DECISIONS, IGNORED
from calibration.models import Gold
from calibration.reading.changes import Changes, since
from calibration.reading.scope import scope_of


def changes_of(gold: Gold) -> Changes:
    """Return what became, since a gold was made, of the labels on its questions."""
    scope = scope_of(gold.corpus, gold.campaign, gold.part)
    rule = RULES.get(gold.rule)
    reads = rule is not None and rule.reads_adjudications
    if reads and gold.options.get(DECISIONS) != IGNORED:
        scope = replace(scope, occasions=(*scope.occasions, Occasion.ADJUDICATION))
    return since(scope, gold.created_at, _questions(gold))


def counts_everybody(gold: Gold) -> bool:
    """Whether a gold was chosen from the answers of all people who had answered its questions by then."""
    names = gold.options["raters"]
    answered = scope_of(gold.corpus, gold.campaign, gold.part).ever()
    answered = answered.filter(question__in=_questions(gold), created_at__lte=gold.created_at)
    theirs = answered.filter(rater=OuterRef("pk"))
    for rater in Rater.objects.filter(Exists(theirs)):
        chosen = rater.name in names or name_of(rater, gold.corpus_id) in names
        if chosen != (rater.kind == Rater.Kind.HUMAN):
            return False
    return True


def _questions(gold: Gold) -> list[int]:
    return list(gold.scheme_version.questions.values_list("pk", flat=True))
