"""Schemes in the database: definitions are stored once and found again by their content."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Max

from annotation.models import Question, Scheme, SchemeVersion
from annotation.schemes.base import SchemeDefinition


@transaction.atomic
def store(*, definition: SchemeDefinition) -> SchemeVersion:
    """Return the stored version of a definition, storing it first where it is new.

    A definition whose content differs from every stored version becomes the next version of its scheme.
    """
    scheme, _ = Scheme.objects.get_or_create(key=definition.key, defaults={"title": definition.title})
    Scheme.objects.select_for_update().get(pk=scheme.pk)
    content_hash = definition.content_hash()
    found = scheme.versions.filter(content_hash=content_hash).first()
    if found:
        return found
    last = scheme.versions.aggregate(last=Max("version"))["last"] or 0
    version = SchemeVersion.objects.create(
        scheme=scheme,
        version=max(last + 1, definition.version),
        item_kind=definition.item_kind,
        unit=definition.unit,
        introduction=definition.introduction,
        content_hash=content_hash,
    )
    Question.objects.bulk_create(
        Question(version=version, position=position, **question.as_stored())
        for position, question in enumerate(definition.questions)
    )
    return version
