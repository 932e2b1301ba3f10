"""Schemes as their pages list them: built-in ones, people's own, archived ones."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Sum

from annotation.kinds import KINDS
from annotation.models import Campaign, LabelCount, Scheme, SchemeVersion
from annotation.scheme_versions import store
from annotation.schemes import SCHEMES
from annotation.schemes.base import SchemeDefinition
from annotation.schemes.rules import KEY


@dataclass(frozen=True, slots=True)
class Listed:
    """A scheme with its newest version and how much it is used; `version` is None where it never was."""

    key: str
    title: str
    version: SchemeVersion | None
    item_kind: str
    questions: int
    campaigns: int
    labels: int
    is_built_in: bool
    is_archived: bool

    @property
    def about(self) -> str:
        """What it asks about."""
        return KINDS[self.item_kind].plural


def listed() -> list[Listed]:
    """Return the schemes that people can be asked, by title: those that come with Concord, and stored ones.

    Schemes of imported answers and of what machines compute are none of them: their keys are no keys of
    people's.
    """
    rows = SchemeVersion.objects.select_related("scheme").annotate(asked=Count("questions"))
    newest = {row.scheme.key: row for row in rows.order_by("version") if KEY.fullmatch(row.scheme.key)}
    campaigns = _counts(Campaign.objects.values_list("scheme_version__scheme__key").annotate(Count("pk")))
    labels = _counts(LabelCount.objects.values_list("question__version__scheme__key").annotate(Sum("n")))
    found = [_listed(key, newest.get(key), campaigns, labels) for key in {**SCHEMES, **newest}]
    return sorted(found, key=lambda one: (one.title.lower(), one.key))


def _counts(pairs: object) -> dict[str, int]:
    return {key: number for key, number in pairs if number}  # type: ignore[attr-defined]


def _listed(
    key: str, version: SchemeVersion | None, campaigns: dict[str, int], labels: dict[str, int]
) -> Listed:
    built_in = SCHEMES.get(key)
    return Listed(
        key=key,
        title=built_in.title if built_in else version.scheme.title if version else key,
        version=version,
        item_kind=built_in.item_kind if built_in else version.item_kind if version else "turn",
        questions=len(built_in.questions) if built_in else getattr(version, "asked", 0),
        campaigns=campaigns.get(key, 0),
        labels=labels.get(key, 0),
        is_built_in=built_in is not None,
        is_archived=version is not None and version.scheme.archived_at is not None,
    )


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


def versions(key: str) -> list[SchemeVersion]:
    """Return a scheme's stored versions, newest first, each with the number of its labels."""
    rows = list(SchemeVersion.objects.filter(scheme__key=key).select_related("scheme").order_by("-version"))
    counted = LabelCount.objects.filter(question__version__in=rows).values_list("question__version")
    labels = dict(counted.annotate(Sum("n")))
    for row in rows:
        row.labels = labels.get(row.pk, 0)  # type: ignore[attr-defined]
    return rows


def imported() -> list[SchemeVersion]:
    """Return the newest versions of the schemes that hold corpora's imported questions."""
    rows = SchemeVersion.objects.filter(scheme__key__startswith="corpus:").select_related("scheme")
    return list({row.scheme_id: row for row in rows.order_by("scheme__title", "version")}.values())


def exists(key: str) -> bool:
    """Whether a key is taken."""
    return key in SCHEMES or Scheme.objects.filter(key=key).exists()
