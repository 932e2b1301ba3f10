"""What the pages of a study answer where it cannot be computed."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from calibration import access
from calibration.errors import CalibrationError, OlderFormat


def refusal_shown(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorator: whatever is refused of the study `pk` becomes a page that says why (422)."""

    @wraps(view)
    def guarded(request: HttpRequest, pk: int, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, pk, *args, **kwargs)
        except CalibrationError as error:
            older = request.GET.get("snapshot", "") if isinstance(error, OlderFormat) else None
            context = {"study": access.study(pk), "reason": str(error), "older": older}
            context["active_room"] = "studies"
            return render(request, "calibration/report_refused.html", context, status=422)

    return guarded
