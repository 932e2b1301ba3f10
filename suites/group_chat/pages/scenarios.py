"""The Scenarios page of a corpus: what it has of each kind of probe, and what the oracle says of each one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotation import access
from annotation.formats import ImportProblem
from annotation.models import Corpus, Dialogue
from annotation.scenario_records import PROBES
from config.files import row_id
from config.permissions import researcher_only
from suites.group_chat.editing import actions
from suites.group_chat.editing.actions import (
    STARTER,
    Draft,
    draft,
    other_form,
    probes_of,
    with_probe,
    without_probe,
)
from suites.group_chat.editing.queries import is_decided, record_of, rows, seen_until, state_of, text_of
from suites.group_chat.native_fields import too_many_or_few
from suites.group_chat.scenarios.probes import overview

ROOM = {"active_room": "corpora"}
PAGE_SIZE = 50


@require_GET
@researcher_only
def scenarios(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the scenarios of a corpus, with counts per probe and the oracle's check."""
    corpus = access.corpus(pk)
    scenario_rows = rows(corpus)
    page = Paginator(scenario_rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "corpus": corpus,
        "page": page,
        "rows": list(page),
        "wrong": [row for row in scenario_rows if row.summary.problems],
        "overview": overview([row.summary for row in scenario_rows]),
        **ROOM,
    }
    return render(request, "group_chat/scenarios.html", context)


# The scenario editor: a script in plain text, beside it who sees what, the probes and the oracle's check.

BECAME = {
    "created": "The scenario is saved.",
    "rewritten": "The scenario is saved: nothing had been decided on it, so it took the old one's place.",
    "corrected": "The keys are corrected: they are another rater, and the earlier one keeps its labels.",
    "unchanged": "Nothing has changed.",
}


@require_http_methods(["GET", "POST"])
@researcher_only
def new_scenario(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: a scenario more in a corpus, begun with an example or as a copy of another (`from`)."""
    corpus = access.corpus(pk)
    if request.method == "POST":
        return _answer(request, corpus, None)
    if copied := row_id(request.GET.get("from", "")):
        before = access.scenario(pk, copied)
        text = text_of(record_of(before)).replace(before.key, f"{before.key}-copy", 1)
    else:
        number = corpus.dialogues.filter(scenario__isnull=False).count() + 1
        text = STARTER.format(id=f"scenario-{number}")
    return _page(request, corpus, None, draft(text))


@require_http_methods(["GET", "POST"])
@researcher_only
def scenario(request: HttpRequest, pk: int, dialogue: int) -> HttpResponse:
    """Researchers: the editor over a scenario of a corpus."""
    opened = access.scenario(pk, dialogue)
    if request.method == "POST":
        return _answer(request, opened.corpus, opened)
    record = record_of(opened)
    return _page(
        request, opened.corpus, opened, draft(text_of(record), any_size=bool(too_many_or_few(record)))
    )


def _answer(request: HttpRequest, corpus: Corpus, opened: Dialogue | None) -> HttpResponse:
    """Do what a button asks for."""
    posted = request.POST
    current = draft(posted.get("text", "").replace("\0", ""), any_size="any_size" in posted)
    do, _, about = posted.get("do", "").partition(" ")
    if do == "save" and current.record is not None:
        return _save(request, corpus, opened, current)
    refused: ImportProblem | None = None
    try:
        if do == "mark":
            current = with_probe(
                current,
                kind=posted.get("kind", ""),
                trigger=posted.get("trigger", ""),
                points=posted.get("points", ""),
                control="control" in posted,
            )
        elif do == "unmark":
            current = without_probe(current, posted.get("probe", "") or about)
        elif do == "other-form":
            current = other_form(current)
    except ImportProblem as problem:
        refused = problem
    if request.htmx and do == "check":  # type: ignore[attr-defined]
        return render(request, "group_chat/_checked.html", _editor_context(request, current))
    failed = refused is not None or (do == "save" and current.record is None)
    return _page(request, corpus, opened, current, refused=refused, status=422 if failed else 200)


def _save(request: HttpRequest, corpus: Corpus, opened: Dialogue | None, current: Draft) -> HttpResponse:
    assert current.record is not None
    assert isinstance(request.user, User)
    try:
        saved = actions.save(
            corpus=corpus,
            record=current.record,
            by=request.user,
            opened=opened,
            seen=request.POST.get("seen", ""),
            any_size=current.any_size,
        )
    except ImportProblem as problem:
        return _page(request, corpus, opened, current, refused=problem, status=422)
    messages.success(request, BECAME[saved.became])
    return redirect("scenario", corpus.pk, saved.dialogue.pk)


def _page(
    request: HttpRequest,
    corpus: Corpus,
    opened: Dialogue | None,
    current: Draft,
    *,
    refused: ImportProblem | None = None,
    status: int = 200,
) -> HttpResponse:
    """Return the whole editor; once told of another's change, who saves has seen it."""
    stored = state_of(record_of(opened)) if opened is not None else ""
    context = _editor_context(request, current) | {
        "corpus": corpus,
        "opened": opened,
        "decided": opened is not None and is_decided(opened),
        "seen": stored if refused is not None else request.POST.get("seen", stored),
        "refused": refused,
        "kinds": PROBES,
        "kind": request.POST.get("kind", ""),
        "probes": probes_of(current),
        **ROOM,
    }
    return render(request, "group_chat/scenario.html", context, status=status)


def _editor_context(request: HttpRequest, current: Draft) -> dict[str, Any]:
    """Return the template context of the checked draft: all its turns, or those that a viewer has seen."""
    chat, lines = current.chat, current.lines()
    viewer = request.POST.get("viewer", "")
    until = row_id(request.POST.get("until", ""))
    last = len(lines) - 1 if until is None else min(until, len(lines) - 1)
    people = chat.participants if chat else ()
    is_one = any(person.id == viewer for person in people)
    seen = seen_until(chat, viewer, last) if chat and lines and is_one else None
    return {
        "draft": current,
        "language": chat.language if chat else "",
        "lines": lines if seen is None else [line for line in lines if line.position in seen],
        "summary": current.summary(),
        "people": people,
        "viewer": viewer if is_one else "",
        "until": last if seen is not None else "",
    }
