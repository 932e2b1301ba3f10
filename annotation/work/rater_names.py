"""Short names of judges and metrics: what pages call them, beside the `name` that is their identity."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from annotation.errors import RaterRefused
from annotation.models.labels import Rater
from annotation.schemes.definitions import SHORT_NAME
from annotation.schemes.rules import text_problem
from config.models import Event

NAMED_KINDS = (Rater.Kind.JUDGE, Rater.Kind.METRIC)
"""Kinds of raters that have a short name."""


def nameable_raters() -> QuerySet[Rater]:
    """Return the judges and metrics that can have a short name: all but drafts."""
    return Rater.objects.filter(kind__in=NAMED_KINDS).exclude(spec__has_key="draft").select_related("corpus")


@transaction.atomic
def rename_rater(*, by: User | None, rater: Rater, short_name: str) -> Rater:
    """Change a judge's or metric's short name; '' shows its name again. Files and references keep the name.

    Raises RaterRefused for people, a name that is too long, and one that another judge or metric has.
    """
    short_name = " ".join(short_name.split())
    rater = Rater.objects.select_for_update().get(pk=rater.pk)
    if problem := _problem(rater, short_name):
        raise RaterRefused(problem)
    before = rater.short_name
    if short_name == before:
        return rater
    rater.short_name = short_name
    try:
        with transaction.atomic():
            rater.save(update_fields=["short_name"])
    except IntegrityError:  # somebody gave it to another one at the same moment
        raise RaterRefused(_in_use_problem(short_name)) from None
    detail = {"rater": rater.name, "before": before, "after": short_name}
    Event.objects.create(by=by, verb="rename rater", subject=f"rater {rater.pk}, {rater.name}", detail=detail)
    return rater


def _problem(rater: Rater, short_name: str) -> str:
    """Explain why a rater cannot have a short name, '' where it can."""
    if rater.kind not in NAMED_KINDS or "draft" in rater.spec:
        return "Only judges and metrics have a short name."
    if problem := text_problem(short_name, SHORT_NAME, lines=False):
        return problem
    same = Q(short_name__iexact=short_name) | Q(short_name="", name__iexact=short_name)
    in_use = short_name and Rater.objects.filter(same, kind__in=NAMED_KINDS).exclude(pk=rater.pk).exists()
    return _in_use_problem(short_name) if in_use else ""


def _in_use_problem(short_name: str) -> str:
    return f"Another judge or metric is called “{short_name}”: choose another name."


def free_short_names(short_name: str, model: str) -> Iterator[str]:
    """Yield a short name, the same with the model, and then with numbers, as far as nobody has them yet."""
    with_model = f"{short_name} ({model})" if model else short_name
    numbered = (f"{with_model[: SHORT_NAME - 6]} {number}" for number in count(2))
    for text in chain([short_name, with_model[:SHORT_NAME]], numbered):
        if not Rater.objects.filter(short_name__iexact=text).exists():
            yield text
