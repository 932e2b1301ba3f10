"""Entries of collecting in the core's tables."""

from typing import Any

from django.urls import reverse

from config.links import Link

ENTRIES: dict[str, list[str]] = {
    "schemes": ["suites.collecting.schemes:SCHEMES"],
    "links": ["suites.collecting.plugin:LINKS"],
}
LINKS: dict[str, Any] = {"corpora": [Link("Personas", lambda context: reverse("personas"))]}
