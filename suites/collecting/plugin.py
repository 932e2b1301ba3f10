"""Entries of collecting in the core's tables."""

from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from config.links import Link

ENTRIES: dict[str, list[str]] = {
    "schemes": ["suites.collecting.schemes:SCHEMES"],
    "campaign_forms": ["suites.collecting.chat_plans:FORMS", "suites.collecting.writing_plans:FORMS"],
    "run_kinds": ["suites.collecting.plugin:RUN_KINDS"],
    "sweeps": ["suites.collecting.chat_actions:sweep"],
    "raters_per_item": ["suites.collecting.schemes:RATERS_PER_ITEM"],
    "start_texts": ["suites.collecting.schemes:START_TEXTS"],
    "screen_notes": ["suites.collecting.release:SCREEN_NOTES"],
    "contents": ["suites.collecting.release:CONTENTS"],
    "links": ["suites.collecting.plugin:LINKS"],
}

RUN_KINDS = {"chat": "suites.collecting.chat_replies"}


def _conversations(context: Mapping[str, Any]) -> str:
    """Return the URL of a campaign's conversations, '' for a campaign of another form."""
    campaign = context["campaign"]
    return reverse("conversations", args=[campaign.pk]) if campaign.form == campaign.Form.CHAT else ""


def _new_conversations(context: Mapping[str, Any]) -> str:
    """Return the URL of the form for a corpus whose first dialogue has no turns, '' for others."""
    first = context["corpus"].dialogues.order_by("pk").first()
    is_bare = first is not None and not first.continuations.filter(key="self", turns__isnull=False).exists()
    return reverse("new-chat-campaign", args=[context["corpus"].name]) if is_bare else ""


def _writings(context: Mapping[str, Any]) -> str:
    """Return the URL of a campaign's written responses, '' for a campaign of another form."""
    campaign = context["campaign"]
    return reverse("writings", args=[campaign.pk]) if campaign.form == campaign.Form.WRITE else ""


def _new_writings(context: Mapping[str, Any]) -> str:
    """Return the URL of the form for a corpus whose first dialogue has turns, '' for others."""
    return "" if _new_conversations(context) else reverse("new-write-campaign", args=[context["corpus"].name])


def _release(context: Mapping[str, Any]) -> str:
    return reverse("release-check", args=[context["corpus"].name])


LINKS: dict[str, Any] = {
    "corpora": [Link("Personas", lambda context: reverse("personas"))],
    "annotation": [
        Link("Conversations", _new_conversations),
        Link("Responses by people", _new_writings),
    ],
    "campaign": [Link("Conversations", _conversations), Link("Written responses", _writings)],
    "settings": [Link("Release check", _release)],
}
