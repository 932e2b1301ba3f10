"""Tasks of a campaign and their slots, created in bulk when it opens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Max

from annotation.campaigns import reviewed, sampling, settings
from annotation.campaigns.choice import BY_SPEAKERS, LEFT_OUT, MODE_ALLOWED, SELECTION, refused, values
from annotation.hooks import CAMPAIGN_FORMS
from annotation.models import Dialogue, Gate, TaskAuthor
from annotation.models.campaigns import Campaign
from annotation.people import names
from annotation.text.views import METADATA
from config.planner import WORTH_TELLING, analyse_tables

# Requirements of each slot in a campaign with rules: written once, compared at each claim.

PARTICIPANTS = "participants"
MOST_STRATA = 500
OF_SLOTS = """
  SELECT s.id AS slot,
         CASE WHEN %(by_language)s THEN lower(split_part(replace(d.language, '_', '-'), '-', 1))
              ELSE '' END AS language,
         w.group_id, r.group_id AS reserved_id,
         EXISTS (SELECT 1 FROM annotation_taskauthor o WHERE o.task_id = s.task_id) AS authored
    FROM annotation_slot s
    JOIN annotation_task t ON t.id = s.task_id
    JOIN annotation_continuation c ON c.id = t.continuation_id
    JOIN annotation_dialogue d ON d.id = c.dialogue_id
    LEFT JOIN annotation_stratumgroup w ON w.campaign_id = s.campaign_id AND w.stratum = {stratum}
    LEFT JOIN (SELECT group_id, sum(raters) OVER (ORDER BY id) - raters AS after,
                      sum(raters) OVER (ORDER BY id) AS upto
                 FROM annotation_requiredgroup WHERE campaign_id = %(campaign)s) r
           ON s.number > r.after AND s.number <= r.upto
   WHERE s.campaign_id = %(campaign)s
"""

MAKE_GATES = """
INSERT INTO annotation_gate (campaign_id, language, group_id, reserved_id, authored)
SELECT DISTINCT %(campaign)s::bigint, language, group_id, reserved_id, authored FROM ({of_slots}) AS asked
 WHERE language <> '' OR group_id IS NOT NULL OR reserved_id IS NOT NULL OR authored
ON CONFLICT DO NOTHING
"""

SET_GATES = """
UPDATE annotation_slot s SET gate_id = g.id
  FROM ({of_slots}) AS asked LEFT JOIN annotation_gate g
    ON g.campaign_id = %(campaign)s AND g.language = asked.language AND g.authored = asked.authored
   AND g.group_id IS NOT DISTINCT FROM asked.group_id AND g.reserved_id IS NOT DISTINCT FROM asked.reserved_id
 WHERE s.id = asked.slot AND s.gate_id IS DISTINCT FROM g.id
"""

WRITE_AUTHORS = """
INSERT INTO annotation_taskauthor (task_id, name)
SELECT t.id, w.name FROM unnest(%(dialogues)s::bigint[], %(names)s::text[]) AS w(dialogue, name)
  JOIN annotation_continuation c ON c.dialogue_id = w.dialogue
  JOIN annotation_task t ON t.continuation_id = c.id AND t.campaign_id = %(campaign)s
ON CONFLICT DO NOTHING
"""

STRATA = """
SELECT DISTINCT coalesce({stratum}, '') AS stratum FROM annotation_dialogue d
  JOIN annotation_continuation c ON c.dialogue_id = d.id
 WHERE d.corpus_id = %(corpus)s ORDER BY stratum LIMIT %(most)s
"""


def apply(campaign: Campaign) -> None:
    """Store the requirements of each slot for its rater. Raises CampaignRefused where the rules require more
    raters than a task has."""
    _write_authors(campaign)
    if campaign.ruled:
        check_required(campaign, sum(campaign.required.values_list("raters", flat=True)))
        values = _values_of_gates(campaign)
        of_slots = OF_SLOTS.format(stratum=sampling.stratum_sql(campaign.groups_by))
        with connection.cursor() as cursor:
            cursor.execute(MAKE_GATES.format(of_slots=of_slots), values)
            cursor.execute(SET_GATES.format(of_slots=of_slots), values)
    Gate.objects.filter(campaign=campaign, slots=None).delete()


def strata_of(campaign: Campaign, groups_by: str) -> list[str]:
    """Return the strata of a corpus by the source `groups_by`, sorted, at most MOST_STRATA."""
    if not groups_by or sampling.refusal(campaign.corpus, groups_by):
        return []
    values = _values_of_gates(campaign, groups_by) | {"corpus": campaign.corpus_id, "most": MOST_STRATA}
    with connection.cursor() as cursor:
        cursor.execute(STRATA.format(stratum=sampling.stratum_sql(groups_by)), values)
        return [name for (name,) in cursor.fetchall()]


def check_required(campaign: Campaign, required: int) -> None:
    """Refuse rules that require more raters from groups than a task has."""
    if required > campaign.raters_per_item:
        settings.refuse(
            "required",
            f"{required} raters of groups are required of each task, which has {campaign.raters_per_item}. "
            "Require fewer, or ask for more raters per item.",
        )


def _write_authors(campaign: Campaign) -> None:
    """Store the names of each task's authors, folded like user names, if nobody may rate own dialogues."""
    TaskAuthor.objects.filter(task__campaign=campaign).delete()
    if not campaign.not_own:
        return
    dialogues: list[int] = []
    folded: list[str] = []
    rows = Dialogue.objects.filter(continuations__task__campaign=campaign).distinct()
    for dialogue in rows.only("participants", "metadata").iterator():
        for name in {names.folded(author) for author in authors_of(dialogue, campaign.not_own)} - {""}:
            dialogues.append(dialogue.pk)
            folded.append(name[:800])
    with connection.cursor() as cursor:
        parameters: dict[str, Any] = {"campaign": campaign.pk, "dialogues": dialogues, "names": folded}
        cursor.execute(WRITE_AUTHORS, parameters)


def authors_of(dialogue: Dialogue, source: str) -> Iterable[str]:
    """Return a dialogue's authors: ids, names and aliases of participants, or a metadata field's values."""
    if source == PARTICIPANTS:
        entries: list[Any] = []
        for participant in dialogue.participants:
            entries += [participant.get("id"), participant.get("name"), *(participant.get("aliases") or ())]
    else:
        value = dialogue.metadata.get(source.removeprefix(METADATA))
        entries = value if isinstance(value, list) else [value]
    return [str(name) for name in entries if isinstance(name, str | int) and not isinstance(name, bool)]


def _values_of_gates(campaign: Campaign, groups_by: str | None = None) -> dict[str, Any]:
    by = campaign.groups_by if groups_by is None else groups_by
    return {
        "campaign": campaign.pk,
        "by_language": campaign.by_language,
        **sampling.stratum_values(campaign, by),
    }


# Number of raters of each task: the same for all, or more for a part of the tasks, drawn by the seed.
#
# The slots of a task are rows; their maximum number is stored on the task and never decreases. So adding
# raters to a campaign at work adds rows without making anybody wait, and claims find them like any other.

RAISE = """
UPDATE annotation_task SET raters = CASE WHEN raters = %(base_before)s THEN %(base)s ELSE %(more)s END
 WHERE campaign_id = %(campaign)s AND position >= 0
   AND raters <> CASE WHEN raters = %(base_before)s THEN %(base)s ELSE %(more)s END
"""

COUNT = """
SELECT count(*), count(*) FILTER (WHERE raters = %(more)s)
  FROM annotation_task WHERE campaign_id = %(campaign)s AND position >= 0
"""

DRAW = """
UPDATE annotation_task SET raters = %(more)s WHERE id IN (
  SELECT t.id FROM annotation_task t
    JOIN annotation_continuation c ON c.id = t.continuation_id
    JOIN annotation_dialogue d ON d.id = c.dialogue_id
    LEFT JOIN annotation_item i ON i.id = t.item_id
    LEFT JOIN annotation_turn u ON u.id = i.turn_id
   WHERE t.campaign_id = %(campaign)s AND t.raters = %(base)s AND t.position >= %(first)s
   ORDER BY md5(%(seed)s || ':overlap:' || d.key || '/' || c.key || '/' || coalesce(u.position::text, '')),
            d.key, c.key, u.position
   LIMIT %(wanted)s)
"""

MAKE_SLOTS = """
INSERT INTO annotation_slot (task_id, number, campaign_id, position, taken)
SELECT t.id, n, t.campaign_id, t.position, false
  FROM annotation_task t CROSS JOIN LATERAL generate_series(1, t.raters) AS n
 WHERE t.campaign_id = %(campaign)s AND t.position >= 0
   AND NOT EXISTS (SELECT 1 FROM annotation_slot s WHERE s.task_id = t.id AND s.number = n)
"""


class Before(NamedTuple):
    """Raters per task before a change: of all tasks, and of the part with more (None without one)."""

    base: int
    more: int | None


def measures(campaign: Campaign) -> Before:
    """Return a campaign's raters per task, to compare after a change."""
    return Before(campaign.raters_per_item, campaign.overlap_raters)


def overlap_size(campaign: Campaign, tasks: int) -> int:
    """Return the number of `tasks` with more raters: a rounded share of them, or a fixed number."""
    if campaign.overlap_share is not None:
        return round(campaign.overlap_share * tasks)
    return min(campaign.overlap_tasks or 0, tasks)


def raise_tasks(campaign: Campaign, before: Before) -> None:
    """Raise the raters of a saved campaign's tasks to its settings, which are never below those before."""
    values = _values_of_overlap(campaign) | {"base_before": before.base}
    with connection.cursor() as cursor:
        cursor.execute(RAISE, values)


def draw(campaign: Campaign, first: int = 0) -> int:
    """Draw tasks with more raters from position `first` on; return their number.

    Tasks drawn earlier stay and count: the whole campaign gets its rounded share, as far as the tasks from
    `first` on suffice.
    """
    if campaign.overlap_raters is None:
        return 0
    values = _values_of_overlap(campaign)
    with connection.cursor() as cursor:
        cursor.execute(COUNT, values)
        tasks, drawn_count = cursor.fetchone()
        lacking = max(0, overlap_size(campaign, tasks) - drawn_count)
        cursor.execute(DRAW, values | {"first": first, "wanted": lacking})
        return int(cursor.rowcount)


def make_slots(campaign: Campaign) -> int:
    """Create the missing slots of the campaign's tasks; return their number."""
    with connection.cursor() as cursor:
        cursor.execute(MAKE_SLOTS, _values_of_overlap(campaign))
        return int(cursor.rowcount)


def _values_of_overlap(campaign: Campaign) -> dict[str, Any]:
    return {
        "campaign": campaign.pk,
        "seed": str(campaign.seed),
        "base": campaign.raters_per_item,
        "more": campaign.overlap_raters,
    }


LACKING_TASKS = """
<with>SELECT c.id AS continuation_id, i.id AS item_id<rank>
  FROM annotation_dialogue d
  JOIN annotation_continuation c ON c.dialogue_id = d.id
  JOIN LATERAL (
    SELECT i.id, CASE WHEN %(of_records)s THEN i.id WHEN %(beside)s THEN u.at ELSE u.position END AS position
      FROM annotation_item i LEFT JOIN annotation_turn u ON u.id = i.turn_id
     WHERE %(one_item)s AND <record> AND <speaker> AND NOT %(compares)s
       AND i.continuation_id = c.id AND i.kind = %(kind)s AND NOT (%(beside)s AND EXISTS (
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
    SELECT NULL, 0 WHERE NOT %(one_item)s AND (%(own_key)s <> '' OR EXISTS (
      SELECT 1 FROM annotation_item i WHERE i.continuation_id = c.id AND i.kind = %(kind)s
         AND <speaker>))) i ON true
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
                    AND t.continuation_id = c.id
                    AND (t.item_id IS NOT DISTINCT FROM i.id OR %(own_key)s <> ''))
"""

MAKE_TASKS = """
INSERT INTO annotation_task (campaign_id, continuation_id, item_id, position, raters)
SELECT %(campaign)s, wanted.continuation_id, wanted.item_id, wanted.rank - 1 + %(first)s, %(raters)s
  FROM ({}) AS wanted
"""

COUNT_WANTED = "SELECT count(*) FROM (SELECT 1 FROM ({}) AS wanted LIMIT %(most)s) AS counted"
MOST_COUNTED = 10_000
"""Maximum count of the tasks that a campaign would get, so that its page stays fast."""


class LeftOut(NamedTuple):
    """Number of excluded tasks (at most MOST_COUNTED), the mode of their continuations, and the reason."""

    tasks: int
    mode: str
    reason: str

    def sentence(self) -> str:
        """Return a one-line message for people."""
        many = f"at least {self.tasks:,}" if self.tasks == MOST_COUNTED else f"{self.tasks:,}"
        verb, plural = ("is", "") if self.tasks == 1 else ("are", "s")
        return f"{many} {self.mode} continuation{plural} {verb} left out: {self.reason}."


def make(campaign: Campaign, progress: Callable[[int, int], None] | None = None) -> int:
    """Create a campaign's missing tasks with their slots, in the campaign's order; return their number.

    A drawn order shuffles continuations and keeps the turns of each together, first to last; it depends only
    on the seed and the ids in the files. Existing tasks stay unchanged, so a larger corpus adds tasks at the
    end of the campaign. `progress` is called for its two steps.
    """
    last = campaign.tasks.aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    progress = progress or _untold
    progress(0, 2)
    with connection.cursor() as cursor:
        candidates = _lacking_query(MODE_ALLOWED, campaign)
        cursor.execute(MAKE_TASKS.format(candidates), _values(campaign) | {"first": first})
        task_count = cursor.rowcount
    progress(1, 2)
    draw(campaign, first)
    make_slots(campaign)
    if campaign.ruled:
        apply(campaign)
    sampling.apply(campaign)
    if task_count >= WORTH_TELLING:
        analyse_tables("annotation_task", "annotation_slot")
    progress(2, 2)
    return int(task_count)


def first(campaign: Campaign, most: int) -> list[tuple[int, int | None]]:
    """Return the first tasks, existing or as they would be created.

    Each is (continuation id, item id or None for the whole continuation).
    """
    existing = campaign.tasks.order_by("position").values_list("continuation_id", "item_id")[:most]
    if existing:
        return list(existing)
    candidates = _lacking_query(MODE_ALLOWED, campaign)
    query = f"SELECT continuation_id, item_id FROM ({candidates}) AS w ORDER BY rank LIMIT %(most)s"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(query, _values(campaign) | {"most": most})
        return list(cursor.fetchall())


def count(campaign: Campaign) -> int:
    """Return the number of tasks that `make` would create, at most MOST_COUNTED."""
    if campaign.own_key:
        return min(MOST_COUNTED, CAMPAIGN_FORMS[campaign.form].count(campaign))
    return _count(campaign, MODE_ALLOWED)


def left_out(campaign: Campaign) -> LeftOut | None:
    """Return the excluded part of a campaign's selection, None where nothing is excluded.

    Judges exclude the same, for the same reason.
    """
    for mode, reason in refused(campaign.scheme_version).items():
        if n := _count(campaign, LEFT_OUT):
            return LeftOut(n, mode, reason)
    return None


def _count(campaign: Campaign, mode: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(COUNT_WANTED.format(_lacking_query(mode)), _values(campaign) | {"most": MOST_COUNTED})
        return int(cursor.fetchone()[0])


def _lacking_query(mode: str, ranked: Campaign | None = None) -> str:
    """Return the query of the missing tasks; with a campaign as `ranked`, each with its `rank`."""
    pieces = {"<chosen>": SELECTION, "<mode>": mode, "<rank>": "", "<with>": "", "<joined>": ""}
    pieces |= {"<record>": reviewed.RECORD_SELECTION, "<speaker>": BY_SPEAKERS}
    if ranked is not None:
        pieces["<rank>"] = f", row_number() OVER (ORDER BY {sampling.sorted_by(ranked)}) AS rank"
        if sampling.reads_answers(ranked):
            pieces |= {"<with>": f"WITH {sampling.apart()} ", "<joined>": sampling.WITH_APART}
    query = LACKING_TASKS
    for name, piece in pieces.items():
        query = query.replace(name, piece)
    return query


def _untold(_done: int, _total: int) -> None:
    """Ignore progress."""


def _values(campaign: Campaign) -> dict[str, Any]:
    return (
        values(campaign)
        | reviewed.values(campaign)
        | sampling.order_values(campaign)
        | {
            "raters": campaign.raters_per_item,
            "dialogues": sampling.dialogues(campaign),
            "items": sampling.items(campaign),
        }
    )
