"""Entries of collecting in the core's tables."""

from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from config.links import Link

ENTRIES: dict[str, list[str]] = {
    "schemes": ["suites.collecting.schemes:SCHEMES"],
    "raters_per_item": ["suites.collecting.schemes:RATERS_PER_ITEM"],
    "screen_notes": ["suites.collecting.release:SCREEN_NOTES"],
    "links": ["suites.collecting.plugin:LINKS"],
}


def _release(context: Mapping[str, Any]) -> str:
    return reverse("release-check", args=[context["corpus"].name])


LINKS: dict[str, Any] = {
    "corpora": [Link("Personas", lambda context: reverse("personas"))],
    "settings": [Link("Release check", _release)],
}
