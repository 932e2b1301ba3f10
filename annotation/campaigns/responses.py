"""The responses of several systems to one point of a dialogue, for campaigns that show them side by side.

A task then has all of them, and asks the same of each; a point with one response is a task as ever. They are
kept as the campaign's compared items: what the corpus has as a pair or a ranking of the same responses.
"""

from __future__ import annotations

from collections import defaultdict

from django.db import connection

from annotation.campaigns.choice import CHOSEN, values
from annotation.campaigns.settings import refuse
from annotation.corpora.comparisons import Members
from annotation.models import Campaign, SchemeVersion
from annotation.scheme_versions.store import questionnaire_of

MOST = 10
"""Responses on one screen."""

RESPONSES = f"""
SELECT d.id, d.key, u.at, c.mode, c.id, u.id
  FROM annotation_dialogue d
  JOIN annotation_continuation c ON c.dialogue_id = d.id
  JOIN annotation_turn u ON u.continuation_id = c.id AND NOT u.given
 WHERE d.corpus_id = %(corpus)s AND {CHOSEN}
 ORDER BY d.key COLLATE "C", u.at, c.id, u.position
"""  # noqa: S608  (a condition of ours)


def chosen(campaign: Campaign) -> list[Members]:
    """Return the sets of responses that stand beside each other, each (continuation id, turn id).

    Raises CampaignRefused where the campaign cannot show them so.
    """
    _check(campaign)
    groups: dict[tuple[int, str, int], list[tuple[int, int | None]]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(RESPONSES, values(campaign))
        for dialogue, key, at, mode, continuation, turn in cursor.fetchall():
            if mode != "static":
                refuse(
                    "side_by_side",
                    f"Only responses to fixed points stand side by side, but {key} has continuations whose "
                    "turns follow each other (rollouts): choose other systems, or show one at a time.",
                )
            groups[dialogue, key, at].append((continuation, turn))
    for (_, key, at), members in groups.items():
        if len(members) > MOST:
            refuse(
                "side_by_side",
                f"{key} has {len(members)} responses to its point {at}; at most {MOST} stand side by side: "
                "choose fewer systems.",
            )
    sets: list[Members] = [members for members in groups.values() if len(members) > 1]
    if not sets:
        refuse("side_by_side", "No point of a dialogue has several responses: show one at a time.")
    return sets


def _check(campaign: Campaign) -> None:
    """Refuse what a screen with several responses cannot ask, or cannot be handed out by."""
    plan = questionnaire_of(campaign.scheme_version_id)
    if plan.item_kinds != ("turn",) or plan.unit != SchemeVersion.Unit.ITEM:
        refuse(
            "side_by_side",
            f"Responses stand side by side where a scheme asks about one turn at a time; {plan.title} does "
            "not.",
        )
    if plan.takes_evidence:
        refuse(
            "side_by_side",
            f"{plan.title} asks what an answer points at, which is asked of one response at a time.",
        )
    if campaign.groups_by == "system":
        refuse("side_by_side", "Groups cannot be by system where a task shows several systems' responses.")
    if campaign.key_tasks.exists():
        refuse(
            "side_by_side",
            "Training, tests and checks show one response at a time: retire their tasks first, or show all "
            "so.",
        )
