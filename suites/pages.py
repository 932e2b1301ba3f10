"""Shared by the pages of all suites: values of forms and searches, and refusals as errors of a form."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms
from django.http import HttpRequest

from annotation.errors import LongDialogueRefused
from annotation.models import Corpus
from calibration.reports.names import names_in


def form_values(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the values of a form, to be sent again once the user has reviewed the cost."""
    lists = [(name, values) for name, values in request.POST.lists() if name != "csrfmiddlewaretoken"]
    return [(name, str(value)) for name, values in lists for value in values]


def judge_choices(corpus: Corpus, judges: Sequence[str]) -> list[tuple[str, str]]:
    """Return judges as choices of a form: the name that addresses keep, and the short name on pages."""
    names = names_in(corpus)
    return [(judge, names.short(judge)) for judge in judges]


def search_values(request: HttpRequest, names: Sequence[str]) -> dict[str, str]:
    """Return the filters of a list, each at most 200 characters, without NUL."""
    return {name: request.GET.get(name, "").replace("\0", "").strip()[:200] for name in names}


def add_refusal(form: forms.Form, refused: LongDialogueRefused, field: str = "") -> None:
    """Add a refusal as an error of the invalid field, or of the whole form where it has no such field."""
    field = field or refused.field
    form.add_error(field if field in form.fields else None, str(refused))
