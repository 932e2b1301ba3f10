"""The administrator's page of endpoints."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from config.permissions import administrator_only
from jobs import access
from jobs.endpoints.actions import ask_for_test, save, sync_environment
from jobs.endpoints.limits import width_of
from jobs.errors import JobError
from jobs.models import Endpoint
from judges.pages.forms import EndpointForm
from judges.pages.runs import ROOM, user_of


@require_http_methods(["GET", "POST"])
@administrator_only
def endpoints(request: HttpRequest) -> HttpResponse:
    """Administrators: all endpoints, and a form for a new one."""
    return _page(request, None)


@require_http_methods(["GET", "POST"])
@administrator_only
def endpoint(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: change an endpoint."""
    return _page(request, access.endpoint(pk))


@require_POST
@administrator_only
def test_endpoint(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: let a worker ask the endpoint something; the page says what came of it."""
    tested = ask_for_test(by=user_of(request), endpoint=access.endpoint(pk))
    return redirect(f"{reverse('endpoints')}#endpoint-{tested.pk}")


def _page(request: HttpRequest, chosen: Endpoint | None) -> HttpResponse:
    try:
        sync_environment()
    except JobError as error:
        messages.error(request, str(error))
    form = EndpointForm(request.POST or None, instance=chosen)
    if request.method == "POST" and form.is_valid():
        try:
            saved = save(by=user_of(request), fields=form.cleaned_data, endpoint=chosen)
        except JobError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{saved.name} is saved.")
            return redirect("endpoints")
    rows = list(Endpoint.objects.select_related("pace").order_by("name"))
    for row in rows:
        row.at_once = width_of(row, getattr(row, "pace", None))  # type: ignore[attr-defined]
    testing = any(row.test_asked and not row.test_done for row in rows)
    context = {"rows": rows, "form": form, "chosen": chosen, "testing": testing, **ROOM}
    return render(request, "judges/endpoints.html", context, status=422 if form.errors else 200)
