"""Which schemes there are, for lists and choices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, ForeignKey, ManyToOneRel, Model, QuerySet

from annotation.models import Question, Scheme
from annotation.models.schemes import SchemeVersion
from annotation.scheme_versions.store import definition_of
from annotation.schemes import SCHEMES
from annotation.schemes.base import SchemeDefinition
from annotation.schemes.files import as_plain, write

# Who uses a version of a scheme: nothing that is shown to people or judges may change under them.


def is_used(version: SchemeVersion) -> bool:
    """Whether anything points at a version or its questions: a campaign, label, run, bench, prompt, gold.

    Every foreign key counts, those of rooms above this one, too; so a new one counts from its first day.
    """
    if version.frozen_at is not None:
        return True
    return any(
        rows.filter(**{name: version.pk}).exists()
        for rows, name in (*_to(SchemeVersion), *_to(Question, True))
    )


def _to(model: type[Model], through: bool = False) -> Iterator[tuple[QuerySet[Any], str]]:
    """Yield the rows that point at a model, with the lookup of the version that they belong to."""
    for relation in model._meta.related_objects:
        pointing = relation.related_model
        if isinstance(relation, ManyToOneRel) and pointing is not Question and isinstance(pointing, type):
            field = relation.field
            assert isinstance(field, ForeignKey)
            yield pointing._base_manager.all(), f"{field.name}{'__version' if through else ''}"


Choice = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Listed:
    """A scheme in a list; `versions` counts those stored, of a built-in scheme that was never used none."""

    key: str
    title: str
    item_kind: str
    unit: str
    built_in: bool
    newest: int
    versions: int
    questions: int
    archived: bool
    item_kinds: tuple[str, ...]


def schemes() -> list[Listed]:
    """Return all schemes that can be asked, one's own first, by title."""
    return [*(_own(row) for row in own_schemes()), *(_built_in(one) for one in SCHEMES.values())]


def own_schemes() -> QuerySet[Scheme]:
    """Return the schemes of one's own, archived ones too, by title."""
    rows = Scheme.objects.filter(own=True).annotate(stored=Count("versions")).filter(stored__gt=0)
    return rows.order_by("title", "key")


def choices() -> list[Any]:
    """Return what a form offers, in groups: built-in schemes, one's own, and their earlier versions."""
    built_in = [(key, scheme.title) for key, scheme in SCHEMES.items()]
    rows = SchemeVersion.objects.filter(scheme__in=own_schemes().filter(archived_at=None))
    newest: list[Choice] = []
    earlier: list[Choice] = []
    seen: set[int] = set()
    for row in rows.select_related("scheme").order_by("scheme__title", "scheme_id", "-version"):
        (earlier if row.scheme_id in seen else newest).append((row.ref, f"{row.name} ({row.ref})"))
        seen.add(row.scheme_id)
    groups = {"Built in": built_in, "Your own": newest, "Your own, earlier versions": earlier}
    return [(name, found) for name, found in groups.items() if found]


def as_json(version: SchemeVersion) -> dict[str, Any]:
    """Return a version as programs see it: its definition, and what is known of it as stored."""
    definition = definition_of(version)
    told = as_plain(definition) | {"version": version.version}
    told["key"] = told.pop("scheme")
    return {
        "id": version.pk,
        "ref": version.ref,
        "built_in": version.scheme.key in SCHEMES,
        "archived": version.scheme.archived_at is not None,
        "used": is_used(version),
        "created_at": version.created_at,
        "definition": told,
        "yaml": write(definition),
    }


def _own(row: Scheme) -> Listed:
    version = row.versions.order_by("-version").first()
    assert version is not None
    asked = version.questions.count()
    beside = version.questions.exclude(item_kind="").values_list("item_kind", flat=True)
    kind, unit, number = version.item_kind, version.unit, version.version
    archived = row.archived_at is not None
    kinds = tuple(dict.fromkeys([kind, *beside]))
    return Listed(row.key, row.title, kind, unit, False, number, row.versions.count(), asked, archived, kinds)


def _built_in(scheme: SchemeDefinition) -> Listed:
    stored = SchemeVersion.objects.filter(scheme__key=scheme.key)
    asked = len(scheme.questions)
    kind, unit = scheme.item_kind, scheme.unit
    newest = max(scheme.version, *stored.values_list("version", flat=True), 0)
    return Listed(
        scheme.key, scheme.title, kind, unit, True, newest, stored.count(), asked, False, scheme.item_kinds
    )
