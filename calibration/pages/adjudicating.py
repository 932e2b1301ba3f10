"""The adjudicator's pages: the rounds that wait for them, and the case before them.

Everything here is for adjudicators of the round; others get 404, as for a round that does not exist.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.errors import AnswerRefused
from annotation.models import SchemeVersion
from annotation.pages import work
from annotation.pages.work import transcript
from annotation.scheme_store import questionnaire_of
from annotation.text.views import DEFAULT
from annotation.work.checking import parse
from annotation.work.screens import load_place
from calibration import access
from calibration.adjudication import deciding, holding, reading
from calibration.adjudication.actions import may_decide
from calibration.adjudication.files import number_of
from calibration.errors import AdjudicationRefused, NotYours
from calibration.models import AdjudicationCase, AdjudicationDecision, AdjudicationRound
from judges.pages.runs import user_of


@require_GET
def my_adjudication(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: the open rounds in which they may decide."""
    by = user_of(request)
    rounds = [(one, reading.mine(one, by)) for one in reading.waiting_for(by) if may_decide(by, one)]
    return render(request, "adjudication/mine.html", {"rounds": rounds, "active_room": "my-campaigns"})


@require_GET
@cache_control(no_store=True)  # Back shows the case that is next now, not one that was decided
def adjudicate(request: HttpRequest, pk: int) -> HttpResponse:
    """Adjudicators: the case before them, or that none is left."""
    by = user_of(request)
    found = access.own_round(by, pk)
    try:
        held = holding.next_case(by=by, found=found)
    except AdjudicationRefused as error:
        return _nothing(request, found, str(error))
    return _nothing(request, found) if held is None else _page(request, by, held)


@require_http_methods(["GET", "POST"])
@cache_control(no_store=True)
def adjudicate_case(request: HttpRequest, pk: int, decision: int) -> HttpResponse:
    """Adjudicators: a case of their own, to be decided on, or decided on anew."""
    by = user_of(request)
    access.own_round(by, pk)
    try:
        held = holding.in_hand(by, decision)
    except NotYours as error:
        raise Http404 from error
    if held.round_id != pk:
        raise Http404
    if request.method == "GET":
        return _page(request, by, held)
    given = _given(request, held.case)
    try:
        deciding.decide(by=by, decision=decision, **given)
    except AdjudicationRefused as error:
        return _page(request, by, held, given, str(error))
    return redirect("adjudicate", pk)


@require_POST
def adjudicate_draft(request: HttpRequest, pk: int, decision: int) -> HttpResponse:
    """Adjudicators: keep the draft of a case of their own."""
    by = user_of(request)
    access.own_round(by, pk)
    try:
        kept = deciding.save_draft(by=by, decision=decision, draft=parse(request.body))
    except AdjudicationRefused as error:
        refusal = {"error": str(error), "code": error.code, **error.details()}
        return JsonResponse(refusal, status=error.status)
    except AnswerRefused as error:
        return JsonResponse({"error": str(error), "code": error.code}, status=error.status)
    return JsonResponse({"version": kept})


@require_POST
def adjudicate_pass(request: HttpRequest, pk: int, decision: int) -> HttpResponse:
    """Adjudicators: pass a case on to somebody else, with a reason."""
    by = user_of(request)
    access.own_round(by, pk)
    try:
        deciding.pass_on(by=by, decision=decision, reason=request.POST.get("reason", ""))
    except NotYours as error:
        raise Http404 from error
    except AdjudicationRefused as error:
        messages.error(request, str(error))
        return redirect("adjudicate-case", pk, decision)
    return redirect("adjudicate", pk)


def _given(request: HttpRequest, case: AdjudicationCase) -> dict[str, Any]:
    """Return what a form says: a value of the scale by its place, or what was written."""
    chosen, values = request.POST.get("choice", ""), _values(case)
    answer: Any = None
    if values and chosen.isascii() and chosen.isdigit() and len(chosen) < 6:
        answer = values[int(chosen)] if int(chosen) < len(values) else None
    elif not values and chosen != "cannot":
        written = request.POST.get("value", "").strip()
        answer = written if case.question.level in ("nominal", "text") else number_of(written)
    return {"answer": answer, "cannot": chosen == "cannot", "reason": request.POST.get("reason", "")}


def _page(
    request: HttpRequest,
    by: User,
    held: AdjudicationDecision,
    given: dict[str, Any] | None = None,
    refused: str = "",
) -> HttpResponse:
    case, found = held.case, held.round
    kept = given or _kept(held)
    last = found.decisions.filter(adjudicator=by, state=held.State.DECIDED).exclude(pk=held.pk)
    if held.decided_at:
        last = last.filter(decided_at__lt=held.decided_at)
    before = last.order_by("-decided_at").first()
    plan = questionnaire_of(found.scheme_version_id)
    controls = [one for section in work.sections(plan) for one in section.controls]
    control = next(one for one in controls if one.question.id == case.question_id)
    progress = reading.progress(found)
    context = {
        "round": found,
        "held": held,
        "case": case,
        "control": control,
        "choices": work.choices(replace(control.question, values=tuple(_values(case)))),
        "chosen": "cannot" if kept.get("cannot") else _place(case, kept.get("answer")),
        "value": "" if kept.get("answer") is None else kept.get("answer"),
        "reason": kept.get("reason") or "",
        "said": reading.said_about(found, case),
        "transcript": _transcript(found, case),
        "progress": progress,
        "done": progress.cases - progress.waiting,
        "before": before,
        "refused": refused,
        "typical": deciding.TYPICAL,
        "guidelines": found.campaign.guidelines.order_by("-version").first() if found.campaign else None,
        "state": {"decision": held.pk, "version": held.revision, "values": _values(case)},
    }
    return render(request, "adjudication/decide.html", context, status=422 if refused else 200)


def _kept(held: AdjudicationDecision) -> dict[str, Any]:
    """Return the draft of a case, else the decision that stands."""
    if held.draft:
        return dict(held.draft)
    if held.state == held.State.DECIDED and held.label is not None:
        label = held.label
        return {"answer": label.value, "cannot": bool(label.missing), "reason": label.explanation}
    return {}


def _place(case: AdjudicationCase, answer: Any) -> str:
    """Return the place of a value in the scale, as the form names it."""
    values = _values(case)
    return str(values.index(answer)) if answer is not None and answer in values else ""


def _values(case: AdjudicationCase) -> list[Any]:
    """Return the values that can be chosen; none where a number or a text is written."""
    return list(case.question.values) or ([0, 1] if case.question.level == "binary" else [])


def _transcript(found: AdjudicationRound, case: AdjudicationCase) -> str:
    """Return the markup of the transcript as annotators see it, with the item in question marked."""
    item = case.item
    whole = found.scheme_version.unit == SchemeVersion.Unit.CONTINUATION and item.turn_id is not None
    shows = found.campaign.shows if found.campaign else DEFAULT
    screen = load_place(item.continuation_id, None if whole else item.pk, shows, tagged=False)
    return re.sub(
        rf'<li class="turn item"([^>]* data-item="{item.public}")',
        r'<li class="turn item here" id="here" aria-current="true"\1',
        transcript(screen),
        count=1,
    )


def _nothing(request: HttpRequest, found: AdjudicationRound, why: str = "") -> HttpResponse:
    progress = reading.progress(found)
    if not why and progress.waiting:
        why = (
            "What is left is in other hands, you passed it on, or you rated it yourself: "
            "somebody else decides on it."
        )
    context = {"round": found, "why": why or "All cases are decided.", "progress": progress}
    return render(request, "adjudication/nothing.html", context | {"home": reverse("my-adjudication")})
