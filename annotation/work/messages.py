"""Messages between researchers and annotators: start, answer, read, close and reopen threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Prefetch, Q, QuerySet, Sum
from django.utils import timezone

from annotation import access
from annotation.campaigns.settings import check_blind
from annotation.errors import CampaignRefused, NoteRefused, NotTaskHolder, ThreadClosed
from annotation.models import CampaignMember, Occasion
from annotation.models.campaigns import Campaign
from annotation.models.work import Assignment, Message, Thread
from annotation.text import display
from annotation.work import screens
from annotation.work.checking import cleaned
from annotation.work.labels import called, person_called
from annotation.work.labels import pseudonyms_of_people as of_people
from config.models import Event

# Thread actions: start, answer, mark as read, close, reopen.
#
# A thread is between the researchers and one annotator. A request for somebody else's thread gets the same
# error as for one that does not exist.

# Threads and their messages, as annotators and researchers read them.


class ShownMessage(NamedTuple):
    """A message for display: its author, whether that is the viewer, its text, and its time."""

    by: str
    mine: bool
    text: str
    at: datetime


def unread(user: int) -> int:
    """Count the messages that an annotator has not seen. One index lookup."""
    sums = Thread.objects.filter(annotator=user, unread__gt=0).aggregate(all=Sum("unread"))
    return sums["all"] or 0


def waiting(campaign: Campaign) -> int:
    """Count the open threads of a campaign whose last message is the annotator's."""
    return Thread.objects.filter(campaign=campaign, waits=True, closed_at=None).count()


def of_annotator(user: User, campaign: int | None = None) -> QuerySet[Thread]:
    """Return the threads of an annotator, latest first, with their messages."""
    threads = _with_messages().filter(annotator=user, campaign__archived_at=None)
    return threads if campaign is None else threads.filter(campaign=campaign)


def of_campaign(campaign: Campaign) -> QuerySet[Thread]:
    """Return the threads of a campaign, latest first, with their messages. Researchers only."""
    return _with_messages().filter(campaign=campaign)


def _with_messages() -> QuerySet[Thread]:
    messages = Prefetch("messages", Message.objects.select_related("by"))
    related = (
        "campaign",
        "annotator",
        "assignment__task__continuation__dialogue",
        "turn__continuation__dialogue",
    )
    return Thread.objects.select_related(*related).prefetch_related(messages)


def pseudonyms(threads: Iterable[Thread]) -> dict[int, str]:
    """Return the pseudonyms of the annotators of threads of one corpus, by account.

    Threads about the campaign use the pseudonym as well: they are in one list with threads about tasks, which
    show the answers.
    """
    rows = list(threads)
    return of_people({row.annotator_id for row in rows}, rows[0].campaign.corpus_id) if rows else {}


def with_annotator(campaign: Campaign, name: str) -> Q:
    """Return the condition for threads with the annotator of this pseudonym."""
    person = person_called(name, campaign)
    return Q(annotator=person) if person else Q(pk__in=[])


def list_messages(thread: Thread, viewer: User, *, annotator: str) -> list[ShownMessage]:
    """Return the messages of a thread, oldest first; `annotator` is its annotator's name for this reader.

    Everybody sees which researcher wrote; for a deleted account that is “a researcher”.
    """
    return [
        ShownMessage(
            annotator
            if message.from_annotator
            else message.by.get_username()
            if message.by
            else "a researcher",
            message.by_id == viewer.pk,
            message.text,
            message.at,
        )
        for message in thread.messages.all()
    ]


def on_screen(
    *, user: int, viewer: User, campaign: int, assignment: int, turns: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the threads shown beside a task: about it, or about a turn in it.

    Each has its `line` (None: about the task as a whole), counted from 1, and its messages. Two queries. A
    repeat does not show threads about the task that it repeats, nor that task those about its repeat: it
    would reveal that both are the same.
    """
    lines = {turn: line for line, turn in reversed(list(enumerate(turns, start=1)))}
    rows = Thread.objects.filter(annotator=user, campaign=campaign)
    same_task = Assignment.objects.filter(pk=assignment, task=OuterRef("task"))
    is_repeat = Q(occasion=Occasion.REPEAT) | Exists(same_task.filter(occasion=Occasion.REPEAT))
    same = Assignment.objects.filter(is_repeat, Exists(same_task), user=user).exclude(pk=assignment)
    rows = rows.filter(Q(assignment=assignment) | Q(turn__in=lines)).order_by("id")
    rows = rows.exclude(assignment__in=same)
    rows = rows.prefetch_related(Prefetch("messages", Message.objects.select_related("by")))
    name = viewer.get_username()
    return [as_json(row, viewer, annotator=name, line=lines.get(row.turn_id or 0)) for row in rows]


def as_json(thread: Thread, viewer: User, *, annotator: str, line: int | None = None) -> dict[str, Any]:
    """Return a thread as JSON data; `annotator` is its annotator's name for this reader."""
    return {
        "thread": thread.pk,
        "line": line,
        "unread": thread.unread,
        "closed": thread.closed_at is not None,
        "messages": [
            {
                "by": message.by,
                "mine": message.mine,
                "text": message.text,
                "at": display.moment(timezone.localtime(message.at)),
            }
            for message in list_messages(thread, viewer, annotator=annotator)
        ],
    }


TEXT_LIMIT = 5_000
MOST_THREADS = 1_000
"""Maximum number of threads of one annotator in one campaign."""


@transaction.atomic
def write(
    *,
    by: User,
    campaign: Campaign,
    text: str,
    to: Sequence[User] = (),
    assignment: Assignment | None = None,
    line: int | None = None,
) -> list[Thread]:
    """Start a thread with each of some annotators of a campaign, as its researcher; return the threads.

    A thread about an assignment, or a line of its transcript (from 1), is with the assignment's holder alone.
    Raises PermissionDenied for somebody who may not manage the campaign, NoteRefused where the text is empty
    or names a system, the line does not exist, or somebody does not take part.
    """
    if not access.may_manage(by, campaign):
        raise PermissionDenied
    text = _text(text)
    _must_be_blind(campaign, text)
    if assignment is not None:
        to = [assignment.user]
    if not to:
        raise NoteRefused("Choose at least one annotator of the campaign.")
    turn = _turn_on_line(assignment, line)
    members = set(campaign.members.filter(user__in=to).values_list("user_id", flat=True))
    for person in to:
        takes_part = person.pk in members or (
            assignment is not None and assignment.campaign_id == campaign.pk
        )
        if not takes_part:
            name = called(person.pk, campaign.corpus_id)
            raise NoteRefused(f"{name} does not take part in this campaign.")
    threads = [_begin(campaign, person, assignment, turn) for person in dict.fromkeys(to)]
    for thread in threads:
        _say(by, thread, text, from_annotator=False)
    names = sorted(person.get_username() for person in to)
    _log(by, campaign, "message", to=names, threads=[thread.pk for thread in threads])
    return threads


def recipients(campaign: Campaign, names: Iterable[str], *, everybody: bool = False) -> list[User]:
    """Return the members of a campaign with these pseudonyms, or all of them. Raises NoteRefused."""
    members = {member.user_id: member.user for member in campaign.members.select_related("user")}
    if everybody:
        return list(members.values())
    accounts = {name: account for account, name in of_people(members, campaign.corpus_id).items()}
    if unknown := set(names) - accounts.keys():
        name = min(unknown).replace("\0", "")
        raise NoteRefused(f"{name} does not take part in this campaign. Name annotators by their pseudonyms.")
    return [members[accounts[name]] for name in sorted(set(names))]


@transaction.atomic
def ask(
    *, by: User, campaign: int, text: str, assignment: int | None = None, line: int | None = None
) -> Thread:
    """Start a thread as an annotator, about a line of their task, a task, or the campaign; return it.

    Raises NotTaskHolder where they do not take part or the task is not theirs, NoteRefused where the text is
    empty or the line does not exist.
    """
    member = CampaignMember.objects.select_related("campaign").filter(campaign=campaign, user=by)
    seat = member.select_for_update(of=("self",)).first()
    if seat is None or seat.campaign.archived_at is not None:
        raise NotTaskHolder("You do not take part in this campaign.")
    own = None
    if assignment is not None:
        own = Assignment.objects.filter(pk=assignment, user=by, campaign=campaign).first()
        if own is None:
            raise NotTaskHolder("This task is not yours.")
    thread = _begin(seat.campaign, by, own, _turn_on_line(own, line))
    _say(by, thread, _text(text), from_annotator=True)
    return thread


@transaction.atomic
def answer(*, by: User, thread: Thread, text: str) -> Message:
    """Answer in a thread, as its annotator or any researcher. Return the message.

    Raises NotTaskHolder for other annotators, ThreadClosed, and NoteRefused where the text is empty or a
    researcher names a system.
    """
    thread = _locked(thread)
    text = _text(text)
    mine = thread.annotator_id == by.pk
    if not mine and not access.may_manage(by, thread.campaign_id):
        raise NotTaskHolder("There is no such thread of yours.")
    if thread.closed_at is not None:
        raise ThreadClosed("This thread is closed: nothing more is said in it.")
    if not mine:
        _must_be_blind(thread.campaign, text)
        _log(by, thread.campaign, "message", to=[thread.annotator.get_username()], threads=[thread.pk])
    return _say(by, thread, text, from_annotator=mine)


@transaction.atomic
def see(*, by: User, thread: Thread) -> None:
    """Mark a thread as read by its annotator."""
    Thread.objects.filter(pk=thread.pk, annotator=by).update(unread=0)


@transaction.atomic
def close(*, by: User, thread: Thread) -> None:
    """Close a thread: it stays readable, without new messages. Closing it again changes nothing."""
    _set_closed(by, thread, True)


@transaction.atomic
def open_again(*, by: User, thread: Thread) -> None:
    """Reopen a closed thread."""
    _set_closed(by, thread, False)


VERBS = {"close": close, "open": open_again}


def _set_closed(by: User, thread: Thread, closed: bool) -> None:
    if not access.may_manage(by, thread.campaign_id):
        raise PermissionDenied
    thread = _locked(thread)
    thread.closed_at = timezone.now() if closed else None
    thread.save(update_fields=["closed_at"])
    _log(by, thread.campaign, "close a thread" if closed else "open a thread again", thread=thread.pk)


def _turn_on_line(assignment: Assignment | None, line: int | None) -> int | None:
    if line is None:
        return None
    turns = screens.load(assignment.task_id).turns if assignment else ()
    if not 1 <= line <= len(turns):
        raise NoteRefused(f"There is no line {line} in what was shown.")
    return turns[line - 1]


def _begin(campaign: Campaign, annotator: User, assignment: Assignment | None, turn: int | None) -> Thread:
    if Thread.objects.filter(campaign=campaign, annotator=annotator).count() >= MOST_THREADS:
        name = called(annotator.pk, campaign.corpus_id)
        raise NoteRefused(f"There are {MOST_THREADS:,} threads with {name} already.")
    return Thread.objects.create(campaign=campaign, annotator=annotator, assignment=assignment, turn_id=turn)


def _say(by: User, thread: Thread, text: str, *, from_annotator: bool) -> Message:
    message = Message.objects.create(thread=thread, by=by, from_annotator=from_annotator, text=text)
    unread = 0 if from_annotator else F("unread") + 1
    Thread.objects.filter(pk=thread.pk).update(unread=unread, waits=from_annotator, last_at=message.at)
    return message


def _locked(thread: Thread) -> Thread:
    rows = Thread.objects.select_for_update(of=("self",)).select_related("campaign__corpus", "annotator")
    return rows.get(pk=thread.pk)


def _text(text: str) -> str:
    text = str(cleaned(text)).replace("\r\n", "\n").strip()
    if not text:
        raise NoteRefused("Write something first: a message is not empty.")
    if len(text) > TEXT_LIMIT:
        raise NoteRefused(f"A message has at most {TEXT_LIMIT:,} characters.")
    return text


def _must_be_blind(campaign: Campaign, text: str) -> None:
    try:
        check_blind(campaign.corpus, "text", "The message names", text)
    except CampaignRefused as error:
        raise NoteRefused(str(error)) from error


def _log(by: User, campaign: Campaign, verb: str, **detail: object) -> None:
    payload = {"campaign": campaign.pk, **detail}
    Event.objects.create(by=by, verb=f"campaign: {verb}", subject=campaign.name, detail=payload)
