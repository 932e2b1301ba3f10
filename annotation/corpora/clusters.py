"""What is resampled and split: the dialogue's cluster, or an item's own, which is a script's session."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db.models import Q

from annotation.corpora import parts
from annotation.models import Corpus, Dialogue, Item


def within(clusters: Any, prefix: str = "") -> Q:
    """Return the condition that an item is in some clusters (a collection, or a query of them).

    `prefix` leads from the rows to the item, such as `item__`.
    """
    return Q(**{f"{prefix}cluster__in": clusters}) | Q(
        **{f"{prefix}cluster": None, f"{prefix}continuation__dialogue__cluster__in": clusters}
    )


def of_corpus(corpus: Corpus) -> frozenset[str]:
    """Return the clusters of a corpus that may be dev or test: those of its dialogues outside training.

    Of scripts these are the clusters of their sessions.
    """
    rows = corpus.dialogues.filter(parts.of_dialogues()).order_by()
    dialogues = rows.filter(script__isnull=True).values_list("cluster", flat=True)
    scripts = _sessions(rows.filter(script__isnull=False).values_list("key", "script"))
    return frozenset(dialogues.distinct()) | frozenset(scripts)


def of_script(dialogue: Dialogue) -> frozenset[str]:
    """Return the clusters of a dialogue's sessions; none where it is no script."""
    return frozenset(_sessions([(dialogue.key, dialogue.script)])) if dialogue.script else frozenset()


def of_item(item: Item) -> str:
    """Return the cluster of an item; reads its dialogue, so select it."""
    return item.cluster or item.continuation.dialogue.cluster


def is_locked(dialogue: Dialogue, locked: Collection[str]) -> bool:
    """Whether a dialogue, or of a script some of its sessions, is in one of the clusters."""
    own = of_script(dialogue) or {dialogue.cluster}
    return not own.isdisjoint(locked)


def _sessions(scripts: Any) -> set[str]:
    return {
        f"{key}/{session.get('season') or session['id']}"
        for key, script in scripts
        for session in script["sessions"]
    }
