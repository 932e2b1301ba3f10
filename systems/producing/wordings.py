"""What models worded becomes part of the questions: the last wordings of every script of a corpus."""

from __future__ import annotations

from collections import Counter

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Corpus, Dialogue
from annotation.question_sets import wordings
from systems.models import Production

GENERATOR = "dialsim_style"


@transaction.atomic
def take(*, corpus: Corpus, by: User | None) -> dict[str, int]:
    """Give a corpus's questions the wordings that were made last, script by script; return what was done."""
    told: Counter[str] = Counter(worded=0, superseded=0, used=0)
    last: dict[Dialogue, dict[str, wordings.Styles]] = {}
    done = Production.objects.filter(
        generator=GENERATOR,
        status=Production.Status.DONE,
        dialogue__corpus=corpus,
        dialogue__script__isnull=False,
    )
    for production in done.select_related("dialogue__corpus").order_by("dialogue__key", "pk"):
        last.setdefault(production.dialogue, {}).update(_styles(production))
    for dialogue, styles in last.items():
        told.update(wordings.take(dialogue=dialogue, styles=styles, by=by))
    return dict(told)


def take_one(production: Production, by: User | None) -> dict[str, int]:
    """Give a script's questions the wordings that one production came to; return what was done."""
    return wordings.take(dialogue=production.dialogue, styles=_styles(production), by=by)


def _styles(production: Production) -> dict[str, wordings.Styles]:
    return (production.result or {}).get("styles") or {}
