"""Joining a campaign by a link from outside. Open to whoever has the link."""

from __future__ import annotations

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.errors import AnnotationError
from annotation.pages.entering import BACKEND
from annotation.people import participants
from annotation.people.errors import JoinRefused, TooManyTries
from annotation.people.sign_in import address_of

NOT_TAKEN = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""What MTurk says instead of an assignment while somebody only looks at a task."""


@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, key: str) -> HttpResponse:
    """Whoever has a campaign's link: say who they are where they come from, and begin or go on."""
    try:
        link = participants.find(key)
    except JoinRefused as error:
        return _refused(request, error, 410)
    told = request.POST if request.method == "POST" else request.GET
    why, who = "", participants.Came("")
    try:
        if request.method == "POST":
            participants.must_not_come_too_often(address_of(request))
        who = participants.came(told)
        if request.method == "POST":
            person = participants.join(link=link, who=who)
            login(request, person, backend=BACKEND)
            return redirect("work", link.campaign_id)
    except TooManyTries as error:
        return _refused(request, error, 429)
    except AnnotationError as error:
        if error.field != "participant":
            return _refused(request, error, 410)
        why = str(error)
    context = {
        "campaign": link.campaign,
        "who": who,
        "refused": why,
        "only_looking": request.GET.get("assignmentId") == NOT_TAKEN,
    }
    return render(request, "people/join.html", context, status=422 if why else 200)


def _refused(request: HttpRequest, error: AnnotationError, status: int) -> HttpResponse:
    response = render(request, "people/join_refused.html", {"reason": str(error)}, status=status)
    if status == 429:
        response["Retry-After"] = str(int(participants.WINDOW.total_seconds()))
    return response
