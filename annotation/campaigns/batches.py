"""Batches: the tasks of a campaign, in their order, so many at a time.

The batch of a task follows from its place: the first `batch_size` places are batch 1, and so on. Annotators
get tasks of the first `batches_open` batches, so a claim compares places and nothing else; a trigger holds it
for every slot that is taken. The next batch is opened by a researcher, or once the last one open is complete:
who then finds nothing to do opens it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Max

from annotation.campaigns.actions import locked, log
from annotation.errors import CampaignRefused
from annotation.models import Campaign
from config import commands
from config.models import Event

SHOWN = 12
"""Batches that are listed: the last ones open, and the one after them."""

OPEN_NEXT = """
WITH full_up AS (
  SELECT c.id FROM annotation_campaign c
   WHERE c.id = %(campaign)s AND c.state = 'open' AND c.next_batch = 'complete' AND c.batch_size IS NOT NULL
     AND EXISTS (SELECT 1 FROM annotation_task n WHERE n.campaign_id = c.id
                  AND n.position >= c.batch_size::bigint * c.batches_open)
     AND NOT EXISTS (
       SELECT 1 FROM annotation_task t JOIN annotation_slot s ON s.task_id = t.id
        WHERE t.campaign_id = c.id AND t.position >= c.batch_size::bigint * (c.batches_open - 1)
          AND t.position < c.batch_size::bigint * c.batches_open
          AND NOT EXISTS (SELECT 1 FROM annotation_assignment a
                           WHERE a.slot_id = s.id AND a.state = 'submitted'))
   FOR NO KEY UPDATE OF c SKIP LOCKED)
UPDATE annotation_campaign c SET batches_open = batches_open + 1 FROM full_up WHERE c.id = full_up.id
 RETURNING c.name, c.batches_open, c.batch_size
"""

ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended('batches ' || %(campaign)s::text, 0))"
UPTO = """
SELECT least(batch_size::bigint * batches_open, 2147483647)::int FROM annotation_campaign
 WHERE id = %(campaign)s
"""

COUNTS = """
SELECT t.position / %(size)s + 1, count(DISTINCT t.id), count(s.id),
       count(s.id) FILTER (WHERE EXISTS (SELECT 1 FROM annotation_assignment a
                                          WHERE a.slot_id = s.id AND a.state = 'submitted')),
       count(s.id) FILTER (WHERE s.taken)
  FROM annotation_task t JOIN annotation_slot s ON s.task_id = t.id
 WHERE t.campaign_id = %(campaign)s AND t.position >= %(since)s AND t.position < %(upto)s
 GROUP BY 1 ORDER BY 1
"""


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch: its number (from 1), its tasks and slots, how many of these are submitted, or taken."""

    number: int
    tasks: int
    slots: int
    submitted: int
    taken: int
    opened: bool

    @property
    def complete(self) -> bool:
        """Whether all its ratings are in."""
        return self.submitted == self.slots

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self) | {"complete": self.complete}


@dataclass(frozen=True, slots=True)
class Batches:
    """The batches of a campaign: how many, how many are open, and the last ones of these with the next."""

    batch_size: int
    next_batch: str
    total: int
    opened: int
    listed: tuple[Batch, ...]

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self) | {"listed": [batch.as_json() for batch in self.listed]}


def batches(campaign: Campaign) -> Batches | None:
    """Return the batches of a campaign; None where its tasks are not in batches."""
    size = campaign.batch_size
    if size is None:
        return None
    last = campaign.tasks.aggregate(last=Max("position"))["last"]
    total = 0 if last is None else last // size + 1
    opened = min(campaign.batches_open, total)
    upto = min(opened + 1, total)
    told = {"campaign": campaign.pk, "size": size}
    told |= {"since": max(0, upto - SHOWN) * size, "upto": upto * size}
    with connection.cursor() as cursor:
        cursor.execute(COUNTS, told)
        rows = cursor.fetchall()
    listed = tuple(
        Batch(number, tasks, slots, submitted, taken, number <= opened)
        for number, tasks, slots, submitted, taken in rows
    )
    return Batches(size, campaign.next_batch, total, opened, listed)


@transaction.atomic
def open_next(*, by: User, campaign: Campaign) -> int:
    """Open the next batch of a campaign and return its number. Raises CampaignRefused where there is none."""
    campaign = locked(campaign)
    if campaign.batch_size is None:
        raise CampaignRefused("The tasks of this campaign are not in batches.")
    if campaign.archived_at is not None:
        raise CampaignRefused("The campaign is archived. Bring it back first.")
    if campaign.state == Campaign.State.DRAFT:
        raise CampaignRefused("The first batch opens with the campaign.")
    if not campaign.tasks.filter(position__gte=campaign.batch_size * campaign.batches_open).exists():
        raise CampaignRefused("All batches are open.")
    campaign.batches_open += 1
    campaign.save(update_fields=["batches_open"])
    log(by, campaign, "open a batch", batch=campaign.batches_open)
    return campaign.batches_open


def open_where_complete(campaign: int) -> int:
    """Open the next batch where the last one open is complete and the campaign wants that.

    For whoever finds nothing to do, inside their transaction; of several at once the others wait for the
    first. A campaign that a researcher changes at this moment is left alone, since waiting for it could make
    the two wait for each other. Returns the place at which batches begin that are not open.
    """
    with commands.cursor() as cursor:
        cursor.execute(ONE_AT_A_TIME, {"campaign": campaign})
        cursor.execute(OPEN_NEXT, {"campaign": campaign})
        if row := cursor.fetchone():
            name, number, size = row
            why = f"all {size:,} tasks of batch {number - 1} are complete"
            told = {"campaign": campaign, "batch": number, "reason": why}
            Event.objects.create(by=None, verb="campaign: open a batch", subject=name, detail=told)
        cursor.execute(UPTO, {"campaign": campaign})
        return int(cursor.fetchone()[0])
