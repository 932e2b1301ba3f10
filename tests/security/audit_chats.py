"""Conversations for the audit."""

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


LOGGED: dict[str, Callable[[User], dict[str, Any]]] = {
    "suites.collecting.chat_plans.create": lambda by: make_fields(),
    "suites.collecting.chat_dialogues.make_dialogues": lambda by: {"campaign": make_held(), "name": "held"},
    "suites.collecting.chat_actions.end": lambda by: {"chat": make_chat(), "reason": "why"},
}
TRACED = {
    "suites.collecting.chat_lobby.wait": "a conversation says who is in it, and since when",
    "suites.collecting.chat_lobby.stop_waiting": "one's own place in the lobby",
    "suites.collecting.chat_actions.view": "changes nothing, but ends what is overdue",
    "suites.collecting.chat_actions.send": "turns are appended with their writer and time, and never changed",
    "suites.collecting.chat_actions.set_typing": "lasts five seconds",
    "suites.collecting.chat_actions.leave": "a conversation keeps why it was abandoned; reports are logged",
}
