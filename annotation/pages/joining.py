"""Joining a campaign by a link from outside. Open to whoever has the link."""

from __future__ import annotations

import re
import secrets

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.errors import AnnotationError
from annotation.models import JoinLink
from annotation.pages.entering import BACKEND
from annotation.people import participants
from annotation.people.errors import JoinRefused, TooManyTries
from annotation.people.sign_in import address_of

COOKIE = "concord_browser"
"""Holds a secret of this browser, by which whoever joined in it is known again."""
COOKIE_SECONDS = 365 * 24 * 3600
SECRET = re.compile(r"[A-Za-z0-9_-]{43}")
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
            participants.must_not_come_too_often(link, address_of(request))
        who = participants.came(told)
        if request.method == "POST":
            return _entered(request, link, who)
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


def _entered(request: HttpRequest, link: JoinLink, who: participants.Came) -> HttpResponse:
    """Sign a participant in, or tell them the code by which a researcher confirms this browser."""
    browser = request.COOKIES.get(COOKIE, "")
    if not SECRET.fullmatch(browser):
        browser = secrets.token_urlsafe(32)
    joined = participants.join(link=link, who=who, browser=browser)
    if joined.user is None:
        context = {"campaign": link.campaign, "code": joined.code}
        response = render(request, "people/join_waiting.html", context, status=403)
    else:
        login(request, joined.user, backend=BACKEND)
        response = redirect("work", link.campaign_id)
    response.set_cookie(
        COOKIE,
        browser,
        max_age=COOKIE_SECONDS,
        path="/join/",
        secure=bool(settings.SESSION_COOKIE_SECURE),
        httponly=True,
        samesite="Lax",
    )
    return response


def _refused(request: HttpRequest, error: AnnotationError, status: int) -> HttpResponse:
    response = render(request, "people/join_refused.html", {"reason": str(error)}, status=status)
    if status == 429:
        response["Retry-After"] = str(int(participants.WINDOW.total_seconds()))
    return response
