"""Shared by the pages of all suites: values of forms and searches, and refusals as errors of a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django import forms
from django.http import HttpRequest

from annotation.errors import LongDialogueRefused
from annotation.models import Corpus
from calibration.reports.names import names_in
from suites.continuation.productions.pipelines import StepsEstimate


class FieldGroup(NamedTuple):
    """Fields of the form of an order; those with a title are folded."""

    fields: Sequence[forms.BoundField]
    title: str = ""
    hint: str = ""
    is_open: bool = False


def form_values(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the values of a form, to be sent again once the user has reviewed the cost."""
    lists = [(name, values) for name, values in request.POST.lists() if name != "csrfmiddlewaretoken"]
    return [(name, str(value)) for name, values in lists for value in values]


COSTS = ("calls", "tokens_in", "tokens_out")


def estimate_lines(estimate: StepsEstimate, titles: Mapping[str, str], first: str) -> list[tuple[str, Any]]:
    """Return the lines of an estimate: each step with its `first` number and its costs, and their sum."""
    names = (first, *COSTS)
    lines = [(titles[step.step], [getattr(step, name) for name in names]) for step in estimate.steps]
    return [*lines, (f"All, about {estimate.price}", ["", *(getattr(estimate, name) for name in COSTS)])]


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
