"""Middleware for every request and response of pages and API."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, tzinfo
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils import timezone

from config.files import LARGEST
from config.refusals import shaped
from config.request_json import storable

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


class ContentSecurityPolicy:
    """Adds the content security policy: no external resources, no inline scripts.

    Inline styles stay allowed: chart SVGs and meters carry style attributes.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        return response


ZONE_COOKIE = "concord_zone"
"""Cookie with the reader's time zone: the browser's (`static/js/page.js`), or that of the account page."""


class ReaderZone:
    """Shows the times on pages in the reader's time zone, UTC where none is known; the API stays in UTC."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith("/api/"):
            return self.get_response(request)
        with timezone.override(zone_named(request.COOKIES.get(ZONE_COOKIE, ""))):
            return self.get_response(request)


def zone_named(name: str) -> tzinfo:
    """Return a time zone by its name, UTC for a name that is none."""
    return ZoneInfo(name) if name in available_zones() else UTC


@cache
def available_zones() -> frozenset[str]:
    """Return the names of the time zones that this machine knows."""
    return frozenset(available_timezones())


class OneShapeOfRefusals:
    """Gives all refusals of the API one format (`config.refusals`), whether by view, parser or Django."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code < 400 or not request.path_info.startswith("/api/") or response.streaming:
            return response
        body: Any = getattr(response, "data", None)  # also for a route with another response format
        if response.headers.get("Content-Type", "").startswith("application/json"):
            body = json.loads(response.content or b"null")
        response.content = json.dumps(shaped(response.status_code, body), ensure_ascii=False).encode()
        response.headers["Content-Type"] = "application/json"
        response.headers["Content-Length"] = str(len(response.content))
        return response


class Compression(GZipMiddleware):
    """Compresses text, with Django's random-length padding against BREACH.

    Responses marked private by `never_cache` hold a secret and are not compressed: the attack guesses secrets
    from the size of compressed pages. (A task page is only marked `no-store`: it becomes outdated, but holds
    no secret.) CSRF tokens are masked anew in each page. Partial file responses stay uncompressed.
    """

    TYPES = ("text/", "application/json", "application/javascript", "application/x-ndjson", "image/svg+xml")

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress a complete text without secrets if the client accepts it."""
        kind = response.headers.get("Content-Type", "")
        secret = "private" in response.headers.get("Cache-Control", "")
        if response.status_code == 206 or secret or not kind.startswith(self.TYPES):
            return response
        compressed: HttpResponseBase = super().process_response(request, response)
        return compressed


class StorableInput:
    """Answers 404 for ids and names that no row can have, and makes texts of queries and forms storable.

    JSON has its own parser, and API routes parse forms themselves.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: dict[str, Any]) -> None:
        """Check a request's URL, query and form before the view."""
        for value in kwargs.values():
            if isinstance(value, int) and value > LARGEST:
                raise Http404
            if isinstance(value, str) and storable(value) != value:
                raise Http404
        request.GET = storable_query(request.GET)
        if not getattr(view, "csrf_exempt", False):  # exempt views read the body themselves, if at all
            request.POST = storable_query(request.POST)


def storable_query(sent: Any) -> Any:
    """Return the query as sent if all of it can be stored, else a storable copy."""
    if all(storable(text) == text for name, values in sent.lists() for text in (name, *values)):
        return sent
    cleaned = QueryDict(mutable=True)
    for name, values in sent.lists():
        cleaned.setlist(storable(name), [storable(value) for value in values])
    return cleaned


# The few pages shown in a frame of another page of ours, and the pages that frame them.


def frames_others(response: HttpResponse) -> HttpResponse:
    """Allow a page to show our own pages in frames."""
    response["Content-Security-Policy"] = f"{POLICY}; frame-src 'self'"
    return response


def stands_in_frame(response: HttpResponse) -> HttpResponse:
    """Allow our own pages to show this page in a frame; it cannot reach a server by request or form."""
    response["Content-Security-Policy"] = (
        POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
        .replace("connect-src 'self'", "connect-src 'none'")
        .replace("form-action 'self'", "form-action 'none'")
    )
    response["X-Frame-Options"] = "SAMEORIGIN"
    return response
