"""The pages around the rooms: home, and what goes wrong."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render

from config import trouble
from config.permissions import is_researcher


def home(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: researchers land on corpora, annotators on their campaigns."""
    return redirect("corpora" if is_researcher(request.user) else "my-campaigns")


@login_not_required
def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """The 403 page."""
    return _told(request, 403, "Not for this account.")


@login_not_required
def missing(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """The 404 page."""
    return _told(request, 404, "There is nothing here.")


@login_not_required
def broken(request: HttpRequest) -> HttpResponse:
    """The 500 page: plain, with no database behind it. 503 where the trouble passes by itself."""
    if sentence := trouble.current():
        return trouble.unavailable(request, sentence)
    return _told(request, 500, "Something broke.")


def _told(request: HttpRequest, status: int, detail: str) -> HttpResponse:
    """Answer a program with JSON and a person with a page."""
    if request.path_info.startswith("/api/"):
        return JsonResponse({"detail": detail}, status=status)
    return render(request, f"errors/{status}.html", status=status)
