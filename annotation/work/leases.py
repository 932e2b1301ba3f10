"""Task leases: claiming a free slot, holding it for a limited time, and returning it.

A member's row is locked first, so that one person's requests run one after the other; slots are claimed
with SKIP LOCKED, so that different people never wait for each other. Table constraints hold whatever this
code does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from annotation.campaigns import campaign_actions
from annotation.errors import CampaignNotOpen, ConsentNeeded, LimitReached, NotTaskHolder
from annotation.models import CampaignMember
from annotation.models.campaigns import Campaign
from annotation.text import display
from annotation.work.checking import passes_of
from config import commands

# SQL that hands out work: a seat, a claim, a lease, and the return of a slot.
#
# Each statement is one round trip. Every walk over slots uses an index and stops at the first match.

SEAT = """
SELECT c.id, c.name, c.state, c.occasion, c.scheme_version_id, c.lease_minutes,
       (SELECT max(g.id) FROM annotation_guidelines g WHERE g.campaign_id = c.id),
       m.id, m.user_id, m.cursor, m.done, m.pace,
       (SELECT count(*) FROM annotation_assignment a
         WHERE a.campaign_id = c.id AND a.user_id = m.user_id AND a.state = 'returned'),
       (SELECT count(*) FROM annotation_assignment a
         WHERE a.campaign_id = c.id AND a.user_id = m.user_id AND a.state = 'leased'),
       c.deadline, coalesce(c.deadline <= now(), false), c.most_tasks, c.most_tasks_a_day,
       CASE WHEN m.done_on = (now() AT TIME ZONE 'UTC')::date THEN m.done_today ELSE 0 END,
       c.task_order = 'own',
       (SELECT k.id FROM annotation_consent k
         WHERE k.id = (SELECT max(o.id) FROM annotation_consent o WHERE o.campaign_id = c.id) AND k.text <> ''
           AND NOT EXISTS (SELECT 1 FROM annotation_consentgiven w
                            WHERE w.consent_id = k.id AND w.user_id = m.user_id)),
       (SELECT max(g.id) FROM annotation_guidelines g JOIN annotation_guidelinesread r
             ON r.guidelines_id = g.id WHERE g.campaign_id = c.id AND r.user_id = m.user_id),
       EXISTS (SELECT 1 FROM annotation_checkplan p WHERE p.campaign_id = c.id),
       c.ruled,
       c.revise_hours, c.unseen_check,
       EXISTS (SELECT 1 FROM annotation_turnnote n WHERE n.campaign_id = c.id AND n.user_id = m.user_id
                AND n.superseded_at IS NULL)
       OR EXISTS (SELECT 1 FROM annotation_bookmark b WHERE b.campaign_id = c.id AND b.user_id = m.user_id),
       EXISTS (SELECT 1 FROM annotation_thread h WHERE h.campaign_id = c.id AND h.annotator_id = m.user_id),
       least(coalesce(c.batch_size::bigint * c.batches_open, 2147483647), 2147483647)::int,
       c.batch_size IS NOT NULL AND c.next_batch = 'complete', c.balance_by <> '', c.form,
       CASE WHEN EXISTS (SELECT 1 FROM annotation_continuationauthor w WHERE w.user_id = m.user_id)
            THEN concord_own_tasks(c.id, m.user_id) ELSE '{}' END
  FROM annotation_campaignmember m JOIN annotation_campaign c ON c.id = m.campaign_id
 WHERE m.campaign_id = %s AND m.user_id = %s FOR UPDATE OF m
"""

# Batches that are not open begin at `upto`, and `own` are the tasks about what the person wrote. The state is
# looked up slot by slot: with a join, the planner may read all of a person's assignments.
FREE = """s.campaign_id = %(campaign)s AND NOT s.taken AND s.position < %(upto)s
     AND s.task_id <> ALL(%(own)s::bigint[])
     AND coalesce((SELECT a.state FROM annotation_assignment a WHERE a.task_id = s.task_id
                    AND a.user_id = %(user)s AND a.occasion = %(occasion)s), 'expired') = 'expired'"""

# In a campaign with rules: the gates the person passes, read once per claim (`checking.passes_of`).
PASSED = """(s.gate_id IS NULL OR s.gate_id = ANY(%(gates)s::bigint[])
     AND NOT EXISTS (SELECT 1 FROM annotation_taskauthor w
                      WHERE w.task_id = s.task_id AND w.name = ANY(%(names)s::text[])))"""
RULED_FREE = f"""{FREE}
     AND {PASSED}"""

CLAIM = f"""
WITH free AS (
  SELECT s.id, s.task_id, s.position FROM annotation_slot s
   WHERE {FREE} AND s.position > %(after)s
   ORDER BY s.position, s.number LIMIT 1 FOR UPDATE SKIP LOCKED),
held AS (
  INSERT INTO annotation_assignment (slot_id, task_id, campaign_id, user_id, occasion, state, lease_expires,
                                     leased_at, draft, skip_reason, comment, flagged, guidelines_id)
  SELECT free.id, free.task_id, %(campaign)s, %(user)s, %(occasion)s, 'leased',
         now() + make_interval(mins => %(minutes)s), now(), '{{}}', '', '', false, %(guidelines)s FROM free
  ON CONFLICT (task_id, user_id, occasion, round) DO UPDATE SET state = 'leased', slot_id = excluded.slot_id,
     lease_expires = excluded.lease_expires,
     leased_at = excluded.leased_at, guidelines_id = excluded.guidelines_id
  RETURNING id, task_id, state, draft || jsonb_build_object('version', revision)),
moved AS (
  UPDATE annotation_campaignmember m SET cursor = free.position FROM free WHERE m.id = %(member)s)
SELECT * FROM held
"""  # noqa: S608  (a condition of ours)

# With an order per person: go on in the current continuation, else at the beginning of a later one, from a
# randomly drawn place. Each step is an index lookup, so it is as fast with 100,000 tasks as with 100.
AHEAD = f"""
SELECT coalesce(
  (SELECT s.position FROM annotation_slot s
    WHERE {FREE} AND s.position > %(after)s AND s.position <= (
      SELECT max(t.position) FROM annotation_task t WHERE t.campaign_id = %(campaign)s
         AND t.continuation_id = (SELECT o.continuation_id FROM annotation_task o
           WHERE o.campaign_id = %(campaign)s AND o.position = %(after)s))
    ORDER BY s.position LIMIT 1),
  (SELECT min(t.position) FROM annotation_task t WHERE t.campaign_id = %(campaign)s
      AND t.continuation_id = (SELECT o.continuation_id FROM annotation_task o
        WHERE o.campaign_id = %(campaign)s AND o.position = (
          SELECT s.position FROM annotation_slot s
           WHERE {FREE} AND s.position >= floor(%(place)s::float8 * least(%(upto)s, (
             SELECT max(l.position) + 1 FROM annotation_task l WHERE l.campaign_id = %(campaign)s)))
           ORDER BY s.position LIMIT 1))))
"""  # noqa: S608  (a condition of ours)
CLAIM_OWN = CLAIM.replace("s.position > %(after)s", f"s.position >= ({AHEAD})")

# The first free slot that the person's gates allow is looked up gate by gate in an index, so that a claim
# does not walk over thousands of slots meant for others.
FIRST = """least(
  (SELECT min(f.position) FROM unnest(%(gates)s::bigint[]) AS open(gate) CROSS JOIN LATERAL (
     SELECT s.position FROM annotation_slot s
      WHERE s.gate_id = open.gate AND NOT s.taken AND s.position > %(after)s
      ORDER BY s.position LIMIT 1) AS f),
  (SELECT s.position FROM annotation_slot s WHERE s.campaign_id = %(campaign)s AND s.gate_id IS NULL
      AND NOT s.taken AND s.position > %(after)s ORDER BY s.position LIMIT 1))"""
CLAIM_RULED = CLAIM.replace(FREE, f"{RULED_FREE} AND s.position >= {FIRST}")
CLAIM_OWN_RULED = CLAIM_OWN.replace(FREE, RULED_FREE)

IS_FREE = f"SELECT 1 FROM annotation_slot s WHERE {FREE} LIMIT 1"  # noqa: S608  (a condition of ours)
IS_FREE_RULED = IS_FREE.replace(FREE, RULED_FREE)

# A task given by a researcher waits for the current task, and for longer than a lease.
RESUME = """
UPDATE annotation_assignment SET lease_expires = greatest(lease_expires, now() + make_interval(mins => %s))
 WHERE id = (SELECT a.id FROM annotation_assignment a
              WHERE a.campaign_id = %s AND a.user_id = %s AND a.state = 'leased'
              ORDER BY a.given_reason <> '', a.id LIMIT 1) AND state = 'leased'
 RETURNING id, task_id, state, draft || jsonb_build_object('version', revision), given_reason
"""

RETURNED = """
SELECT id, task_id, state, draft || jsonb_build_object('version', revision), withdrawn_reason
  FROM annotation_assignment
 WHERE campaign_id = %s AND user_id = %s AND state = 'returned' ORDER BY id LIMIT 1
"""

TAKE_AGAIN = """
WITH mine AS (
  SELECT a.id, a.slot_id, a.task_id FROM annotation_assignment a
   WHERE a.campaign_id = %(campaign)s AND a.user_id = %(user)s AND a.state = 'expired'
     AND a.slot_id IS NOT NULL
     AND (a.id = %(assignment)s::bigint OR %(assignment)s::bigint IS NULL)
     AND EXISTS (SELECT 1 FROM annotation_slot s WHERE s.task_id = a.task_id AND NOT s.taken)
   ORDER BY a.leased_at DESC LIMIT 1 FOR UPDATE),
free AS (
  SELECT s.id FROM annotation_slot s JOIN mine ON mine.task_id = s.task_id
   WHERE NOT s.taken ORDER BY s.id <> mine.slot_id, s.number LIMIT 1 FOR UPDATE OF s SKIP LOCKED)
UPDATE annotation_assignment a SET state = 'leased', slot_id = free.id,
       lease_expires = now() + make_interval(mins => %(minutes)s)
  FROM mine, free WHERE a.id = mine.id
 RETURNING a.id, a.task_id, a.state, a.draft || jsonb_build_object('version', a.revision)
"""

TAKE_AGAIN_RULED = TAKE_AGAIN.replace(
    "WHERE s.task_id = a.task_id AND NOT s.taken", f"WHERE s.task_id = a.task_id AND NOT s.taken AND {PASSED}"
).replace("WHERE NOT s.taken ORDER BY", f"WHERE NOT s.taken AND {PASSED} ORDER BY")

# Where members write, a task has questions once what they wrote has items.
WRITTEN = """EXISTS (SELECT 1 FROM annotation_task t JOIN annotation_item i USING (continuation_id)
                  WHERE t.id = a.task_id)"""
RESUME_WRITTEN = RESUME.replace("a.state = 'leased'", f"a.state = 'leased' AND {WRITTEN}", 1)
TAKE_WRITTEN_AGAIN, TAKE_WRITTEN_AGAIN_RULED = (
    query.replace("a.state = 'expired'", f"a.state = 'expired' AND {WRITTEN}", 1)
    for query in (TAKE_AGAIN, TAKE_AGAIN_RULED)
)
RESUME_UNWRITTEN = RESUME_WRITTEN.replace(WRITTEN, f"a.slot_id IS NOT NULL AND NOT {WRITTEN}")

# Where several members write together, they get all slots of a task at once: the first unwritten task that
# nobody holds, that none of them ever had, and whose gates let each of them have the slot of their number.
UNWRITTEN = """t.campaign_id = %(campaign)s AND t.position >= 0 AND t.position < %(upto)s
   AND NOT EXISTS (SELECT 1 FROM annotation_slot s WHERE s.task_id = t.id AND s.taken)
   AND NOT EXISTS (SELECT 1 FROM annotation_item i WHERE i.continuation_id = t.continuation_id)
   AND NOT EXISTS (SELECT 1 FROM annotation_assignment a
                    WHERE a.task_id = t.id AND a.user_id = ANY(%(users)s::bigint[]))"""
IS_UNWRITTEN = f"SELECT 1 FROM annotation_task t WHERE {UNWRITTEN} LIMIT 1"  # noqa: S608  (a condition of ours)
CLAIM_TOGETHER = f"""
WITH free AS (
  SELECT t.id FROM annotation_task t
   WHERE {UNWRITTEN} AND t.raters = cardinality(%(users)s::bigint[]) AND NOT EXISTS (
     SELECT 1 FROM unnest(%(users)s::bigint[]) WITH ORDINALITY AS m(person, number)
       JOIN annotation_slot s ON s.task_id = t.id AND s.number = m.number
      WHERE s.gate_id IS NOT NULL AND NOT (concord_passes(s.gate_id, m.person)
                                           AND NOT concord_wrote(t.id, m.person)))
   ORDER BY t.position LIMIT 1 FOR UPDATE SKIP LOCKED)
INSERT INTO annotation_assignment (slot_id, task_id, campaign_id, user_id, occasion, state, lease_expires,
                                   leased_at, draft, skip_reason, comment, flagged, guidelines_id)
SELECT s.id, free.id, %(campaign)s, m.person, %(occasion)s, 'leased',
       now() + make_interval(mins => %(minutes)s), now(), '{{}}', '', '', false, %(guidelines)s
  FROM free JOIN annotation_slot s ON s.task_id = free.id
  JOIN unnest(%(users)s::bigint[]) WITH ORDINALITY AS m(person, number) ON m.number = s.number
 ORDER BY m.number
RETURNING id, task_id, state, draft || jsonb_build_object('version', revision)
"""  # noqa: S608  (conditions of ours)

# A holder of an open slot of a task moves to its reserved slot where that one fell free in the meantime.
SETTLE = """
UPDATE annotation_assignment m SET slot_id = moved.slot FROM (
  SELECT a.id, s.id AS slot FROM annotation_slot s
    JOIN annotation_gate g ON g.id = s.gate_id AND g.reserved_id IS NOT NULL
    JOIN annotation_assignment a ON a.task_id = s.task_id AND a.state IN ('leased', 'submitted', 'returned')
    JOIN annotation_slot o ON o.id = a.slot_id
    LEFT JOIN annotation_gate h ON h.id = o.gate_id
   WHERE s.campaign_id = %(campaign)s AND NOT s.taken AND h.reserved_id IS NULL
     AND concord_passes(g.id, a.user_id) AND NOT concord_wrote(a.task_id, a.user_id)
   LIMIT 1 FOR UPDATE OF s, a SKIP LOCKED) AS moved
 WHERE m.id = moved.id
"""

RETURN_EXPIRED = """
WITH late AS (
  SELECT a.id FROM annotation_assignment a JOIN annotation_campaign c ON c.id = a.campaign_id
   WHERE a.state = 'leased' AND a.lease_expires < now() AND c.state = 'open'
     AND (a.campaign_id = %(campaign)s::bigint OR %(campaign)s::bigint IS NULL)
   FOR UPDATE OF a SKIP LOCKED)
UPDATE annotation_assignment a SET state = 'expired' FROM late WHERE a.id = late.id
"""


# Claiming where strata are balanced over annotators: from the stratum of which a person has done least.
#
# One query, with an index lookup per stratum, finds the strata with tasks left for a person, and how much of
# each they have done. Then a slot of the first stratum is claimed, or of the next, where others take its last
# slot at that moment. A trigger keeps count of how much somebody has done, whatever frees or takes a slot.

# The place within a stratum continues after the last claim in it, as in a campaign without strata.
LEAST = f"""
SELECT b.id, coalesce(h.cursor, -1)
  FROM annotation_balancestratum b
  LEFT JOIN annotation_stratumshare h ON h.stratum_id = b.id AND h.user_id = %(user)s
 WHERE b.campaign_id = %(campaign)s
   AND (EXISTS (SELECT 1 FROM annotation_slot s WHERE s.stratum_id = b.id AND {FREE}
                   AND s.position > coalesce(h.cursor, -1))
     OR EXISTS (SELECT 1 FROM annotation_slot s WHERE s.stratum_id = b.id AND {FREE}))
 ORDER BY coalesce(h.done, 0), md5(%(user)s::bigint::text || ':' || b.id), b.id
"""  # noqa: S608  (a condition of ours)
CLAIM_OF = CLAIM.replace(f"WHERE {FREE}", f"WHERE s.stratum_id = %(stratum)s AND {FREE}").replace(
    "UPDATE annotation_campaignmember m SET cursor = free.position FROM free WHERE m.id = %(member)s",
    """INSERT INTO annotation_stratumshare (user_id, stratum_id, cursor, done)
  SELECT %(user)s, %(stratum)s, free.position, 0 FROM free
  ON CONFLICT (user_id, stratum_id) DO UPDATE SET cursor = excluded.cursor""",
)
LEAST_RULED, CLAIM_OF_RULED = (query.replace(FREE, RULED_FREE) for query in (LEAST, CLAIM_OF))


def claim_balanced(values: dict[str, Any], *, ruled: bool) -> tuple[Any, ...] | None:
    """Claim a slot for a person and return its assignment row; None where nothing is left for them."""
    least, claim = (LEAST_RULED, CLAIM_OF_RULED) if ruled else (LEAST, CLAIM_OF)
    with commands.cursor() as cursor:
        cursor.execute(least, values)
        for stratum, after in cursor.fetchall():
            for place in dict.fromkeys((after, -1)):
                cursor.execute(claim, values | {"stratum": stratum, "after": place})
                if row := cursor.fetchone():
                    return tuple(row)
    return None


# Limits on how much a person may submit in a campaign and until when, with their wording.


class Limits(NamedTuple):
    """A campaign's limits, and a member's progress towards them; `over` is true after the deadline.

    `done` counts the member's current submissions, `today` those since midnight UTC. None means no limit.
    """

    deadline: datetime | None
    over: bool
    most: int | None
    most_a_day: int | None
    done: int
    today: int

    @property
    def reached(self) -> str:
        """The limit that is reached: "deadline", "total", "day", or "" for none."""
        if self.over:
            return "deadline"
        if self.most is not None and self.done >= self.most:
            return "total"
        if self.most_a_day is not None and self.today >= self.most_a_day:
            return "day"
        return ""

    @property
    def sentence(self) -> str:
        """Message to the annotator about the limit that is reached, '' where none is."""
        if self.reached == "deadline":
            return f"The deadline of this campaign has passed ({_moment(self.deadline)})."
        if self.reached == "total":
            return f"You have submitted as many tasks as one person may here: {self.most:,}."
        if self.reached == "day":
            most = f"You have submitted as many tasks as one person may in a day: {self.most_a_day:,}."
            return f"{most} The next day begins at midnight, UTC."
        return ""

    @property
    def ahead(self) -> str:
        """Notice of the limits to the annotator in advance, '' where there is none."""
        today = f" ({self.today:,} today)" if self.most_a_day else ""
        return _bounds(self.deadline, self.most, self.most_a_day, today)

    @property
    def brief(self) -> str:
        """Short note beside an annotator's progress: the deadline, and how much of a day's work is done."""
        until = f"until {_moment(self.deadline)}" if self.deadline else ""
        today = f"{self.today:,} of {self.most_a_day:,} today" if self.most_a_day else ""
        return " · ".join(part for part in (until, today) if part)

    @property
    def remaining(self) -> int | None:
        """Number of tasks the person may still submit in all, regardless of today's limit; None without a
        limit.
        """
        return None if self.most is None else max(0, self.most - self.done)

    def as_json(self) -> dict[str, Any]:
        """Return JSON data."""
        return {
            "deadline": self.deadline,
            "most_tasks": self.most,
            "most_tasks_a_day": self.most_a_day,
            "done_today": self.today,
            "reached": self.reached,
            "notice": self.sentence,
        }


def bounds_of(campaign: Campaign) -> str:
    """Describe a campaign's limits for researchers, '' where there is none."""
    return _bounds(campaign.deadline, campaign.most_tasks, campaign.most_tasks_a_day)


def _bounds(deadline: datetime | None, most: int | None, most_a_day: int | None, today: str = "") -> str:
    parts = [
        f"until {_moment(deadline)}" if deadline else "",
        f"at most {most:,} tasks a person" if most else "",
        f"at most {most_a_day:,} a day{today}" if most_a_day else "",
    ]
    return ", ".join(part for part in parts if part)


def limits_of(member: CampaignMember) -> Limits:
    """Return a member's limits, without a lock: for pages that list campaigns."""
    now, campaign = timezone.now(), member.campaign
    today = member.done_today if member.done_on == now.astimezone(UTC).date() else 0
    over = campaign.deadline is not None and campaign.deadline <= now
    bounds = campaign.most_tasks, campaign.most_tasks_a_day
    return Limits(campaign.deadline, over, *bounds, member.done, today)


def _moment(moment: datetime | None) -> str:
    return display.moment(timezone.localtime(moment)) if moment else ""


class Seat(NamedTuple):
    """A member's state in a campaign, read while the member's row is locked.

    `returned` counts the submissions that a researcher returned to them, `leased` the tasks that they hold:
    more than one where a researcher assigned some. `consent` is the consent text that they have not agreed
    to, and `read` the latest version of the guidelines that they have read. `checked` is set where the
    campaign trains, tests or checks people (`annotation.work.check_tasks`), `ruled` where it has rules on who
    rates which tasks. `noted` is set where they have notes or bookmarks here, `talks` where there are
    messages: otherwise neither is queried. Tasks from position `upto` on are in batches that are not open;
    with `opens_batches` the next batch opens when the last one is complete, with `balanced` the next task is
    from the stratum of which they have done least. `form` is that of the campaign. `own_tasks` are its tasks
    about what they wrote themselves.
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
    form: str
    own_tasks: list[int]

    @property
    def limits(self) -> Limits:
        """The member's limits, and their progress towards them."""
        return Limits(self.deadline, self.over, self.most, self.most_a_day, self.done, self.today)

    @property
    def waits(self) -> bool:
        """Whether there is something to agree to or read before the next task."""
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
    """A member's current task: leased, returned to them, or submitted and reopened.

    The draft's `version` is the assignment's revision. `note` is the reason why a researcher returned or gave
    the task.
    """

    assignment: int
    task: int
    state: str
    draft: Mapping[str, Any]
    note: str = ""


def take_seat(*, campaign: int, user: int) -> Seat:
    """Lock and return a member's seat; raise NotTaskHolder where the user is not a member."""
    with commands.cursor() as cursor:
        cursor.execute(SEAT, (campaign, user))
        row = cursor.fetchone()
    if row is None:
        raise NotTaskHolder("You do not take part in this campaign.")
    return Seat(*row)


def next_task(*, seat: Seat) -> Hold | None:
    """Return the member's current task, else their returned or expired task, else a new one.

    None where the campaign has nothing for this member at the moment. A member who has reached a limit gets
    only tasks returned to them, which were already counted.
    """
    if seat.limits.reached:
        return None if seat.over else returned(seat=seat)
    return resume(seat=seat) or returned(seat=seat) or take_again(seat=seat) or claim(seat=seat)


def resume(*, seat: Seat) -> Hold | None:
    """Return the task that the member holds, with its lease renewed; None where there is none.

    A task given by a researcher comes after the current one.
    """
    query = RESUME if seat.form == Campaign.Form.RATING else RESUME_WRITTEN
    return _hold(query, (seat.lease_minutes, seat.campaign, seat.user))


def returned(*, seat: Seat) -> Hold | None:
    """Return a task that a researcher returned to the member; None where there is none."""
    return _hold(RETURNED, (seat.campaign, seat.user)) if seat.returned else None


def take_again(*, seat: Seat, assignment: int | None = None, unwritten: bool = False) -> Hold | None:
    """Take back a task of the member's with an expired lease, if it still has a free slot.

    `assignment` names it; None takes the latest. Its draft is unchanged. Where members write, a task without
    questions is taken back only with `unwritten`.
    """
    values = {
        "campaign": seat.campaign,
        "user": seat.user,
        "assignment": assignment,
        "minutes": seat.lease_minutes,
    }
    is_any = unwritten or seat.form == Campaign.Form.RATING
    if seat.ruled:
        query = TAKE_AGAIN_RULED if is_any else TAKE_WRITTEN_AGAIN_RULED
        return _hold(query, values | passes_of(seat.campaign, seat.user))
    return _hold(TAKE_AGAIN if is_any else TAKE_WRITTEN_AGAIN, values)


def after_submit(*, seat: Seat) -> Hold | None:
    """Return the next task in a campaign without checks: returned, given by a researcher, or new."""
    current = resume(seat=seat) if seat.leased and not seat.limits.reached else None
    return returned(seat=seat) or current or claim(seat=seat)


def claim(*, seat: Seat) -> Hold | None:
    """Claim the first free slot after the member's last one; from the start where nothing lies ahead.

    With an order per person, the member continues in the current continuation, then at a place of their own;
    with balanced strata, in the one of which they have done least. Where no slot is free, expired leases are
    returned first. None where nothing is left, the member may submit no more, or members first write.
    """
    if seat.limits.reached or seat.form != Campaign.Form.RATING:
        return None
    return _claim_slot(seat)


def next_to_write(*, seat: Seat) -> Hold | None:
    """Return the task that a member writes for, else their expired one, else a new one; None where none is.

    For campaigns whose members each write on their own.
    """
    if seat.limits.reached:
        return None
    current = _hold(RESUME_UNWRITTEN, (seat.lease_minutes, seat.campaign, seat.user))
    return current or take_again(seat=seat, unwritten=True) or _claim_slot(seat)


@transaction.atomic
def has_free(seat: Seat) -> bool:
    """Whether a slot is free for a member, once expired leases are returned and a next batch is open."""
    values = _claiming(seat)
    is_free = _is_free(seat, values)
    while not is_free and return_expired(campaign=seat.campaign):
        is_free = _is_free(seat, values)
    if not is_free and seat.opens_batches:
        upto = campaign_actions.open_where_complete(seat.campaign)
        is_free = upto > seat.upto and _is_free(seat, values | {"upto": upto})
    return is_free


def _is_free(seat: Seat, values: dict[str, Any]) -> bool:
    with commands.cursor() as cursor:
        cursor.execute(IS_FREE_RULED if seat.ruled else IS_FREE, values)
        return cursor.fetchone() is not None


def _claim_slot(seat: Seat) -> Hold | None:
    values = _claiming(seat)
    hold = _onwards(seat, values) or _from_start(seat, values)
    while hold is None and (return_expired(campaign=seat.campaign) or _settle(seat)):
        hold = _from_start(seat, values)
    if hold is None and seat.opens_batches:
        upto = campaign_actions.open_where_complete(seat.campaign)
        if upto > seat.upto:
            hold = _from_start(seat, values | {"upto": upto})
    return hold


def claim_together(*, seats: Sequence[Seat], minutes: int) -> list[Hold] | None:
    """Claim all slots of one unwritten task for several members of a campaign, for `minutes`.

    The member at index i gets slot i + 1; the holds are in that order. Their rows are locked (`take_seat`) in
    the order of their ids. None where no task has all its slots free for them.
    """
    first = seats[0]
    values = _writing(first, [seat.user for seat in seats])
    values |= {"occasion": first.occasion, "minutes": minutes, "guidelines": first.guidelines}
    with commands.cursor() as cursor:
        cursor.execute(CLAIM_TOGETHER, values)
        rows = cursor.fetchall()
    holds = [hold for row in rows if (hold := _hold_from_row(row)) is not None]
    return holds or None


def has_unwritten(seat: Seat) -> bool:
    """Whether a task is left that the member could write with others."""
    with commands.cursor() as cursor:
        cursor.execute(IS_UNWRITTEN, _writing(seat, [seat.user]))
        return cursor.fetchone() is not None


def _writing(seat: Seat, users: list[int]) -> dict[str, Any]:
    return {"campaign": seat.campaign, "upto": seat.upto, "users": users}


def _onwards(seat: Seat, values: dict[str, Any]) -> Hold | None:
    if seat.balanced:
        return None  # each stratum goes on from its own place
    if seat.own_order:
        own = CLAIM_OWN_RULED if seat.ruled else CLAIM_OWN
        return _hold(own, values | {"after": seat.cursor, "place": _place(seat)})
    return _hold(CLAIM_RULED if seat.ruled else CLAIM, values | {"after": seat.cursor})


def _from_start(seat: Seat, values: dict[str, Any]) -> Hold | None:
    if seat.balanced:
        return _hold_from_row(claim_balanced(values, ruled=seat.ruled))
    return _hold(CLAIM_RULED if seat.ruled else CLAIM, values | {"after": -1})


@transaction.atomic
def return_expired(*, campaign: int | None = None) -> int:
    """Return the slots of expired leases, in one or in all open campaigns; return how many.

    In a paused campaign nobody could take them, so holders keep theirs until it opens again.
    """
    with commands.cursor() as cursor:
        cursor.execute(RETURN_EXPIRED, {"campaign": campaign})
        return int(cursor.rowcount)


def _place(seat: Seat) -> float:
    """Return the place in the tasks, from 0 to 1, where a member goes on; it differs by person and step."""
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
        "own": seat.own_tasks,
        **passes,
    }


def _hold(sql: str, values: Any) -> Hold | None:
    with commands.cursor() as cursor:
        cursor.execute(sql, values)
        return _hold_from_row(cursor.fetchone())


def _hold_from_row(row: tuple[Any, ...] | None) -> Hold | None:
    if row is None:
        return None
    assignment, task, state, draft, *note = row
    return Hold(assignment, task, state, json.loads(draft) if isinstance(draft, str) else draft, *note)
