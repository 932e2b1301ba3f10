"""Signing in with an OpenID Connect provider: going there, and coming back. Open to everyone."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from mozilla_django_oidc.views import OIDCAuthenticationRequestView

from annotation.pages.entering import BACKEND, USED
from annotation.people.errors import SignOnRefused
from annotation.people.sign_in import address_of
from annotation.people.single_sign_on import entering, exchange
from annotation.people.single_sign_on.provider import offered, readable
from config.oidc import Provider

STATES, NEXT = "oidc_states", "oidc_login_next"


class _Begin(OIDCAuthenticationRequestView):
    """The library's way to the provider, with the settings of the provider at hand."""

    @staticmethod
    def get_settings(attr: str, *args: Any) -> Any:
        """Return a setting of the provider."""
        return exchange.told(_provider()).get(attr, *args)


def _provider() -> Provider:
    found = offered()
    if found is None:
        raise Http404
    return found


@login_not_required
@never_cache
@require_GET
def begin(request: HttpRequest) -> HttpResponse:
    """Open to everyone: go to the provider; `next` says where to go afterwards."""
    provider = _provider()
    try:
        answer: HttpResponse = _Begin.as_view()(request)
    except SignOnRefused as error:
        entering.refuse(error, provider, address_of(request))
        return _refused(request, provider, error)
    return answer


@login_not_required
@never_cache
@require_GET
def come_back(request: HttpRequest) -> HttpResponse:
    """Open to everyone: come back from the provider with a code for this browser, and be signed in."""
    provider = _provider()
    asked = (request.session.get(STATES) or {}).pop(request.GET.get("state", ""), None)
    request.session.modified = True
    try:
        if asked is None:
            raise SignOnRefused("That sign-in was not begun in this browser, or is over.", why="state")
        if "error" in request.GET:
            reasons = [request.GET[name] for name in ("error", "error_description") if name in request.GET]
            cause = readable(provider, f"{provider.title} led back with: {', '.join(reasons)}")
            message = f"{provider.title} did not sign you in."
            raise SignOnRefused(message, why="refused by the provider", cause=cause)
        claims = exchange.claims_of(
            request, provider, nonce=asked["nonce"], code_verifier=asked["code_verifier"]
        )
    except SignOnRefused as error:
        entering.refuse(error, provider, address_of(request))
        return _refused(request, provider, error)
    try:
        person = entering.enter(claims=claims, provider=provider, address=address_of(request))
    except SignOnRefused as error:
        return _refused(request, provider, error)
    onwards = request.session.pop(NEXT, None) or ""
    login(request, person, backend=BACKEND)
    request.session[USED] = provider.title
    known = url_has_allowed_host_and_scheme(onwards, {request.get_host()}, require_https=request.is_secure())
    return redirect(onwards if known else "home")


def _refused(request: HttpRequest, provider: Provider, error: SignOnRefused) -> HttpResponse:
    context = {"reason": str(error), "provider": provider.title}
    return render(request, "accounts/sign_on_refused.html", context, status=403)
