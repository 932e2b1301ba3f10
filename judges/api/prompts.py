"""API of prompts. Researchers only, the default permission."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import Http404, HttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from annotation.api.corpora_serializers import TrainingPart, exclude_field
from annotation.text.yaml_tree import MOST_BYTES
from config import api
from config.openapi import files as file_answers
from jobs.endpoints.parameter_inputs import (
    parameter_serializer_fields,
    parameters_from_data,
    serializer_field,
)
from judges import access
from judges.pages.prompts import file_of
from judges.prompts import files, prompt_actions, requests
from judges.prompts import versions as listing
from judges.prompts.examples import COUNT, MOST_SHOWN, RULE_CHOICES, SEED, USUAL, Pick
from judges.prompts.prompt_actions import LONGEST_NAME, LONGEST_NOTE
from judges.prompts.versions import Version
from judges.protocols import Wording
from judges.protocols.wording import LONGEST
from judges.runs.lookup import corpus_named, endpoint_named
from judges.runs.plans import BUDGET, Judge

# Request and response bodies.


def _text(**how: Any) -> serializers.CharField:
    return serializers.CharField(allow_blank=True, trim_whitespace=False, max_length=LONGEST, **how)


class PromptSerializer(serializers.Serializer[Any]):
    """A prompt: a user's, or one that comes with Concord."""

    name = serializers.CharField()
    protocol = serializers.CharField()
    variant = serializers.CharField(allow_blank=True)
    built_in = serializers.BooleanField()
    newest = serializers.IntegerField(help_text="The number of its newest version.")
    versions = serializers.IntegerField(help_text="How many there are.")
    judges = serializers.IntegerField(help_text="How many judges use any of them.")
    archived = serializers.BooleanField()
    description = serializers.CharField(allow_blank=True)
    created_by = serializers.CharField(allow_null=True)
    changed_at = serializers.DateTimeField(allow_null=True)


class VersionSerializer(serializers.Serializer[Any]):
    """A version of a prompt with its text."""

    ref = serializers.CharField(help_text="name@number")
    name = serializers.CharField()
    number = serializers.IntegerField()
    protocol = serializers.CharField()
    variant = serializers.CharField(allow_blank=True)
    built_in = serializers.BooleanField()
    digest = serializers.CharField(help_text="The SHA-256 of the text, as a judge's spec has it.")
    system = serializers.CharField(allow_blank=True)
    user = serializers.CharField()
    form = serializers.CharField(allow_blank=True)
    examples = serializers.ListField(child=serializers.DictField())
    examples_shown = serializers.IntegerField(help_text="Number of examples per call.")
    picking = serializers.DictField(help_text="How they were picked.")
    origin = serializers.CharField()
    parent = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    note = serializers.CharField(allow_blank=True)
    created_by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField(allow_null=True)


class NewVersionSerializer(serializers.Serializer[Any]):
    """A text to save as the next version. `made_from` is its parent's number (default: the newest)."""

    system = _text(default="")
    user = _text()
    form = serializers.CharField(required=False, allow_blank=True, max_length=40)
    note = api.optional_text(max_length=LONGEST_NOTE)
    made_from = serializers.IntegerField(required=False, min_value=1, max_value=access.LARGEST)
    keep_examples = serializers.BooleanField(
        default=True, help_text="Keep the worked examples of the parent."
    )


class NewPromptSerializer(serializers.Serializer[Any]):
    """A new prompt: a copy of another prompt's text under a new name, with `system` or `user` replaced if
    given."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    description = api.optional_text(max_length=LONGEST_NOTE)
    copy_of = serializers.CharField(help_text="The version to begin with, as name@number or name.")
    system = _text(required=False)
    user = _text(required=False)
    form = serializers.CharField(required=False, allow_blank=True, max_length=40)
    note = api.optional_text(max_length=LONGEST_NOTE)


class ArchivedSerializer(serializers.Serializer[Any]):
    """Whether a prompt is archived: removed from the lists of prompts to run."""

    archived = serializers.BooleanField()


class PickSerializer(serializers.Serializer[Any]):
    """Criteria for picking worked examples."""

    rule = serializers.ChoiceField(choices=RULE_CHOICES)
    n = serializer_field(COUNT, default=USUAL, allow_null=False)
    items = api.texts(max_length=MOST_SHOWN, source="keys")
    judge = api.optional_text()
    seed = serializer_field(SEED, default=0, allow_null=False)


class ExamplesSerializer(PickSerializer):
    """Selection of worked examples."""

    corpus = serializers.CharField()
    scheme = api.optional_text(
        help_text="Whose questions a rubric asks, where its prompt is for no scheme: key or key@version.",
    )
    whole_corpus = serializers.BooleanField(
        default=False, help_text="The corpus has no split, and all of it is for development."
    )
    part = TrainingPart(help_text="training, where examples come from it and not from dev")
    exclude = exclude_field()
    version = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=access.LARGEST,
        help_text="Whose text: the newest version's by default.",
    )
    note = api.optional_text(max_length=LONGEST_NOTE)


class FileSerializer(serializers.Serializer[Any]):
    """A prompt's file as a string."""

    text = serializers.CharField(trim_whitespace=False, max_length=MOST_BYTES)
    name = api.optional_text(max_length=LONGEST_NAME)


class ImportedSerializer(serializers.Serializer[Any]):
    """The versions that an import created."""

    versions = serializers.ListField(child=serializers.CharField(), help_text="name@number of each")


class PromptDifferenceSerializer(serializers.Serializer[Any]):
    """Differences between two versions, line by line per part; `op` is same, skipped, removed, added or
    changed."""

    first = serializers.CharField()
    second = serializers.CharField()
    same = serializers.BooleanField()
    parts = serializers.DictField(child=serializers.ListField(child=serializers.DictField()))


class AskSerializer(serializers.Serializer[Any]):
    """A request preview's item and judge: a version of a prompt (`prompt`), or a draft of it (`system`,
    `user`)."""

    prompt = serializers.CharField(help_text="name@number or name")
    system = _text(required=False)
    user = _text(required=False)
    corpus = serializers.CharField()
    item = api.optional_text(help_text="The item's key; any item of dev without one.")
    endpoint = api.optional_text()
    budget = serializer_field(BUDGET)
    shows = api.texts()
    scheme = api.optional_text(
        help_text="Whose questions a rubric asks, where its prompt is for no scheme: key or key@version.",
    )
    needs = serializers.DictField(child=serializers.CharField(), default=dict)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check the parameters against each other."""
        return attrs | {"parameters": parameters_from_data(attrs)}

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields above, and one for each sampling parameter."""
        return super().get_fields() | parameter_serializer_fields()


class RequestSerializer(serializers.Serializer[Any]):
    """A request as it would be sent; `unasked` is the reason if none would be."""

    item = serializers.CharField()
    part = serializers.CharField(allow_blank=True)
    body = serializers.DictField(allow_null=True)
    exact = serializers.CharField(allow_blank=True, help_text="The request body, byte for byte.")
    flags = serializers.ListField(child=serializers.CharField())
    unasked = serializers.CharField(allow_blank=True)
    job = serializers.IntegerField(
        allow_null=True, help_text="the job that looks for the nearest examples first"
    )
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    tokens_counted = serializers.CharField(help_text="How tokens are counted.")
    cost = serializers.FloatField(allow_null=True)
    currency = serializers.CharField(allow_blank=True)


NUMBER = OpenApiParameter("number", int, description="a version; the newest by default")
REFS = [OpenApiParameter(name, str, required=True, description="name@number") for name in ("a", "b")]
DOWNLOAD = file_answers([media for _, media in files.FORMS.values()])


def _all_prompts() -> list[listing.PromptSummary]:
    return [*listing.own(), *listing.coming_with_concord()]


@api.listing(PromptSerializer, page=lambda page: [entry.as_json() for entry in page])
def prompts(request: Request) -> list[listing.PromptSummary]:
    """List users' prompts and those that come with Concord."""
    return _all_prompts()


@api.post(NewPromptSerializer, VersionSerializer, status=201)
def create(request: Request) -> dict[str, Any]:
    """Create a prompt from another prompt's text."""
    data = api.data(request)
    base = listing.find(data["copy_of"])
    row = prompt_actions.copy(
        by=api.user(request),
        version=base,
        name=data["name"],
        description=data["description"],
        wording=_changed(base.wording, data),
        note=data["note"],
    )
    return listing.as_json(listing.version_of(row))


def _changed(wording: Wording, data: dict[str, Any]) -> Wording:
    """Return a text with the submitted parts replaced."""
    return replace(wording, **{name: data[name] for name in ("system", "user", "form") if name in data})


@api.get(PromptSerializer)
def prompt(request: Request, name: str) -> dict[str, Any]:
    """Return a prompt."""
    return _prompt_json(name)


@api.patch(ArchivedSerializer, PromptSerializer)
def archive(request: Request, name: str) -> dict[str, Any]:
    """Archive or restore a user's prompt."""
    prompt_row = access.prompt(name)
    prompt_actions.archive(by=api.user(request), prompt=prompt_row, **api.data(request))
    return _prompt_json(name)


def _prompt_json(name: str) -> dict[str, Any]:
    entry = next((candidate for candidate in _all_prompts() if candidate.name == name), None)
    if entry is None:
        raise Http404
    return entry.as_json()


@api.listing(VersionSerializer, page=lambda page: [listing.as_json(version) for version in page])
def versions(request: Request, name: str) -> list[Version]:
    """List a prompt's versions, newest first."""
    newest = access.version(name)
    return listing.versions_of(newest.row.prompt) if newest.row else [newest]


@api.post(NewVersionSerializer, VersionSerializer, status=201)
def save(request: Request, name: str) -> dict[str, Any]:
    """Save a prompt's next version.

    If the newest version has the same text, no version is created and that version is returned.
    """
    data = api.data(request)
    base = access.version(name, data.get("made_from"))
    wording = _changed(base.wording, data)
    if not data["keep_examples"]:
        wording = replace(wording, examples=(), picking={})
    prompt_row = prompt_actions.own_version(base).prompt
    row = prompt_actions.add_version(
        by=api.user(request), prompt=prompt_row, wording=wording, parent=base.ref, note=data["note"]
    )
    return listing.as_json(listing.find(f"{name}@{row.number}"))


@api.get(VersionSerializer)
def version(request: Request, name: str, number: int) -> dict[str, Any]:
    """Return a version of a prompt."""
    return listing.as_json(access.version(name, number))


@api.delete()
def delete(request: Request, name: str, number: int) -> None:
    """Delete a version that no judge has used."""
    own_version = prompt_actions.own_version(access.version(name, number))
    prompt_actions.delete(by=api.user(request), version=own_version)


@api.post(ExamplesSerializer, VersionSerializer, status=201)
def pick_examples(request: Request, name: str) -> dict[str, Any]:
    """Pick worked examples for a version's text; the text with its examples is saved as the next version."""
    data = api.data(request)
    base, note = access.version(name, data.pop("version", None)), data.pop("note")
    criteria = Pick(**data | {"corpus": corpus_named(data["corpus"])})
    row = prompt_actions.add_examples(by=api.user(request), version=base, criteria=criteria, note=note)
    return listing.as_json(listing.find(f"{name}@{row.number}"))


@api.get(PromptDifferenceSerializer, query=REFS)
def compare(request: Request) -> dict[str, Any]:
    """Return the differences between two versions, line by line."""
    first, second = (listing.find(request.query_params.get(name, "")) for name in ("a", "b"))
    parts = listing.difference(first.wording, second.wording)
    return {
        "first": first.ref,
        "second": second.ref,
        "same": not any(part.changed for part in parts),
        "parts": {part.name: [row.as_json() for row in part.rows] for part in parts},
    }


@api.get(query=[NUMBER], responses=DOWNLOAD)
def export_prompt(request: Request, name: str, form: str) -> HttpResponse:
    """Send a prompt with its versions as YAML (`yaml`), or one version as Markdown (`md`)."""
    if form not in files.FORMS:
        raise Http404
    number = request.query_params.get("number", "")
    if number and not (number.isascii() and number.isdecimal() and len(number) < 11):
        raise ValidationError({"number": ["A version's number."]})
    return file_of(access.version(name, int(number) if number else None), form)


@api.post(FileSerializer, ImportedSerializer, status=201)
def import_prompt(request: Request) -> dict[str, Any]:
    """Create a prompt from a file, or add its missing versions; `problems` has a line per problem."""
    data = api.data(request)
    content = data["text"].encode("utf-8", "replace")
    rows = prompt_actions.import_file(by=api.user(request), content=content, name=data["name"])
    return {"versions": [f"{row.prompt.name}@{row.number}" for row in rows]}


@api.post(AskSerializer, RequestSerializer, many=True)
def preview_request(request: Request) -> list[dict[str, Any]]:
    """Return the exact requests about an item, one per part of the protocol; nothing is sent."""
    data = api.data(request)
    base = listing.find(data["prompt"])
    judge = Judge(
        prompt=base.ref,
        endpoint=endpoint_named(data["endpoint"], api.user(request)) if data["endpoint"] else None,
        shows=tuple(data["shows"]),
        needs=data["needs"],
        parameters=data["parameters"],
        budget=data["budget"],
        scheme=data["scheme"],
    )
    item = requests.item_or_any(corpus_named(data["corpus"]), data["item"], judge.asks().covers)
    previews = requests.requests(judge, item, draft=_draft(base, data), later=api.user(request))
    return [preview.as_json() for preview in previews]


def _draft(base: Version, data: dict[str, Any]) -> Wording | None:
    """Return the submitted draft, validated as on saving; None without one."""
    if "system" not in data and "user" not in data:
        return None
    draft = _changed(base.wording, data)
    prompt_actions.check(protocol=base.protocol, variant=base.variant, wording=draft)
    return draft
