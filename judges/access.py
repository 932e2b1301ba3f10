"""One loader for each object, used by pages and API alike: what an address names, or 404.

Which role an address is for says its view, by decorator or permission class.
"""

from __future__ import annotations

from django.http import Http404
from django.shortcuts import get_object_or_404

from judges.errors import JudgeError
from judges.models import Prompt
from judges.prompts import versions
from judges.prompts.versions import Version

LARGEST = 2**31 - 1


def prompt(name: str) -> Prompt:
    """Return somebody's prompt. Researchers see every prompt."""
    if "\x00" in name:
        raise Http404
    return get_object_or_404(Prompt.objects.select_related("created_by", "scheme_version__scheme"), name=name)


def version(name: str, number: int | None = None) -> Version:
    """Return a version of a prompt, without a number its newest."""
    if number is not None and number > LARGEST:
        raise Http404
    try:
        return versions.find(name if number is None else f"{name}@{number}")
    except JudgeError as error:
        raise Http404(str(error)) from None
