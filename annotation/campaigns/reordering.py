"""Putting the rest of an open campaign into a new order: the tasks that nobody has begun.

A task that somebody has had keeps its place; the others change places among themselves. All members' rows are
locked first, as each request of a member's own locks theirs: whoever asks for the next task meanwhile waits
and gets it in the new order. Slots carry a copy of their task's place, and the database holds the two equal.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction

from annotation.campaigns import balancing, choice, ordering, settings
from annotation.campaigns.actions import locked, log
from annotation.errors import CampaignRefused
from annotation.models import Campaign, CampaignMember, StratumShare

Order = Campaign.Order
FAR = 2**30
"""Added to a place on the way to another one: beyond all places, within what the column holds."""

UNBEGUN = """t.campaign_id = %(campaign)s AND t.position >= 0
   AND NOT EXISTS (SELECT 1 FROM annotation_assignment x WHERE x.task_id = t.id)"""
MOVES = """
WITH <apart>
free AS (SELECT t.position, row_number() OVER (ORDER BY t.position) AS place
           FROM annotation_task t WHERE <unbegun>),
ranked AS (
  SELECT t.id, t.position, row_number() OVER (ORDER BY <sorted>) AS place
    FROM annotation_task t
    JOIN annotation_continuation c ON c.id = t.continuation_id
    JOIN annotation_dialogue d ON d.id = c.dialogue_id
    LEFT JOIN annotation_item o ON o.id = t.item_id
    LEFT JOIN annotation_turn u ON u.id = o.turn_id
    JOIN LATERAL (SELECT t.item_id AS id, CASE
        WHEN NOT %(beside)s THEN coalesce(u.position, t.position)
        ELSE coalesce(u.at, (SELECT min(w.at) FROM annotation_itemmember m
                               JOIN annotation_turn w ON w.id = m.turn_id WHERE m.item_id = t.item_id))
        END AS position) i ON true
    <joined>
   WHERE <unbegun>)
SELECT ranked.id, free.position FROM ranked JOIN free USING (place) WHERE ranked.position <> free.position
"""
AWAY = "UPDATE annotation_task SET position = position + %(far)s WHERE id = ANY(%(tasks)s::bigint[])"
THERE = """UPDATE annotation_task t SET position = moved.position
  FROM unnest(%(tasks)s::bigint[], %(places)s::int[]) AS moved(id, position) WHERE t.id = moved.id"""
SLOTS = """UPDATE annotation_slot s SET position = moved.position
  FROM unnest(%(tasks)s::bigint[], %(places)s::int[]) AS moved(id, position) WHERE s.task_id = moved.id"""


@transaction.atomic
def reorder(
    *,
    by: User,
    campaign: Campaign,
    task_order: str | None = None,
    order_by: str | None = None,
    apart_judge: str | None = None,
) -> int:
    """Draw the order of the tasks that nobody has begun anew; return how many changed their place.

    Without a `task_order` it is the campaign's own, drawn from what is known now. With another one, the
    campaign has that from now on, with its field or judge. Everybody goes on at the first task that is free
    for them. Raises CampaignRefused for a draft, or an order that makes no sense.
    """
    campaign = locked(campaign)
    if campaign.archived_at is not None:
        raise CampaignRefused("The campaign is archived. Bring it back first.")
    if campaign.state == Campaign.State.DRAFT:
        raise CampaignRefused("A draft has no tasks to put in order: change its order with its settings.")
    if task_order is not None and task_order != campaign.task_order:
        campaign.task_order, campaign.order_by = task_order, ""
    campaign.order_by = campaign.order_by if order_by is None else order_by
    if apart_judge not in (None, campaign.apart_judge) and campaign.sample_apart is not None:
        settings.refuse(
            "apart_judge",
            f"The items were sampled by {campaign.apart_judge}: it stays the judge of this campaign.",
        )
    campaign.apart_judge = campaign.apart_judge if apart_judge is None else apart_judge
    for refusal in (ordering.refusal, balancing.refusal):
        if (wrong := refusal(campaign)) is not None:
            settings.refuse(*wrong)
    campaign.save(update_fields=["task_order", "order_by", "apart_judge"])
    moved = _move(campaign)
    told = {"task_order": campaign.task_order, "order_by": campaign.order_by, "judge": campaign.apart_judge}
    log(by, campaign, "put in order", **told, tasks=moved)
    return moved


def _move(campaign: Campaign) -> int:
    """Put the tasks that nobody has begun in order, while nobody claims one."""
    members = CampaignMember.objects.filter(campaign=campaign)
    list(members.select_for_update().order_by("id").values_list("id"))
    with connection.cursor() as cursor:
        cursor.execute(_moves(campaign), choice.values(campaign) | ordering.values(campaign))
        rows = cursor.fetchall()
        told: dict[str, Any] = {
            "far": FAR,
            "tasks": [task for task, _ in rows],
            "places": [place for _, place in rows],
        }
        for statement in (AWAY, THERE, SLOTS) if rows else ():
            cursor.execute(statement, told)
    members.update(cursor=-1)
    StratumShare.objects.filter(stratum__campaign=campaign).update(cursor=-1)
    return len(rows)


def _moves(campaign: Campaign) -> str:
    reads = ordering.reads_answers(campaign)
    pieces = {
        "<apart>": f"{ordering.apart()}," if reads else "",
        "<joined>": ordering.WITH_APART if reads else "",
        "<sorted>": ordering.sorted_by(campaign),
        "<unbegun>": UNBEGUN,
    }
    query = MOVES
    for name, piece in pieces.items():
        query = query.replace(name, piece)
    return query
