"""The audit log. Administrators only."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from annotation.pages.people_forms import AuditForm
from annotation.people import audit
from config.permissions import administrator_only

SHOWN = 100


@require_GET
@never_cache
@administrator_only
def log(request: HttpRequest) -> HttpResponse:
    """Administrators: who did what and when, filtered, newest first."""
    form = AuditForm(request.GET, verbs=audit.verbs())
    asked = {name: value for name, value in form.cleaned_data.items() if value} if form.is_valid() else {}
    page = Paginator(audit.events(**asked), SHOWN).get_page(request.GET.get("page"))
    names = audit.named(event.subject for event in page)
    rows = [(event, names.get(event.subject, event.subject), audit.detail_in_words(event)) for event in page]
    context = {"form": form, "page": page, "rows": rows, "query": f"{urlencode(asked)}&" if asked else ""}
    return render(request, "accounts/log.html", context, status=200 if form.is_valid() else 422)
