"""What a researcher does to a batch of a run: looks at it now, adopts one that is unclear, or gives it up."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from config.permissions import researcher_only
from jobs import access
from jobs.calls import batch_actions
from jobs.errors import JobError
from jobs.models import Batch
from judges.pages.forms import AdoptForm
from judges.pages.runs import one_run, user_of


@require_POST
@researcher_only
def look_at_batch(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: let a worker look at a batch now."""
    return _changed(request, pk, batch_actions.look_now)


@require_POST
@researcher_only
def adopt_batch(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: say which of the provider's batches one is of which that is unclear."""
    batch, form = access.batch(pk), AdoptForm(request.POST, batch=pk)
    if form.is_valid():
        try:
            batch_actions.adopt(
                by=user_of(request), batch=batch, provider_id=form.cleaned_data["provider_id"]
            )
            return redirect("run", batch.run_id)
        except JobError as error:
            form.add_error("provider_id", str(error))
            messages.error(request, f"Not adopted: {error}")
    return one_run(request, access.run(batch.run_id), adopting=form)


@require_POST
@researcher_only
def give_up_batch(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: give up a batch of which it is unclear what became; its calls are asked again."""
    return _changed(request, pk, batch_actions.give_up)


def _changed(request: HttpRequest, pk: int, verb: Callable[..., Batch]) -> HttpResponse:
    batch = access.batch(pk)
    try:
        verb(by=user_of(request), batch=batch)
    except JobError as error:
        messages.error(request, str(error))
    return redirect("run", batch.run_id)
