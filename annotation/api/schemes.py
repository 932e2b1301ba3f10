"""Schemes over HTTP. Researchers only, as by default: annotators see what their campaigns ask."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api import schemes_serializers as of
from annotation.api.refusals import answered
from annotation.errors import SchemeRefused
from annotation.models import Corpus, SchemeVersion
from annotation.scheme_versions import actions, listing, store
from annotation.schemes.base import SchemeDefinition
from annotation.schemes.difference import difference
from annotation.schemes.files import definition_from, read
from annotation.schemes.problems import Problem
from config.pagination import Pages, paged
from config.permissions import IsResearcher

REFS = [OpenApiParameter(name, str, required=True, description="key or key@version") for name in ("a", "b")]


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


def _given(serializer: Any, request: Request) -> dict[str, Any]:
    told = serializer(data=request.data)
    told.is_valid(raise_exception=True)
    return dict(told.validated_data)


def written(serializer: Any, request: Request) -> SchemeDefinition:
    """Return the scheme that a request sends; raise SchemeRefused with its problems."""
    return _written(_given(serializer, request))


def _written(data: dict[str, Any]) -> SchemeDefinition:
    """Return what was sent as a definition; raise SchemeRefused with its problems."""
    if ("text" in data) == ("definition" in data):
        raise SchemeRefused([Problem((), "Send either definition or text.")])
    return read(data["text"]) if "text" in data else definition_from(data["definition"])


@extend_schema(methods=["GET"], responses=of.SchemeSerializer(many=True))
@extend_schema(methods=["POST"], request=of.WrittenSerializer, responses={201: of.SchemeVersionSerializer})
@paged
@api_view(["GET", "POST"])
@permission_classes([IsResearcher])
@answered
def schemes(request: Request) -> Response:
    """Researchers: one's own schemes and the built-in ones; POST stores a new one. 422 lists its problems."""
    if request.method == "POST":
        definition = _written(_given(of.WrittenSerializer, request))
        made = actions.create(by=_user(request), definition=definition)
        return Response(listing.as_json(made), status=201)
    pager = Pages()
    rows: Any = [asdict(one) for one in listing.schemes()]
    return pager.get_paginated_response(pager.paginate_queryset(rows, request) or [])


@extend_schema(request=of.WrittenSerializer, responses=of.CheckedSerializer)
@api_view(["POST"])
@permission_classes([IsResearcher])
def checked(request: Request) -> Response:
    """Researchers: whether a scheme can be asked; nothing is stored."""
    try:
        _written(_given(of.WrittenSerializer, request))
    except SchemeRefused as error:
        return Response({"ok": False, **error.details()})
    return Response({"ok": True, "problems": []})


@extend_schema(parameters=REFS, responses=of.SchemeDifferenceSerializer)
@api_view(["GET"])
@permission_classes([IsResearcher])
def compared(request: Request) -> Response:
    """Researchers: what two versions differ by, of one scheme or of two."""
    found: list[SchemeVersion] = []
    for name in ("a", "b"):
        version = store.find(request.query_params.get(name, ""))
        if version is None:
            raise ValidationError({name: ["A scheme's key, or key@version, that there is."]})
        found.append(version)
    first, second = found
    changes = difference(store.definition_of(first), store.definition_of(second))
    told = [asdict(one) | {"sentence": str(one)} for one in changes]
    return Response({"first": first.ref, "second": second.ref, "changes": told})


@extend_schema(request=of.FromCorpusSerializer, responses={201: of.SchemeVersionSerializer})
@api_view(["POST"])
@permission_classes([IsResearcher])
@answered
def from_corpus(request: Request) -> Response:
    """Researchers: make a scheme of the questions that a corpus's files brought."""
    data = _given(of.FromCorpusSerializer, request)
    corpus = Corpus.objects.filter(name=data.pop("corpus")).first()
    if corpus is None:
        raise ValidationError({"corpus": ["There is no corpus of that name."]})
    made = actions.create_from_corpus(by=_user(request), corpus=corpus, **data)
    return Response(listing.as_json(made), status=201)


@extend_schema(methods=["GET"], responses=of.SchemeVersionSerializer)
@extend_schema(methods=["PATCH"], request=of.SchemeArchivedSerializer, responses=of.SchemeVersionSerializer)
@api_view(["GET", "PATCH"])
@permission_classes([IsResearcher])
@answered
def scheme(request: Request, key: str) -> Response:
    """Researchers: the newest version of a scheme; PATCH archives or restores one of one's own."""
    found = access.scheme_version(key)
    if request.method == "PATCH":
        data = _given(of.SchemeArchivedSerializer, request)
        found.scheme = actions.archive(by=_user(request), scheme=found.scheme, **data)
    return Response(listing.as_json(found))


@extend_schema(methods=["GET"], responses=of.SchemeVersionSerializer(many=True))
@extend_schema(methods=["POST"], request=of.SavedSerializer, responses={201: of.SchemeVersionSerializer})
@paged
@api_view(["GET", "POST"])
@permission_classes([IsResearcher])
@answered
def versions(request: Request, key: str) -> Response:
    """Researchers: a scheme's stored versions, the newest first; POST saves the newest.

    A version that nothing uses is replaced, a used one is kept and gets a successor. 422 lists the problems,
    or says that somebody saved after `seen`.
    """
    found = access.scheme_version(key)
    if request.method == "POST":
        data = _given(of.SavedSerializer, request)
        definition = _written(data)
        if definition.key != found.scheme.key:
            told = f"The scheme's key is {definition.key}, but the address names {found.scheme.key}."
            raise SchemeRefused([Problem(("key",), told, "key")])
        saved = actions.save(by=_user(request), definition=definition, seen=data["seen"])
        return Response(listing.as_json(saved), status=201)
    pager = Pages()
    rows = SchemeVersion.objects.filter(scheme=found.scheme).select_related("scheme").order_by("-version")
    page = pager.paginate_queryset(rows, request) or []
    return pager.get_paginated_response([listing.as_json(one) for one in page])


@extend_schema(responses=of.SchemeVersionSerializer)
@api_view(["GET"])
@permission_classes([IsResearcher])
def version(request: Request, key: str, number: int) -> Response:
    """Researchers: one version of a scheme."""
    return Response(listing.as_json(access.scheme_version(key, number)))
