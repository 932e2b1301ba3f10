"""The lobby of a campaign of conversations: members wait for each other, or begin with a system at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations, islice, permutations
from typing import Any, Literal

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.errors import NotTaskHolder
from annotation.models import Assignment, Campaign, CampaignMember, GuidelinesRead
from annotation.work import check_stages, leases
from annotation.work.leases import Hold, Seat
from config.web.events import publish
from suites.collecting import chat_systems
from suites.collecting.models import Chat, ChatPlan, ChatSeat, Waiting

PRESENT_SECONDS = 15
"""A member whose page has not asked for so long has left the lobby."""
MOST_CONSIDERED = 12
"""The members waiting longest among whom groups are formed; the others follow as these leave."""
MOST_GROUPS = 100
"""Groups tried at one request, since each costs a query."""

LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('concord lobby', 0))"
"""One for all lobbies, since a member may wait in several, and is paired once."""
MET = """
SELECT a.user_id, b.user_id FROM collecting_chatseat a JOIN collecting_chatseat b USING (chat_id)
  JOIN collecting_chat c ON c.id = a.chat_id
 WHERE c.campaign_id = %s AND a.user_id < b.user_id AND a.user_id = ANY(%s) AND b.user_id = ANY(%s)
"""


@dataclass(frozen=True, slots=True)
class Lobby:
    """A member's place in the lobby.

    `state` is `waiting`, for `seconds` with `others` who wait as well; `chat`, whose id is `chat`; `busy`:
    they are in a conversation of another campaign; `task`: something on the annotation page comes first; or
    `nothing`: no conversation is left for them, or none now.
    """

    state: Literal["waiting", "chat", "busy", "task", "nothing"]
    chat: int | None = None
    seconds: int = 0
    others: int = 0


def topic(campaign: int, user: int) -> str:
    """Return the topic of the events of a waiting member."""
    return f"lobby-{campaign}-{user}"


def present(campaign: int, now: datetime) -> QuerySet[Waiting]:
    """Return who waits in the lobby of a campaign now."""
    return Waiting.objects.filter(campaign=campaign, seen_at__range=_presence(now))


def _presence(now: datetime) -> tuple[datetime, datetime]:
    """Return the first and last time of a request that shows presence; a clock may have been set back."""
    return now - timedelta(seconds=PRESENT_SECONDS), now + timedelta(seconds=PRESENT_SECONDS)


@transaction.atomic
def wait(*, by: User, campaign: int) -> Lobby:
    """Wait in the lobby, or go on waiting, and pair whoever can be paired; return the member's place.

    Members who do not ask for PRESENT_SECONDS wait no more. Raises NotTaskHolder for other people.
    """
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(LOCK)
    others = present(campaign, now).exclude(user=by).exclude(user__in=_in_chats())
    waiting = {row.user_id: row for row in others.order_by("since", "pk")[:MOST_CONSIDERED]}
    seats = _lock_seats(campaign, {by.pk, *waiting})
    if by.pk not in seats:
        raise NotTaskHolder("You do not take part in this campaign.")
    own = seats[by.pk]
    place = _place_before(own)
    if place is not None:
        Waiting.objects.filter(campaign=campaign, user=by).delete()
        return place
    if own.guidelines is not None:
        GuidelinesRead.objects.get_or_create(guidelines_id=own.guidelines, user=by)
    if (plan := ChatPlan.objects.get(campaign=campaign)).has_systems:
        alone = _pair(plan, [own], now).get(by.pk)
        return Lobby("nothing") if alone is None else Lobby("chat", alone.pk)
    waiting[by.pk] = _refresh(campaign, by.pk, now)
    order = sorted(waiting.values(), key=lambda row: (row.since, row.pk))
    ready = [seats[row.user_id] for row in order if row.user_id in seats and is_ready(seats[row.user_id])]
    chat = _pair(plan, ready, now).get(by.pk)
    if chat is not None:
        return Lobby("chat", chat.pk)
    seconds = max(0, int((now - waiting[by.pk].since).total_seconds()))
    return Lobby("waiting", None, seconds, others.count())


@transaction.atomic
def stop_waiting(*, by: User, campaign: int) -> None:
    """Leave the lobby; nothing changes for somebody who is not in it."""
    Waiting.objects.filter(campaign=campaign, user=by).delete()


def open_chat(user: int) -> Chat | None:
    """Return a person's open conversation, in whichever campaign; nobody has two."""
    return Chat.objects.select_related("campaign").filter(seats__user=user, seats__is_open=True).first()


def _in_chats() -> QuerySet[Any]:
    """Return the ids of those who are in an open conversation."""
    return ChatSeat.objects.filter(is_open=True, user__isnull=False).values("user")


def is_ready(seat: Seat) -> bool:
    """Whether a member may begin a conversation: no task is theirs, and they agreed, read and passed."""
    is_free = seat.state == Campaign.State.OPEN and not (seat.leased or seat.returned or seat.waits)
    if not is_free or seat.limits.reached:
        return False
    return not seat.checked or (check_stages.waiting(seat) is None and not _in_stage(seat))


def _in_stage(seat: Seat) -> bool:
    return bool(check_stages.stage(check_stages.standing_of(seat.campaign, seat.user)))


def _place_before(seat: Seat) -> Lobby | None:
    """Return a member's place where it is not among the waiting."""
    chat = open_chat(seat.user)
    if chat is not None:
        return Lobby("chat", chat.pk) if chat.campaign_id == seat.campaign else Lobby("busy")
    if seat.state != Campaign.State.OPEN or seat.limits.reached:
        return Lobby("nothing")
    if not is_ready(seat):
        return Lobby("task")
    return None if leases.has_unwritten(seat) else Lobby("nothing")


def _lock_seats(campaign: int, users: Iterable[int]) -> dict[int, Seat]:
    """Lock members in the order of their ids, as everybody who locks several does."""
    members = CampaignMember.objects.filter(campaign=campaign, user__in=users, user__is_active=True)
    ids = members.order_by("id").values_list("user_id", flat=True)
    return {user: leases.take_seat(campaign=campaign, user=user) for user in ids}


def _refresh(campaign: int, user: int, now: datetime) -> Waiting:
    row, _ = Waiting.objects.get_or_create(
        campaign_id=campaign, user_id=user, defaults={"since": now, "seen_at": now}
    )
    first, last = _presence(now)
    if not first <= row.seen_at <= last:
        row.since = now
    row.seen_at = now
    row.save(update_fields=["since", "seen_at"])
    return row


def _pair(plan: ChatPlan, ready: Sequence[Seat], now: datetime) -> dict[int, Chat]:
    """Begin conversations among members who are ready, the longest waiting first; return them by user."""
    met = _met(plan.campaign_id, [seat.user for seat in ready])
    chats: dict[int, Chat] = {}
    for group in islice(_groups(ready, plan.people, met), MOST_GROUPS):
        if any(seat.user in chats for seat in group):
            continue
        orders = permutations(group) if group[0].ruled else (group,)
        for order in orders:
            holds = leases.claim_together(seats=order, minutes=order[0].lease_minutes + plan.idle_minutes)
            if holds is not None:
                chat = _begin(plan, order, holds, now)
                chats |= {seat.user: chat for seat in order}
                break
    return chats


def _groups(ready: Sequence[Seat], size: int, met: set[frozenset[int]]) -> Iterator[tuple[Seat, ...]]:
    """Yield groups in the order of waiting, those in which nobody meets somebody again before all others."""
    again = []
    for group in combinations(ready, size):
        if any(frozenset([a.user, b.user]) in met for a, b in combinations(group, 2)):
            again.append(group)
        else:
            yield group
    yield from again


def _met(campaign: int, users: list[int]) -> set[frozenset[int]]:
    """Return the pairs among people who were in a conversation of the campaign together."""
    with connection.cursor() as cursor:
        cursor.execute(MET, [campaign, users, users])
        return {frozenset(pair) for pair in cursor.fetchall()}


def _begin(plan: ChatPlan, order: Sequence[Seat], holds: Sequence[Hold], now: datetime) -> Chat:
    campaign = plan.campaign_id
    chat = Chat.objects.create(campaign_id=campaign, task_id=holds[0].task, started_at=now, last_at=now)
    users = dict(Assignment.objects.filter(pk__in=[h.assignment for h in holds]).values_list("user", "pk"))
    numbers = [number for number in range(1, plan.participants + 1) if number != plan.system_seat]
    seats = [
        ChatSeat(chat=chat, number=number, user_id=seat.user, assignment_id=users[seat.user], seen_at=now)
        for number, seat in zip(numbers, order, strict=True)
    ]
    if plan.has_systems:
        seats.append(ChatSeat(chat=chat, number=plan.system_seat, is_system=True, seen_at=now))
        chat.systems.set(chat_systems.draw(chat, plan, order[0].user))
    ChatSeat.objects.bulk_create(seats)
    if plan.system_seat == 1:
        chat_systems.ask(chat, plan, now)
    Waiting.objects.filter(user__in=users).delete()
    for user in users:
        publish(topic(campaign, user), "changed")
    return chat
