"""Campaigns of conversations, and people who hold them, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User

from annotation.campaigns import campaign_actions
from annotation.models import Campaign, Corpus
from suites.collecting import chat_actions, chat_lobby, chat_plans
from suites.collecting.models import Chat
from tests import factories

SCHEME = "comperdial_dialogue"
PERSONAS = ("My name is Mara. I repair bicycles.", "My name is Tom. I run marathons.", "My name is Ida.")
NAMES = ("Mara", "Tom", "Ida")


def bare_corpus(dialogues: int = 3, people: int = 2, **fields: Any) -> Corpus:
    """Create a corpus of dialogues without turns between personas."""
    corpus = factories.corpus()
    participants = [
        {"id": f"person {number}", "name": NAMES[number - 1], "profile": [PERSONAS[number - 1]]}
        for number in range(1, people + 1)
    ]
    for number in range(dialogues):
        factories.dialogue(corpus, f"d{number}", turns=0, participants=participants, **fields)
    return corpus


def chat_campaign(
    members: Sequence[User], *, dialogues: int = 3, people: int = 2, opened: bool = True, **plan: Any
) -> Campaign:
    """Create a campaign of conversations, by default opened."""
    by = factories.user(researcher=True)
    options = {name: plan.pop(name) for name in ("consent", "most_tasks") if name in plan}
    campaign = chat_plans.create(
        by=by,
        name=f"talks {by.pk}",
        corpus=bare_corpus(dialogues, people),
        scheme=SCHEME,
        plan={"participants": people, "exchanges": 2, **plan},
        annotators=members,
        **options,
    )
    if opened:
        campaign_actions.open(by=by, campaign=campaign)
        campaign.refresh_from_db()
    return campaign


def meet(campaign: Campaign, *people: User) -> Chat:
    """Let people wait in the lobby until they are in a conversation, and return it."""
    for person in people:
        chat_lobby.wait(by=person, campaign=campaign.pk)
    chat = chat_lobby.open_chat(people[0].pk)
    assert chat is not None
    assert chat.campaign_id == campaign.pk
    return chat


def say(chat: Chat, person: User, text: str, key: str = "") -> int:
    """Send a turn, and return its number."""
    return chat_actions.send(by=person, chat=chat.pk, text=text, key=key or text[:64]).number


def hold(chat: Chat, *people: User, turns: int | None = None) -> None:
    """Let people write in turn until a conversation is finished, or for a number of `turns`."""
    total = chat.campaign.chat_plan.turns if turns is None else turns
    for number in range(total):
        say(chat, people[number % len(people)], f"turn {number + 1}")
    chat.refresh_from_db()
