"""Rules on who may and must rate which tasks: by language, by group and stratum, and no own dialogues.

The requirements of a slot are stored with it as a gate (`Gate`) when the rules are set, when a campaign
opens and when it gets more slots, so that a claim only compares numbers. A trigger checks every slot taken,
and moves a freed reserved slot to a member of its group who holds an open slot of the same task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction

from annotation.campaigns import sampling, settings, tasks
from annotation.campaigns.campaign_actions import locked, log
from annotation.campaigns.tasks import PARTICIPANTS
from annotation.models import PeopleGroup, RequiredGroup, StratumGroup
from annotation.models.campaigns import Campaign
from annotation.text.display import language_name
from annotation.text.views import METADATA

# Tasks that no member can take because of the campaign's rules, with the reason in words.

STUCK = """
WITH present AS MATERIALIZED (
  SELECT m.user_id FROM annotation_campaignmember m JOIN auth_user u ON u.id = m.user_id
   WHERE m.campaign_id = %(campaign)s AND u.is_active),
passing AS MATERIALIZED (
  SELECT g.id AS gate_id, p.user_id FROM annotation_gate g CROSS JOIN present p
   WHERE g.campaign_id = %(campaign)s AND concord_passes(g.id, p.user_id))
SELECT g.language, coalesce(o.name, ''), coalesce(r.name, ''), count(DISTINCT s.task_id),
       EXISTS (SELECT 1 FROM passing p WHERE p.gate_id = g.id)
  FROM (SELECT * FROM annotation_slot WHERE campaign_id = %(campaign)s AND NOT taken AND gate_id IS NOT NULL
         ORDER BY position LIMIT %(most)s) s
  JOIN annotation_gate g ON g.id = s.gate_id
  LEFT JOIN annotation_peoplegroup o ON o.id = g.group_id
  LEFT JOIN annotation_peoplegroup r ON r.id = g.reserved_id
 WHERE NOT EXISTS (
   SELECT 1 FROM passing p WHERE p.gate_id = s.gate_id AND NOT concord_wrote(s.task_id, p.user_id)
      AND coalesce((SELECT a.state FROM annotation_assignment a WHERE a.task_id = s.task_id
                     AND a.user_id = p.user_id AND a.occasion = %(occasion)s), 'expired') = 'expired')
 GROUP BY g.id, 1, 2, 3 ORDER BY 1, 2, 3
"""
MOST_LOOKED_AT = 10_000
"""Maximum number of free slots that are checked, so that the campaign's page stays fast."""


def unclaimable_tasks(campaign: Campaign) -> list[dict[str, Any]]:
    """Return counts of tasks with a free slot that no active member may take, by the slot's requirements.

    Each row has `language`, `group`, `reserved` ('' where not required), the number of `tasks`, and a
    `sentence`. A member who rated the task, skipped it or wrote in its dialogue may not take it either.
    """
    if not campaign.ruled or campaign.state == Campaign.State.DRAFT:
        return []
    values: dict[str, Any] = {"campaign": campaign.pk, "occasion": campaign.occasion, "most": MOST_LOOKED_AT}
    with connection.cursor() as cursor:
        cursor.execute(STUCK, values)
        rows = cursor.fetchall()
    return [
        {
            "language": language,
            "group": group,
            "reserved": reserved,
            "tasks": tasks,
            "sentence": _sentence(language, group, reserved, tasks, somebody),
        }
        for language, group, reserved, tasks, somebody in rows
    ]


def _sentence(language: str, group: str, reserved: str, tasks: int, somebody: bool) -> str:
    many = f"{tasks:,} task{'s' * (tasks != 1)}"
    where = f" in {language_name(language)}" if language else ""
    group_of = " and ".join(dict.fromkeys(name for name in (group, reserved) if name))
    for_whom = f" for {group_of}" if group_of else ""
    if somebody:
        return f"{many}{where}{for_whom}: whoever may rate them has done so, skipped them, or wrote in them."
    if language and group_of:
        return f"{many}{where}{for_whom}: nobody here is in {group_of} and reads it."
    if language:
        return f"{many}{where}: nobody here reads it."
    return f"{many}{for_whom}: nobody here is in {group_of}."


@dataclass(frozen=True)
class Rules:
    """Rules of a campaign: `strata` maps a stratum to its group, `required` a group to its raters per task.

    `by_language`, `not_own` and `groups_by` are as in `Campaign`.
    """

    by_language: bool = False
    not_own: str = ""
    groups_by: str = ""
    strata: Mapping[str, PeopleGroup] = field(default_factory=dict)
    required: Mapping[PeopleGroup, int] = field(default_factory=dict)

    @property
    def any(self) -> bool:
        """Whether there is any rule."""
        return bool(self.by_language or self.not_own or self.strata or self.required)


def rules_of(campaign: Campaign) -> Rules:
    """Return a campaign's rules."""
    strata = {row.stratum: row.group for row in campaign.strata.select_related("group")}
    required = {row.group: row.raters for row in campaign.required.select_related("group")}
    return Rules(campaign.by_language, campaign.not_own, campaign.groups_by, strata, required)


@transaction.atomic
def set_rules(*, by: User, campaign: Campaign, rules: Rules) -> None:
    """Set a campaign's rules; they apply from the next claimed task.

    Held and submitted tasks stay. The number of raters of a group per task is fixed once the campaign was
    opened, since slots may be taken. Raises CampaignRefused, whose `field` is the invalid rule.
    """
    campaign = locked(campaign)
    _check(campaign, rules)
    campaign.by_language, campaign.not_own = rules.by_language, rules.not_own
    campaign.groups_by, campaign.ruled = rules.groups_by, rules.any
    if not rules.any:
        campaign.slots.filter(gate__isnull=False).update(gate=None)
    campaign.save(update_fields=["by_language", "not_own", "groups_by", "ruled"])
    campaign.strata.all().delete()
    StratumGroup.objects.bulk_create(
        StratumGroup(campaign=campaign, stratum=name, group=group) for name, group in rules.strata.items()
    )
    if {group.pk: n for group, n in rules.required.items()} != _required(campaign):
        campaign.required.all().delete()
        RequiredGroup.objects.bulk_create(
            RequiredGroup(campaign=campaign, group=group, raters=n) for group, n in rules.required.items()
        )
    tasks.apply(campaign)
    log(by, campaign, "rules", **as_json(rules))


def copy(*, source: Campaign, to: Campaign) -> None:
    """Copy a campaign's rules to a new draft over the same corpus."""
    for row in source.strata.all():
        StratumGroup.objects.create(campaign=to, stratum=row.stratum, group_id=row.group_id)
    for needed in source.required.all():
        RequiredGroup.objects.create(campaign=to, group_id=needed.group_id, raters=needed.raters)


def sentences(rules: Rules) -> list[str]:
    """Return the rules in words, one line each."""
    own = rules.not_own.removeprefix(METADATA)
    by = sampling.STRATUM_TITLES.get(rules.groups_by, rules.groups_by.removeprefix(METADATA))
    return [
        *(["Who reads the language of the dialogue"] if rules.by_language else []),
        *([f"Nobody what they wrote themselves (by {own})"] if rules.not_own else []),
        *(f"{group.name} alone: {by} {stratum or 'without'}" for stratum, group in rules.strata.items()),
        *(f"At least {n} of {group.name} on each task" for group, n in rules.required.items()),
    ]


def as_json(rules: Rules) -> dict[str, Any]:
    """Return rules as JSON data, with groups by name."""
    return {
        "by_language": rules.by_language,
        "not_own": rules.not_own,
        "groups_by": rules.groups_by,
        "strata": {stratum: group.name for stratum, group in rules.strata.items()},
        "required": {group.name: raters for group, raters in rules.required.items()},
    }


def _check(campaign: Campaign, rules: Rules) -> None:
    if campaign.archived_at is not None:
        settings.refuse("", "The campaign is archived. Bring it back first.")
    own = rules.not_own
    if own not in ("", PARTICIPANTS) and (not own.startswith(METADATA) or own == METADATA):
        settings.refuse("not_own", f"Authors are {PARTICIPANTS} or {METADATA}FIELD, not “{own[:80]}”.")
    if campaign.side_by_side and rules.groups_by == sampling.SYSTEM:
        settings.refuse(
            "groups_by", "A task shows several systems' responses here, so groups cannot be by system."
        )
    if rules.groups_by and (why := sampling.refusal(campaign.corpus, rules.groups_by)):
        settings.refuse("groups_by", why.replace("A sample is drawn", "Tasks are grouped"))
    if rules.strata and not rules.groups_by:
        settings.refuse("groups_by", "Choose what tasks are grouped by, then which group rates which.")
    tasks.check_required(campaign, sum(rules.required.values()))
    required = {group.pk: raters for group, raters in rules.required.items()}
    if campaign.state != Campaign.State.DRAFT and required != _required(campaign):
        settings.refuse(
            "required",
            "The number of raters of a group that each task needs cannot change once a campaign has been "
            "opened. Duplicate the campaign to change it.",
        )


def _required(campaign: Campaign) -> dict[int, int]:
    return dict(campaign.required.values_list("group_id", "raters"))
