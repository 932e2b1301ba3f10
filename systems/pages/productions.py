"""The researcher's pages of productions: the list, and one with its steps and replies."""

from __future__ import annotations

import json

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from config.files import row_id
from config.permissions import researcher_only
from jobs.models import Run
from judges.pages.runs import ROOM
from systems import access
from systems.models import Production
from systems.producing.progress import counts


@require_GET
@researcher_only
def production_list(request: HttpRequest) -> HttpResponse:
    """Researchers: what is or was written, latest first; of one run, or in one status, where asked."""
    run = Run.objects.filter(pk=row_id(request.GET.get("run", "")) or 0, kind="generate").first()
    rows = Production.objects.select_related("writer", "dialogue__corpus", "continuation")
    rows = rows.filter(run=run) if run else rows
    counted = counts(rows)
    status = request.GET.get("status", "")
    rows = rows.filter(status=status) if status in Production.Status.values else rows
    order = "id" if run else "-id"
    page = Paginator(rows.order_by(order), 50).get_page(request.GET.get("page"))
    query = "".join(
        f"{name}={value}&" for name, value in (("run", run.pk if run else ""), ("status", status)) if value
    )
    context = {"run": run, "page": page, "counts": counted, "status": status, "query": query, **ROOM}
    return render(request, "systems/productions.html", context)


@require_GET
@researcher_only
def production_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: one production, what it wrote, and the replies that led there."""
    found = access.production(pk)
    links = found.links.select_related("call").order_by("step", "part")
    page = Paginator(links, 50).get_page(request.GET.get("page"))
    told = "" if found.result is None else json.dumps(found.result, indent=2, ensure_ascii=False)
    context = {"production": found, "page": page, "told": told, "query": "", **ROOM}
    return render(request, "systems/production.html", context)
