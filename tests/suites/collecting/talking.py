"""Campaigns of conversations, and people who hold them, for tests."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User

from annotation.campaigns import campaign_actions
from annotation.models import Campaign, Corpus
from demo.fake_model.running import LocalServer
from demo.fake_model.serving import Response, completion
from jobs.models import Call, Endpoint
from suites.collecting import chat_actions, chat_lobby, chat_plans
from suites.collecting.chat_systems import NewSystem
from suites.collecting.models import Chat
from tests import factories
from tests.judges.helpers import finish

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


def echo(messages: list[dict[str, str]]) -> str:
    """Reply with the latest message."""
    return f"I heard {messages[-1]['content']}"


class ChatModel:
    """A model over HTTP that says `reply(messages)`, or answers `status`; `bodies` has what it was sent."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.status, self.delay = 200, 0.0
        self.reply: Callable[[list[dict[str, str]]], str] = lambda messages: (
            f"I heard {messages[-1]['content']}"
        )
        self._server = LocalServer(self._respond)

    def __enter__(self) -> ChatModel:
        self._server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__()

    def _respond(self, _method: str, _path: str, body: Any, _headers: Mapping[str, str]) -> Response:
        self.bodies.append(body)
        time.sleep(self.delay)
        if self.status != 200:
            error = json.dumps({"error": {"message": f"SECRET-ERROR {self.status}", "type": "x"}})
            return Response(self.status, error.encode())
        message = {"role": "assistant", "content": self.reply(body["messages"])}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return Response(200, json.dumps(completion("SECRET-MODEL", [choice], 100, 20)).encode())

    def endpoint(self, name: str = "SECRET-ENDPOINT", **fields: Any) -> Endpoint:
        """Create an endpoint of this server."""
        usual = {"model": "SECRET-MODEL", "price_in": 1, "price_out": 10, "allow_private": True}
        return Endpoint.objects.create(name=name, base_url=self._server.url, **(usual | fields))


def system_campaign(
    members: Sequence[User],
    endpoint: Endpoint,
    *,
    systems: Sequence[str] = ("SECRET-SYSTEM",),
    dialogues: int = 3,
    opened: bool = True,
    caps: Mapping[str, Any] | None = None,
    **plan: Any,
) -> Campaign:
    """Create a campaign whose members talk with systems at an endpoint, by default opened."""
    by = factories.user(researcher=True)
    campaign = chat_plans.create(
        by=by,
        name=f"talks {by.pk}",
        corpus=bare_corpus(dialogues),
        scheme=SCHEME,
        plan={"partner": "system", "exchanges": 2, **plan},
        systems=[
            NewSystem(name, endpoint, f"SECRET-PROMPT of {name}", {"temperature": 0.5}, caps or {})
            for name in systems
        ],
        annotators=members,
    )
    if opened:
        campaign_actions.open(by=by, campaign=campaign)
        campaign.refresh_from_db()
    return campaign


def begin(campaign: Campaign, person: User) -> Chat:
    """Let a person begin a conversation with a system."""
    place = chat_lobby.wait(by=person, campaign=campaign.pk)
    assert place.chat is not None, place
    return Chat.objects.get(pk=place.chat)


def answer_all() -> None:
    """Let a worker answer until no call is ready, ignoring the delays before calls are tried again."""
    for _ in range(10):
        Call.objects.update(not_before=None)
        if not finish().runs:
            return
