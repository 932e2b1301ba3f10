"""Copying a corpus's dialogues without their turns, from the page of the corpus."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from annotation import access
from annotation.formats import ImportProblem
from annotation.importing.without_turns import copy_without_turns
from config.permissions import researcher_only


@require_POST
@researcher_only
def copy(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: copy dialogues with their people and topics, without turns, into a new corpus."""
    found = access.corpus_named(name)
    assert isinstance(request.user, User)
    new = request.POST.get("name", "").strip()
    try:
        numbers = {key: _whole(request, key) for key in ("first", "least", "most")}
        result = copy_without_turns(by=request.user, corpus=found, name=new, **numbers)
    except ImportProblem as problem:
        messages.error(request, f"Not copied: {problem}.")
        return redirect("corpus", name)
    notes = "".join(f" {note}." for note in result.notes)
    messages.success(request, f"{result.dialogues:,} dialogues were copied without their turns.{notes}")
    return redirect("corpus", result.corpus)


def _whole(request: HttpRequest, name: str) -> int:
    told = request.POST.get(name, "").strip() or "0"
    if not told.isascii() or not told.isdigit() or len(told) > 9:
        raise ImportProblem(f"{told[:20]!r} is not a number", field=name)
    return int(told)
