"""Loaders of objects for URLs, shared by pages and API: each returns the object or raises Http404.

Views check roles themselves, by decorator or permission class.
"""

from __future__ import annotations

from django.http import Http404
from django.shortcuts import get_object_or_404

from judges.errors import JudgeError
from judges.models import Prompt, RunSet
from judges.prompts import versions
from judges.prompts.versions import Version

LARGEST = 2**31 - 1


def run_set(pk: int) -> RunSet:
    """Return a run set. Researchers may see every set."""
    return get_object_or_404(RunSet.objects.select_related("corpus", "campaign", "created_by"), pk=pk)


def prompt(name: str) -> Prompt:
    """Return a prompt by name. Researchers see all users' prompts."""
    if "\x00" in name:
        raise Http404
    return get_object_or_404(Prompt.objects.select_related("created_by", "scheme_version__scheme"), name=name)


def version(name: str, number: int | None = None) -> Version:
    """Return a version of a prompt, by default its newest."""
    if number is not None and number > LARGEST:
        raise Http404
    try:
        return versions.find(name if number is None else f"{name}@{number}")
    except JudgeError as error:
        raise Http404(str(error)) from None
