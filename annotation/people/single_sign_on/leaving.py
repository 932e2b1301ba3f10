"""Signing out at the provider, too: Concord ends its own session alone."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from annotation.people.errors import SignOnRefused
from annotation.people.single_sign_on.provider import addresses
from config.environment import Provider


def address(request: HttpRequest, provider: Provider) -> str:
    """Return where one signs out of a provider and comes back from, empty where it has no such place."""
    try:
        place = addresses(provider).at.get("logout", "")
    except SignOnRefused:
        return ""
    if not place:
        return ""
    back = request.build_absolute_uri(reverse("login"))
    asked = {"client_id": provider.client_id, "post_logout_redirect_uri": back}
    return f"{place}{'&' if '?' in place else '?'}{urlencode(asked)}"
