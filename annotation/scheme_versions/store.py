"""Schemes in the database: definitions are stored once, found again by their content, and made from it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from django.db import transaction
from django.db.models import Max

from annotation.models import Question, Scheme, SchemeVersion
from annotation.schemes import SCHEMES
from annotation.schemes.base import QuestionDefinition, SchemeDefinition, Value, plain


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
    return add(scheme=scheme, number=max(last + 1, definition.version), definition=definition)


def add(*, scheme: Scheme, number: int, definition: SchemeDefinition) -> SchemeVersion:
    """Write a version of a scheme with its questions; the scheme's row is locked by the caller."""
    version = SchemeVersion.objects.create(
        scheme=scheme,
        version=number,
        item_kind=definition.item_kind,
        unit=definition.unit,
        title=definition.title,
        introduction=definition.introduction,
        guidelines=definition.guidelines,
        source=definition.source,
        about_open=definition.about_open,
        one_conversation=definition.one_conversation,
        content_hash=definition.content_hash(),
    )
    Question.objects.bulk_create(
        Question(version=version, position=position, **question.as_stored())
        for position, question in enumerate(definition.questions)
    )
    return version


def find(ref: str) -> SchemeVersion | None:
    """Return the version that `key` or `key@version` names, None where there is none.

    A key alone means the built-in definition, stored at first use, else the newest version.
    """
    if (definition := SCHEMES.get(ref)) is not None:
        return store(definition=definition)
    if "\x00" in ref:
        return None
    rows = SchemeVersion.objects.select_related("scheme")
    if (newest := rows.filter(scheme__key=ref).order_by("-version").first()) is not None:
        return newest
    key, _, number = ref.rpartition("@")
    if not (number.isascii() and number.isdigit() and len(number) < 9):
        return None
    if key in SCHEMES:
        store(definition=SCHEMES[key])
    return rows.filter(scheme__key=key, version=int(number)).first()


def definition_of(version: SchemeVersion) -> SchemeDefinition:
    """Return the definition that a version was stored from: the same content, so the same content hash.

    Of a version stored before its texts were kept, that is true of its questions alone.
    """
    built_in = SCHEMES.get(version.scheme.key)
    if built_in is not None and built_in.content_hash() == version.content_hash:
        return built_in
    unit: Any = version.unit
    made = SchemeDefinition(
        key=version.scheme.key,
        version=version.version,
        title=version.name,
        item_kind=version.item_kind,
        unit=unit,
        introduction=version.introduction,
        questions=tuple(_question(row) for row in version.questions.order_by("position")),
        guidelines=version.guidelines,
        source=version.source,
        about_open=built_in.about_open if built_in else version.about_open,
        one_conversation=built_in.one_conversation if built_in else version.one_conversation,
    )
    # A definition that differs from a stored one is numbered anew, its own number is what it was hashed with.
    numbered = (replace(made, version=number) for number in range(version.version, 0, -1))
    return next((one for one in numbered if one.content_hash() == version.content_hash), made)


def _question(row: Question) -> QuestionDefinition:
    """Return a question's definition; numbers are whole again where its values are, as they were written."""
    known: dict[str, Value] = {str(value): value for value in row.values}
    same: dict[str, Any] = {one.name: getattr(row, one.name) for one in fields(QuestionDefinition)}
    return QuestionDefinition(
        **same
        | {
            "values": tuple(row.values),
            "evidence_for": tuple(row.evidence_for),
            "anchors": {known.get(key, key): text for key, text in row.anchors.items()},
            "minimum": plain(row.minimum),
            "maximum": plain(row.maximum),
            "positive": next((value for value in row.values if value == row.positive), row.positive),
        }
    )
