"""Downloads of labels over HTTP. Researchers only, as by default."""

from __future__ import annotations

from typing import Any

from django.http import Http404, StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from calibration.api.serializers import ExportSerializer, PlaceSerializer
from calibration.copying import FORMATS
from calibration.exports import labels as label_selection
from calibration.exports import stream
from calibration.models import Export
from calibration.scope import scope_of
from config.openapi import files
from config.pagination import Pages, paged

PLACE = [OpenApiParameter("corpus", int), OpenApiParameter("campaign", int)]
FORM = OpenApiParameter("form", str, OpenApiParameter.PATH, enum=list(FORMATS))
DOWNLOAD = files(media_type for _, media_type in FORMATS.values())


@extend_schema(responses=ExportSerializer(many=True))
@paged
@api_view(["GET"])
def exports(request: Request) -> Response:
    """List completed downloads with their hashes, newest first."""
    pager = Pages()
    page = pager.paginate_queryset(Export.objects.all(), request) or []
    return pager.get_paginated_response(ExportSerializer(page, many=True).data)


@extend_schema(parameters=[*PLACE, FORM], responses=DOWNLOAD)
@api_view(["GET"])
def labels(request: Request, form: str) -> StreamingHttpResponse:
    """Stream the labels of a corpus or campaign as csv, jsonl or parquet."""
    if form not in FORMATS:
        raise Http404
    given = PlaceSerializer(data=request.query_params)
    given.is_valid(raise_exception=True)
    corpus, campaign = given.validated_data["corpus"], given.validated_data.get("campaign")
    user: Any = request.user
    return stream(
        selection=label_selection(scope_of(corpus, campaign)),
        form=form,
        corpus=corpus,
        campaign=campaign,
        by=user,
    ).response()
