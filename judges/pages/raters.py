"""Researchers' page of the names of judges and metrics."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.errors import RaterRefused
from annotation.work.rater_names import nameable_raters, rename_rater
from config.files import row_id
from config.listing import Column, Listing, natural
from config.permissions import researcher_only, user_of

RATERS = Listing(
    Column("Name", natural("name")),
    Column("Kind", "kind"),
    Column("From", "corpus__name"),
    Column("Short name", "short_name"),
    search=("short_name", "name"),
)


@require_GET
@researcher_only
def rater_list(request: HttpRequest) -> HttpResponse:
    """Researchers: all judges and metrics with their short names, each with a field to change it."""
    page = RATERS.page(request, nameable_raters().order_by("kind", "name", "pk"))
    return render(request, "judges/raters.html", {"page": page})


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
