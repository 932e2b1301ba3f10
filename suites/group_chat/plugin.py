"""Entries of the group-chat suite in the core's tables, and in those of continuations."""

from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from config.links import Link

ENTRIES = {
    "own_fields": ["suites.group_chat.native_fields:READERS"],
    "schemes": ["suites.group_chat.schemes:SCHEMES"],
    "protocols": ["suites.group_chat.protocols:PROTOCOLS"],
    "metrics": ["suites.group_chat.metrics:METRICS"],
    "generators": ["suites.group_chat.agents.agent:GENERATORS", "suites.group_chat.agents.live:GENERATORS"],
    "layouts": ["suites.group_chat.screens:LAYOUTS"],
    "label_continuations": ["suites.group_chat.answer_keys:write"],
    "make_items": ["suites.group_chat.answer_keys:MAKE_ITEMS"],
    "link_turns": ["suites.group_chat.cascade.decisions:turn_links"],
    "links": ["suites.group_chat.plugin:LINKS"],
    "job_kinds": ["suites.group_chat.plugin:JOB_KINDS"],
}

JOB_KINDS = {"baseline": "suites.group_chat.baselines"}


def _of_corpus(name: str, context: Mapping[str, Any]) -> str:
    """Return an address of a corpus that has scenarios, '' for others."""
    corpus = context["corpus"]
    has_scenarios = corpus.dialogues.filter(scenario__isnull=False).exists()
    return reverse(name, args=[corpus.pk]) if has_scenarios else ""


def _scenario(context: Mapping[str, Any]) -> str:
    dialogue = context["dialogue"]
    return reverse("scenario", args=[dialogue.corpus_id, dialogue.pk]) if dialogue.scenario else ""


LINKS = {
    "tabs": [Link("Scenarios", lambda context: _of_corpus("scenarios", context))],
    "settings": [
        Link("Scenarios of group chats", lambda context: reverse("scenarios", args=[context["corpus"].pk]))
    ],
    "results": [Link("Cascade report", lambda context: _of_corpus("cascade", context))],
    "dialogue": [Link("Scenario", _scenario)],
}
