"""Downloading a script in the native format."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_GET

from annotation import access
from annotation.errors import ScriptRefused
from annotation.script_editing.leaving import Wanted
from annotation.script_editing.sending import answer
from config.permissions import researcher_only

NO_SETS = "none"


@require_GET
@researcher_only
def script_file(request: HttpRequest, pk: int, dialogue: int) -> HttpResponseBase:
    """Researchers: a script as a file; `sets` none leaves its question sets out, `set` names some."""
    found = access.script(pk, dialogue)
    sets = tuple(filter(None, request.GET.getlist("set"))) or None
    if request.GET.get("sets") == NO_SETS:
        sets = ()
    assert isinstance(request.user, User)
    wanted = Wanted(sets, bool(request.GET.get("continuations")))
    try:
        return answer(dialogue=found, wanted=wanted, by=request.user)
    except ScriptRefused as refused:
        messages.error(request, str(refused))
        return redirect("script", pk, dialogue)
