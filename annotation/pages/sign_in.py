"""Pages for signing in and out, one-time links, and joining a campaign. Open to everyone."""

from __future__ import annotations

import re
import secrets
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, LogoutView
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods
from mozilla_django_oidc.views import OIDCAuthenticationRequestView

from annotation.errors import (
    AnnotationError,
    JoinRefused,
    LinkRefused,
    PeopleError,
    SignOnRefused,
    TooManyTries,
)
from annotation.models import JoinLink, OneTimeLink
from annotation.pages.people import EnterForm, NewPasswordForm, SignInForm, refused
from annotation.people import accounts, links, participants, sign_in, single_sign_on
from annotation.people.sign_in import address_of
from annotation.people.single_sign_on import offered, readable
from config.environment import Provider

# Signing in and one-time links. Open to everyone.

BACKEND = "config.sessions.Accounts"
USED = "signed_in_with"
"""Session key for the provider's name, after a sign-in by single sign-on."""


class SignIn(LoginView):
    """Open to everyone: sign in with user name and password; after wrong ones the next try has to wait."""

    template_name = "accounts/sign_in.html"
    authentication_form = SignInForm

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add a hint about the first link while there is no administrator, and the sign-on provider."""
        provider = single_sign_on.offered()
        signed_out = provider is not None and "left" in self.request.GET
        return super().get_context_data(**kwargs) | {
            "nobody_manages": not accounts.has_administrator(),
            "provider": provider,
            "leave": single_sign_on.sign_out_address(self.request, provider)
            if provider and signed_out
            else "",
        }

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Accept an attempt, unless it comes too early."""
        name = request.POST.get("username", "")
        usable = len(name) <= accounts.USERNAME_LIMIT and "\0" not in name
        if usable and (seconds := sign_in.seconds_to_wait(request, name)):
            return sign_in.too_early(request, seconds)
        return super().post(request, *args, **kwargs)


class SignOut(LogoutView):
    """Everyone signed in: sign out; after single sign-on, also show how to sign out at the provider."""

    def get_success_url(self) -> str:
        """Return the sign-in page, with a notice where the provider's session goes on."""
        return super().get_success_url() + ("?left=1" if self.came_by_provider else "")

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """End the session."""
        self.came_by_provider = USED in request.session
        return super().post(request, *args, **kwargs)


@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def use_link(request: HttpRequest, token: str) -> HttpResponse:
    """Open to everyone: create an account or set a new password by a one-time link, and sign in."""
    try:
        link = links.find(token)
        form = _form(request, link)
        if request.method == "POST" and form.is_valid() and _used(request, token, form):
            return redirect("home")
    except LinkRefused as error:
        return sign_in.notice(request, 410, "This link opens nothing", str(error), "Sign in")
    title, lead, action = _welcome(link)
    context = {"form": form, "title": title, "lead": lead, "action": action}
    return render(request, "accounts/form.html", context, status=422 if form.errors else 200)


def _welcome(link: OneTimeLink) -> tuple[str, str, str]:
    """Return title, sentence and button of the page of a one-time link."""
    title, action = "Welcome to Concord", "Make the account"
    if link.kind == OneTimeLink.Kind.RESET:
        lead = f"For the account {link.addressee}. All of its sessions end."
        return "A new password", lead, "Set the password"
    if link.kind == OneTimeLink.Kind.ADMINISTRATOR:
        return title, "This makes the first account, an administrator, who invites everyone else.", action
    article = "a" if link.role == "researcher" else "an"
    return title, f"You are invited as {article} {link.role}. Choose a password of your own.", action


def _form(request: HttpRequest, link: OneTimeLink) -> forms.Form:
    if link.kind == OneTimeLink.Kind.RESET:
        return NewPasswordForm(request.POST or None)
    return EnterForm(request.POST or None, initial={"username": link.name})


def _used(request: HttpRequest, token: str, form: forms.Form) -> bool:
    """Use the link and sign in; False where the name or the password is refused."""
    name, password = form.cleaned_data.get("username", ""), form.cleaned_data["password"]
    try:
        person = links.use(token=token, username=name, password=password)
    except LinkRefused:
        raise
    except PeopleError as error:
        refused(form, error)
        return False
    login(request, person, backend=BACKEND)
    messages.success(request, "Welcome. You are signed in.")
    return True


# Joining a campaign by a link. Open to whoever has the link.

COOKIE = "concord_browser"
"""Cookie with a secret of the browser, which identifies the participant who joined in it."""
COOKIE_SECONDS = 365 * 24 * 3600
SECRET = re.compile(r"[A-Za-z0-9_-]{43}")
NOT_TAKEN = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""MTurk's assignment id for a worker who only previews a task."""


@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, key: str) -> HttpResponse:
    """Open to everyone: join a campaign by its link with the id of the other platform, or continue."""
    try:
        link = participants.find(key)
    except JoinRefused as error:
        return _refused_of_joining(request, error, 410)
    parameters = request.POST if request.method == "POST" else request.GET
    why, visitor = "", participants.Came("")
    try:
        if request.method == "POST":
            participants.must_not_come_too_often(link, address_of(request))
        visitor = participants.came(parameters)
        if request.method == "POST":
            return _entered(request, link, visitor)
    except TooManyTries as error:
        return _refused_of_joining(request, error, 429)
    except AnnotationError as error:
        if error.field != "participant":
            return _refused_of_joining(request, error, 410)
        why = str(error)
    context = {
        "campaign": link.campaign,
        "who": visitor,
        "refused": why,
        "only_looking": request.GET.get("assignmentId") == NOT_TAKEN,
    }
    return render(request, "people/join.html", context, status=422 if why else 200)


def _entered(request: HttpRequest, link: JoinLink, visitor: participants.Came) -> HttpResponse:
    """Sign a participant in, or show the code by which a researcher confirms this browser."""
    browser = request.COOKIES.get(COOKIE, "")
    if not SECRET.fullmatch(browser):
        browser = secrets.token_urlsafe(32)
    joined = participants.join(link=link, visitor=visitor, browser=browser)
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


def _refused_of_joining(request: HttpRequest, error: AnnotationError, status: int) -> HttpResponse:
    response = sign_in.notice(request, status, "Not open to you", str(error))
    if status == 429:
        response["Retry-After"] = str(int(participants.WINDOW.total_seconds()))
    return response


# Sign-in with an OpenID Connect provider: redirect and return. Open to everyone.

STATES, NEXT = "oidc_states", "oidc_login_next"


class _Begin(OIDCAuthenticationRequestView):
    """The library's redirect to the provider, with the settings of Concord's provider."""

    @staticmethod
    def get_settings(attr: str, *args: Any) -> Any:
        """Return a provider's setting in the library's form."""
        return single_sign_on.library_settings(_provider()).get(attr, *args)


def _provider() -> Provider:
    provider = offered()
    if provider is None:
        raise Http404
    return provider


@login_not_required
@never_cache
@require_GET
def begin(request: HttpRequest) -> HttpResponse:
    """Open to everyone: redirect to the provider; `next` is the address to open afterwards."""
    provider = _provider()
    try:
        answer: HttpResponse = _Begin.as_view()(request)
    except SignOnRefused as error:
        single_sign_on.refuse(error, provider, address_of(request))
        return _refused(request, error)
    return answer


@login_not_required
@never_cache
@require_GET
def come_back(request: HttpRequest) -> HttpResponse:
    """Open to everyone: return from the provider with a code for this browser, and sign in."""
    provider = _provider()
    pending = (request.session.get(STATES) or {}).pop(request.GET.get("state", ""), None)
    request.session.modified = True
    try:
        if pending is None:
            raise SignOnRefused("That sign-in was not begun in this browser, or is over.", why="state")
        if "error" in request.GET:
            reasons = [request.GET[name] for name in ("error", "error_description") if name in request.GET]
            cause = readable(provider, f"{provider.title} led back with: {', '.join(reasons)}")
            message = f"{provider.title} did not sign you in."
            raise SignOnRefused(message, why="refused by the provider", cause=cause)
        claims = single_sign_on.claims_of(
            request, provider, nonce=pending["nonce"], code_verifier=pending["code_verifier"]
        )
    except SignOnRefused as error:
        single_sign_on.refuse(error, provider, address_of(request))
        return _refused(request, error)
    try:
        person = single_sign_on.enter(claims=claims, provider=provider, address=address_of(request))
    except SignOnRefused as error:
        return _refused(request, error)
    onwards = request.session.pop(NEXT, None) or ""
    login(request, person, backend=BACKEND)
    request.session[USED] = provider.title
    is_safe = url_has_allowed_host_and_scheme(
        onwards, {request.get_host()}, require_https=request.is_secure()
    )
    return redirect(onwards if is_safe else "home")


def _refused(request: HttpRequest, error: SignOnRefused) -> HttpResponse:
    return sign_in.notice(request, 403, "You are not signed in", str(error), "Back to signing in")
