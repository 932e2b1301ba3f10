"""The page of one dialogue: transcript, continuations, answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation import access
from annotation.corpora import dialogue_view
from annotation.models import Continuation, Dialogue, Turn
from annotation.records import SELF
from annotation.text.happenings import Names
from annotation.text.language import language_tag
from config.ids import row_id
from config.permissions import researcher_only

TURNS_SHOWN = 400


@require_GET
@researcher_only
def dialogue(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: one dialogue, with one of its continuations (its own turns where none is asked for)."""
    found = access.dialogue(pk)
    parts = list(found.continuations.select_related("system").annotate(length=Count("turns")).order_by("id"))
    own = next((part for part in parts if part.key == SELF), None)
    shown = _chosen(parts, request.GET.get("continuation"), own)
    own_turns = Turn.objects.filter(continuation=own).order_by("position")
    rated = _asked_turn(request)
    number = request.GET.get("page")
    if shown is own and rated is not None and number is None:
        number = str(rated // TURNS_SHOWN + 1)
    page = Paginator(own_turns, TURNS_SHOWN).get_page(number)
    turns = [] if shown is own else list(shown.turns.order_by("position"))
    who = dialogue_view.speakers(found, [*page, *turns])
    history = dialogue_view.lines(found, list(page), who)
    lines = dialogue_view.lines(found, turns, who)
    answers = dialogue_view.answers(shown)
    context = {
        "dialogue": found,
        "corpus": found.corpus,
        "language": language_tag(found.language),
        "parts": parts,
        "shown": shown,
        "page": page,
        "own_shown": shown is own,
        "rated": rated,
        "rated_own": rated if shown is own else None,
        "history": history,
        "lines": lines,
        "people": _people(found, who),
        "metadata": [(key, _shown(value)) for key, value in found.metadata.items()],
        "has_marks": any(is_mark for line in [*history, *lines] for _, is_mark in line.pieces),
        "has_given": any(line.given for line in [*history, *lines]),
        "numbers": {line.position + 1: line.number for line in (history if shown is own else lines)},
        "answers": [entry for entry in answers if not entry.is_unset],
        "unset": dialogue_view.unset(answers),
        "n_unset": sum(entry.is_unset for entry in answers),
        "has_metrics": dialogue_view.has_metrics(shown),
        "kinds": [kind for kind in dialogue_view.KINDS.values() if any(kind in a.by_kind for a in answers)],
        "active_room": "corpora",
    }
    return render(request, "corpora/dialogue.html", context)


def _asked_turn(request: HttpRequest) -> int | None:
    """Return the position of the turn that a link names (`turn`, from 1), None where it names none."""
    asked = request.GET.get("turn", "")
    number = row_id(asked) or 0
    return number - 1 if 0 < number < 10**6 else None


def _chosen(parts: Sequence[Continuation], key: str | None, own: Continuation | None) -> Continuation:
    if key:
        found = next((part for part in parts if part.key == key), None)
        if found is None:
            raise Http404
        return found
    return own or parts[0]


def _people(dialogue: Dialogue, names: Names) -> list[dict[str, Any]]:
    return [
        {
            **person,
            "name": names.of(person["id"]),
            "colour": names.colour(person["id"]),
            "extra": _shown(person["extra"]) if person.get("extra") else "",
        }
        for person in dialogue.participants
    ]


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
