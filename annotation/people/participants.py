"""Annotators from outside: links into one campaign, participants who join by them, and completion codes."""

from __future__ import annotations

import base64
import hmac
import re
import secrets
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from django.contrib.auth.models import User
from django.core.signing import BadSignature, Signer
from django.db import IntegrityError, transaction
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone
from django.utils.crypto import salted_hmac

from annotation.campaigns import campaign_actions as campaigns
from annotation.errors import JoinRefused, TooManyTries
from annotation.models import Campaign, CampaignMember, JoinLink, JoinTry, Participant, ParticipantBrowser
from annotation.models.people import ADDRESS_LIMIT, NAME_LIMIT
from config.models import Event

SALT = "join link"
EXTERNAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,63}")
CODE = re.compile(r"[A-Za-z0-9_-]{1,64}")
NO_USE = "This link is no longer valid. Ask the person who gave it to you."
FULL = "As many people as are needed have joined already. Thank you for your interest."
UNSIGNED = "Your participant id is not signed. Open the whole address that you were given."
TRIES_AN_HOUR = 60
MOST_PEOPLE = 2**31 - 1
MOST_WAITING = 5
"""Maximum number of a participant's browsers waiting for confirmation; the oldest are dropped."""
WINDOW = timedelta(hours=1)


class Came(NamedTuple):
    """A visitor's claimed identity on the other platform."""

    participant: str
    study: str = ""
    session: str = ""
    signature: str = ""


class Joined(NamedTuple):
    """Outcome of a join: the account, or the code of a browser that waits for a researcher's confirmation."""

    user: User | None
    code: str = ""


class Completion(NamedTuple):
    """Completion of a participant: the code, and the address to go to with it ('' for none)."""

    code: str
    address: str


@transaction.atomic
def make_link(
    *,
    by: User,
    campaign: Campaign,
    name: str,
    most: int | None = None,
    expires_at: datetime | None = None,
    code: str = "",
    return_url: str = "",
) -> JoinLink:
    """Create a link by which people join a campaign. Raises JoinRefused with the invalid `field`."""
    name, code, return_url = name.replace("\0", "").strip()[:NAME_LIMIT], code.strip(), return_url.strip()
    if not name:
        raise JoinRefused("Say what the link is for, such as “Prolific, first wave”.", "name")
    if most is not None and not 1 <= most <= MOST_PEOPLE:
        raise JoinRefused("At least one person must be able to come by the link.", "most")
    if expires_at is not None and expires_at <= timezone.now():
        raise JoinRefused("A link must end in the future.", "expires_at")
    if code and not CODE.fullmatch(code):
        raise JoinRefused("A completion code has at most 64 letters, digits, - and _.", "code")
    _check_address(return_url)
    link = JoinLink.objects.create(
        campaign=campaign,
        name=name,
        most=most,
        expires_at=expires_at,
        code=code,
        return_url=return_url,
        created_by=by,
    )
    campaigns.log(by, campaign, "make join link", link=link.pk, name=name)
    return link


@transaction.atomic
def revoke(*, by: User, link: JoinLink) -> None:
    """Stop letting people join by a link. Participants who joined by it stay, and stay signed in."""
    if JoinLink.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=timezone.now()):
        campaigns.log(by, link.campaign, "revoke join link", link=link.pk, name=link.name)


def key_of(link: JoinLink) -> str:
    """Return the key in a link's address: its number, and a signature of it with the secret key."""
    return Signer(salt=SALT, sep=".").sign(str(link.pk))


def signing_key(link: JoinLink) -> str:
    """Return the key with which a platform signs its ids for a link: HMAC-SHA256 of the id, in hex digits."""
    return salted_hmac("participant ids", str(link.pk), algorithm="sha256").hexdigest()


def signature(link: JoinLink, participant: str) -> str:
    """Return the signature of an id for a link: 64 hexadecimal digits."""
    return hmac.new(signing_key(link).encode(), participant.encode(), "sha256").hexdigest()


def find(key: str) -> JoinLink:
    """Return the link of an address; raise JoinRefused where it is no longer valid."""
    try:
        number = int(Signer(salt=SALT, sep=".").unsign(key))
    except (BadSignature, ValueError):
        raise JoinRefused(NO_USE) from None
    link = JoinLink.objects.select_related("campaign__corpus").filter(pk=number, revoked_at=None).first()
    if link is None or (link.expires_at is not None and link.expires_at <= timezone.now()):
        raise JoinRefused(NO_USE)
    return link


def came(parameters: Any) -> Came:
    """Read a visitor's identity from URL or form parameters: of Prolific, of MTurk, or `participant`.

    Raises JoinRefused for an invalid id; without any, `participant` is ''.
    """
    names = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"), ("workerId", "hitId", "assignmentId")
    for person, study, session in (*names, ("participant", "study", "session")):
        if parameters.get(person):
            participant, study_id, session_id = (
                _external(parameters.get(name, "")) for name in (person, study, session)
            )
            return Came(participant, study_id, session_id, parameters.get("signature", "")[:64])
    return Came("")


def must_not_come_too_often(link: JoinLink, address: str) -> None:
    """Count an attempt from an address; raise TooManyTries where there were many in the last hour."""
    refusal = "Too many people have joined by this link from your network. Try again in an hour."
    count_try(door=f"{SALT} {link.pk}", address=address, most=TRIES_AN_HOUR, refusal=refusal)


def count_try(*, door: str, address: str, most: int, refusal: str) -> None:
    """Count an attempt at a public page from an address; raise TooManyTries after `most` in the last hour."""
    hashed = salted_hmac(door, address, algorithm="sha256").hexdigest()
    since = timezone.now() - WINDOW
    JoinTry.objects.filter(at__lt=since).delete()
    if JoinTry.objects.filter(address=hashed).count() >= most:
        raise TooManyTries(refusal)
    JoinTry.objects.create(address=hashed)


@transaction.atomic
def join(*, link: JoinLink, visitor: Came, browser: str) -> Joined:
    """Create a participant's account at their first visit, and find it again at the next.

    The account has no password and may annotate in this campaign alone. `browser` is the secret of the
    participant's browser. A known id is admitted according to the campaign's `join_proof`: an unconfirmed
    browser gets a code instead of the account. Raises JoinRefused.
    """
    campaigns.locked(link.campaign)  # serialised, whatever the link: nobody becomes two participants
    link = JoinLink.objects.select_for_update(of=("self",)).select_related("campaign__corpus").get(pk=link.pk)
    if not visitor.participant:
        raise JoinRefused("Give your participant id.", "participant")
    proof = link.campaign.join_proof
    if proof == Campaign.JoinProof.SIGNED and not hmac.compare_digest(
        visitor.signature.encode(), signature(link, visitor.participant).encode()
    ):
        raise JoinRefused(UNSIGNED)
    matching = Participant.objects.filter(campaign=link.campaign, external_id=visitor.participant)
    existing = matching.select_related("user").first()
    if existing is not None:
        if not existing.user.is_active or not existing.user.memberships.exists():
            raise JoinRefused("You no longer take part in this study. Ask the person who gave you the link.")
        if proof == Campaign.JoinProof.BROWSER and (code := _code_of_unconfirmed(existing, browser)):
            return Joined(None, code)
        matching.update(session_id=visitor.session or F("session_id"))
        return Joined(existing.user)
    if link.campaign.state != Campaign.State.OPEN:
        raise JoinRefused("Nobody can join at the moment. Come back later.")
    if link.most is not None and link.participants.count() >= link.most:
        raise JoinRefused(FULL)
    person = _account()
    participant = Participant.objects.create(
        link=link,
        campaign=link.campaign,
        user=person,
        external_id=visitor.participant,
        study_id=visitor.study,
        session_id=visitor.session,
    )
    ParticipantBrowser.objects.create(
        participant=participant,
        secret=_hashed(browser),
        code=_browser_code(participant, browser),
        confirmed_at=timezone.now(),
    )
    campaigns.add_member(by=person, campaign=link.campaign, user=person)
    Event.objects.create(by=person, verb="join by link", subject=f"account {person.pk}")
    return Joined(person)


@transaction.atomic
def confirm(*, by: User, browser: ParticipantBrowser) -> None:
    """Confirm a participant's further browser. Those confirmed before stay so."""
    waits = ParticipantBrowser.objects.filter(pk=browser.pk, confirmed_at=None)
    if waits.update(confirmed_at=timezone.now(), confirmed_by=by):
        person = browser.participant
        campaigns.log(by, person.campaign, "confirm browser", annotator=person.user.get_username())


@transaction.atomic
def dismiss(*, by: User, browser: ParticipantBrowser) -> None:
    """Forget a participant's browser: it no longer waits, or has to ask again if it was confirmed.

    Sessions do not record in which browser they began, so the participant is signed out in all of them where
    this one was confirmed; in the others they can continue by the link.
    """
    person = browser.participant
    mine = ParticipantBrowser.objects.select_for_update().filter(pk=browser.pk).first()
    if mine is None:
        return
    if mine.confirmed_at is not None:
        person.user.set_unusable_password()  # a new one: sessions end with the password
        person.user.save(update_fields=["password"])
    mine.delete()
    campaigns.log(by, person.campaign, "dismiss browser", annotator=person.user.get_username())


def waiting(campaign: Campaign) -> QuerySet[ParticipantBrowser]:
    """Return the browsers of a campaign's participants waiting for confirmation, oldest first."""
    return browsers(campaign).filter(confirmed_at=None)


def browsers(campaign: Campaign) -> QuerySet[ParticipantBrowser]:
    """Return the waiting and confirmed browsers of a campaign's participants, oldest first.

    Without those in which they joined: these were confirmed before they were stored.
    """
    condition = Q(confirmed_at=None) | Q(confirmed_at__gt=F("asked_at"))
    rows = ParticipantBrowser.objects.filter(condition, participant__campaign=campaign)
    return rows.select_related("participant__user", "confirmed_by").order_by("id")


@transaction.atomic
def finish(*, person: int, campaign: int, done: int, finished: bool) -> Completion | None:
    """Return the completion of a participant who is done; None for others, and before.

    `done` is the number of their current tasks, `finished` whether nothing can be handed out to them any
    more. A participant without submissions gets no code; an issued code stays.
    """
    mine = Participant.objects.select_for_update(of=("self",)).select_related("link")
    participant = mine.filter(user=person, campaign=campaign).first()
    if participant is None or (participant.finished_at is None and not (finished and done)):
        return None
    if participant.finished_at is None:
        participant.finished_at, participant.code = (
            timezone.now(),
            participant.link.code or _own_code(participant),
        )
        participant.save(update_fields=["finished_at", "code"])
    filled = {"{code}": participant.code, "{participant}": participant.external_id}
    address = participant.link.return_url
    for place, value in filled.items():
        address = address.replace(place, quote(value, safe=""))
    return Completion(participant.code, address)


def list_participants(campaign: Campaign) -> QuerySet[Participant]:
    """Return the participants of a campaign, in order of joining, with `done` tasks submitted."""
    member = CampaignMember.objects.filter(campaign=OuterRef("campaign"), user=OuterRef("user"))
    rows = campaign.participants.select_related("user", "link")
    return rows.annotate(done=Subquery(member.values("done")[:1])).order_by("id")


def _account() -> User:
    """Create an account that nobody can sign in to; its name says nothing about its owner."""
    for _ in range(5):
        try:
            with transaction.atomic():
                return User.objects.create_user(username=f"participant-{secrets.token_hex(4)}", password=None)
        except IntegrityError:  # the name is taken: draw another
            continue
    raise JoinRefused("No name was free. Try again.")


def _code_of_unconfirmed(participant: Participant, browser: str) -> str:
    """Return the code that a browser shows until a researcher confirms it; '' for a confirmed one."""
    row, _ = ParticipantBrowser.objects.get_or_create(
        participant=participant,
        secret=_hashed(browser),
        defaults={"code": _browser_code(participant, browser)},
    )
    others = ParticipantBrowser.objects.filter(participant=participant, confirmed_at=None)
    newest = others.order_by("-id").values("pk")[:MOST_WAITING]
    others.exclude(pk__in=newest).delete()
    return "" if row.confirmed_at else row.code


def _hashed(browser: str) -> str:
    return salted_hmac("participant browser", browser, algorithm="sha256").hexdigest()


def _browser_code(participant: Participant, browser: str) -> str:
    digest = salted_hmac("browser code", f"{participant.pk} {browser}", algorithm="sha256").digest()
    return base64.b32encode(digest)[:8].decode()


def _own_code(participant: Participant) -> str:
    digest = salted_hmac("completion code", str(participant.pk), algorithm="sha256").digest()
    return base64.b32encode(digest)[:10].decode()


def _external(value: str) -> str:
    if value and not EXTERNAL.fullmatch(value):
        raise JoinRefused(
            "That is not a participant id: it has at most 64 letters, digits and . _ : @ -",
            "participant",
        )
    return value


def _check_address(address: str) -> None:
    """Refuse an address to which a browser should not be sent."""
    if not address:
        return
    wrong = "Give the address to return to as https://…; {code} stands for the code."
    try:
        parts = urlsplit(address)
    except ValueError:
        raise JoinRefused(wrong, "return_url") from None
    clean = address.isprintable() and " " not in address and len(address) <= ADDRESS_LIMIT
    if parts.scheme != "https" or not parts.hostname or "@" in parts.netloc or not clean:
        raise JoinRefused(wrong, "return_url")
