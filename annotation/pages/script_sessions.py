"""The page on which a session's date, place and people are changed, with what was said of it before."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotation import access
from annotation.corpora import dialogue_view
from annotation.errors import ScriptRefused
from annotation.pages.scripts import ROOM
from annotation.script_editing import reading
from annotation.script_editing.actions import NOTE_LIMIT, REASONS, Changed, change_session, versions_of
from annotation.script_editing.reading import Overview, Row
from annotation.text.language import language_tag
from config.permissions import researcher_only


class SessionForm(forms.Form):
    """What is said of a session, and why it is changed."""

    date = forms.CharField(
        max_length=20, label="Date", help_text="1994-09-22; 1994-09 or 1994 where no more is known."
    )
    place = forms.CharField(max_length=200, required=False, label="Place")
    present = forms.CharField(
        max_length=5000,
        required=False,
        label="Also present",
        help_text="Who is there without a word, by name, with commas. Who speaks is there anyway.",
    )
    kind = forms.ChoiceField(choices=[("", "choose"), *REASONS.items()], label="Reason")
    reason = forms.CharField(
        max_length=NOTE_LIMIT,
        required=False,
        label="In words",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Such as “Ben says that tomorrow is Thanksgiving”.",
    )
    seen = forms.IntegerField(widget=forms.HiddenInput, required=False)


@require_http_methods(["GET", "POST"])
@researcher_only
def edit_session(request: HttpRequest, pk: int, dialogue: int, number: int) -> HttpResponse:
    """Researchers: change the date, place or people of a session; all that was said of it stays listed."""
    seen = reading.overview(access.script(pk, dialogue))
    row = seen.row(number)
    if row is None:
        raise Http404
    if request.method == "GET":
        return _page(request, seen, row, SessionForm(initial=_initial(seen, row)))
    form = SessionForm(request.POST)
    if not form.is_valid():
        return _page(request, seen, row, form, status=422)
    try:
        changed = _change(request, seen, row, form.cleaned_data)
    except ScriptRefused as refused:
        form.add_error(refused.field if refused.field in form.fields else None, str(refused))
        return _page(request, seen, row, _having_seen(request, form, seen, row), status=422)
    _tell(request, changed)
    return redirect(f"{reverse('script', args=[pk, dialogue])}?session={number}#session-{number}")


def _change(request: HttpRequest, seen: Overview, row: Row, told: dict[str, Any]) -> Changed:
    assert isinstance(request.user, User)
    return change_session(
        dialogue=seen.dialogue,
        session=row.session.id,
        date=told["date"],
        place=told["place"],
        present=told["present"].split(","),
        kind=told["kind"],
        reason=told["reason"],
        seen=told["seen"],
        by=request.user,
    )


def _having_seen(request: HttpRequest, form: SessionForm, seen: Overview, row: Row) -> SessionForm:
    """Return the form of whoever was told of another's change: saving again puts theirs on top."""
    told = request.POST.copy()
    told["seen"] = str(_initial(seen, row)["seen"])
    form.data = told
    return form


def _tell(request: HttpRequest, changed: Changed) -> None:
    messages.success(request, "The session is changed.")
    for warning in changed.warnings:
        messages.warning(request, warning)
    for one in changed.stale:
        messages.warning(request, f"Question set {one}: {one.stale}")


def _initial(seen: Overview, row: Row) -> dict[str, Any]:
    versions = versions_of(seen.dialogue, row.session)
    return {
        "date": str(row.session.date),
        "place": row.session.place,
        "present": ", ".join(seen.called(person) for person in row.session.present),
        "seen": versions[0]["version"] if versions else 1,
    }


def _page(
    request: HttpRequest, seen: Overview, row: Row, form: SessionForm, *, status: int = 200
) -> HttpResponse:
    turns = list(reading.turns_of(seen, row))
    who = dialogue_view.speakers(seen.dialogue, turns)
    versions = versions_of(seen.dialogue, row.session)
    for version in versions:
        version["names"] = ", ".join(seen.called(person) for person in version["present"])
    context = {
        "dialogue": seen.dialogue,
        "corpus": seen.dialogue.corpus,
        "language": language_tag(seen.dialogue.language),
        "row": row,
        "session": row.session,
        "before": seen.row(row.number - 1),
        "after": seen.row(row.number + 1),
        "speakers": [seen.called(person) for person in row.there[: row.speakers]],
        "lines": [line._replace(heading="") for line in dialogue_view.lines(seen.dialogue, turns, who)],
        "versions": versions,
        "form": form,
        **ROOM,
    }
    return render(request, "corpora/script_session.html", context, status=status)
