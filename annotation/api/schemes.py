"""Schemes over HTTP. Researchers only, as by default: annotators see what their campaigns ask."""

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

# What the API of schemes takes and gives.

LARGEST = 2**63 - 1
FIELDS = "The fields of a scheme's file as JSON: key, title, item_kind, unit, introduction, questions."


class SchemeSerializer(serializers.Serializer[Any]):
    """A scheme: one's own, or a built-in one."""

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
    """A version of a scheme. What an `id` names never changes."""

    id = serializers.IntegerField()
    ref = serializers.CharField(help_text="key@version")
    built_in = serializers.BooleanField()
    archived = serializers.BooleanField()
    used = serializers.BooleanField(help_text="Saving keeps it and makes the next one.")
    created_at = serializers.DateTimeField()
    definition = serializers.DictField(help_text=FIELDS)
    yaml = serializers.CharField(help_text="The same as a file.")


class WrittenSerializer(serializers.Serializer[Any]):
    """A scheme as JSON (`definition`) or as the text of a YAML or JSON file (`text`): one of the two."""

    definition = serializers.DictField(required=False, help_text=FIELDS)
    text = serializers.CharField(required=False, trim_whitespace=False, max_length=MOST_BYTES)


class SavedSerializer(WrittenSerializer):
    """A scheme to be saved as its newest version."""

    seen = serializers.IntegerField(
        min_value=1,
        max_value=LARGEST,
        help_text="The `id` of the newest version that you have seen: another one is not overruled.",
    )


class ProblemSerializer(serializers.Serializer[Any]):
    """A field that is at fault: the path to it with dots, the sentence, and the place in words."""

    path = serializers.CharField(allow_blank=True)
    sentence = serializers.CharField()
    place = serializers.CharField(allow_blank=True)


class CheckedSerializer(serializers.Serializer[Any]):
    """Whether a scheme can be asked, and if not, why."""

    ok = serializers.BooleanField()
    problems = ProblemSerializer(many=True)


class FromCorpusSerializer(serializers.Serializer[Any]):
    """A scheme to be made of the questions that a corpus's files brought."""

    corpus = serializers.CharField()
    kind = serializers.ChoiceField(choices=list(KINDS))
    key = serializers.CharField(max_length=LONGEST_KEY)
    title = api.optional_text(max_length=LONGEST["title"])


class SchemeArchivedSerializer(serializers.Serializer[Any]):
    """Whether a scheme is off the lists of what can be asked."""

    archived = serializers.BooleanField()


class SchemeChangeSerializer(serializers.Serializer[Any]):
    """A question was added, removed or moved, or a field changed (without `question`, the scheme's)."""

    kind = serializers.ChoiceField(choices=["added", "removed", "moved", "changed"])
    question = serializers.CharField(allow_blank=True)
    field = serializers.CharField(allow_blank=True)
    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)
    sentence = serializers.CharField()


class SchemeDifferenceSerializer(serializers.Serializer[Any]):
    """What two versions differ by."""

    first = serializers.CharField()
    second = serializers.CharField()
    changes = SchemeChangeSerializer(many=True)


REFS = [OpenApiParameter(name, str, required=True, description="key or key@version") for name in ("a", "b")]


def read_scheme(data: api.Data) -> SchemeDefinition:
    """Return the scheme that was sent; raise SchemeRefused with its problems."""
    if ("text" in data) == ("definition" in data):
        raise SchemeRefused([Problem((), "Send either definition or text.")])
    return read(data["text"]) if "text" in data else definition_from(data["definition"])


@api.listing(SchemeSerializer)
def schemes(request: Request) -> list[SchemeSummary]:
    """Researchers: one's own schemes and the built-in ones."""
    return scheme_store.schemes()


@api.post(WrittenSerializer, SchemeVersionSerializer, status=201)
def create(request: Request) -> dict[str, Any]:
    """Researchers: store a new scheme. 422 lists its problems."""
    definition = read_scheme(api.data(request))
    return scheme_store.as_json(scheme_actions.create(by=api.user(request), definition=definition))


@api.post(WrittenSerializer, CheckedSerializer)
def check(request: Request) -> dict[str, Any]:
    """Researchers: whether a scheme can be asked; nothing is stored."""
    try:
        read_scheme(api.data(request))
    except SchemeRefused as error:
        return {"ok": False, **error.details()}
    return {"ok": True, "problems": []}


@api.get(SchemeDifferenceSerializer, query=REFS)
def compare(request: Request) -> dict[str, Any]:
    """Researchers: what two versions differ by, of one scheme or of two."""
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
    """Researchers: make a scheme of the questions that a corpus's files brought."""
    data = api.data(request)
    corpus = Corpus.objects.filter(name=data.pop("corpus")).first()
    if corpus is None:
        raise ValidationError({"corpus": ["There is no corpus of that name."]})
    stored = scheme_actions.create_from_corpus(by=api.user(request), corpus=corpus, **data)
    return scheme_store.as_json(stored)


@api.get(SchemeVersionSerializer)
def scheme(request: Request, key: str) -> dict[str, Any]:
    """Researchers: the newest version of a scheme."""
    return scheme_store.as_json(access.scheme_version(key))


@api.patch(SchemeArchivedSerializer, SchemeVersionSerializer)
def archive(request: Request, key: str) -> dict[str, Any]:
    """Researchers: archive or restore a scheme of one's own."""
    newest = access.scheme_version(key)
    newest.scheme = scheme_actions.archive(by=api.user(request), scheme=newest.scheme, **api.data(request))
    return scheme_store.as_json(newest)


@api.listing(SchemeVersionSerializer, page=lambda page: [scheme_store.as_json(row) for row in page])
def versions(request: Request, key: str) -> QuerySet[SchemeVersion]:
    """Researchers: a scheme's stored versions, the newest first."""
    rows = SchemeVersion.objects.filter(scheme=access.scheme_version(key).scheme)
    return rows.select_related("scheme").order_by("-version")


@api.post(SavedSerializer, SchemeVersionSerializer, status=201)
def save(request: Request, key: str) -> dict[str, Any]:
    """Researchers: save a scheme's newest version.

    A version that nothing uses is replaced, a used one is kept and gets a successor. 422 lists the problems,
    or says that somebody saved after `seen`.
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
    """Researchers: one version of a scheme."""
    return scheme_store.as_json(access.scheme_version(key, number))
