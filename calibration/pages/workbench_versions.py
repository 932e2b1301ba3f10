"""Versions and drafts of a bench side by side. Researchers only."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from calibration import access
from calibration.errors import CalibrationError
from calibration.pages.workbench import ROOM
from calibration.workbench.versions import side_by_side
from config.permissions import researcher_only


@require_GET
@researcher_only
def bench_versions(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: every version and draft tried here, each compared with a chosen one."""
    bench = access.bench(pk)
    context: dict[str, Any] = {"bench": bench, **ROOM}
    try:
        context["found"] = side_by_side(bench, request.GET.get("with", ""))
    except CalibrationError as error:
        return render(request, "workbench/versions.html", context | {"refused": str(error)}, status=422)
    return render(request, "workbench/versions.html", context)
