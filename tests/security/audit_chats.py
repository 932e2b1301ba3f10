"""Conversations and written responses for the audit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def make_fields() -> dict[str, Any]:
    from tests.suites.collecting.talking import SCHEME, bare_corpus

    return {"name": "talks", "corpus": bare_corpus(), "scheme": SCHEME, "plan": {}}


def make_chat() -> Any:
    from tests import factories
    from tests.suites.collecting.talking import chat_campaign, meet

    people = factories.user(), factories.user()
    return meet(chat_campaign(people), *people)


def make_held() -> Any:
    from tests import factories
    from tests.suites.collecting.talking import chat_campaign, hold, meet

    people = factories.user(), factories.user()
    chat = meet(chat_campaign(people), *people)
    hold(chat, *people)
    return chat.campaign


def make_system() -> dict[str, Any]:
    from suites.collecting.chat_systems import NewSystem
    from tests.suites.collecting.talking import system_campaign

    campaign = system_campaign([], make_endpoint(), opened=False)
    return {"campaign": campaign, "new": NewSystem("another", make_endpoint("another"))}


def make_removal() -> dict[str, Any]:
    campaign = make_system()["campaign"]
    return {"campaign": campaign, "system": campaign.chat_systems.get()}


def make_endpoint(name: str = "talker") -> Any:
    from jobs.models import Endpoint

    return Endpoint.objects.create(name=name, base_url="http://127.0.0.1:9/v1", model="m")


def make_write_fields() -> dict[str, Any]:
    from tests.suites.collecting.writing import fixed_corpus

    return {"name": "responses", "corpus": fixed_corpus(), "plan": {}}


LOGGED: dict[str, Callable[[User], dict[str, Any]]] = {
    "suites.collecting.chat_plans.create": lambda by: make_fields(),
    "suites.collecting.chat_dialogues.make_dialogues": lambda by: {"campaign": make_held(), "name": "held"},
    "suites.collecting.chat_systems.add": lambda by: make_system(),
    "suites.collecting.chat_systems.remove": lambda by: make_removal(),
    "suites.collecting.writing_plans.create": lambda by: make_write_fields(),
    "suites.collecting.chat_actions.end": lambda by: {"chat": make_chat(), "reason": "why"},
}
TRACED = {
    "suites.collecting.writing_actions.start": "a lease says whose it is, and since when",
    "suites.collecting.writing_actions.save_draft": "a draft of one's own",
    "suites.collecting.writing_actions.send": "responses are appended with their time, and never changed",
    "suites.collecting.writing_actions.skip": "the assignment keeps who skipped it, and why",
    "suites.collecting.chat_lobby.wait": "a conversation says who is in it, and since when",
    "suites.collecting.chat_lobby.stop_waiting": "one's own place in the lobby",
    "suites.collecting.chat_actions.view": "changes nothing, but ends what is overdue",
    "suites.collecting.chat_actions.send": "turns are appended with their writer and time, and never changed",
    "suites.collecting.chat_replies.retry": "a reply counts how often it was asked for",
    "suites.collecting.chat_replies.pick": "what was picked stays picked, with its time",
    "suites.collecting.chat_actions.set_typing": "lasts five seconds",
    "suites.collecting.chat_actions.leave": "a conversation keeps why it was abandoned; reports are logged",
}
