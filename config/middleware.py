"""What is done to every response: a content security policy, and compression."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponse, HttpResponseBase
from django.middleware.gzip import GZipMiddleware

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


class ContentSecurityPolicy:
    """Adds the policy: nothing is loaded from elsewhere, no inline script runs.

    Inline styles stay allowed: chart SVGs and meters carry style attributes.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        return response


class Compression(GZipMiddleware):
    """Compresses text, with Django's padding of random length against BREACH.

    What must not be stored by browsers holds a secret and is not compressed at all: the attack guesses
    secrets from the size of compressed pages. CSRF tokens are masked anew in each page. Parts of files stay
    as they are.
    """

    TYPES = ("text/", "application/json", "application/javascript", "application/x-ndjson", "image/svg+xml")

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress a whole text without secrets for a client that can read it."""
        kind = response.headers.get("Content-Type", "")
        secret = "no-store" in response.headers.get("Cache-Control", "")
        if response.status_code == 206 or secret or not kind.startswith(self.TYPES):
            return response
        compressed: HttpResponseBase = super().process_response(request, response)
        return compressed
