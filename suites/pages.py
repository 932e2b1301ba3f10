"""Helpers for the pages of every suite."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest

from annotation.errors import QuestionsRefused, ScriptRefused


def form_values(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the submitted form values, to be submitted again after the cost was reviewed."""
    lists = [(name, values) for name, values in request.POST.lists() if name != "csrfmiddlewaretoken"]
    return [(name, str(value)) for name, values in lists for value in values]


def search_values(request: HttpRequest, names: Sequence[str]) -> dict[str, str]:
    """Return a list's filter values from the URL, each a short string that can be stored."""
    return {name: request.GET.get(name, "").replace("\0", "").strip()[:200] for name in names}


def search_query(values: dict[str, str]) -> str:
    """Return filter values as the beginning of a URL query string."""
    return urlencode({name: value for name, value in values.items() if value}) + "&"


def add_refusal(form: forms.Form, refused: QuestionsRefused | ScriptRefused, field: str = "") -> None:
    """Add a refusal's message to the invalid field, if the form has it."""
    field = field or refused.field
    form.add_error(field if field in form.fields else None, str(refused))
