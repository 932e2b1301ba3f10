"""Who uses a version of a scheme: nothing that is shown to people or judges may change under them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import ForeignKey, ManyToOneRel, Model, QuerySet

from annotation.models import Question, SchemeVersion


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
