"""What every page's frame needs to know."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from config.permissions import is_administrator, is_researcher


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Return the viewer's roles, lazily: pages without the frame pay no query."""
    return {
        "viewer_is_researcher": lambda: is_researcher(request.user),
        "viewer_is_administrator": lambda: is_administrator(request.user),
    }
