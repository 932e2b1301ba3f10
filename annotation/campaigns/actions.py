"""What researchers do with a campaign: set it up, open, pause and close it, and say who takes part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC
from typing import Any, Unpack

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.answer_keys import points
from annotation.campaigns import comparing, sampling, settings
from annotation.campaigns import tasks as campaign_tasks
from annotation.campaigns.settings import Settings, check_blind
from annotation.errors import CampaignRefused
from annotation.models import (
    Assignment,
    Campaign,
    CampaignMember,
    Consent,
    Corpus,
    Guidelines,
    Participant,
    SchemeVersion,
    System,
)
from annotation.scheme_versions import store as scheme_store
from annotation.schemes import SCHEMES
from annotation.schemes.rules import problems
from annotation.text import views
from config.models import Event

State = Campaign.State


@transaction.atomic
def create(
    *,
    by: User,
    name: str,
    corpus: Corpus,
    scheme: str,
    systems: Sequence[System] = (),
    include_self: bool = False,
    annotators: Iterable[User] = (),
    guidelines: str | None = None,
    consent: str = "",
    shows: Iterable[str] = views.DEFAULT,
    **told: Unpack[Settings],
) -> Campaign:
    """Set up a draft campaign over part of a corpus, with a scheme and its own guidelines.

    `scheme` is `key` (of a scheme of one's own: its newest version) or `key@version`. No systems means all of
    them. The dialogues' own turns are rated with `include_self`, and where a dialogue has nothing else.
    Without `guidelines` it starts with the scheme's. `consent` is the text that annotators agree to first,
    if any. `shows` is what raters see beside the turns (`annotation.text.views`), `told` the rest
    (`settings`). Raises CampaignRefused.
    """
    if any(system.corpus_id != corpus.pk for system in systems):
        raise CampaignRefused(f"A chosen system is not one of the corpus {corpus.name}.")
    version = asked(scheme)
    if points.asks_people(version.scheme.key):
        points.ensure(corpus)
    check_blind(corpus, "guidelines", "The guidelines name", guidelines or "")
    campaign = Campaign(
        name=settings.checked_name(name, corpus),
        corpus=corpus,
        scheme_version=version,
        include_self=include_self,
        shows=settings.allowed(shows),
        created_by=by,
        **told,
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
    """Open a campaign for work, making the tasks that it lacks; return how many were made.

    From draft, paused or closed. `progress` is told (done, total) as it goes and may raise to stop.
    Raises CampaignRefused where there is nothing to rate.
    """
    campaign = locked(campaign)
    if campaign.state == State.OPEN:
        raise CampaignRefused("The campaign is open already.")
    if campaign.archived_at is not None:
        raise CampaignRefused("The campaign is archived. Bring it back first.")
    if points.asks_people(campaign.scheme_version.scheme.key):
        points.ensure(campaign.corpus)
    if campaign.state == State.DRAFT:
        sampling.keep(campaign, by)
    made = campaign_tasks.make(campaign, progress)
    if not campaign.tasks.exists():
        raise CampaignRefused("Nothing in the chosen part of the corpus can be rated with this scheme.")
    _change(by, campaign, State.OPEN, tasks=made)
    return made


@transaction.atomic
def pause(*, by: User, campaign: Campaign) -> None:
    """Stop work for a while: no tasks and no answers, but drafts are kept. Raises CampaignRefused."""
    campaign = locked(campaign)
    if campaign.state != State.OPEN:
        raise CampaignRefused(f"Only an open campaign can be paused; this one is {campaign.state}.")
    _change(by, campaign, State.PAUSED)


@transaction.atomic
def close(*, by: User, campaign: Campaign) -> None:
    """End the work. Labels stay; it can be opened again. Raises CampaignRefused for a draft."""
    campaign = locked(campaign)
    if campaign.state not in (State.OPEN, State.PAUSED):
        raise CampaignRefused(f"Only an open or paused campaign can be closed; this one is {campaign.state}.")
    _change(by, campaign, State.CLOSED)


@transaction.atomic
def add_member(*, by: User, campaign: Campaign, user: User) -> CampaignMember:
    """Let a person take part; nothing changes where they do already. Who was removed finds their progress."""
    if Participant.objects.filter(user=user).exclude(campaign=campaign).exists():
        raise CampaignRefused(f"{user.get_username()} came by a link into another campaign and stays in it.")
    member, made = CampaignMember.objects.get_or_create(campaign=campaign, user=user)
    if made:
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
    """Take a person out: what they hold is free for others, what they submitted stays."""
    gone, _ = CampaignMember.objects.filter(campaign=campaign, user=user).delete()
    if not gone:
        raise CampaignRefused(f"{user.get_username()} does not take part in this campaign.")
    held = [Assignment.State.LEASED, Assignment.State.RETURNED]
    mine = Assignment.objects.filter(campaign=campaign, user=user, state__in=held)
    mine.update(state=Assignment.State.EXPIRED)
    log(by, campaign, "remove member", user=user.get_username())


@transaction.atomic
def set_guidelines(*, by: User, campaign: Campaign, text: str) -> Guidelines:
    """Set the guidelines. A version that nobody has worked with is rewritten, a used one gets a successor.

    Raises CampaignRefused where they name a system of the corpus.
    """
    locked(campaign)
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


def asked(ref: str) -> SchemeVersion:
    """Return the version that a campaign asks, locked: nobody replaces it before the campaign uses it.

    Raises CampaignRefused for one that is not there, is archived, or holds what people cannot be asked.
    """
    found = scheme_store.find(ref)
    if found is None:
        settings.refuse(
            "scheme", f"There is no scheme “{ref[:80]}”. Choose one of {', '.join(SCHEMES)}, or your own."
        )
    if found.scheme.archived_at is not None:
        settings.refuse("scheme", f"The scheme “{ref}” is archived. Restore it, or choose another one.")
    definition = scheme_store.definition_of(found)
    wrong = [] if found.scheme.key in SCHEMES else [one for one in problems(definition) if one.field != "key"]
    if wrong:
        settings.refuse(
            "scheme",
            f"People cannot be asked “{ref[:80]}” as it is. {wrong[0]} Make a scheme of your own of it "
            "first.",
        )
    rows = SchemeVersion.objects.select_for_update(of=("self",), no_key=True).select_related("scheme")
    version = rows.filter(pk=found.pk).first()
    if version is None:
        settings.refuse(
            "scheme", f"Somebody saved “{ref}” this moment. Look at it, then set up the campaign again."
        )
    return version


def guidelines_of(version: SchemeVersion, corpus: Corpus) -> str:
    """Return the guidelines that a version brings; those that people wrote must not name a system."""
    text = scheme_store.definition_of(version).guidelines
    if version.scheme.key not in SCHEMES:
        check_blind(corpus, "scheme", "The guidelines of the scheme name", text)
    return text


def _was_read(guidelines: Guidelines) -> bool:
    """Whether somebody has worked under guidelines, or read them: then they stay as they are."""
    worked = Assignment.objects.filter(guidelines=guidelines)
    return guidelines.frozen_at is not None or guidelines.read.exists() or worked.exists()


@transaction.atomic
def set_consent(*, by: User, campaign: Campaign, text: str) -> Consent:
    """Set the text that annotators agree to before they work; empty, they are asked for nothing.

    A version that nobody agreed to is rewritten; one that somebody did gets a successor, to which everyone is
    asked to agree. Raises CampaignRefused where it names a system of the corpus.
    """
    locked(campaign)
    text = text.strip()
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
    """Refuse a campaign over what nobody is asked about, with the sentence that judges give as the reason."""
    refused = campaign_tasks.left_out(campaign)
    if refused is not None and not campaign_tasks.count(campaign):
        raise CampaignRefused(
            f"Nothing here can be rated with {campaign.scheme_version.name}: {refused.reason}."
        )


def locked(campaign: Campaign) -> Campaign:
    """Return a campaign as it is now, locked against other changes of it until the transaction ends."""
    rows = Campaign.objects.select_for_update(of=("self",), no_key=True)
    return rows.select_related("scheme_version__scheme", "corpus").get(pk=campaign.pk)


def _change(by: User, campaign: Campaign, state: str, **detail: Any) -> None:
    before, campaign.state = campaign.state, state
    campaign.save(update_fields=["state"])
    log(by, campaign, state, before=before, **detail)


def log(by: User, campaign: Campaign, verb: str, **detail: Any) -> None:
    """Leave an entry in the audit log."""
    told = {"campaign": campaign.pk, **detail}
    Event.objects.create(by=by, verb=f"campaign: {verb}", subject=campaign.name, detail=told)
