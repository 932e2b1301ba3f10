"""Who works on what: claiming a free slot, holding it for a while, and returning it.

A member's row is locked first, so that one person's requests come one after the other; slots are claimed
with SKIP LOCKED, so that different people never wait for each other. The constraints of the tables hold
whatever this code does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction

from annotation.campaigns import batches
from annotation.errors import CampaignNotOpen, ConsentNeeded, LimitReached, NotTaskHolder
from annotation.models import Campaign
from annotation.work import balanced as balanced_claims
from annotation.work.checking import passes_of
from annotation.work.claiming import (
    CLAIM,
    CLAIM_OWN,
    CLAIM_OWN_RULED,
    CLAIM_RULED,
    RESUME,
    RETURN_EXPIRED,
    RETURNED,
    SEAT,
    SETTLE,
    TAKE_AGAIN,
    TAKE_AGAIN_RULED,
)
from annotation.work.limits import Limits
from config import commands


class Seat(NamedTuple):
    """A member's standing in a campaign, read while the member's row is locked.

    `returned` counts the submissions that a researcher handed back to them, `leased` the tasks that they
    hold: more than one where a researcher gave them some. `consent` is the consent text that they have not
    agreed to, and `read` the latest guidelines that they know. `checked` says that the
    campaign trains, tests or checks people (`annotation.checks`), `ruled` that it has rules on who rates
    what. `noted` says whether they have notes or bookmarks here, `talks` whether there are messages:
    without, nothing is asked about them. Tasks from the place `upto` on are in batches that are not open;
    `opens_batches` says that the next one opens when the last one is complete, `balanced` that the next task
    is of the stratum of which they have done least.
    """

    campaign: int
    name: str
    state: str
    occasion: str
    version: int
    lease_minutes: int
    guidelines: int | None
    member: int
    user: int
    cursor: int
    done: int
    pace: float | None
    returned: int
    leased: int
    deadline: datetime | None
    over: bool
    most: int | None
    most_a_day: int | None
    today: int
    own_order: bool
    consent: int | None
    read: int | None
    checked: bool
    ruled: bool
    revise_hours: int | None
    unseen_check: str
    noted: bool
    talks: bool
    upto: int
    opens_batches: bool
    balanced: bool

    @property
    def limits(self) -> Limits:
        """How much the member may do, and until when."""
        return Limits(self.deadline, self.over, self.most, self.most_a_day, self.done, self.today)

    @property
    def waits(self) -> bool:
        """Whether something has to be agreed to or read before the next task."""
        changed = self.read is not None and self.guidelines is not None and self.read < self.guidelines
        return self.state == Campaign.State.OPEN and not self.over and (self.consent is not None or changed)

    def must_have_agreed(self) -> None:
        """Raise ConsentNeeded where the campaign's consent text was not agreed to."""
        if self.consent is not None:
            raise ConsentNeeded(
                "This campaign has a consent text that you have not agreed to yet. Your draft is kept."
            )

    def must_be_open(self) -> None:
        """Raise CampaignNotOpen where no work is accepted."""
        if self.state != Campaign.State.OPEN:
            raise CampaignNotOpen(
                f"The campaign is {self.state}: nothing can be submitted now. Drafts are kept."
            )
        if self.over:
            raise CampaignNotOpen(
                f"{self.limits.sentence} Nothing can be submitted any more. Drafts are kept."
            )

    def must_have_room(self) -> None:
        """Raise LimitReached where the member may submit no more tasks for now."""
        if self.limits.reached:
            raise LimitReached(f"{self.limits.sentence} Your draft is kept.")


class Hold(NamedTuple):
    """A task that a member has before them: leased, returned to them, or submitted and opened again.

    The draft's `version` is the assignment's revision. `note` says why a researcher returned the task or
    gave it to them.
    """

    assignment: int
    task: int
    state: str
    draft: Mapping[str, Any]
    note: str = ""


def take_seat(*, campaign: int, user: int) -> Seat:
    """Lock and return a member's standing; raise NotTaskHolder where the user is not a member."""
    with commands.cursor() as cursor:
        cursor.execute(SEAT, (campaign, user))
        row = cursor.fetchone()
    if row is None:
        raise NotTaskHolder("You do not take part in this campaign.")
    return Seat(*row)


def next_task(*, seat: Seat) -> Hold | None:
    """Return the task the member holds already, else one returned to them or that ran out, else a new one.

    None where the campaign has nothing for this member at the moment. Who may submit no more gets only what
    was returned to them: that counted already.
    """
    if seat.limits.reached:
        return None if seat.over else returned(seat=seat)
    return resume(seat=seat) or returned(seat=seat) or take_again(seat=seat) or claim(seat=seat)


def resume(*, seat: Seat) -> Hold | None:
    """Return the task that the member holds, with its lease renewed; None where there is none.

    What a researcher gave them comes after the one that they have in hand.
    """
    return _hold(RESUME, (seat.lease_minutes, seat.campaign, seat.user))


def returned(*, seat: Seat) -> Hold | None:
    """Return a task that a researcher handed back to the member; None where there is none."""
    return _hold(RETURNED, (seat.campaign, seat.user)) if seat.returned else None


def take_again(*, seat: Seat, assignment: int | None = None) -> Hold | None:
    """Take back a task of the member's whose lease ran out, if its task still has a free slot.

    `assignment` names it; None takes the latest. Its draft is as it was.
    """
    values = {
        "campaign": seat.campaign,
        "user": seat.user,
        "assignment": assignment,
        "minutes": seat.lease_minutes,
    }
    if seat.ruled:
        return _hold(TAKE_AGAIN_RULED, values | passes_of(seat.campaign, seat.user))
    return _hold(TAKE_AGAIN, values)


def after_submit(*, seat: Seat) -> Hold | None:
    """Return what comes next where no checks are made: returned or given by a researcher, else a new task."""
    given = resume(seat=seat) if seat.leased and not seat.limits.reached else None
    return returned(seat=seat) or given or claim(seat=seat)


def claim(*, seat: Seat) -> Hold | None:
    """Claim the first free slot after the member's last one; from the start where nothing lies ahead.

    In an order of one's own, the member goes on in the continuation at hand, then at a place of their
    own; where strata are balanced, in the one of which they have done least. Where nothing is free at
    all, leases that ran out are returned first. None where nothing is left, or the member may submit no
    more.
    """
    if seat.limits.reached:
        return None
    values = _claiming(seat)
    held = _onwards(seat, values) or _from_start(seat, values)
    while held is None and (return_expired(campaign=seat.campaign) or _settle(seat)):
        held = _from_start(seat, values)
    if held is None and seat.opens_batches:
        upto = batches.open_where_complete(seat.campaign)
        if upto > seat.upto:
            held = _from_start(seat, values | {"upto": upto})
    return held


def _onwards(seat: Seat, values: dict[str, Any]) -> Hold | None:
    if seat.balanced:
        return None  # each stratum goes on from its own place
    if seat.own_order:
        own = CLAIM_OWN_RULED if seat.ruled else CLAIM_OWN
        return _hold(own, values | {"after": seat.cursor, "place": _place(seat)})
    return _hold(CLAIM_RULED if seat.ruled else CLAIM, values | {"after": seat.cursor})


def _from_start(seat: Seat, values: dict[str, Any]) -> Hold | None:
    if seat.balanced:
        return _held(balanced_claims.claimed(values, ruled=seat.ruled))
    return _hold(CLAIM_RULED if seat.ruled else CLAIM, values | {"after": -1})


@transaction.atomic
def return_expired(*, campaign: int | None = None) -> int:
    """Return the slots of leases that ran out, in one or in all open campaigns; return how many.

    In a paused campaign nobody could take them, so holders keep theirs until it opens again.
    """
    with commands.cursor() as cursor:
        cursor.execute(RETURN_EXPIRED, {"campaign": campaign})
        return int(cursor.rowcount)


def _place(seat: Seat) -> float:
    """Return where in the tasks, from 0 to 1, a member goes on: another place at each step of each person."""
    step = f"{seat.campaign}:{seat.user}:{seat.cursor}:{seat.done}"
    return int.from_bytes(hashlib.sha256(step.encode()).digest()[:6]) / 2**48


def _settle(seat: Seat) -> int:
    if not seat.ruled:
        return 0
    with commands.cursor() as cursor:
        cursor.execute(SETTLE, {"campaign": seat.campaign})
        return int(cursor.rowcount)


def _claiming(seat: Seat) -> dict[str, Any]:
    passes = passes_of(seat.campaign, seat.user) if seat.ruled else {}
    return {
        "campaign": seat.campaign,
        "user": seat.user,
        "occasion": seat.occasion,
        "minutes": seat.lease_minutes,
        "guidelines": seat.guidelines,
        "member": seat.member,
        "upto": seat.upto,
        **passes,
    }


def _hold(sql: str, values: Any) -> Hold | None:
    with commands.cursor() as cursor:
        cursor.execute(sql, values)
        return _held(cursor.fetchone())


def _held(row: tuple[Any, ...] | None) -> Hold | None:
    if row is None:
        return None
    assignment, task, state, draft, *note = row
    return Hold(assignment, task, state, json.loads(draft) if isinstance(draft, str) else draft, *note)
