"""Replies of systems: the prompt of each, what comes of its call, and what the person does with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.models import Campaign
from config.web.events import publish
from jobs import runs
from jobs.calls.outcomes import Outcome
from jobs.calls.prepared import PreparedCall, Read
from jobs.endpoints.parameters import of_sample
from jobs.models import Call, Run
from jobs.prompt import Prompt, Tokens, Unparseable
from suites.collecting import chat_systems
from suites.collecting.chat_actions import (
    CHANGED,
    abandon,
    append,
    locked,
    must_accept,
    plain_text,
    seat_of,
    topic,
)
from suites.collecting.errors import ChatRefused
from suites.collecting.models import Chat, ChatMessage, ChatPlan, ChatReply

OPENING = "(Nobody has written yet. Write the first message.)"
"""First message of the user where the system begins, since servers want one."""
OVER = "The conversation is over."

# What the person does: ask once more for replies that did not come, and choose one of two.


@transaction.atomic
def retry(*, by: User, chat: int) -> None:
    """Ask again for the replies that did not come; after MOST_TRIES the conversation is abandoned.

    Nothing changes where none has failed. Raises NotTaskHolder or ChatRefused.
    """
    row, now = locked(chat), timezone.now()
    seat_of(by, chat)
    must_accept(row, now)
    replies = chat_systems.next_replies(row, row.messages.count() + 1)
    failed = [reply for reply in replies if not reply.text and chat_systems.has_failed(reply)]
    if any(reply.tries >= chat_systems.MOST_TRIES for reply in failed):
        abandon(row, Chat.Reason.FAILED)
        return
    for reply in failed:
        Call.objects.filter(pk=reply.call_id, state__in=runs.AGAIN).update(**runs.AFRESH)
        ChatReply.objects.filter(pk=reply.pk).update(tries=reply.tries + 1, at=now)
        chat_systems.wake_run(reply.system.run_id)
    if failed:
        publish(topic(chat), CHANGED)


@transaction.atomic
def pick(*, by: User, chat: int, number: int, place: int) -> ChatMessage:
    """Choose one of the two replies for turn `number`: it becomes that turn, and the conversation goes on.

    The same choice again returns the stored turn. Raises NotTaskHolder or ChatRefused.
    """
    row, now = locked(chat), timezone.now()
    seat_of(by, chat)
    stored = row.messages.filter(number=number).first()
    if stored is not None and row.replies.filter(number=number, place=place, is_picked=True).exists():
        return stored
    must_accept(row, now)
    replies = chat_systems.next_replies(row, row.messages.count() + 1)
    if not replies or replies[0].number != number or not all(reply.text for reply in replies):
        raise ChatRefused("There are no replies to choose from at the moment.")
    picked = next((reply for reply in replies if reply.place == place), None)
    if picked is None:
        raise ChatRefused("Choose Reply 1 or Reply 2.")
    return _go_on(row, picked, now)


def _go_on(row: Chat, reply: ChatReply, now: datetime) -> ChatMessage:
    """Make a reply the next turn of a locked conversation."""
    ChatReply.objects.filter(pk=reply.pk).update(is_picked=True)
    return append(row, row.seats.get(is_system=True), reply.text, f"reply-{reply.pk}", now)


# The run of a system: a call for each reply.


class ChatRun:
    """Run kind of systems that people talk with: calls come as people write, until the campaign is closed."""

    def preparer(self) -> ChatRun:
        """Return itself: conversations change with every turn, so batches share nothing."""
        return self

    def make(self, calls: Sequence[Call]) -> list[PreparedCall]:
        """Return the prepared calls, in order."""
        rows = ChatReply.objects.select_related(
            "chat__campaign__chat_plan", "chat__task__continuation__dialogue", "system"
        )
        replies = {reply.call_id: reply for reply in rows.filter(call__in=[call.pk for call in calls])}
        return [_prepare(call, replies[call.pk]) for call in calls]

    def outcomes(self, calls: Sequence[Call]) -> Iterator[list[Outcome]]:
        """Fail: systems are models, they do not compute."""
        raise AssertionError(f"{len(calls)} calls of systems on the queue of metrics")

    def record(self, results: Sequence[tuple[Call, Sequence[str]]]) -> int:
        """Store the replies of finished calls; return the number of new ones."""
        answered = {call.pk: (call, answers) for call, answers in results if call.state != Call.State.PENDING}
        rows = ChatReply.objects.filter(call__in=answered).order_by("chat_id", "pk")
        return sum(_receive(reply, *answered[reply.call_id]) for reply in rows)

    def reopened(self, run: Run) -> None:
        """Leave out calls of conversations that are over: nobody waits for them."""
        waiting = run.calls.filter(state=Call.State.PENDING).exclude(chat_reply__chat__state=Chat.State.OPEN)
        waiting.update(state=Call.State.CANCELLED, error=OVER, error_kind="")

    def awaits_calls(self, run: Run) -> bool:
        """Whether people may write, until the campaign is closed and its last conversation has ended."""
        campaign = run.campaign
        if campaign is not None and campaign.state != Campaign.State.CLOSED:
            return True
        return Chat.objects.filter(systems__run=run, state=Chat.State.OPEN).exists()

    def settled(self, run: Run) -> None:
        """Count the replies; one that failed does not fail the run, since its person was told and went on."""
        replies = ChatReply.objects.filter(system__run=run)
        failed = replies.filter(text="", call__state=Call.State.FAILED)
        run.values, run.missing = replies.exclude(text="").count(), failed.count()
        run.state, run.missing_reason, run.error = Run.State.DONE, run.error, ""


def _prepare(call: Call, reply: ChatReply) -> PreparedCall:
    if reply.chat.state != Chat.State.OPEN:
        over = Outcome(call.pk, "failed", error=OVER)
        return PreparedCall(call, call.run.title, ready_outcome=over)
    spec = reply.system.spec
    sent = of_sample(spec["parameters"], call.sample)
    return PreparedCall(call, call.run.title, _prompt(reply), None, spec["model"], sent, _read)


def _prompt(reply: ChatReply) -> Prompt:
    """Return the prompt: instructions and persona as the system message, then the turns so far."""
    plan: ChatPlan = reply.chat.campaign.chat_plan
    person = reply.chat.task.continuation.dialogue.participants[plan.system_seat - 1]
    persona = "".join(f"\n- {sentence}" for sentence in person.get("profile") or ())
    system: str = reply.system.spec["instructions"] + (f"\n\nYou are:{persona}" if persona else "")
    rows = reply.chat.messages.filter(number__lt=reply.number).select_related("seat")
    turns = [("assistant" if row.seat.is_system else "user", row.text) for row in rows]
    if not turns or turns[0][0] == "assistant":
        turns = [("user", OPENING), *turns]
    return Prompt(system, turns[-1][1], history=tuple(turns[:-1]))


def _read(reply: str, _tokens: Tokens) -> Read:
    text = plain_text(reply)
    if not text:
        raise Unparseable("the reply is empty")
    return Read(answers=(text,))


def _receive(reply: ChatReply, call: Call, answers: Sequence[str]) -> int:
    """Store what came of a call, unless its conversation is over or has the reply; return new replies."""
    row, now = locked(reply.chat_id), timezone.now()
    reply.refresh_from_db()
    if row.state != Chat.State.OPEN or reply.text:
        return 0
    if call.state != Call.State.DONE:
        if call.state == Call.State.FAILED and reply.tries >= chat_systems.MOST_TRIES:
            abandon(row, Chat.Reason.FAILED)
        publish(topic(row.pk), CHANGED)
        return 0
    reply.text, reply.at = answers[0], now
    reply.save(update_fields=["text", "at"])
    if row.campaign.chat_plan.partner == ChatPlan.Partner.SYSTEM:
        _go_on(row, reply, now)
    publish(topic(row.pk), CHANGED)
    return 1


RUN = ChatRun()
