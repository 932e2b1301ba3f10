"""Prompts over HTTP. Researchers only, as by default."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import Http404, HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from config.openapi import files as file_answers
from config.pagination import Pages, paged
from jobs.errors import JobError
from judges import access
from judges.api import prompt_serializers as of
from judges.errors import JudgeError
from judges.models import Prompt, PromptVersion
from judges.pages.prompts import file_of
from judges.prompt_versions import actions, difference, files, finding, listing, requests
from judges.prompt_versions.finding import Version
from judges.prompt_versions.picking import Pick
from judges.protocols import Wording
from judges.rating.lookup import corpus_named, endpoint_named
from judges.rating.plans import Judge

NUMBER = OpenApiParameter("number", int, description="a version; the newest by default")
DOWNLOAD = file_answers([media for _, media in files.FORMS.values()])


def _refused(error: JobError) -> ValidationError:
    return ValidationError({"detail": str(error).splitlines() if "\n" in str(error) else str(error)})


def _given(serializer: Any, request: Request) -> dict[str, Any]:
    told = serializer(data=request.data)
    told.is_valid(raise_exception=True)
    found: dict[str, Any] = told.validated_data
    return found


def _user(request: Request) -> Any:
    return request.user


@extend_schema(methods=["GET"], responses=of.PromptSerializer(many=True))
@extend_schema(methods=["POST"], request=of.NewPromptSerializer, responses={201: of.VersionSerializer})
@paged
@api_view(["GET", "POST"])
def prompts(request: Request) -> Response:
    """List people's prompts and those that come with Concord; POST makes one from another one's text."""
    if request.method == "POST":
        return Response(_made(request), status=status.HTTP_201_CREATED)
    pager = Pages()
    rows: Any = [one.as_json() for one in (*listing.own(), *listing.coming_with_concord())]
    page = pager.paginate_queryset(rows, request) or []
    return pager.get_paginated_response(page)


def _made(request: Request) -> dict[str, Any]:
    data = _given(of.NewPromptSerializer, request)
    try:
        base = finding.find(data["copy_of"])
        row = actions.create(
            by=_user(request),
            name=data["name"],
            description=data["description"],
            protocol=base.protocol,
            variant=base.variant,
            scheme_version=base.scheme_version,
            wording=_changed(base.wording, data),
            parent=base.ref,
            origin=PromptVersion.Origin.COPIED,
            note=data["note"],
        )
    except JudgeError as error:
        raise _refused(error) from None
    return listing.as_json(finding.version_of(row))


def _changed(wording: Wording, data: dict[str, Any]) -> Wording:
    """Return a text with what was sent of it in its place."""
    return replace(wording, **{name: data[name] for name in ("system", "user", "form") if name in data})


@extend_schema(methods=["GET"], responses=of.PromptSerializer)
@extend_schema(methods=["PATCH"], request=of.ArchivedSerializer, responses=of.PromptSerializer)
@api_view(["GET", "PATCH"])
def prompt(request: Request, name: str) -> Response:
    """Return a prompt; PATCH archives or restores one of people's."""
    if request.method == "PATCH":
        found = access.prompt(name)
        actions.archive(by=_user(request), prompt=found, **_given(of.ArchivedSerializer, request))
    rows = (*listing.own(), *listing.coming_with_concord())
    listed = next((one for one in rows if one.name == name), None)
    if listed is None:
        raise Http404
    return Response(listed.as_json())


@extend_schema(methods=["GET"], responses=of.VersionSerializer(many=True))
@extend_schema(methods=["POST"], request=of.NewVersionSerializer, responses={201: of.VersionSerializer})
@paged
@api_view(["GET", "POST"])
def versions(request: Request, name: str) -> Response:
    """List a prompt's versions, the newest first; POST saves the next one.

    A text that the newest version has already makes none: that version is returned.
    """
    if request.method == "POST":
        return Response(_added(request, name), status=status.HTTP_201_CREATED)
    newest = access.version(name)
    found = listing.versions_of(newest.row.prompt) if newest.row else [newest]
    pager = Pages()
    rows: Any = [listing.as_json(version) for version in found]
    page = pager.paginate_queryset(rows, request) or []
    return pager.get_paginated_response(page)


def _added(request: Request, name: str) -> dict[str, Any]:
    data = _given(of.NewVersionSerializer, request)
    base = access.version(name, data.get("made_from"))
    wording = _changed(base.wording, data)
    if not data["keep_examples"]:
        wording = replace(wording, examples=(), picking={})
    try:
        made = actions.add_version(
            by=_user(request), prompt=_own(base), wording=wording, parent=base.ref, note=data["note"]
        )
    except JudgeError as error:
        raise _refused(error) from None
    return listing.as_json(finding.find(f"{name}@{made.number}"))


def _own(version: Version) -> Prompt:
    if version.row is None:
        raise ValidationError({"detail": f"{version.ref} comes with Concord and cannot be changed: copy it."})
    return version.row.prompt


@extend_schema(methods=["GET"], responses=of.VersionSerializer)
@extend_schema(methods=["DELETE"], responses={204: None})
@api_view(["GET", "DELETE"])
def version(request: Request, name: str, number: int) -> Response:
    """Return a version; DELETE deletes one that no judge has used."""
    found = access.version(name, number)
    if request.method == "GET":
        return Response(listing.as_json(found))
    _own(found)
    assert found.row is not None
    try:
        actions.delete(by=_user(request), version=found.row)
    except JudgeError as error:
        raise _refused(error) from None
    return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(request=of.ExamplesSerializer, responses={201: of.VersionSerializer})
@api_view(["POST"])
def examples(request: Request, name: str) -> Response:
    """Pick worked examples for a version's text; what is picked is saved as the next version."""
    data = _given(of.ExamplesSerializer, request)
    base = access.version(name, data.get("version"))
    try:
        told = Pick(
            corpus_named(data["corpus"]),
            data["rule"],
            data["n"],
            tuple(data["items"]),
            data["judge"],
            data["seed"],
            data["whole_corpus"],
            data["scheme"],
            data["part"],
        )
        made = actions.add_examples(by=_user(request), version=base, told=told, note=data["note"])
    except JudgeError as error:
        raise _refused(error) from None
    found = finding.find(f"{name}@{made.number}")
    return Response(listing.as_json(found), status=status.HTTP_201_CREATED)


@extend_schema(
    parameters=[
        OpenApiParameter("a", str, required=True, description="name@number"),
        OpenApiParameter("b", str, required=True, description="name@number"),
    ],
    responses=of.PromptDifferenceSerializer,
)
@api_view(["GET"])
def compared(request: Request) -> Response:
    """Return what two versions differ by, line by line."""
    try:
        first, second = (finding.find(request.query_params.get(name, "")) for name in ("a", "b"))
    except JudgeError as error:
        raise _refused(error) from None
    parts = difference.difference(first.wording, second.wording)
    return Response(
        {
            "first": first.ref,
            "second": second.ref,
            "same": not any(part.changed for part in parts),
            "parts": {part.name: [row.as_json() for row in part.rows] for part in parts},
        }
    )


@extend_schema(parameters=[NUMBER], responses=DOWNLOAD)
@api_view(["GET"])
def exported(request: Request, name: str, form: str) -> HttpResponse:
    """Send a prompt with its versions as YAML (`yaml`), or one version as Markdown (`md`)."""
    if form not in files.FORMS:
        raise Http404
    number = request.query_params.get("number", "")
    if number and not (number.isascii() and number.isdecimal() and len(number) < 11):
        raise ValidationError({"number": ["A version's number."]})
    return file_of(access.version(name, int(number) if number else None), form)


@extend_schema(request=of.FileSerializer, responses={201: of.ImportedSerializer})
@api_view(["POST"])
def imported(request: Request) -> Response:
    """Make a prompt of a file, or add the versions that it lacks; `problems` has a line for each."""
    data = _given(of.FileSerializer, request)
    try:
        made = actions.import_file(
            by=_user(request), content=data["text"].encode("utf-8", "replace"), name=data["name"]
        )
    except JudgeError as error:
        raise _refused(error) from None
    told = [f"{row.prompt.name}@{row.number}" for row in made]
    return Response({"versions": told}, status=status.HTTP_201_CREATED)


@extend_schema(request=of.AskSerializer, responses=of.RequestSerializer(many=True))
@api_view(["POST"])
def asked(request: Request) -> Response:
    """Return the exact request about an item, one for each part of the protocol; nothing is sent."""
    data = _given(of.AskSerializer, request)
    try:
        base = finding.find(data["prompt"])
        judge = Judge(
            prompt=base.ref,
            endpoint=endpoint_named(data["endpoint"]) if data["endpoint"] else None,
            shows=tuple(data["shows"]),
            needs=data["needs"],
            parameters=data["parameters"],
            budget=data["budget"],
            scheme=data["scheme"],
        )
        corpus, covers = corpus_named(data["corpus"]), judge.asks().covers
        key = data["item"]
        item = requests.item_of(corpus, key, covers) if key.strip() else requests.any_item(corpus, covers)
        found = requests.requests(judge, item, draft=_draft(base, data), later=_user(request))
    except JobError as error:
        raise _refused(error) from None
    return Response([one.as_json() for one in found])


def _draft(base: Version, data: dict[str, Any]) -> Wording | None:
    """Return the draft that was sent, checked as it would be when it is saved; None without one."""
    if "system" not in data and "user" not in data:
        return None
    draft = _changed(base.wording, data)
    actions.check(protocol=base.protocol, variant=base.variant, wording=draft)
    return draft
