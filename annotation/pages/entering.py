"""Getting in: signing in, and one-time links. Open to everyone."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.models import OneTimeLink
from annotation.pages.people_forms import EnterForm, NewPasswordForm, SignInForm, refused
from annotation.people import links, roles, sign_in
from annotation.people.errors import LinkRefused, PeopleError
from annotation.people.single_sign_on import leaving, provider

BACKEND = "config.sessions.Accounts"
USED = "signed_in_with"
"""What a session says of who signed in by single sign-on."""


class SignIn(LoginView):
    """Open to everyone: sign in with name and password; after wrong ones the next try has to wait."""

    template_name = "accounts/sign_in.html"
    authentication_form = SignInForm

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Say where the first link is, while there is no administrator."""
        found = provider.offered()
        left = found is not None and "left" in self.request.GET
        return super().get_context_data(**kwargs) | {
            "nobody_manages": not roles.has_administrator(),
            "provider": found,
            "leave": leaving.address(self.request, found) if found and left else "",
        }

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Take a try, unless it comes too early."""
        name = request.POST.get("username", "")
        usable = len(name) <= 150 and "\0" not in name
        if usable and (seconds := sign_in.seconds_to_wait(request, name)):
            return sign_in.too_early(request, seconds)
        return super().post(request, *args, **kwargs)


class SignOut(LogoutView):
    """Everyone signed in: the session ends here; who came by single sign-on is told how to end that, too."""

    def get_success_url(self) -> str:
        """Return to the sign-in page, and say there where one is still signed in."""
        return super().get_success_url() + ("?left=1" if self.came_by_provider else "")

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """End the session."""
        self.came_by_provider = USED in request.session
        return super().post(request, *args, **kwargs)


@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def use_link(request: HttpRequest, token: str) -> HttpResponse:
    """Whoever has a one-time link: make the account it is for, or set a new password, and be signed in."""
    try:
        link = links.find(token)
        form = _form(request, link)
        if request.method == "POST" and form.is_valid() and _used(request, token, form):
            return redirect("home")
    except LinkRefused as error:
        return render(request, "accounts/link_refused.html", {"reason": str(error)}, status=410)
    return render(
        request, "accounts/use_link.html", {"form": form, "link": link}, status=422 if form.errors else 200
    )


def _form(request: HttpRequest, link: OneTimeLink) -> forms.Form:
    if link.kind == OneTimeLink.Kind.RESET:
        return NewPasswordForm(request.POST or None)
    return EnterForm(request.POST or None, initial={"username": link.name})


def _used(request: HttpRequest, token: str, form: forms.Form) -> bool:
    """Use the link and sign in; False where name or password were refused."""
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
