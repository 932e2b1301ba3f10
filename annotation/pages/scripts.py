"""The page of a script: its sessions as an outline, one of them unfolded, and turns that are looked for."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation import access
from annotation.corpora import dialogue_view, splits
from annotation.models import Dialogue, Turn
from annotation.notes.reading import of_turns
from annotation.records import SELF
from annotation.script_editing import reading
from annotation.script_editing.actions import warnings_of
from annotation.script_editing.leaving import called
from annotation.script_editing.reading import Overview, Row
from annotation.scripts.records import FACT, QUESTION
from annotation.text.language import language_tag
from config.ids import row_id
from config.permissions import researcher_only

SESSIONS_SHOWN = 50
TURNS_SHOWN = 100
NAMED = 6
"""So many people of a session are named in the outline, and the others counted."""
COUNTED = 5_000
"""Up to so many questions of a script, the outline says how many each session answers."""
ROOM = {"active_room": "corpora"}


@require_GET
@researcher_only
def script(request: HttpRequest, pk: int, dialogue: int) -> HttpResponse:
    """Researchers: a script's sessions, the chosen one (`session` or `turn`) unfolded; `text` and `speaker`
    look for turns."""
    seen = reading.overview(access.script(pk, dialogue))
    chosen = _chosen(request, seen)
    asked = {name: request.GET.get(name, "").replace("\0", "").strip()[:200] for name in ("text", "speaker")}
    context = {
        **_about(seen),
        "asked": asked,
        "query": urlencode({key: value for key, value in asked.items() if value}) + "&",
        **ROOM,
    }
    if any(asked.values()):
        return render(request, "corpora/script.html", context | _found(request, seen, asked))
    pages = Paginator(seen.rows, SESSIONS_SHOWN)
    number = request.GET.get("page")
    if number is None and chosen is not None:
        number = str((chosen.number - 1) // SESSIONS_SHOWN + 1)
    page = pages.get_page(number)
    kinds = (FACT, QUESTION) if context["records"][QUESTION] <= COUNTED else (FACT,)
    told = reading.records_of(seen.dialogue, [row.session.id for row in page], kinds)
    context |= {
        "page": page,
        "query": "",
        "sessions": [_line(seen, row, told[row.session.id], chosen) for row in page],
        "opened": _unfolded(seen, chosen, request) if chosen is not None and chosen in list(page) else None,
    }
    return render(request, "corpora/script.html", context)


@require_GET
@researcher_only
def session(request: HttpRequest, pk: int, dialogue: int, number: int) -> HttpResponse:
    """Researchers: the turns, facts and questions of one session, to be put into the outline."""
    found = access.script(pk, dialogue)
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{reverse('script', args=[pk, dialogue])}?session={number}#session-{number}")
    seen = reading.overview(found)
    row = seen.row(number)
    if row is None:
        raise Http404
    return render(request, "corpora/_session.html", {"opened": _unfolded(seen, row, request), **_about(seen)})


def _chosen(request: HttpRequest, seen: Overview) -> Row | None:
    """Return the session that the address names, by number or by one of its turns (from 1); else none."""
    if asked := row_id(request.GET.get("session", "")):
        row = seen.row(asked)
        if row is None:
            raise Http404
        return row
    if turn := row_id(request.GET.get("turn", "")):
        return seen.at(turn - 1)
    return None


def _about(seen: Overview) -> dict[str, Any]:
    """Return what stands at the head of the page."""
    found = seen.dialogue
    heard = sum(row.heard for row in seen.rows)
    dates = [row.session.date for row in seen.rows]
    return {
        "dialogue": found,
        "corpus": found.corpus,
        "language": language_tag(found.language),
        "main": seen.called(seen.script.main),
        "n_sessions": len(seen.rows),
        "n_heard": heard,
        "n_turns": sum(row.turns for row in seen.rows),
        "first": min(dates, key=lambda date: date.first),
        "last": max(dates, key=lambda date: date.last),
        "warnings": warnings_of(seen.script),
        "records": reading.counts_of(found),
        "parts": _continuations(found),
        "n_maps": len(seen.script.names),
        "sets": [(called(one), one) for one in found.corpus.question_sets.order_by("name", "-version")],
    }


def _continuations(found: Dialogue) -> list[Any]:
    return list(found.continuations.exclude(key=SELF).select_related("system").order_by("id"))


def _line(seen: Overview, row: Row, records: dict[str, int], chosen: Row | None) -> dict[str, Any]:
    """Return a session as the outline shows it."""
    names = [seen.called(person) for person in row.there]
    return {
        "row": row,
        "session": row.session,
        "who": ", ".join(names[:NAMED]),
        "others": max(0, len(names) - NAMED),
        "facts": records[FACT],
        "questions": records[QUESTION],
        "is_open": row == chosen,
    }


def _unfolded(seen: Overview, row: Row, request: HttpRequest) -> dict[str, Any]:
    """Return what stands in an unfolded session: its turns, facts and questions."""
    found = seen.dialogue
    turns = list(reading.turns_of(seen, row))
    who = dialogue_view.speakers(found, turns)
    asked = row_id(request.GET.get("turn", ""))
    lines = [line._replace(heading="") for line in dialogue_view.lines(found, turns, who)]
    cluster = f"{found.key}/{row.session.season or row.session.id}"
    locked = splits.unopened(found.corpus).filter(cluster=cluster).exists()
    return {
        "row": row,
        "session": row.session,
        "listed": [seen.called(person) for person in row.session.present],
        "lines": lines,
        "rated": asked - 1 if asked else None,
        "noted": {} if locked else of_turns([turn.pk for turn in turns]),
        "facts": [(one, one.content.get("turns") or []) for one in reading.facts_in(found, row.session.id)],
        "questions": list(reading.questions_on(found, row.session.id)[:TURNS_SHOWN]),
        "before": seen.row(row.number - 1),
        "after": seen.row(row.number + 1),
    }


def _found(request: HttpRequest, seen: Overview, asked: dict[str, str]) -> dict[str, Any]:
    """Return the turns that hold the words or are by the speaker, a page of them."""
    turns = reading.looked_for(seen, words=asked["text"], speaker=asked["speaker"])
    page = Paginator(turns, TURNS_SHOWN).get_page(request.GET.get("page"))
    return {"page": page, "turns": [_hit(seen, turn) for turn in page], "searched": True}


def _hit(seen: Overview, turn: Turn) -> dict[str, Any]:
    return {
        "turn": turn,
        "number": turn.position + 1,
        "who": seen.called(turn.speaker),
        "row": seen.at(turn.position),
    }
