"""What the pages of every suite share."""

from __future__ import annotations

from django.http import HttpRequest


def form_values(request: HttpRequest) -> list[tuple[str, str]]:
    """Return what a form has sent, to be sent again once its cost was seen."""
    lists = [(name, values) for name, values in request.POST.lists() if name != "csrfmiddlewaretoken"]
    return [(name, str(value)) for name, values in lists for value in values]
