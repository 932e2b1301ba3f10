"""Researchers' page of the names of judges and metrics."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.errors import RaterRefused
from annotation.work.rater_names import nameable_raters, rename_rater
from config.files import row_id
from config.permissions import researcher_only, user_of


@require_GET
@researcher_only
def rater_list(request: HttpRequest) -> HttpResponse:
    """Researchers: all judges and metrics with their short names, each with a field to change it."""
    text = request.GET.get("name", "").replace("\x00", "").strip()
    rows = nameable_raters().order_by("kind", "name", "pk")
    if text:
        rows = rows.filter(Q(short_name__icontains=text) | Q(name__icontains=text))
    page = Paginator(rows, 50).get_page(request.GET.get("page"))
    query = f"name={quote(text)}&" if text else ""
    context: dict[str, Any] = {"page": page, "name": text, "query": query}
    return render(request, "judges/raters.html", context)


@require_POST
@researcher_only
def rename(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: change the short name of a judge or metric."""
    rater = access.rater(pk)
    try:
        rater = rename_rater(by=user_of(request), rater=rater, short_name=request.POST.get("short_name", ""))
    except RaterRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"It is called {rater.title} now.")
    run = row_id(request.POST.get("run", ""))
    return redirect("run", run) if run is not None else redirect("raters")
