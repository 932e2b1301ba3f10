"""The conversations of a campaign as dialogues of a corpus of their own, for responses to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.campaigns.campaign_actions import log
from annotation.models import Campaign, Continuation, ContinuationAuthor, Corpus
from annotation.records import SELF
from suites.collecting.errors import PersonasRefused
from suites.collecting.inventory_actions import check_name
from suites.collecting.models import Chat
from suites.collecting.persona_actions import check_free, import_lines


@dataclass(frozen=True, slots=True)
class FixedDialogues:
    """A corpus whose dialogues are conversations that were held."""

    corpus: Corpus
    dialogues: int


@transaction.atomic
def make_dialogues(*, by: User, campaign: Campaign, name: str) -> FixedDialogues:
    """Create a corpus with a dialogue for each finished conversation: its turns are the dialogue's own.

    People, with their personas as profile, turns, times and pseudonyms are as in the campaign's corpus.
    Whoever wrote a conversation is an author of its dialogue, too. Raises PersonasRefused
    for a name that is taken and where no conversation is finished.
    """
    name = check_name(name)
    check_free(name)
    finished = Chat.objects.filter(campaign=campaign, state=Chat.State.FINISHED).values("task__continuation")
    rows = Continuation.objects.filter(pk__in=finished).select_related("dialogue", "system")
    lines = [_line(row) for row in rows.order_by("dialogue_id")]
    if not lines:
        raise PersonasRefused("No conversation of this campaign is finished yet.")
    corpus = import_lines(by=by, name=name, lines=lines, source=f"Conversations of {campaign.name}")
    _copy_authors(list(rows), corpus)
    log(by, campaign, "make dialogues of conversations", corpus=corpus.name, dialogues=len(lines))
    return FixedDialogues(corpus, len(lines))


def _copy_authors(rows: Sequence[Continuation], corpus: Corpus) -> None:
    own = Continuation.objects.filter(dialogue__corpus=corpus, key=SELF)
    copies = dict(own.values_list("dialogue__key", "pk"))
    authors = ContinuationAuthor.objects.filter(continuation__in=rows)
    ContinuationAuthor.objects.bulk_create(
        ContinuationAuthor(continuation_id=copies[dialogue], user_id=user)
        for dialogue, user in authors.values_list("continuation__dialogue__key", "user")
    )


def _line(row: Continuation) -> dict[str, Any]:
    """Return a conversation as a dialogue in the native format."""
    dialogue = row.dialogue
    return {
        "id": dialogue.key,
        "language": dialogue.language,
        "cluster": dialogue.cluster,
        "participants": dialogue.participants,
        "metadata": dialogue.metadata,
        "system": row.system.name,
        "turns": [
            {**(turn.extra or {}), "speaker": turn.speaker, "text": turn.text, "given": turn.given}
            for turn in row.turns.order_by("position")
        ],
    }
