"""What group chats add to the core's tables, and to those of continuations."""

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
    "label_continuations": ["suites.group_chat.editing.answer_keys:write"],
    "make_items": ["suites.group_chat.editing.key_points:MAKE_ITEMS"],
    "link_turns": ["suites.group_chat.cascade.decisions:turn_links"],
    "links": ["suites.group_chat.plugin:LINKS"],
    "job_kinds": ["suites.group_chat.plugin:JOB_KINDS"],
}

JOB_KINDS = {"baseline": "suites.group_chat.baselines"}


def _of_corpus(name: str, shown: Mapping[str, Any]) -> str:
    """Return an address of a corpus that has scenarios, '' for others."""
    return reverse(name, args=[shown["corpus"].pk]) if shown["has_scenarios"] else ""


def _scenario(shown: Mapping[str, Any]) -> str:
    dialogue = shown["dialogue"]
    return reverse("scenario", args=[dialogue.corpus_id, dialogue.pk]) if dialogue.scenario else ""


LINKS = {
    "corpus": [
        Link("Scenarios", lambda shown: reverse("scenarios", args=[shown["corpus"].pk])),
        Link("Agents", lambda shown: _of_corpus("agents", shown)),
        Link("Cascade report", lambda shown: _of_corpus("cascade", shown)),
    ],
    "dialogue": [Link("Scenario", _scenario)],
}
