"""The few pages that stand in a frame of another page of ours, and the pages that frame them."""

from __future__ import annotations

from django.http import HttpResponse

from config.middleware import POLICY


def frames_others(response: HttpResponse) -> HttpResponse:
    """Let a page show pages of ours in frames."""
    response["Content-Security-Policy"] = f"{POLICY}; frame-src 'self'"
    return response


def stands_in_frame(response: HttpResponse) -> HttpResponse:
    """Let pages of ours show this one in a frame; it reaches no server: no request, no form goes out."""
    response["Content-Security-Policy"] = (
        POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
        .replace("connect-src 'self'", "connect-src 'none'")
        .replace("form-action 'self'", "form-action 'none'")
    )
    response["X-Frame-Options"] = "SAMEORIGIN"
    return response
