"""Changing, copying and archiving a campaign.

A draft may change in every part. After opening, settings that would make answers incomparable are fixed:
questions, dialogues and order. Raters can be added at any time: tasks get more slots while people work, and
no slot is ever removed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from annotation import scheme_store
from annotation.campaigns import choice, comparing, rules, sampling, settings, tasks
from annotation.campaigns.campaign_actions import (
    add_member,
    check_askable,
    close,
    guidelines_of,
    lock_scheme_version,
    locked,
    log,
    open_campaign,
    pause,
    remove_member,
    set_consent,
    set_guidelines,
)
from annotation.errors import CampaignRefused
from annotation.hooks import CAMPAIGN_FORMS
from annotation.models import Consent, Guidelines, SchemeVersion, StratumShare
from annotation.models.campaigns import Campaign, CampaignMember
from annotation.work.check_actions import copy_to

# Reordering an open campaign: the tasks that nobody has begun.
#
# A task that somebody has had keeps its position; the others swap positions among themselves. All members'
# rows are locked first, as each member's request locks their own row: a concurrent request for the next task
# waits and gets it in the new order. Slots have a copy of their task's position, and the database keeps both
# equal.

Order = Campaign.Order
FAR = 2**30
"""Offset of temporary positions during a move: above all positions, within the column's range."""

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
NEW_PLACES = """UPDATE annotation_task t SET position = moved.position
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
    """Reorder the tasks that nobody has begun; return how many changed position.

    Without a `task_order`, the campaign's order is recomputed from current data. A new `task_order`, with its
    field or judge, replaces the campaign's. Everybody continues at their first free task. Raises
    CampaignRefused for a draft, or an invalid order.
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
    settings.check_values(campaign)
    for refusal in (sampling.order_refusal, sampling.balance_refusal):
        if (wrong := refusal(campaign)) is not None:
            settings.refuse(*wrong)
    campaign.save(update_fields=["task_order", "order_by", "apart_judge"])
    moved = _move(campaign)
    order = {"task_order": campaign.task_order, "order_by": campaign.order_by, "judge": campaign.apart_judge}
    log(by, campaign, "put in order", **order, tasks=moved)
    return moved


def _move(campaign: Campaign) -> int:
    """Reorder the tasks that nobody has begun, while claims wait."""
    members = CampaignMember.objects.filter(campaign=campaign)
    list(members.select_for_update().order_by("id").values_list("id"))
    with connection.cursor() as cursor:
        cursor.execute(_moves(campaign), choice.values(campaign) | sampling.order_values(campaign))
        rows = cursor.fetchall()
        parameters: dict[str, Any] = {
            "far": FAR,
            "tasks": [task for task, _ in rows],
            "places": [place for _, place in rows],
        }
        for statement in (AWAY, NEW_PLACES, SLOTS) if rows else ():
            cursor.execute(statement, parameters)
    members.update(cursor=-1)
    StratumShare.objects.filter(stratum__campaign=campaign).update(cursor=-1)
    return len(rows)


def _moves(campaign: Campaign) -> str:
    reads = sampling.reads_answers(campaign)
    pieces = {
        "<apart>": f"{sampling.apart()}," if reads else "",
        "<joined>": sampling.WITH_APART if reads else "",
        "<sorted>": sampling.sorted_by(campaign),
        "<unbegun>": UNBEGUN,
    }
    query = MOVES
    for name, piece in pieces.items():
        query = query.replace(name, piece)
    return query


State = Campaign.State
CHOOSES = {
    *("scheme", "corpus", "systems", "seed", "include_self", "part", "side_by_side"),
    *("compares", "compared", "baseline", "ranked", "most_comparisons", "exclude"),
}
"""Changes of a draft after which its comparisons are selected again."""
NOT_COPIED = {
    "id",
    "name",
    "state",
    "archived_at",
    "resumed_at",
    "created_at",
    "created_by",
    "batches_open",
    "review_strata",
}


CONTENT = {"name", "corpus", "scheme", "systems", "shows"}
"""Changeable fields of a draft beside its settings."""


@transaction.atomic
def change(*, by: User, campaign: Campaign, **changes: Any) -> Campaign:
    """Change a campaign and return it; equal values change nothing.

    `changes` are settings (`SETTINGS`), the fields of `CONTENT`, `annotators`, `guidelines` and `consent`, as
    for `campaign_actions.create`. A draft may change in everything, an opened campaign in its name and the
    settings that allow it: with more raters, all tasks get their new slots at once, or none do. `annotators`
    are the new members; deactivated ones stay. Raises CampaignRefused, whose `field` is the invalid change.
    """
    campaign = locked(campaign)
    if campaign.archived_at is not None:
        raise CampaignRefused("The campaign is archived. Bring it back first.")
    people = changes.pop("annotators", None)
    guidelines, consent = changes.pop("guidelines", None), changes.pop("consent", None)
    if different := _different(campaign, changes):
        _change(by, campaign, different)
    if people is not None:
        _set_people(by, campaign, people)
    if guidelines is not None:
        set_guidelines(by=by, campaign=campaign, text=guidelines)
    if consent is not None:
        set_consent(by=by, campaign=campaign, text=consent)
    return campaign


def _change(by: User, campaign: Campaign, different: dict[str, Any]) -> None:
    before = tasks.measures(campaign)
    if campaign.state != State.DRAFT:
        settings.refuse_fixed(campaign, different)
    settings.refuse_keyed(campaign, different)
    _apply(campaign, different)
    settings.check(campaign)
    campaign.save()
    if campaign.state == State.DRAFT:
        if different.keys() & CHOOSES:
            comparing.choose(campaign)
        check_askable(campaign)
    slot_count = _add_raters(campaign, before) if campaign.state != State.DRAFT else 0
    log(by, campaign, "change", **_log_detail(different), **({"slots": slot_count} if slot_count else {}))


def _set_people(by: User, campaign: Campaign, people: Iterable[User]) -> None:
    new_people = {person.pk: person for person in people}
    current_people = {member.user_id: member.user for member in campaign.members.select_related("user")}
    for pk in new_people.keys() - current_people.keys():
        add_member(by=by, campaign=campaign, user=new_people[pk])
    for pk in current_people.keys() - new_people.keys():
        if current_people[pk].is_active:
            remove_member(by=by, campaign=campaign, user=current_people[pk])


@transaction.atomic
def copy(*, by: User, campaign: Campaign, name: str) -> Campaign:
    """Copy a campaign to a new draft, with its people and guidelines, without their work.

    Training, test and checks are copied without results. A sample is drawn again when the copy opens: by the
    same seed, from the corpus at that time.
    """
    campaign = locked(campaign)
    fields = {field.attname: getattr(campaign, field.attname) for field in Campaign._meta.concrete_fields}
    copied = {
        attname: value for attname, value in fields.items() if attname.removesuffix("_id") not in NOT_COPIED
    }
    draft = Campaign(**copied, name=settings.checked_name(name, campaign.corpus), created_by=by)
    draft.save()
    draft.systems.set(campaign.systems.all())
    comparing.choose(draft)
    rules.copy(source=campaign, to=draft)
    guidelines = campaign.guidelines.order_by("-version").first()
    Guidelines.objects.create(campaign=draft, text=guidelines.text if guidelines else "")
    consent = campaign.consents.order_by("-version").first()
    if consent is not None and consent.text:
        Consent.objects.create(campaign=draft, text=consent.text)
    people = campaign.members.filter(user__is_active=True).order_by("id").values_list("user_id", flat=True)
    CampaignMember.objects.bulk_create(CampaignMember(campaign=draft, user_id=user) for user in people)
    copy_to(by=by, of=campaign, to=draft)
    if campaign.form != Campaign.Form.RATING:
        CAMPAIGN_FORMS[campaign.form].copy(campaign, draft)
    log(by, draft, "copy", of=campaign.name)
    return draft


@transaction.atomic
def archive(*, by: User, campaign: Campaign) -> None:
    """Hide a campaign from all lists and from its annotators; an open or paused one is closed.

    Labels, reports and gold stay. Raises CampaignRefused where it is archived already.
    """
    campaign = locked(campaign)
    if campaign.archived_at is not None:
        raise CampaignRefused("The campaign is archived already.")
    before = campaign.state
    campaign.state = State.DRAFT if before == State.DRAFT else State.CLOSED
    campaign.archived_at = timezone.now()
    campaign.save(update_fields=["state", "archived_at"])
    log(by, campaign, "archive", before=before)


@transaction.atomic
def bring_back(*, by: User, campaign: Campaign) -> None:
    """Restore an archived campaign, as a draft if it was one, else as closed."""
    campaign = locked(campaign)
    if campaign.archived_at is None:
        raise CampaignRefused("The campaign is not archived.")
    campaign.archived_at = None
    campaign.save(update_fields=["archived_at"])
    log(by, campaign, "bring back")


VERBS = {
    "open": open_campaign,
    "pause": pause,
    "close": close,
    "archive": archive,
    "bring-back": bring_back,
}


def _different(campaign: Campaign, changes: dict[str, Any]) -> dict[str, Any]:
    """Return the changes that differ from the campaign, in stored form."""
    if "shows" in changes:
        changes["shows"] = settings.allowed(changes["shows"])
    if "name" in changes:
        changes["name"] = changes["name"].strip()
    unknown = changes.keys() - settings.SETTINGS.keys() - CONTENT
    if unknown:
        raise TypeError(f"a campaign has no {min(unknown)}")
    return {field: value for field, value in changes.items() if not _is_so(campaign, field, value)}


def _is_so(campaign: Campaign, field: str, value: Any) -> bool:
    if field == "scheme":
        version = scheme_store.find(value)
        return version is not None and version.pk == campaign.scheme_version_id
    if field == "systems":
        return {system.pk for system in value} == set(campaign.systems.values_list("pk", flat=True))
    return bool(getattr(campaign, field) == value)


def _apply(campaign: Campaign, changes: dict[str, Any]) -> None:
    for field in changes.keys() - {"scheme", "systems", "name"}:
        setattr(campaign, field, changes[field])
    if "scheme" in changes:
        _follow_scheme(campaign, lock_scheme_version(changes["scheme"]))
    if "corpus" in changes and "speakers" not in changes:
        campaign.speakers = []
    if "corpus" in changes and "review" not in changes:
        campaign.review = None
    if "corpus" in changes and "exclude" not in changes:
        campaign.exclude = ""
    systems = changes.get("systems", () if "corpus" in changes else None)
    if systems is not None:
        if any(system.corpus_id != campaign.corpus_id for system in systems):
            settings.refuse("systems", f"A chosen system is not one of the corpus {campaign.corpus.name}.")
        campaign.systems.set(systems)
    if {"name", "corpus"} & changes.keys():
        name = changes.get("name", campaign.name)
        campaign.name = settings.checked_name(name, campaign.corpus, but=campaign.pk)
    if "corpus" in changes:
        for field, phrase in (("guidelines", "The guidelines name"), ("consents", "The consent text names")):
            texts = getattr(campaign, field).order_by("-version").values_list("text", flat=True)
            settings.check_blind(campaign.corpus, "corpus", phrase, texts.first() or "")


def _follow_scheme(campaign: Campaign, version: SchemeVersion) -> None:
    """Set another scheme; guidelines taken from the former scheme are replaced by those of the new one."""
    text = guidelines_of(version, campaign.corpus)
    campaign.guidelines.filter(text=campaign.scheme_version.guidelines).update(text=text)
    campaign.scheme_version = version


def _log_detail(changes: dict[str, Any]) -> dict[str, Any]:
    """Return changes in the form of the audit log."""
    detail = dict(changes)
    if "corpus" in detail:
        detail["corpus"] = detail["corpus"].name
    if "systems" in detail:
        detail["systems"] = sorted(system.name for system in detail["systems"])
    if detail.get("baseline") is not None:
        detail["baseline"] = detail["baseline"].name
    if detail.get("deadline") is not None:
        detail["deadline"] = detail["deadline"].isoformat()
    return detail


def _add_raters(campaign: Campaign, before: tasks.Before) -> int:
    """Raise the tasks' raters to the campaign's new settings; return the number of new slots."""
    tasks.raise_tasks(campaign, before)
    tasks.draw(campaign)
    slot_count = tasks.make_slots(campaign)
    if campaign.ruled:
        tasks.apply(campaign)
    sampling.apply(campaign)
    return slot_count
