"""Campaigns of written responses, and people who write, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User

from annotation.campaigns import campaign_actions
from annotation.models import Campaign, Corpus
from suites.collecting import writing_actions, writing_plans
from suites.collecting.writing_actions import Writing
from tests import factories

PEOPLE = [
    {"id": "A", "name": "Mara", "profile": ["I repair bicycles."]},
    {"id": "B", "name": "Tom", "profile": ["I run marathons."]},
]


def reply(dialogue: int, number: int) -> str:
    """Return the real reply of the second speaker, `number` from 1."""
    return f"Real reply {number} of dialogue {dialogue}."


def turns(dialogue: int, points: int) -> list[dict[str, str]]:
    """Return turns in which the second speaker answers at so many points."""
    return [
        turn
        for number in range(1, points + 1)
        for turn in (
            {"speaker": "A", "text": f"Opening {number} of dialogue {dialogue}."},
            {"speaker": "B", "text": reply(dialogue, number)},
        )
    ]


def fixed_corpus(dialogues: int = 2, points: int = 3) -> Corpus:
    """Create a corpus of dialogues between two personas."""
    corpus = factories.corpus()
    for number in range(dialogues):
        dialogue = factories.dialogue(corpus, f"d{number}", turns=0, participants=PEOPLE)
        factories.continuation(dialogue, "self", system="human", turns=turns(number, points))
    return corpus


def write_campaign(
    members: Sequence[User],
    *,
    corpus: Corpus | None = None,
    opened: bool = True,
    dialogues: int = 2,
    points: int = 3,
    plan: dict[str, Any] | None = None,
    **options: Any,
) -> Campaign:
    """Create a campaign of written responses, by default opened."""
    by = factories.user(researcher=True)
    campaign = writing_plans.create(
        by=by,
        name=f"responses {by.pk}",
        corpus=corpus or fixed_corpus(dialogues, points),
        plan=plan or {},
        annotators=members,
        **options,
    )
    if opened:
        campaign_actions.open(by=by, campaign=campaign)
        campaign.refresh_from_db()
    return campaign


def begin(person: User, campaign: Campaign) -> Writing:
    """Return what a person writes now."""
    place = writing_actions.start(by=person, campaign=campaign.pk)
    assert place.writing is not None, place
    return place.writing


def answer(person: User, campaign: Campaign, text: str = "") -> writing_actions.Sent:
    """Send the next response of a person."""
    own = begin(person, campaign)
    return writing_actions.send(
        by=person,
        campaign=campaign.pk,
        assignment=own.assignment,
        number=own.number,
        text=text or f"answer {own.number} by {person.username}",
    )


def finish(person: User, campaign: Campaign) -> None:
    """Let a person write all responses to one dialogue."""
    while not answer(person, campaign).is_last:
        pass
