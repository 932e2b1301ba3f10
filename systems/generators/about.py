"""What a conversation is about, in lines to be quoted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.records import SELF, Continuation, Dialogue
from annotation.text.context import entries, entry_lines
from annotation.text.views import METADATA, View
from judges.protocols.base import Case
from judges.protocols.quoting import Seen

OBJECTIVE = ("objective", "task_goal", "goal", "task", "task_description")
"""Entries of the metadata that say what a conversation is for."""
TOPIC = ("topic", *OBJECTIVE)
"""Entries of the metadata that say what a conversation is about."""


def told(dialogue: Dialogue, names: Sequence[str]) -> list[str]:
    """Return entries of the metadata as lines, [] where there is none of them."""
    known: Mapping[str, Any] = {name: dialogue.metadata[name] for name in names if name in dialogue.metadata}
    return entry_lines(entries(known, View(systems=(dialogue.system,))))


def facts(dialogue: Dialogue) -> list[str]:
    """Return topic and objective, the agenda and the summary as lines."""
    view = View(shows=("agenda", "summary", *(METADATA + name for name in TOPIC)))
    return Seen(Case(dialogue, Continuation(SELF, dialogue.system, ()), view=view)).facts()


def listed(names: Sequence[str]) -> str:
    """Return names in words: a, b or c."""
    return " or ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
