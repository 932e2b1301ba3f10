"""API of schemes. Researchers only, as by default: annotators see the questions of their campaigns."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from annotation import access, scheme_actions, scheme_store
from annotation.errors import SchemeRefused
from annotation.kinds import KINDS
from annotation.models import Corpus, SchemeVersion
from annotation.scheme_store import SchemeSummary
from annotation.schemes.definitions import SchemeDefinition
from annotation.schemes.files import definition_from, difference, read
from annotation.schemes.rules import LONGEST, LONGEST_KEY, Problem
from annotation.text.yaml_tree import MOST_BYTES
from config import api

# Request and response bodies.

LARGEST = 2**63 - 1
FIELDS = "The fields of a scheme's file as JSON: key, title, item_kind, unit, introduction, questions."


class SchemeSerializer(serializers.Serializer[Any]):
    """A scheme, custom or built in."""

    key = serializers.CharField()
    title = serializers.CharField()
    item_kind = serializers.CharField()
    item_kinds = serializers.ListField(
        child=serializers.CharField(), help_text="All that its questions are about: its own kind first."
    )
    unit = serializers.CharField()
    built_in = serializers.BooleanField()
    newest = serializers.IntegerField(help_text="The number of its newest version.")
    versions = serializers.IntegerField(help_text="How many are stored.")
    questions = serializers.IntegerField(help_text="How many the newest version has.")
    archived = serializers.BooleanField()


class SchemeVersionSerializer(serializers.Serializer[Any]):
    """A version of a scheme. The content of an `id` never changes."""

    id = serializers.IntegerField()
    ref = serializers.CharField(help_text="key@version")
    built_in = serializers.BooleanField()
    archived = serializers.BooleanField()
    used = serializers.BooleanField(help_text="Saving keeps it and makes the next one.")
    created_at = serializers.DateTimeField()
    definition = serializers.DictField(help_text=FIELDS)
    yaml = serializers.CharField(help_text="The same as a file.")


class WrittenSerializer(serializers.Serializer[Any]):
    """A scheme either as JSON (`definition`) or as the text of a YAML or JSON file (`text`)."""

    definition = serializers.DictField(required=False, help_text=FIELDS)
    text = serializers.CharField(required=False, trim_whitespace=False, max_length=MOST_BYTES)


class SavedSerializer(WrittenSerializer):
    """A scheme to save as its newest version."""

    seen = serializers.IntegerField(
        min_value=1,
        max_value=LARGEST,
        help_text="The `id` of the newest version that you have seen: another one is not overruled.",
    )


class ProblemSerializer(serializers.Serializer[Any]):
    """A problem of a field: the dotted path to it, the message, and its place in words."""

    path = serializers.CharField(allow_blank=True)
    sentence = serializers.CharField()
    place = serializers.CharField(allow_blank=True)


class CheckedSerializer(serializers.Serializer[Any]):
    """Whether a scheme is valid, with its problems if not."""

    ok = serializers.BooleanField()
    problems = ProblemSerializer(many=True)


class FromCorpusSerializer(serializers.Serializer[Any]):
    """A new scheme with the questions of a corpus's imported files."""

    corpus = serializers.CharField()
    kind = serializers.ChoiceField(choices=list(KINDS))
    key = serializers.CharField(max_length=LONGEST_KEY)
    title = api.optional_text(max_length=LONGEST["title"])


class SchemeArchivedSerializer(serializers.Serializer[Any]):
    """Whether a scheme is archived, so not offered for new uses."""

    archived = serializers.BooleanField()


class SchemeChangeSerializer(serializers.Serializer[Any]):
    """A question added, removed or moved, or a changed field (of the scheme where `question` is empty)."""

    kind = serializers.ChoiceField(choices=["added", "removed", "moved", "changed"])
    question = serializers.CharField(allow_blank=True)
    field = serializers.CharField(allow_blank=True)
    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)
    sentence = serializers.CharField()


class SchemeDifferenceSerializer(serializers.Serializer[Any]):
    """Differences between two versions."""

    first = serializers.CharField()
    second = serializers.CharField()
    changes = SchemeChangeSerializer(many=True)


REFS = [OpenApiParameter(name, str, required=True, description="key or key@version") for name in ("a", "b")]


def read_scheme(data: api.Data) -> SchemeDefinition:
    """Return the scheme in a request; raise SchemeRefused with its problems."""
    if ("text" in data) == ("definition" in data):
        raise SchemeRefused([Problem((), "Send either definition or text.")])
    return read(data["text"]) if "text" in data else definition_from(data["definition"])


@api.listing(SchemeSerializer)
def schemes(request: Request) -> list[SchemeSummary]:
    """Researchers: list the custom and built-in schemes."""
    return scheme_store.schemes()


@api.post(WrittenSerializer, SchemeVersionSerializer, status=201)
def create(request: Request) -> dict[str, Any]:
    """Researchers: create a scheme. 422 lists its problems."""
    definition = read_scheme(api.data(request))
    return scheme_store.as_json(scheme_actions.create(by=api.user(request), definition=definition))


@api.post(WrittenSerializer, CheckedSerializer)
def check(request: Request) -> dict[str, Any]:
    """Researchers: check whether a scheme is valid; nothing is stored."""
    try:
        read_scheme(api.data(request))
    except SchemeRefused as error:
        return {"ok": False, **error.details()}
    return {"ok": True, "problems": []}


@api.get(SchemeDifferenceSerializer, query=REFS)
def compare(request: Request) -> dict[str, Any]:
    """Researchers: compare two versions, of the same scheme or of different schemes."""
    compared_versions: list[SchemeVersion] = []
    for name in ("a", "b"):
        version = scheme_store.find(request.query_params.get(name, ""))
        if version is None:
            raise ValidationError({name: ["Key of an existing scheme, or key@version."]})
        compared_versions.append(version)
    first, second = compared_versions
    changes = difference(scheme_store.definition_of(first), scheme_store.definition_of(second))
    rows = [asdict(change) | {"sentence": str(change)} for change in changes]
    return {"first": first.ref, "second": second.ref, "changes": rows}


@api.post(FromCorpusSerializer, SchemeVersionSerializer, status=201)
def create_from_corpus(request: Request) -> dict[str, Any]:
    """Researchers: create a scheme from the questions of a corpus's imported files."""
    data = api.data(request)
    corpus = Corpus.objects.filter(name=data.pop("corpus")).first()
    if corpus is None:
        raise ValidationError({"corpus": ["There is no corpus of that name."]})
    stored = scheme_actions.create_from_corpus(by=api.user(request), corpus=corpus, **data)
    return scheme_store.as_json(stored)


@api.get(SchemeVersionSerializer)
def scheme(request: Request, key: str) -> dict[str, Any]:
    """Researchers: read the newest version of a scheme."""
    return scheme_store.as_json(access.scheme_version(key))


@api.patch(SchemeArchivedSerializer, SchemeVersionSerializer)
def archive(request: Request, key: str) -> dict[str, Any]:
    """Researchers: archive or restore a custom scheme."""
    newest = access.scheme_version(key)
    newest.scheme = scheme_actions.archive(by=api.user(request), scheme=newest.scheme, **api.data(request))
    return scheme_store.as_json(newest)


@api.listing(SchemeVersionSerializer, page=lambda page: [scheme_store.as_json(row) for row in page])
def versions(request: Request, key: str) -> QuerySet[SchemeVersion]:
    """Researchers: list a scheme's stored versions, newest first."""
    rows = SchemeVersion.objects.filter(scheme=access.scheme_version(key).scheme)
    return rows.select_related("scheme").order_by("-version")


@api.post(SavedSerializer, SchemeVersionSerializer, status=201)
def save(request: Request, key: str) -> dict[str, Any]:
    """Researchers: save a scheme's newest version.

    An unused version is replaced; a used version is kept and gets a successor. 422 lists the problems, or
    reports that another version was saved after `seen`.
    """
    newest = access.scheme_version(key)
    data = api.data(request)
    definition = read_scheme(data)
    if definition.key != newest.scheme.key:
        message = f"The scheme's key is {definition.key}, but the address names {newest.scheme.key}."
        raise SchemeRefused([Problem(("key",), message, "key")])
    saved = scheme_actions.save(by=api.user(request), definition=definition, seen=data["seen"])
    return scheme_store.as_json(saved)


@api.get(SchemeVersionSerializer)
def version(request: Request, key: str, number: int) -> dict[str, Any]:
    """Researchers: read a version of a scheme."""
    return scheme_store.as_json(access.scheme_version(key, number))
