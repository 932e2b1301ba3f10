"""Actions on a campaign: create, open, pause, close; set members, guidelines and consent; open batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from annotation import scheme_store
from annotation.campaigns import comparing, sampling, settings
from annotation.campaigns import tasks as campaign_tasks
from annotation.campaigns.settings import check_blind
from annotation.corpora import continuing, exclusion, queries
from annotation.corpora.splits import TRAINING
from annotation.errors import CampaignRefused
from annotation.hooks import CAMPAIGN_FORMS, MAKE_ITEMS, RATERS_PER_ITEM
from annotation.kinds import DIALOGUE
from annotation.models import (
    Assignment,
    CampaignMember,
    Consent,
    Corpus,
    Guidelines,
    Participant,
    PeopleGroup,
    SchemeVersion,
    System,
)
from annotation.models.campaigns import Campaign
from annotation.schemes import SCHEMES
from annotation.schemes.rules import problems
from annotation.text import views
from config import commands
from config.models import Event
from jobs import job_actions
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job

State = Campaign.State


@transaction.atomic
def create(
    *,
    by: User,
    name: str,
    corpus: Corpus,
    scheme: str,
    systems: Sequence[System] = (),
    annotators: Iterable[User] = (),
    guidelines: str | None = None,
    consent: str = "",
    shows: Iterable[str] = views.DEFAULT,
    form: str = Campaign.Form.RATING,
    **options: Any,
) -> Campaign:
    """Create a draft campaign over part of a corpus, with a scheme and its own guidelines.

    `scheme` is `key` (for a custom scheme: its newest version) or `key@version`; '' is that of the form. No
    systems means all systems. Without `guidelines` the campaign starts with the scheme's. `consent` is the
    text that annotators agree to first, if any. `shows` are the data shown beside the turns
    (`annotation.text.views`), `form` is the kind of work, `options` are settings (`SETTINGS`). Raises
    CampaignRefused.
    """
    if unknown := options.keys() - settings.SETTINGS.keys():
        raise TypeError(f"a campaign has no {min(unknown)}")
    if any(system.corpus_id != corpus.pk for system in systems):
        raise CampaignRefused(f"A chosen system is not one of the corpus {corpus.name}.")
    own_scheme = None if form == Campaign.Form.RATING else CAMPAIGN_FORMS[form].scheme
    if own_scheme is not None and not scheme:
        version = scheme_store.store(definition=own_scheme)
    else:
        version = lock_scheme_version(scheme)
    if form == Campaign.Form.RATING:
        _make_items(version, corpus)
    check_blind(corpus, "guidelines", "The guidelines name", guidelines or "")
    if raters := RATERS_PER_ITEM.get(version.scheme.key):
        options = {"raters_per_item": raters} | options
    campaign = Campaign(
        name=settings.checked_name(name, corpus),
        corpus=corpus,
        scheme_version=version,
        shows=settings.allowed(shows),
        form=form,
        created_by=by,
        **options,
    )
    settings.check(campaign)
    campaign.save()
    campaign.systems.set(systems)
    comparing.choose(campaign)
    text = guidelines_of(version, corpus) if guidelines is None else guidelines
    Guidelines.objects.create(campaign=campaign, text=text)
    if consent.strip():
        set_consent(by=by, campaign=campaign, text=consent)
    check_askable(campaign)
    for annotator in annotators:
        CampaignMember.objects.get_or_create(campaign=campaign, user=annotator)
    log(by, campaign, "create")
    return campaign


@transaction.atomic
def open(*, by: User, campaign: Campaign, progress: Callable[[int, int], None] | None = None) -> int:
    """Open a draft, paused or closed campaign; create its missing tasks and return their number.

    `progress` is called with (done, total) and may raise to stop. Raises CampaignRefused where there is
    nothing to rate.
    """
    campaign = locked(campaign)
    if campaign.state == State.OPEN:
        raise CampaignRefused("The campaign is open already.")
    if campaign.archived_at is not None:
        raise CampaignRefused("The campaign is archived. Bring it back first.")
    if campaign.form == Campaign.Form.RATING:
        _make_items(campaign.scheme_version, campaign.corpus)
    else:
        CAMPAIGN_FORMS[campaign.form].make(campaign)
    if campaign.state == State.DRAFT:
        sampling.keep(campaign, by)
    task_count = campaign_tasks.make(campaign, progress)
    if not campaign.tasks.exists():
        raise CampaignRefused("Nothing in the chosen part of the corpus can be rated with this scheme.")
    excluded = exclusion.described(campaign.corpus, campaign.exclude, training=campaign.part == TRAINING)
    detail = {"left_out": excluded} if excluded else {}
    _change(by, campaign, State.OPEN, tasks=task_count, **detail)
    return task_count


@transaction.atomic
def pause(*, by: User, campaign: Campaign) -> None:
    """Pause the work: no new tasks and no answers, but drafts are kept. Raises CampaignRefused."""
    campaign = locked(campaign)
    if campaign.state != State.OPEN:
        raise CampaignRefused(f"Only an open campaign can be paused; this one is {campaign.state}.")
    _change(by, campaign, State.PAUSED)


@transaction.atomic
def close(*, by: User, campaign: Campaign) -> None:
    """End the work. Labels stay; the campaign can be reopened. Raises CampaignRefused for a draft."""
    campaign = locked(campaign)
    if campaign.state not in (State.OPEN, State.PAUSED):
        raise CampaignRefused(f"Only an open or paused campaign can be closed; this one is {campaign.state}.")
    _change(by, campaign, State.CLOSED)


@transaction.atomic
def add_member(*, by: User, campaign: Campaign, user: User) -> CampaignMember:
    """Add a member; nothing changes for an existing one. A former member keeps their progress."""
    if Participant.objects.filter(user=user).exclude(campaign=campaign).exists():
        raise CampaignRefused(f"{user.get_username()} came by a link into another campaign and stays in it.")
    member, created = CampaignMember.objects.get_or_create(campaign=campaign, user=user)
    if created:
        submitted = Assignment.objects.filter(
            campaign=campaign, user=user, state=Assignment.State.SUBMITTED, round=0
        )
        member.done = submitted.count()
        member.done_on = timezone.now().astimezone(UTC).date()
        member.done_today = submitted.filter(submitted_at__date=member.done_on).count()
        member.save(update_fields=["done", "done_on", "done_today"])
        log(by, campaign, "add member", user=user.get_username())
    return member


@transaction.atomic
def remove_member(*, by: User, campaign: Campaign, user: User) -> None:
    """Remove a member: tasks that they hold are freed for others, their submissions stay."""
    gone, _ = CampaignMember.objects.filter(campaign=campaign, user=user).delete()
    if not gone:
        raise CampaignRefused(f"{user.get_username()} does not take part in this campaign.")
    states = [Assignment.State.LEASED, Assignment.State.RETURNED]
    mine = Assignment.objects.filter(campaign=campaign, user=user, state__in=states)
    mine.update(state=Assignment.State.EXPIRED)
    log(by, campaign, "remove member", user=user.get_username())


def change_members(
    *,
    by: User,
    campaign: Campaign,
    add: Iterable[User] = (),
    groups: Iterable[PeopleGroup] = (),
    remove: Iterable[User] = (),
) -> None:
    """Let people, and all active people of groups, take part, and take others out. Raises CampaignRefused."""
    of_groups = User.objects.filter(people_groups__in=groups, is_active=True).distinct()
    for person in dict.fromkeys([*add, *of_groups]):
        add_member(by=by, campaign=campaign, user=person)
    for person in remove:
        remove_member(by=by, campaign=campaign, user=person)


@transaction.atomic
def set_guidelines(*, by: User, campaign: Campaign, text: str) -> Guidelines:
    """Set the guidelines. An unused version is rewritten, a used one gets a successor.

    Raises CampaignRefused where the text names a system of the corpus.
    """
    locked(campaign)
    text = text.replace("\r\n", "\n").strip()
    check_blind(campaign.corpus, "guidelines", "The guidelines name", text)
    last = campaign.guidelines.order_by("-version").first()
    if last is not None and last.text == text:
        return last
    if last is not None and not _was_read(last):
        last.text = text
        last.save(update_fields=["text"])
        log(by, campaign, "guidelines", version=last.version)
        return last
    version = 1 if last is None else last.version + 1
    log(by, campaign, "guidelines", version=version)
    return Guidelines.objects.create(campaign=campaign, version=version, text=text)


def lock_scheme_version(ref: str) -> SchemeVersion:
    """Lock and return a campaign's scheme version, so that nobody replaces it in the meantime.

    Raises CampaignRefused for a version that does not exist, is archived, or is invalid for people.
    """
    stored = scheme_store.find(ref)
    if stored is None:
        settings.refuse(
            "scheme", f"There is no scheme “{ref[:80]}”. Choose one of {', '.join(SCHEMES)}, or your own."
        )
    if stored.scheme.archived_at is not None:
        settings.refuse("scheme", f"The scheme “{ref}” is archived. Restore it, or choose another one.")
    definition = scheme_store.definition_of(stored)
    wrong = (
        []
        if stored.scheme.key in SCHEMES
        else [problem for problem in problems(definition) if problem.field != "key"]
    )
    if wrong:
        settings.refuse(
            "scheme",
            f"People cannot be asked “{ref[:80]}” as it is. {wrong[0]} Make a scheme of your own of it "
            "first.",
        )
    rows = SchemeVersion.objects.select_for_update(of=("self",), no_key=True).select_related("scheme")
    version = rows.filter(pk=stored.pk).first()
    if version is None:
        settings.refuse(
            "scheme", f"Somebody saved “{ref}” this moment. Look at it, then set up the campaign again."
        )
    return version


def guidelines_of(version: SchemeVersion, corpus: Corpus) -> str:
    """Return the guidelines of a version; those of custom schemes must not name a system."""
    text = scheme_store.definition_of(version).guidelines
    if version.scheme.key not in SCHEMES:
        check_blind(corpus, "scheme", "The guidelines of the scheme name", text)
    return text


def _make_items(version: SchemeVersion, corpus: Corpus) -> None:
    """Create what a scheme rates and an import does not: a suite's items, and dialogues without turns."""
    if make := MAKE_ITEMS.get(version.scheme.key):
        make(corpus)
    if version.item_kind == DIALOGUE.key:
        continuing.add_without_turns(corpus=corpus)


def _was_read(guidelines: Guidelines) -> bool:
    """Whether somebody has worked under the guidelines, or read them: then they cannot change."""
    worked = Assignment.objects.filter(guidelines=guidelines)
    return guidelines.frozen_at is not None or guidelines.read.exists() or worked.exists()


@transaction.atomic
def set_consent(*, by: User, campaign: Campaign, text: str) -> Consent:
    """Set the consent text that annotators agree to before they work; empty for none.

    A version that nobody agreed to is rewritten; any other gets a successor, to which everyone must agree
    again. Raises CampaignRefused where the text names a system of the corpus.
    """
    locked(campaign)
    text = text.replace("\r\n", "\n").strip()
    check_blind(campaign.corpus, "consent", "The consent text names", text)
    last = campaign.consents.order_by("-version").first()
    if last is not None and last.text == text:
        return last
    version = 1 if last is None else last.version + 1
    if last is not None and not last.given.exists():
        version, last.text = last.version, text
        last.save(update_fields=["text"])
    else:
        last = Consent.objects.create(campaign=campaign, version=version, text=text)
    log(by, campaign, "consent text", version=version)
    return last


def check_askable(campaign: Campaign) -> None:
    """Refuse a campaign without tasks because its scheme excludes all items, with the reason for judges."""
    if campaign.speakers and campaign.sample_dialogues is None and not campaign_tasks.count(campaign):
        settings.refuse("speakers", f"No turn by {' or '.join(campaign.speakers)} can be rated here.")
    refused = campaign_tasks.left_out(campaign)
    if refused is not None and not campaign_tasks.count(campaign):
        raise CampaignRefused(
            f"Nothing here can be rated with {campaign.scheme_version.name}: {refused.reason}."
        )


def locked(campaign: Campaign) -> Campaign:
    """Reload a campaign, locked against other changes until the transaction ends."""
    rows = Campaign.objects.select_for_update(of=("self",), no_key=True)
    return rows.select_related("scheme_version__scheme", "corpus").get(pk=campaign.pk)


def _change(by: User, campaign: Campaign, state: str, **detail: Any) -> None:
    before, campaign.state = campaign.state, state
    if state == State.OPEN and before != State.DRAFT:
        campaign.resumed_at = timezone.now()
    campaign.save(update_fields=["state", "resumed_at"])
    log(by, campaign, state, before=before, **detail)


def log(by: User, campaign: Campaign, verb: str, **detail: Any) -> None:
    """Write an entry to the audit log."""
    payload = {"campaign": campaign.pk, **detail}
    Event.objects.create(by=by, verb=f"campaign: {verb}", subject=campaign.name, detail=payload)


# Batches: groups of `batch_size` tasks of a campaign, in task order.
#
# The batch of a task follows from its position: the first `batch_size` positions are batch 1, and so on.
# Annotators get tasks of the first `batches_open` batches, so a claim only compares positions; a trigger
# checks this for every slot taken. The next batch is opened by a researcher, or once the last open batch is
# complete: by the request of the annotator who then finds no task.

MOST_BATCHES = 12
"""Maximum number of listed batches: the last open batches and the next one."""

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
    """A batch: its number (from 1), and its numbers of tasks, slots, submitted slots and taken slots."""

    number: int
    tasks: int
    slots: int
    submitted: int
    taken: int
    opened: bool

    @property
    def complete(self) -> bool:
        """Whether all its slots are submitted."""
        return self.submitted == self.slots

    @property
    def state(self) -> str:
        """Its state in words."""
        return "complete" if self.complete else "open" if self.opened else "not open"


@dataclass(frozen=True, slots=True)
class Batches:
    """The batches of a campaign: total number, number open, and a list of the last open ones and the next."""

    batch_size: int
    next_batch: str
    total: int
    opened: int
    listed: tuple[Batch, ...]


def batches(campaign: Campaign) -> Batches | None:
    """Return the batches of a campaign; None where its tasks are not in batches."""
    size = campaign.batch_size
    if size is None:
        return None
    last = campaign.tasks.aggregate(last=Max("position"))["last"]
    total = 0 if last is None else last // size + 1
    opened = min(campaign.batches_open, total)
    upto = min(opened + 1, total)
    parameters = {"campaign": campaign.pk, "size": size}
    parameters |= {"since": max(0, upto - MOST_BATCHES) * size, "upto": upto * size}
    with connection.cursor() as cursor:
        cursor.execute(COUNTS, parameters)
        rows = cursor.fetchall()
    batch_list = tuple(
        Batch(number, tasks, slots, submitted, taken_count, number <= opened)
        for number, tasks, slots, submitted, taken_count in rows
    )
    return Batches(size, campaign.next_batch, total, opened, batch_list)


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
    """Open the next batch where the last open one is complete and the campaign's setting allows this.

    Called for an annotator without a task, inside their transaction; concurrent calls wait for the first. A
    campaign that a researcher is changing at the same moment is skipped, since waiting for it could deadlock.
    Returns the first position that is not in an open batch.
    """
    with commands.cursor() as cursor:
        cursor.execute(ONE_AT_A_TIME, {"campaign": campaign})
        cursor.execute(OPEN_NEXT, {"campaign": campaign})
        if row := cursor.fetchone():
            name, number, size = row
            why = f"all {size:,} tasks of batch {number - 1} are complete"
            detail = {"campaign": campaign, "batch": number, "reason": why}
            Event.objects.create(by=None, verb="campaign: open a batch", subject=name, detail=detail)
        cursor.execute(UPTO, {"campaign": campaign})
        return int(cursor.fetchone()[0])


# Opening a large campaign is a job, so that no request waits while its tasks are created.

KIND = "opening"
AT_ONCE = 20_000
"""Maximum number of items of a corpus for opening a campaign within the request, in a few seconds."""


def open_campaign(*, by: User, campaign: Campaign) -> int | Job:
    """Open a small campaign and return the number of new tasks; start a job for a larger one.

    Raises CampaignRefused where the campaign is open already.
    """
    if queries.counts([campaign.corpus])[campaign.corpus_id]["items"] <= AT_ONCE:
        return open(by=by, campaign=campaign)
    if campaign.state == Campaign.State.OPEN:
        raise CampaignRefused("The campaign is open already.")
    params = {"campaign": campaign.pk}
    return job_actions.start(
        kind=KIND, subject=f"campaign {campaign.pk}: {campaign.name}", params=params, by=by
    )


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Open the campaign of a job; the result is {made: number of new tasks}."""
    campaign = Campaign.objects.filter(pk=job.params["campaign"]).first()
    if campaign is None:
        raise JobRefused("the campaign was deleted")
    if job.created_by is None:
        raise JobRefused("the account that asked for it is gone: ask again")
    if campaign.state == Campaign.State.OPEN:
        return {"made": 0}  # an earlier attempt lost its worker after the last step
    try:
        return {"made": open(by=job.created_by, campaign=campaign, progress=progress)}
    except CampaignRefused as error:
        raise JobRefused(str(error)) from error


JOB = JobKind(KIND, "Opening of a campaign", run)
