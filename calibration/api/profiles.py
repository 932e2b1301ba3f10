"""Profiles over HTTP. Researchers only, as by default."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from calibration.profiles import summary


@extend_schema(responses=OpenApiTypes.OBJECT)
@api_view(["GET"])
def profile(request: Request, pk: int) -> Response:
    """Return what metrics say of each system: one record per system and metric."""
    corpus = access.corpus(pk)
    return Response({"corpus": corpus.name, "cells": summary.as_rows(summary.profile(corpus))})
