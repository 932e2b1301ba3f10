"""Conversations of members of a campaign: what a person sees of theirs, what they send, and its end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import DurationField, Exists, ExpressionWrapper, F, OuterRef, Q
from django.utils import timezone

from annotation.campaigns.campaign_actions import log
from annotation.errors import NotTaskHolder
from annotation.models import Assignment, Campaign
from annotation.text import views
from annotation.work import labels
from annotation.work.checking import cleaned
from config.web.events import publish
from suites.collecting import chat_outcomes, chat_systems
from suites.collecting.errors import ChatRefused, MessageRefused
from suites.collecting.models import Chat, ChatMessage, ChatReply, ChatSeat, Waiting

SEEN_SECONDS = 5
"""The last request of a page is noted to this precision, so that reading rarely writes."""
TYPING_SECONDS = 5
REPORT_LIMIT, KEY_LIMIT = 2_000, 64
FORGOTTEN = timedelta(hours=1)
"""Age of the last request after which a place in the lobby is deleted."""
CHANGED = "changed"
WAITING, FAILED, PICK = "waiting", "failed", "pick"
_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class ChatView:
    """A conversation as one of its people sees it: of the others, what they wrote and where they sit.

    `own` is the person's number, `persona` theirs. `turn` is the number of the person who writes next, None
    with free order or once it is over. `messages` are those after the requested one, `number` of all `total`.
    `seconds` have passed since the last turn, or since the campaign went on after a pause; after
    `remind_seconds` whoever writes next is reminded, and after `idle_seconds` the conversation is abandoned.
    While the campaign is `paused` neither happens. `typing` are the numbers of the others who write.
    `end_reason` says why it was abandoned, empty otherwise.

    `reply` says where the next turn of a system is: `waiting` until it comes; `failed`: it can be asked for
    again; `pick`: the person chooses one of `replies` ({"place", "text"}); else ''.
    """

    state: str
    end_reason: str
    own: int
    people: int
    persona: tuple[str, ...]
    turn: int | None
    number: int
    total: int
    most_characters: int
    seconds: int
    remind_seconds: int
    idle_seconds: int
    paused: bool
    typing: tuple[int, ...]
    messages: tuple[dict[str, Any], ...]
    reply: str
    replies: tuple[dict[str, Any], ...]


def topic(chat: int) -> str:
    """Return the topic of a conversation's events."""
    return f"chat-{chat}"


def must_be_in(user: User, chat: int, campaign: int | None = None) -> None:
    """Raise NotTaskHolder unless a person is in a conversation, of a campaign if that is named."""
    rows = ChatSeat.objects.filter(chat=chat, user=user)
    if campaign is not None:
        rows = rows.filter(chat__campaign=campaign)
    if not rows.exists():
        raise NotTaskHolder("You are not in this conversation.")


def seat_of(user: User, chat: int) -> ChatSeat:
    """Return a person's side of a conversation; raise NotTaskHolder where they have none."""
    rows = ChatSeat.objects.select_related("chat__campaign__chat_plan", "chat__task__continuation__dialogue")
    seat = rows.filter(chat=chat, user=user).first()
    if seat is None:
        raise NotTaskHolder("You are not in this conversation.")
    return seat


def view(*, by: User, chat: int, after: int = 0) -> ChatView:
    """Return a conversation as one of its people sees it, with the turns after number `after`.

    One that is overdue is ended first. Raises NotTaskHolder for other people.
    """
    seat, now = seat_of(by, chat), timezone.now()
    row, plan = seat.chat, seat.chat.campaign.chat_plan
    if row.state == Chat.State.OPEN and overdue(row, now):
        end_overdue(row.pk)
        seat = seat_of(by, chat)
        row = seat.chat
    if now - seat.seen_at >= timedelta(seconds=SEEN_SECONDS):
        ChatSeat.objects.filter(pk=seat.pk).update(seen_at=now)
    rows = list(row.messages.select_related("seat"))
    is_open = row.state == Chat.State.OPEN
    soon = now + timedelta(seconds=TYPING_SECONDS)
    replies = chat_systems.next_replies(row, len(rows) + 1) if is_open and plan.has_systems else []
    others = row.seats.filter(typing_until__range=(now, soon)).exclude(pk=seat.pk) if is_open else ()
    return ChatView(
        state=row.state,
        end_reason=row.get_reason_display() if row.reason else "",
        own=seat.number,
        people=plan.participants,
        persona=persona(seat),
        turn=len(rows) % plan.participants + 1 if is_open and plan.alternates else None,
        number=len(rows),
        total=plan.turns,
        most_characters=plan.most_characters,
        seconds=int(_silence(row, replies, now).total_seconds()),
        remind_seconds=plan.remind_minutes * 60,
        idle_seconds=plan.idle_minutes * 60,
        paused=row.campaign.state == Campaign.State.PAUSED,
        typing=tuple(other.number for other in others),
        messages=tuple(as_json(message) for message in rows if message.number > after),
        reply=_reply_state(replies),
        replies=tuple({"place": reply.place, "text": reply.text} for reply in replies)
        if _reply_state(replies) == PICK
        else (),
    )


def _reply_state(replies: Sequence[ChatReply]) -> str:
    """Return where the next turn of a system is, as in `ChatView`."""
    missing = [reply for reply in replies if not reply.text]
    if any(chat_systems.has_failed(reply) for reply in missing):
        return FAILED
    return WAITING if missing else PICK if replies else ""


def persona(seat: ChatSeat) -> tuple[str, ...]:
    """Return the sentences of the persona that a person plays."""
    person = seat.chat.task.continuation.dialogue.participants[seat.number - 1]
    return tuple(person.get("profile") or ())


def as_json(message: ChatMessage) -> dict[str, Any]:
    """Return a turn for one of the people."""
    return {
        "number": message.number,
        "person": message.seat.number,
        "text": message.text,
        "at": message.at.isoformat(),
    }


@transaction.atomic
def send(*, by: User, chat: int, text: str, key: str) -> ChatMessage:
    """Send a turn of a conversation; the last one finishes it, and writes its turns to the corpus.

    `key`, made by the client for each turn, makes a repeated request return the stored turn. Raises
    NotTaskHolder, MessageRefused, or ChatRefused where it is over, paused or another person's turn.
    """
    row = locked(chat)
    seat = seat_of(by, chat)
    if not 1 <= len(key) <= KEY_LIMIT:
        raise MessageRefused(f"A turn needs a key of 1 to {KEY_LIMIT} characters.")
    if (stored := ChatMessage.objects.filter(seat=seat, key=cleaned(key)).first()) is not None:
        return stored
    plan, now = row.campaign.chat_plan, timezone.now()
    must_accept(row, now)
    number = row.messages.count() + 1
    if plan.alternates and seat.number != (number - 1) % plan.participants + 1:
        raise ChatRefused("It is another person's turn. Your text was not sent.")
    text = checked_text(text, plan.most_characters, "turn")
    message = append(row, seat, text, cleaned(key), now)
    ChatSeat.objects.filter(pk=seat.pk).update(typing_until=None, seen_at=now)
    return message


def append(row: Chat, seat: ChatSeat, text: str, key: str, now: datetime) -> ChatMessage:
    """Append the next turn to a locked conversation; the last one finishes it, else systems may be next."""
    plan = row.campaign.chat_plan
    number, at = row.messages.count() + 1, max(now, row.last_at)
    message = ChatMessage.objects.create(chat=row, number=number, seat=seat, text=text, key=key, at=at)
    row.last_at = at
    lease = timedelta(minutes=row.campaign.lease_minutes + plan.idle_minutes)
    Assignment.objects.filter(pk__in=row.seats.values("assignment")).update(lease_expires=now + lease)
    if number == plan.turns:
        chat_outcomes.write(row, plan)
    elif number % plan.participants + 1 == plan.system_seat:
        chat_systems.ask(row, plan, at)
    publish(topic(row.pk), CHANGED)
    return message


def must_accept(row: Chat, now: datetime) -> None:
    """Raise ChatRefused where a conversation takes no turns."""
    if row.state != Chat.State.OPEN or overdue(row, now):
        raise ChatRefused("This conversation is over. Your text was not sent.")
    if row.campaign.state != Campaign.State.OPEN:
        raise ChatRefused("The campaign is paused. Your text was not sent: keep it, and send it later.")


def checked_text(text: str, most_characters: int, noun: str) -> str:
    """Return a person's text as it is stored (`plain_text`).

    Raises MessageRefused for an empty or a longer one; `noun` is what it is.
    """
    text = plain_text(text)
    if not text:
        raise MessageRefused("Write something first.")
    if len(text) > most_characters:
        raise MessageRefused(
            f"A {noun} has at most {most_characters:,} characters; this one has {len(text):,}."
        )
    return text


def plain_text(text: str) -> str:
    """Return a text with one kind of line break, no control characters and nothing around it; '' if blank."""
    text = _CONTROLS.sub("", _BREAKS.sub("\n", str(cleaned(text)))).strip()
    return text if views.clean(text).strip() else ""


def set_typing(*, by: User, chat: int) -> None:
    """Show the others for TYPING_SECONDS that a person writes."""
    seat = seat_of(by, chat)
    until = timezone.now() + timedelta(seconds=TYPING_SECONDS)
    ChatSeat.objects.filter(pk=seat.pk).update(typing_until=until)
    publish(topic(chat), f"typing {seat.number}")


@transaction.atomic
def leave(*, by: User, chat: int, report: str | None = None) -> None:
    """Leave a conversation, or report it (`report` says why, possibly ''): it is abandoned.

    Nothing changes for one that is over. Raises NotTaskHolder.
    """
    row = locked(chat)
    seat_of(by, chat)
    if row.state != Chat.State.OPEN:
        return
    if report is None:
        abandon(row, Chat.Reason.LEFT)
        return
    abandon(row, Chat.Reason.REPORTED, str(cleaned(report)).strip()[:REPORT_LIMIT])
    log(by, row.campaign, "report a conversation", chat=row.pk)


@transaction.atomic
def end(*, by: User, chat: Chat, reason: str) -> None:
    """End an open conversation as a researcher, with a reason; it is abandoned. Raises ChatRefused."""
    reason = str(cleaned(reason)).strip()[:REPORT_LIMIT]
    if not reason:
        raise ChatRefused("Say why you end this conversation, in a few words.")
    row = locked(chat.pk)
    if row.state != Chat.State.OPEN:
        raise ChatRefused(f"This conversation is {row.state} already.")
    abandon(row, Chat.Reason.ENDED, reason)
    log(by, row.campaign, "end a conversation", chat=row.pk, reason=reason)


def overdue(row: Chat, now: datetime) -> str:
    """Return the reason for which an open conversation is to be ended now, '' for none.

    Somebody's account is inactive or their task was taken back, the campaign is closed or past its deadline,
    or nobody wrote for too long while it was not paused. While a system owes a reply, the other side failed.
    """
    campaign, plan = row.campaign, row.campaign.chat_plan
    holders = Assignment.objects.filter(pk__in=row.seats.values("assignment"), state="leased")
    if holders.filter(user__is_active=True).count() < plan.people:
        return Chat.Reason.ENDED
    if campaign.state == Campaign.State.CLOSED or (campaign.deadline and campaign.deadline <= now):
        return Chat.Reason.CLOSED
    replies = chat_systems.next_replies(row, row.messages.count() + 1) if plan.has_systems else []
    is_idle = _silence(row, replies, now) >= timedelta(minutes=plan.idle_minutes)
    if not is_idle or campaign.state == Campaign.State.PAUSED:
        return ""
    return Chat.Reason.FAILED if _reply_state(replies) in (WAITING, FAILED) else Chat.Reason.IDLE


def _silence(row: Chat, replies: Sequence[ChatReply], now: datetime) -> timedelta:
    """Return the time since the last turn, reply or end of a pause; 0 where the clock was set back."""
    since = [row.last_at, row.campaign.resumed_at or row.last_at, *(reply.at for reply in replies)]
    return max(timedelta(0), now - max(since))


@transaction.atomic
def end_overdue(chat: int) -> bool:
    """End a conversation that is overdue; return whether it was."""
    row = locked(chat)
    reason = overdue(row, timezone.now()) if row.state == Chat.State.OPEN else ""
    if reason:
        abandon(row, reason)
    return bool(reason)


def sweep() -> int:
    """End overdue conversations, and forget who left the lobby long ago; return how many were ended."""
    now = timezone.now()
    Waiting.objects.filter(seen_at__lt=now - FORGOTTEN).delete()
    # Only these can be overdue, and most open conversations are none of them: one query finds them.
    holding = {"assignment__state": "leased", "user__is_active": True}
    lost = ChatSeat.objects.filter(chat=OuterRef("pk"), is_system=False).exclude(**holding)
    idle = ExpressionWrapper(
        F("campaign__chat_plan__idle_minutes") * timedelta(minutes=1), output_field=DurationField()
    )
    is_idle = Q(last_at__lte=now - idle) & ~Q(campaign__state=Campaign.State.PAUSED)
    is_closed = Q(campaign__state=Campaign.State.CLOSED) | Q(campaign__deadline__lte=now)
    rows = Chat.objects.filter(is_idle | is_closed | Exists(lost), state=Chat.State.OPEN).order_by("pk")
    return sum(end_overdue(pk) for pk in rows.values_list("pk", flat=True))


def abandon(row: Chat, reason: str, report: str = "") -> None:
    """Abandon a locked conversation: its turns stay here, its task is free for people who never had it."""
    row.state, row.reason, row.report = Chat.State.ABANDONED, reason, report
    row.ended_at = timezone.now()
    row.save(update_fields=["state", "reason", "report", "ended_at"])
    skipped = Assignment.objects.filter(pk__in=row.seats.values("assignment"), state="leased")
    skipped.update(state=Assignment.State.SKIPPED, skip_reason=f"Conversation: {row.get_reason_display()}")
    chat_systems.cancel(row)
    publish(topic(row.pk), CHANGED)


def locked(chat: int) -> Chat:
    """Return a conversation, locked until the transaction ends; raise NotTaskHolder where there is none."""
    rows = Chat.objects.select_for_update(of=("self",), no_key=True)
    row = rows.select_related("campaign__chat_plan", "task__continuation__dialogue").filter(pk=chat).first()
    if row is None:
        raise NotTaskHolder("You are not in this conversation.")
    return row


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation as researchers see it: people by pseudonym, systems by name, and turns.

    `seats` are (number, name, last request), in order.
    """

    chat: Chat
    seats: Sequence[tuple[int, str, datetime]]
    messages: Sequence[dict[str, Any]]


def transcript(chat: Chat) -> Transcript:
    """Return a conversation with its people's pseudonyms and turns, for researchers."""
    rows = list(chat.seats.all())
    users = [seat.user_id for seat in rows if seat.user_id is not None]
    names = labels.pseudonyms_of_people(users, chat.campaign.corpus_id)
    systems = " or ".join(chat.systems.order_by("pk").values_list("system__name", flat=True))
    seats = [
        (
            seat.number,
            systems if seat.is_system else names[seat.user_id] if seat.user_id else "deleted account",
            seat.seen_at,
        )
        for seat in rows
    ]
    return Transcript(chat, seats, [as_json(row) for row in chat.messages.select_related("seat")])
