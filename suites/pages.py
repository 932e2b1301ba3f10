"""What the pages of every suite share."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest

from annotation.errors import QuestionsRefused, ScriptRefused


def form_values(request: HttpRequest) -> list[tuple[str, str]]:
    """Return what a form has sent, to be sent again once its cost was seen."""
    lists = [(name, values) for name, values in request.POST.lists() if name != "csrfmiddlewaretoken"]
    return [(name, str(value)) for name, values in lists for value in values]


def search_values(request: HttpRequest, names: Sequence[str]) -> dict[str, str]:
    """Return what a list is narrowed by, each a short text that can be stored."""
    return {name: request.GET.get(name, "").replace("\0", "").strip()[:200] for name in names}


def search_query(values: dict[str, str]) -> str:
    """Return the same as the beginning of an address's query."""
    return urlencode({name: value for name, value in values.items() if value}) + "&"


def add_refusal(form: forms.Form, refused: QuestionsRefused | ScriptRefused, field: str = "") -> None:
    """Show why something was refused at the field at fault, where the form has it."""
    field = field or refused.field
    form.add_error(field if field in form.fields else None, str(refused))
