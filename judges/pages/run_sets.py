"""Researchers' page of a run set: its progress, its runs, and changes of all of them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation.text.display import duration, many
from config.permissions import researcher_only, user_of
from jobs.bulk_acts import RUN_ACTS
from jobs.errors import JobError
from judges import access
from judges.runs import run_sets
from judges.runs.run_sets import SetProgress, progress_of


@require_GET
@researcher_only
def run_set_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: a run set; the page refreshes its runs while one goes on."""
    run_set = access.run_set(pk)
    state = progress_of([run_set])[run_set.pk]
    context = {
        "run_set": run_set,
        "corpus": run_set.corpus,
        "progress": state,
        "total": state.sum("total"),
        "finished": state.sum("done") + state.sum("failed"),
        "figures": _figures(state),
        "has_answers": any(row.done or row.reused for row in state.rows),
    }
    return render(request, "judges/run_set.html", context)


def _figures(state: SetProgress) -> list[tuple[str, Any]]:
    """Return how far a set is as pairs of term and value; those without a value do not apply."""
    seconds = state.seconds_left
    return [
        ("Done", f"{state.sum('done'):,}"),
        ("Failed", f"{state.sum('failed'):,}"),
        ("Cancelled", f"{state.sum('cancelled'):,}" if state.sum("cancelled") else ""),
        ("Done by other runs", f"{state.sum('reused'):,}" if state.sum("reused") else ""),
        ("Time left", ("not known yet" if seconds is None else duration(seconds)) if state.is_active else ""),
        ("Tokens read", f"{state.sum('tokens_in'):,}"),
        ("Tokens written", f"{state.sum('tokens_out'):,}"),
        ("Cost", state.price),
    ]


@require_POST
@researcher_only
def change_run_set(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: pause, resume, cancel or retry all runs of a set that this applies to."""
    verb = request.POST.get("verb", "")
    try:
        outcome = run_sets.change_run_set(by=user_of(request), run_set=access.run_set(pk), verb=verb)
    except JobError as error:
        messages.error(request, str(error))
        return redirect("run-set", pk)
    if outcome.done:
        messages.success(request, f"{many(len(outcome.done), 'run')} {RUN_ACTS.acts[verb].past}.")
    for refusal in outcome.refused:
        messages.error(request, f"{refusal.name}: {refusal.reason}")
    return redirect("run-set", pk)
