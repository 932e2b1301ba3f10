"""What each slot of a campaign with rules asks of its rater: written once, compared at each claim."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import connection

from annotation.campaigns import sampling, settings
from annotation.models import Campaign, Dialogue, Gate, TaskAuthor
from annotation.people import names
from annotation.text.views import METADATA

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
    """Write beside each slot what it asks of its rater. Raises CampaignRefused where more raters are required
    than a task has."""
    _write_authors(campaign)
    if campaign.ruled:
        check_required(campaign, sum(campaign.required.values_list("raters", flat=True)))
        values = _values(campaign)
        of_slots = OF_SLOTS.format(stratum=sampling.stratum_sql(campaign.groups_by))
        with connection.cursor() as cursor:
            cursor.execute(MAKE_GATES.format(of_slots=of_slots), values)
            cursor.execute(SET_GATES.format(of_slots=of_slots), values)
    Gate.objects.filter(campaign=campaign, slots=None).delete()


def strata_of(campaign: Campaign, groups_by: str) -> list[str]:
    """Return the strata that a corpus has by what tasks are grouped by, in order, at most MOST_STRATA."""
    if not groups_by or sampling.refusal(campaign.corpus, groups_by):
        return []
    values = _values(campaign, groups_by) | {"corpus": campaign.corpus_id, "most": MOST_STRATA}
    with connection.cursor() as cursor:
        cursor.execute(STRATA.format(stratum=sampling.stratum_sql(groups_by)), values)
        return [name for (name,) in cursor.fetchall()]


def check_required(campaign: Campaign, required: int) -> None:
    """Refuse rules that require more raters of groups than a task has raters."""
    if required > campaign.raters_per_item:
        settings.refuse(
            "required",
            f"{required} raters of groups are required of each task, which has {campaign.raters_per_item}. "
            "Require fewer, or ask for more raters per item.",
        )


def _write_authors(campaign: Campaign) -> None:
    """Keep the names of each task's authors, folded as user names are, while nobody rates their own."""
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
        told: dict[str, Any] = {"campaign": campaign.pk, "dialogues": dialogues, "names": folded}
        cursor.execute(WRITE_AUTHORS, told)


def authors_of(dialogue: Dialogue, source: str) -> Iterable[str]:
    """Return who wrote a dialogue: ids, names and aliases of its participants, or what its metadata says."""
    if source == PARTICIPANTS:
        told: list[Any] = []
        for one in dialogue.participants:
            told += [one.get("id"), one.get("name"), *(one.get("aliases") or ())]
    else:
        value = dialogue.metadata.get(source.removeprefix(METADATA))
        told = value if isinstance(value, list) else [value]
    return [str(name) for name in told if isinstance(name, str | int) and not isinstance(name, bool)]


def _values(campaign: Campaign, groups_by: str | None = None) -> dict[str, Any]:
    by = campaign.groups_by if groups_by is None else groups_by
    return {
        "campaign": campaign.pk,
        "by_language": campaign.by_language,
        **sampling.stratum_values(campaign, by),
    }
