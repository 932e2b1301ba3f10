"""The annotator's page: the task before them.

Everything here is for members of the campaign; others get 404, as for a campaign that does not exist.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import get_template
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.checks import notices
from annotation.errors import AnswerRefused, NotTaskHolder
from annotation.models import Assignment, Campaign, Guidelines
from annotation.pages import palette
from annotation.pages.answering import as_json
from annotation.people.comfort import comfort_of, for_page
from annotation.scheme_versions.store import Questionnaire, questionnaire_of
from annotation.work import actions as labelling
from annotation.work import agreements
from annotation.work.beside import beside
from annotation.work.checking import parse
from annotation.work.completing import completion
from annotation.work.handing import taken_back
from annotation.work.leases import Hold, Seat
from annotation.work.progress import Progress, has_later, others_are_busy, progress, with_work
from annotation.work.screens import Screen, load
from annotation.work.standing import held

MOST_TOLD = 3
"""Tasks taken back that a page tells of."""


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


@require_GET
@cache_control(no_store=True)  # Back shows the task that is next now, not one that was submitted
def work(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members: the task before them."""
    try:
        seat, hold = labelling.start(by=_user(request), campaign=campaign)
    except NotTaskHolder as error:
        raise Http404 from error
    return _page(request, seat, hold)


@require_GET
@cache_control(no_store=True)
def work_task(request: HttpRequest, campaign: int, assignment: int) -> HttpResponse:
    """Members: an earlier task of their own, to be revised."""
    own = Assignment.objects.filter(user=_user(request), round=0).exclude(state=Assignment.State.VOIDED)
    mine = get_object_or_404(own, pk=assignment, campaign_id=campaign)
    try:
        seat, _ = labelling.start(by=_user(request), campaign=campaign)
    except NotTaskHolder as error:
        raise Http404 from error
    return _page(request, seat, held(mine))


@require_POST
@as_json
def save_draft(request: HttpRequest, campaign: int, assignment: int) -> HttpResponse:
    """Members: keep the draft of a task of their own."""
    body = parse(request.body)
    revising = bool(body.pop("revising", False))
    kept = labelling.save_draft(
        by=_user(request),
        campaign=campaign,
        assignment=assignment,
        revising=revising,
        client=body.get("client", ""),
        based_on=_version(body.pop("based_on", None)),
        attention=_version(body.pop("attention", None)) or 0,
        draft=body,
    )
    return JsonResponse({"version": kept})


@require_POST
@as_json
def submit(request: HttpRequest, campaign: int, assignment: int) -> HttpResponse:
    """Members: submit a task of their own; the answer carries the next one."""
    body = parse(request.body)
    if not isinstance(body.get("answers"), dict):
        raise AnswerRefused("A submit needs its answers: an object of items, each with its questions.")
    outcome = labelling.submit(
        by=_user(request),
        campaign=campaign,
        assignment=assignment,
        answers=body["answers"],
        evidence=body.get("evidence"),
        comment=str(body.get("comment") or ""),
        flagged=bool(body.get("flagged")),
        revising=bool(body.get("revising")),
        client=body.get("client"),
        based_on=_version(body.get("based_on")),
        attention=_version(body.get("attention")) or 0,
    )
    return JsonResponse(_state(_user(request), outcome.seat, outcome.next, outcome.status))


@require_POST
@as_json
def skip(request: HttpRequest, campaign: int, assignment: int) -> HttpResponse:
    """Members: give a task of their own up; the answer carries the next one."""
    reason = str(parse(request.body).get("reason") or "")
    outcome = labelling.skip(by=_user(request), campaign=campaign, assignment=assignment, reason=reason)
    return JsonResponse(_state(_user(request), outcome.seat, outcome.next, outcome.status))


@require_POST
@as_json
def reopen(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members: the last task they submitted, or the one before `before`, to be revised."""
    before = parse(request.body).get("before")
    if before is not None and not (isinstance(before, int) and before < 2**63):
        raise NotTaskHolder("There is no earlier task of yours to go back to.")
    seat, hold = labelling.reopen(by=_user(request), campaign=campaign, before=before)
    return JsonResponse(_state(_user(request), seat, hold, "reopened"))


@require_POST
@as_json
def accept(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members: agree to a version of the consent text, or say that changed guidelines are read."""
    body = parse(request.body)
    version = _version(body.get("version")) or 0
    agreements.accept(by=_user(request), campaign=campaign, what=str(body.get("what")), version=version)
    seat, hold = labelling.start(by=_user(request), campaign=campaign)
    return JsonResponse(_state(_user(request), seat, hold, "next"))


@require_POST
@as_json
def next_task(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members: the task before them, for a page that lost or left the one it showed."""
    seat, hold = labelling.start(by=_user(request), campaign=campaign)
    return JsonResponse(_state(_user(request), seat, hold, "next"))


@require_GET
def guidelines(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members: the guidelines in force, as part of a page."""
    access.membership(_user(request), campaign)
    text = Guidelines.objects.filter(campaign_id=campaign).order_by("-version").first()
    return render(request, "annotate/_guidelines.html", {"guidelines": text})


def _version(value: Any) -> int | None:
    """Return a number that a page tells, as the version it has seen; None where it tells none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def _page(request: HttpRequest, seat: Seat, hold: Hold | None) -> HttpResponse:
    plan, by = questionnaire_of(seat.version), _user(request)
    context = {
        "seat": seat,
        "state": _state(by, seat, hold, "next"),
        "guidelines": Guidelines.objects.filter(pk=seat.guidelines or 0).first(),
        "base": reverse("work", args=[seat.campaign]),
        "taken_back": taken_back(by, seat.campaign)[:MOST_TOLD],
        "comfort": for_page(comfort_of(by)),
    }
    return render(request, "annotate/work.html", context | asked(plan))


def asked(plan: Questionnaire) -> dict[str, Any]:
    """Return what the page needs of the questions, for people and for its script."""
    return {
        "plan": plan,
        "about_open": plan.about_open,
        "sections": palette.sections(plan),
        "questions": palette.for_browser(plan),
    }


def transcript(screen: Screen) -> str:
    """Return the markup of a task's transcript."""
    return get_template("annotate/_transcript.html").render({"screen": screen})


def _state(by: User, seat: Seat, hold: Hold | None, status: str) -> dict[str, Any]:
    """What the page's script needs to show a task: its markup, its draft, and how far the annotator is."""
    state: dict[str, Any] = {
        "status": status,
        "campaign": seat.state,
        "progress": _progress(progress(seat=seat, hold=hold), seat.limits.brief),
        "limits": seat.limits.as_json(),
        "task": None,
    }
    if hold is None and seat.waits:
        context = {"waiting": agreements.waiting(seat)}
        state["html"] = get_template("annotate/_before.html").render(context)
        return state
    if hold is None and (notice := notices.waiting(seat)) is not None:
        about = load(notice.task, assignment=notice.number) if notice.task else None
        told = {"notice": notice, "seat": seat, "screen": about}
        state["html"] = get_template("annotate/_notice.html").render(told)
        return state
    if hold is None:
        busy = seat.state == "open" and not seat.limits.reached and others_are_busy(seat=seat)
        nothing = {
            "seat": seat,
            "busy": busy,
            "later": seat.state == "open" and has_later(seat=seat),
            "completion": completion(seat),
            "elsewhere": _elsewhere(by, seat),
        }
        state["html"] = get_template("annotate/_nothing.html").render(nothing)
        return state
    plan = questionnaire_of(seat.version)
    screen = load(hold.task, plan.is_tagged, hold.assignment, plan.item_kinds)
    state["html"] = transcript(screen)
    state["task"] = {
        "assignment": hold.assignment,
        "items": screen.items,
        "whole": screen.whole,
        "sides": len(screen.sides),
        "people": screen.named,
        "draft": hold.draft,
        "revising": hold.state == Assignment.State.SUBMITTED,
        "returned": hold.state == Assignment.State.RETURNED,
        "told": _told(hold),
        **beside(by=by, seat=seat, hold=hold, screen=screen),
    }
    return state


def _told(hold: Hold) -> str:
    """What the page says above a task that a researcher returned or gave."""
    does = {"returned": "returned this task to you", "leased": "gave you this task"}
    return f"A researcher {does[hold.state]}: {hold.note}" if hold.note and hold.state in does else ""


def _elsewhere(by: User, seat: Seat) -> Campaign | None:
    """Return another campaign with work for this person, the oldest first; None where there is none."""
    others = with_work(user=by.pk) - {seat.campaign}
    return Campaign.objects.filter(pk__in=others).order_by("id").first() if others else None


def _progress(found: Progress, bounds: str) -> dict[str, Any]:
    """How far the annotator is, and within which bounds, as the page words it."""
    if found.left is None:
        return {"text": f"{found.done} done", "time": bounds, "done": found.done, "whole": found.done + 1}
    whole = found.done + found.left
    time = ""
    if found.minutes is not None and found.left:
        minutes, hours = max(1, found.minutes), round(found.minutes / 60)
        time = f"about {minutes} min left" if minutes < 90 else f"about {hours} h left"
    time = " · ".join(part for part in (time, bounds) if part)
    return {"text": f"{found.done} of {whole}", "time": time, "done": found.done, "whole": whole or 1}
