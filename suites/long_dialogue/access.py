"""Loaders for pages and the API: the object at an address, or 404."""

from __future__ import annotations

from django.http import Http404
from django.shortcuts import get_object_or_404

from annotation.script_records import FACT, QUESTION
from suites.long_dialogue.models import Simulation


def simulation(pk: int) -> Simulation:
    """Return a simulation with the related objects of its page. Researchers see every simulation."""
    related = ("corpus", "question_set", "endpoint", "created_by")
    return get_object_or_404(Simulation.objects.select_related(*related), pk=pk)


def record_kind(kind: str) -> str:
    """Return the kind of records that an address names: facts or quiz questions."""
    if kind not in (FACT, QUESTION):
        raise Http404
    return kind
