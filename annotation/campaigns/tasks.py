"""The tasks of a campaign and their slots, made in bulk when it opens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Max

from annotation.campaigns import balancing, gates, ordering, overlap, reviewed, sampling
from annotation.campaigns.choice import ASKED, CHOSEN, LEFT_OUT, refused, values
from annotation.models import Campaign
from config.planner import WORTH_TELLING, tell_planner

WANTED = """
<with>SELECT c.id AS continuation_id, i.id AS item_id<rank>
  FROM annotation_dialogue d
  JOIN annotation_continuation c ON c.dialogue_id = d.id
  JOIN LATERAL (
    SELECT i.id, CASE WHEN %(of_records)s THEN i.id WHEN %(beside)s THEN u.at ELSE u.position END AS position
      FROM annotation_item i LEFT JOIN annotation_turn u ON u.id = i.turn_id
     WHERE %(one_item)s AND <record> AND NOT %(compares)s AND i.continuation_id = c.id AND i.kind = %(kind)s
       AND NOT (%(beside)s AND EXISTS (
         SELECT 1 FROM annotation_itemmember m JOIN annotation_compareditem x ON x.item_id = m.item_id
          WHERE m.turn_id = i.turn_id AND x.campaign_id = %(campaign)s))
    UNION ALL
    SELECT i.id, (SELECT min(w.at) FROM annotation_itemmember m JOIN annotation_turn w ON w.id = m.turn_id
                   WHERE m.item_id = i.id)
      FROM annotation_compareditem x JOIN annotation_item i ON i.id = x.item_id
     WHERE %(beside)s AND x.campaign_id = %(campaign)s AND i.continuation_id = c.id
    UNION ALL
    SELECT i.id, ('x' || substr(md5(%(seed)s || (
             SELECT string_agg(concord_member_rank(d.key, o.key, w.position), '+' ORDER BY m.number)
               FROM annotation_itemmember m JOIN annotation_continuation o ON o.id = m.continuation_id
               LEFT JOIN annotation_turn w ON w.id = m.turn_id WHERE m.item_id = i.id)), 1, 7))::bit(28)::int
      FROM annotation_compareditem x JOIN annotation_item i ON i.id = x.item_id
     WHERE %(compares)s AND x.campaign_id = %(campaign)s AND i.continuation_id = c.id
    UNION ALL
    SELECT NULL, 0 WHERE NOT %(one_item)s AND EXISTS (
      SELECT 1 FROM annotation_item i WHERE i.continuation_id = c.id AND i.kind = %(kind)s)) i ON true
  <joined>
 WHERE d.corpus_id = %(corpus)s
   AND (%(dialogues)s::bigint[] IS NULL OR d.id = ANY(%(dialogues)s::bigint[]))
   AND (%(items)s::bigint[] IS NULL OR i.id = ANY(%(items)s::bigint[]) OR (i.id IS NULL AND EXISTS (
         SELECT 1 FROM annotation_item o WHERE o.continuation_id = c.id AND o.id = ANY(%(items)s::bigint[])))
        OR (%(beside)s AND EXISTS (
         SELECT 1 FROM annotation_itemmember m JOIN annotation_item o ON o.turn_id = m.turn_id
          WHERE m.item_id = i.id AND o.id = ANY(%(items)s::bigint[]))))
   AND <chosen>
   AND <mode>
   AND NOT EXISTS (SELECT 1 FROM annotation_task t WHERE t.campaign_id = %(campaign)s
                    AND t.continuation_id = c.id AND t.item_id IS NOT DISTINCT FROM i.id)
"""

MAKE_TASKS = """
INSERT INTO annotation_task (campaign_id, continuation_id, item_id, position, raters)
SELECT %(campaign)s, wanted.continuation_id, wanted.item_id, wanted.rank - 1 + %(first)s, %(raters)s
  FROM ({}) AS wanted
"""

COUNT_WANTED = "SELECT count(*) FROM (SELECT 1 FROM ({}) AS wanted LIMIT %(most)s) AS counted"
MOST_COUNTED = 10_000
"""Tasks that a campaign would get are counted no further than this, so that its page stays quick."""


class LeftOut(NamedTuple):
    """Tasks that are not made (at most MOST_COUNTED are counted), of which mode, and why."""

    tasks: int
    mode: str
    reason: str

    def sentence(self) -> str:
        """Return it as one line for people."""
        many = f"at least {self.tasks:,}" if self.tasks == MOST_COUNTED else f"{self.tasks:,}"
        verb, plural = ("is", "") if self.tasks == 1 else ("are", "s")
        return f"{many} {self.mode} continuation{plural} {verb} left out: {self.reason}."


def make(campaign: Campaign, progress: Callable[[int, int], None] | None = None) -> int:
    """Make the tasks that a campaign lacks, each with its slots, in the campaign's order.

    A drawn order shuffles continuations and keeps the turns of one together, first to last; it depends on the
    seed and on the ids in the files alone. Tasks that exist stay as they are, so a corpus that grew gives
    the campaign more tasks at its end. Returns how many tasks are new. `progress` is told of its two steps.
    """
    last = campaign.tasks.aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    progress = progress or _untold
    progress(0, 2)
    with connection.cursor() as cursor:
        wanted = _wanted(ASKED, campaign)
        cursor.execute(MAKE_TASKS.format(wanted), _values(campaign) | {"first": first})
        made = cursor.rowcount
    progress(1, 2)
    overlap.draw(campaign, first)
    overlap.make_slots(campaign)
    if campaign.ruled:
        gates.apply(campaign)
    balancing.apply(campaign)
    if made >= WORTH_TELLING:
        tell_planner("annotation_task", "annotation_slot")
    progress(2, 2)
    return int(made)


def first(campaign: Campaign, most: int) -> list[tuple[int, int | None]]:
    """Return the first tasks, as (continuation, item or None for all of it): those made, else those to be."""
    made = campaign.tasks.order_by("position").values_list("continuation_id", "item_id")[:most]
    if made:
        return list(made)
    wanted = _wanted(ASKED, campaign)
    query = f"SELECT continuation_id, item_id FROM ({wanted}) AS w ORDER BY rank LIMIT %(most)s"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(query, _values(campaign) | {"most": most})
        return list(cursor.fetchall())


def count(campaign: Campaign) -> int:
    """Return how many new tasks `make` would make, at most MOST_COUNTED."""
    return _count(campaign, ASKED)


def left_out(campaign: Campaign) -> LeftOut | None:
    """Return what of a campaign's choice nobody is asked about, None where there is nothing.

    Judges leave out the same, for the same reason.
    """
    for mode, reason in refused(campaign.scheme_version).items():
        if n := _count(campaign, LEFT_OUT):
            return LeftOut(n, mode, reason)
    return None


def _count(campaign: Campaign, mode: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(COUNT_WANTED.format(_wanted(mode)), _values(campaign) | {"most": MOST_COUNTED})
        return int(cursor.fetchone()[0])


def _wanted(mode: str, ranked: Campaign | None = None) -> str:
    """Return the query of what is wanted, of a campaign whose order matters with each task's `rank`."""
    pieces = {"<chosen>": CHOSEN, "<mode>": mode, "<rank>": "", "<with>": "", "<joined>": ""}
    pieces["<record>"] = reviewed.CHOSEN
    if ranked is not None:
        pieces["<rank>"] = f", row_number() OVER (ORDER BY {ordering.sorted_by(ranked)}) AS rank"
        if ordering.reads_answers(ranked):
            pieces |= {"<with>": f"WITH {ordering.apart()} ", "<joined>": ordering.WITH_APART}
    query = WANTED
    for name, piece in pieces.items():
        query = query.replace(name, piece)
    return query


def _untold(_done: int, _total: int) -> None:
    """Tell nobody."""


def _values(campaign: Campaign) -> dict[str, Any]:
    return (
        values(campaign)
        | reviewed.values(campaign)
        | ordering.values(campaign)
        | {
            "raters": campaign.raters_per_item,
            "dialogues": sampling.dialogues(campaign),
            "items": sampling.items(campaign),
        }
    )
