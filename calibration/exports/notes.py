"""Notes as a file: annotators' comments beside their answers, about a turn or about a whole task.

People are called by their pseudonyms in the corpus, as in the file of labels. Bookmarks are private: no file
contains them.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from annotation.models import Assignment, Rater, TurnNote
from annotation.models.turn_numbers import TURN_NUMBER
from annotation.work import labels
from annotation.work.labels import pseudonym
from calibration.exports.labels import ALONE, ITEM, MEMBERS_KEY
from calibration.exports.parts import OF_PART, PART_COLUMN, PART_TABLE, ExportPart, taken_by_default
from calibration.exports.writing import Column, ExportQuery
from calibration.ratings.scope import Scope

COUNTED_STATES = ("submitted", "returned")
"""States of assignments whose comment is current."""
COLUMNS = (
    Column("about", "l.about", "plain"),
    Column("item", f"({ITEM})"),
    Column("rater", "named.name", "plain"),
    Column("comment", "l.comment"),
    Column("flagged", "l.flagged", "boolean"),
    Column("cluster", "coalesce(i.cluster, d.cluster)"),
    Column("dialogue", "d.key"),
    Column("continuation", ALONE.format("c.key")),
    Column("system", ALONE.format("y.name")),
    Column("turn", "t.position", "integer"),
    Column("turn_number", f"({TURN_NUMBER})", "integer"),
    Column("occasion", "l.occasion", "plain"),
    Column("campaign", "g.name"),
    Column("at", """to_char(l.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')""", "plain"),
    PART_COLUMN,
)
TABLES = f"""
FROM (
  SELECT 'turn' AS about, n.id, n.user_id, n.campaign_id, a.occasion, t.continuation_id, n.turn_id,
         NULL::bigint AS item_id, n.comment, n.flagged, n.created_at AS at
    FROM annotation_turnnote n
    JOIN annotation_turn t ON t.id = n.turn_id JOIN annotation_assignment a ON a.id = n.assignment_id
   WHERE n.superseded_at IS NULL AND n.campaign_id = ANY(%s)
  UNION ALL
  SELECT 'task', a.id, a.user_id, a.campaign_id, a.occasion, k.continuation_id, i.turn_id,
         k.item_id, a.comment, a.flagged, a.submitted_at
    FROM annotation_assignment a
    JOIN annotation_task k ON k.id = a.task_id LEFT JOIN annotation_item i ON i.id = k.item_id
   WHERE a.state IN {COUNTED_STATES} AND (a.comment <> '' OR a.flagged) AND a.campaign_id = ANY(%s)
) AS l
JOIN annotation_campaign g ON g.id = l.campaign_id
JOIN annotation_continuation c ON c.id = l.continuation_id
JOIN annotation_dialogue d ON d.id = c.dialogue_id
JOIN annotation_system y ON y.id = c.system_id
JOIN unnest(%s::bigint[], %s::text[]) AS named(id, name) ON named.id = l.user_id
LEFT JOIN annotation_turn t ON t.id = l.turn_id
LEFT JOIN annotation_item i ON i.id = l.item_id
LEFT JOIN annotation_record rec ON rec.id = i.record_id
{PART_TABLE}
WHERE {OF_PART}
ORDER BY d.key COLLATE "C", c.key COLLATE "C", t.position NULLS FIRST,
  CASE WHEN i.compared IS NOT NULL THEN {MEMBERS_KEY} END COLLATE "C" NULLS FIRST,
  g.name COLLATE "C", named.name COLLATE "C", l.about, l.at, l.id
"""  # noqa: S608  (own SQL)


def notes(scope: Scope, export_part: ExportPart | None = None) -> ExportQuery:
    """Return annotators' current notes in the campaigns of a scope, one row per note.

    A row is about a turn (a comment or flag on it) or a task (the comment or flag of a submission). Where the
    corpus is split, those of the selected part: dev by default.
    """
    campaigns = _campaigns(scope)
    names = _names(campaigns, scope.corpus.pk)
    part = (export_part or taken_by_default(scope.corpus, training=scope.training)).params
    return ExportQuery(COLUMNS, TABLES, (campaigns, campaigns, list(names), list(names.values()), *part))


def most(scope: Scope) -> int:
    """Return the maximum number of notes."""
    on_turns, on_tasks = _current_notes(_campaigns(scope))
    return on_turns.count() + on_tasks.count()


def _campaigns(scope: Scope) -> list[int]:
    if scope.campaign is not None:
        return [scope.campaign.pk]
    return list(scope.corpus.campaigns.values_list("pk", flat=True))


def _current_notes(campaigns: list[int]) -> tuple[QuerySet[TurnNote], QuerySet[Assignment]]:
    on_tasks = Assignment.objects.filter(campaign__in=campaigns, state__in=COUNTED_STATES)
    noted_tasks = on_tasks.filter(~Q(comment="") | Q(flagged=True))
    return TurnNote.objects.filter(campaign__in=campaigns, superseded_at=None), noted_tasks


def _names(campaigns: list[int], corpus: int) -> dict[int, str]:
    """Return the pseudonym of each author of a note, by account; created here for authors without a label."""
    on_turns, on_tasks = _current_notes(campaigns)
    people = User.objects.filter(
        Q(pk__in=on_turns.order_by().values("user")) | Q(pk__in=on_tasks.order_by().values("user"))
    ).order_by("pk")
    raters_by_user = {rater.user_id: rater for rater in Rater.objects.filter(user__in=people)}
    return {
        person.pk: pseudonym(raters_by_user.get(person.pk) or labels.rater_of_person(user=person), corpus)
        for person in people
    }
