"""The page of one dialogue: transcript, continuations, answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation import access
from annotation.corpora import clusters as item_clusters
from annotation.corpora import dialogue_view, reading, splits
from annotation.kinds.decision import DECISION
from annotation.models import Continuation, Dialogue, Item, Turn, turn_numbers
from annotation.notes.reading import of_turns
from annotation.records import SELF
from annotation.scenarios.records import POINTS
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
    if found.script is not None and request.GET.get("continuation", SELF) == SELF:
        return _to_script(request, found)
    parts = list(found.continuations.select_related("system").annotate(length=Count("turns")).order_by("id"))
    own = next((part for part in parts if part.key == SELF), None)
    shown = _chosen(parts, request.GET.get("continuation"), own)
    asked, index = _counted(request, "turn", least=1), _counted(request, "index", least=0)
    number = request.GET.get("page")
    if asked and number is None:
        number = str((asked - 1) // TURNS_SHOWN + 1)
    page = _history(found, own).get_page(number)
    turns = [] if shown is None or shown is own else list(shown.turns.order_by("position"))
    turn_numbers.number([*page, *turns])
    who = dialogue_view.speakers(found, [*page, *turns])
    history = dialogue_view.lines(found, list(page), who, asked=index)
    lines = dialogue_view.lines(found, turns, who, asked=index)
    judged = history if shown is own else lines
    anchor = f"turn-{asked}"
    rated = next((line.position for line in judged if line.anchor == anchor), None)
    in_history = next((line.position for line in history if line.anchor == anchor), None)
    unopened = splits.unopened(found.corpus).values_list("cluster", flat=True)
    locked = item_clusters.is_locked(found, set(unopened))
    answers = [] if locked or shown is None else dialogue_view.answers(shown)
    context = {
        "dialogue": found,
        "corpus": found.corpus,
        "language": language_tag(found.language),
        "parts": parts,
        "shown": shown,
        "page": page,
        "own_shown": shown is own,
        "n_own": own.length if own else 0,
        "rated": rated,
        "rated_own": in_history if rated is None or shown is own else None,
        "history_anchored": shown is None or shown is own or shown.mode == Continuation.Mode.ROLLOUT,
        "history": history,
        "lines": lines,
        "people": _people(found, who),
        "metadata": [(key, _shown(value)) for key, value in found.metadata.items()],
        "has_marks": any(is_mark for line in [*history, *lines] for _, is_mark in line.pieces),
        "has_given": any(line.given for line in [*history, *lines]),
        "numbers": {line.position + 1: line.number for line in judged},
        "anchors": {line.position + 1: line.anchor for line in judged},
        "locked": locked,
        "noted": {} if locked else of_turns([turn.pk for turn in (*page, *turns)]),
        "decision_items": {} if locked else _decisions(found, shown),
        "answers": [entry for entry in answers if not entry.is_unset],
        "unset": dialogue_view.unset(answers),
        "n_unset": sum(entry.is_unset for entry in answers),
        "may_share": bool(reading.may_share([found.pk])),
        "has_metrics": shown is not None and dialogue_view.has_metrics(shown),
        "kinds": [kind for kind in dialogue_view.KINDS.values() if any(kind in a.by_kind for a in answers)],
        "active_room": "corpora",
    }
    return render(request, "corpora/dialogue.html", context)


def _to_script(request: HttpRequest, found: Dialogue) -> HttpResponse:
    """Lead to a script's own page, and to the turn that the link names."""
    address = reverse("script", args=[found.corpus_id, found.pk])
    asked = _counted(request, "turn", least=1)
    return redirect(f"{address}?turn={asked}#turn-{asked}" if asked else address)


def _history(found: Dialogue, own: Any) -> Paginator[Turn]:
    """Return the dialogue's own turns by pages; none of a script, whose own page has them by sessions."""
    turns = Turn.objects.filter(continuation=own).order_by("position")
    is_shown = own is not None and found.script is None
    pages = Paginator(turns if is_shown else turns.none(), TURNS_SHOWN)
    pages.count = own.length if is_shown else 0  # counted already
    return pages


def _counted(request: HttpRequest, name: str, *, least: int) -> int | None:
    """Return the number that a link gives under a name, None where it gives none.

    `turn` is a turn's number as annotators count it; `index` its place within the continuation, from 0, which
    tells static turns of one number apart.
    """
    asked = request.GET.get(name, "")
    number = 0 if asked == "0" else row_id(asked)
    return number if number is not None and least <= number < 10**6 else None


def _chosen(parts: Sequence[Continuation], key: str | None, own: Continuation | None) -> Continuation | None:
    """Return the continuation to be shown, None where the dialogue has none at all."""
    if key:
        found = next((part for part in parts if part.key == key), None)
        if found is None:
            raise Http404
        return found
    return own or next(iter(parts), None)


def _decisions(dialogue: Dialogue, shown: Continuation | None) -> dict[int, int]:
    """Return the items of an agent's decisions by their turns; none of what people decide in its place."""
    if dialogue.scenario is None or shown is None or shown.key == POINTS:
        return {}
    items = Item.objects.filter(kind=DECISION.key, continuation=shown)
    return dict(items.values_list("turn", "pk"))


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
