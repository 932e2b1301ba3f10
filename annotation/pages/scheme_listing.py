"""Schemes as their pages list them: with how much each is used, its versions, and corpora's own questions."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.db.models import Count, Sum

from annotation.models import Campaign, LabelCount, SchemeVersion
from annotation.scheme_versions import listing, store
from annotation.schemes import SCHEMES
from annotation.schemes.base import SchemeDefinition

IMPORTED = "corpus:"
"""How the keys of schemes begin that hold the questions of a corpus's files."""


class Used(NamedTuple):
    """A scheme in the list, and how much it is used."""

    scheme: listing.Listed
    campaigns: int
    labels: int


def listed() -> list[Used]:
    """Return the schemes that can be asked, with the campaigns and the labels of all their versions."""
    asked = Campaign.objects.order_by().values_list("scheme_version__scheme__key")
    campaigns = dict(asked.annotate(Count("pk")))
    answered = LabelCount.objects.order_by().values_list("question__version__scheme__key")
    labels = dict(answered.annotate(Sum("n")))
    return [Used(one, campaigns.get(one.key, 0), labels.get(one.key, 0)) for one in listing.schemes()]


def definition(key: str, number: int | None = None) -> tuple[SchemeDefinition, SchemeVersion | None] | None:
    """Return a scheme's definition with its stored version; None where there is none.

    Without a number it is the built-in definition, else the newest version; a built-in scheme that nobody
    has used yet has no stored version.
    """
    rows = SchemeVersion.objects.select_related("scheme").filter(scheme__key=key).order_by("-version")
    row = (rows if number is None else rows.filter(version=number)).first()
    built_in = SCHEMES.get(key)
    if row is not None:
        return store.definition_of(row), row
    fits = built_in is not None and number in (None, built_in.version)
    return (built_in, None) if fits and built_in else None


def versions(key: str) -> list[Any]:
    """Return a scheme's stored versions, newest first, each with the number of its labels."""
    rows: list[Any] = list(
        SchemeVersion.objects.filter(scheme__key=key).select_related("scheme").order_by("-version")
    )
    counted = LabelCount.objects.filter(question__version__in=rows).values_list("question__version")
    labels = dict(counted.annotate(Sum("n")))
    for row in rows:
        row.labels = labels.get(row.pk, 0)
    return rows


def imported() -> list[SchemeVersion]:
    """Return the newest versions of the schemes that hold corpora's imported questions."""
    rows = SchemeVersion.objects.filter(scheme__key__startswith=IMPORTED).select_related("scheme")
    return list({row.scheme_id: row for row in rows.order_by("scheme__title", "version")}.values())
