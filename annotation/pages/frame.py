"""What the frame of every page tells of messages."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from annotation.messages import actions


def unread_messages(request: HttpRequest) -> dict[str, Any]:
    """Return how many messages the viewer has not seen, lazily: pages without the frame pay no query."""
    return {"viewer_unread": lambda: actions.unread(request.user.pk) if request.user.is_authenticated else 0}
