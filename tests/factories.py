"""Small corpora, people and campaigns for tests, created through the models."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from django.contrib.auth.models import Group, User

from annotation.campaigns import campaign_actions as campaigns
from annotation.models import Campaign, Continuation, Corpus, Dialogue, Item, System, Turn
from annotation.models.schemes import SchemeVersion
from annotation.work import labels
from annotation.work.checking import item_number
from config.permissions import RESEARCHERS

_number = count(1)
PASSWORD = "a long password"
SPEAKERS = ("A", "B")


def user(name: str = "", *, researcher: bool = False, administrator: bool = False) -> User:
    """Create an account with the password PASSWORD."""
    made = User.objects.create_user(username=name or f"person-{next(_number)}", password=PASSWORD)
    if administrator:
        made.is_superuser = True
        made.save()
    if researcher:
        made.groups.add(Group.objects.get_or_create(name=RESEARCHERS)[0])
    return made


def corpus(name: str = "") -> Corpus:
    """Create an empty corpus."""
    return Corpus.objects.create(name=name or f"corpus-{next(_number)}")


def dialogue(
    corpus: Corpus, key: str = "", *, turns: int = 4, system: str = "human", **fields: Any
) -> Dialogue:
    """Create a dialogue between A (Ana) and B (Ben) whose own turns say `turn 0`, `turn 1`, ..."""
    key = key or f"d{next(_number)}"
    fields.setdefault("participants", [{"id": "A", "name": "Ana"}, {"id": "B", "name": "Ben"}])
    made = Dialogue.objects.create(corpus=corpus, key=key, cluster=key, **fields)
    if turns:
        lines = [{"text": f"turn {number}"} for number in range(turns)]
        continuation(made, "self", system=system, turns=lines)
    return made


def continuation(
    dialogue: Dialogue,
    key: str,
    *,
    system: str,
    turns: Sequence[dict[str, Any]],
    mode: str = "rollout",
) -> Continuation:
    """Create a continuation with its turns and items. A turn is {text, speaker, given, at}."""
    by, _ = System.objects.get_or_create(corpus=dialogue.corpus, name=system)
    made = Continuation.objects.create(dialogue=dialogue, key=key, system=by, mode=mode)
    rows = Turn.objects.bulk_create(
        Turn(
            continuation=made,
            position=position,
            speaker=turn.get("speaker", SPEAKERS[position % 2]),
            text=turn["text"],
            given=turn.get("given", False),
            at=turn.get("at"),
        )
        for position, turn in enumerate(turns)
    )
    about: Any = {"corpus": dialogue.corpus, "continuation": made, "training": dialogue.part == "training"}
    Item.objects.bulk_create(
        [
            Item(kind="dialogue", **about),
            *(Item(kind="turn", turn=row, **about) for row in rows if not row.given),
        ]
    )
    return made


def campaign(
    corpus: Corpus,
    scheme: str = "comperdial_turn",
    *,
    annotators: Sequence[User] = (),
    raters: int = 1,
    opened: bool = True,
    **fields: Any,
) -> Campaign:
    """Create a campaign over a corpus, by default opened."""
    by = fields.pop("by", None) or user(researcher=True)
    fields.setdefault("name", f"campaign-{next(_number)}")
    made = campaigns.create(
        by=by, corpus=corpus, scheme=scheme, raters_per_item=raters, annotators=annotators, **fields
    )
    if opened:
        campaigns.open(by=by, campaign=made)
        made.refresh_from_db()
    return made


def item_name(item: Item | None, assignment: int) -> str:
    """Return the key of an item in an assignment's answers."""
    assert item is not None
    return str(item_number(item.public, assignment))


def called(person: User, campaign: Campaign) -> str:
    """Return the pseudonym under which a person's work appears in a campaign."""
    return labels.called(person.pk, campaign.corpus_id)


def scheme_version(key: str = "comperdial_turn") -> SchemeVersion:
    """Return the stored version of a built-in scheme."""
    from annotation import scheme_store
    from annotation.schemes import SCHEMES

    return scheme_store.store(definition=SCHEMES[key])
