"""One decision of a group-chat agent: what it had seen, the key, and where it failed. Researchers only."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation import access as annotation_access
from annotation.corpora import dialogue_view
from annotation.scenarios.points import scenario_of
from annotation.scenarios.records import STAGES
from annotation.scenarios.stored import condition_json
from annotation.text.language import language_tag
from calibration.cascade.one_decision import DecisionView, script, view
from calibration.cascade.reading import judges_of, raters_named
from calibration.errors import CascadeRefused
from config.permissions import researcher_only


@require_GET
@researcher_only
def decision(request: HttpRequest, pk: int) -> HttpResponse:
    """What an agent decided at a point, by which key it is scored, stage by stage."""
    item = annotation_access.decision(pk)
    judge = request.GET.get("judge", "").replace("\0", "")
    refused = ""
    try:
        raters = raters_named(item.corpus, [judge] if judge else [])
    except CascadeRefused as error:
        refused, raters = str(error), []
    found = view(item, raters)
    row = found.continuation.dialogue
    turns = script(found)
    names = dialogue_view.speakers(row, turns)
    context = {
        "found": found,
        "corpus": item.corpus,
        "dialogue": row,
        "language": language_tag(row.language),
        "lines": dialogue_view.lines(row, turns, names),
        "agent": names.of(scenario_of(found.dialogue).agent),
        "expected": _expected(found),
        "did": _did(found),
        "stages": [(stage, found.result.stages[stage]) for stage in STAGES] if found.result else [],
        "judge": judge,
        "judges": judges_of(item.corpus),
        "refused": refused,
        "active_room": "corpora",
    }
    return render(request, "calibration/decision.html", context, status=422 if refused else 200)


def _expected(found: DecisionView) -> list[tuple[str, str]]:
    """Return what the key expects, field by field."""
    key = found.key
    if key.free:
        return [("Anything goes", "this point is not scored")]
    told: list[tuple[str, Any]] = [
        ("Attend", "yes" if key.attend else "no"),
        ("Speak", _scored(key.speak)),
        ("Addressed", condition_json(key.addressed)),
        ("Target", condition_json(key.target)),
        ("Ground", None if key.ground is None else _scored(key.ground)),
        ("Must say", "; ".join(" or ".join(one) for one in key.must)),
        ("Must not say", "; ".join(" or ".join(one) for one in key.must_not)),
        ("Conduct", ", ".join(key.conduct)),
        ("Secrets", ", ".join(key.secrets)),
        ("Example", key.example),
    ]
    return [(name, _words(value)) for name, value in told if value]


def _did(found: DecisionView) -> list[tuple[str, str]]:
    """Return what the agent did and declared, field by field."""
    decision = found.decision
    attend = None if decision.attend is None else "yes" if decision.attend else "no"
    told: list[tuple[str, Any]] = [
        ("Act", decision.act),
        ("Mode", decision.mode),
        ("Attend", attend),
        ("Addressed", _ids(decision.addressed)),
        ("Target", _ids(decision.targets)),
        ("Ground", decision.ground),
        ("Flags", ", ".join(decision.flags)),
    ]
    return [(name, str(value)) for name, value in told if value]


def _ids(ids: tuple[str, ...] | None) -> str | None:
    return None if ids is None else ", ".join(ids) or "nobody"


def _scored(scores: Any) -> str:
    return ", ".join(f"{name} {score:g}" for name, score in scores.items())


def _words(value: Any) -> str:
    if isinstance(value, dict):
        ((how, sets),) = value.items()
        return f"{how.replace('_', ' ')} {_words(sets)}"
    if isinstance(value, list):
        return ", ".join(f"({_words(one)})" if isinstance(one, list) else str(one) for one in value)
    return str(value)
