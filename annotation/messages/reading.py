"""Threads and their messages, as an annotator and as researchers read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet, Sum

from annotation.labels.pseudonyms import of_people, person_called
from annotation.models import Assignment, Campaign, Message, Occasion, Thread


class Shown(NamedTuple):
    """A message as shown: who said it, whether that is the viewer, its text, and when."""

    by: str
    mine: bool
    text: str
    at: datetime


def unread(user: int) -> int:
    """Return how many messages an annotator has not seen. One look into an index."""
    found = Thread.objects.filter(annotator=user, unread__gt=0).aggregate(all=Sum("unread"))
    return found["all"] or 0


def waiting(campaign: Campaign) -> int:
    """Return in how many open threads of a campaign an annotator has the last word."""
    return Thread.objects.filter(campaign=campaign, waits=True, closed_at=None).count()


def of_annotator(user: User, campaign: int | None = None) -> QuerySet[Thread]:
    """Return the threads of an annotator, latest first, with their messages."""
    found = _with_messages().filter(annotator=user, campaign__archived_at=None)
    return found if campaign is None else found.filter(campaign=campaign)


def of_campaign(campaign: Campaign) -> QuerySet[Thread]:
    """Return the threads of a campaign, latest first, with their messages. Researchers only."""
    return _with_messages().filter(campaign=campaign)


def _with_messages() -> QuerySet[Thread]:
    said = Prefetch("messages", Message.objects.select_related("by"))
    related = (
        "campaign",
        "annotator",
        "assignment__task__continuation__dialogue",
        "turn__continuation__dialogue",
    )
    return Thread.objects.select_related(*related).prefetch_related(said)


def pseudonyms(threads: Iterable[Thread]) -> dict[int, str]:
    """Return what researchers call the annotators of threads of one corpus, by account.

    A thread about the campaign has the pseudonym, too: it stands in one list with those about tasks, which
    have the answers beside them.
    """
    rows = list(threads)
    return of_people({row.annotator_id for row in rows}, rows[0].campaign.corpus_id) if rows else {}


def with_annotator(campaign: Campaign, name: str) -> Q:
    """Return the condition for threads with the annotator whom researchers call so."""
    person = person_called(name, campaign)
    return Q(annotator=person) if person else Q(pk__in=[])


def shown(thread: Thread, viewer: User, *, annotator: str) -> list[Shown]:
    """Return the messages of a thread, oldest first; `annotator` is what the reader calls its annotator.

    Everybody sees which researcher wrote; whose account is gone is “a researcher”.
    """
    return [
        Shown(
            annotator if said.from_annotator else said.by.get_username() if said.by else "a researcher",
            said.by_id == viewer.pk,
            said.text,
            said.at,
        )
        for said in thread.messages.all()
    ]


def on_screen(
    *, user: int, viewer: User, campaign: int, assignment: int, turns: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the threads that belong beside a task: about it, or about a turn shown in it.

    Each has its `line` (None: about the task as a whole), counted from 1, and its messages. Two queries. A
    repeat does not show those about the task that it repeats, nor that task those about its repeat: it would
    tell that both are the same.
    """
    lines = {turn: line for line, turn in reversed(list(enumerate(turns, start=1)))}
    rows = Thread.objects.filter(annotator=user, campaign=campaign)
    here = Assignment.objects.filter(pk=assignment, task=OuterRef("task"))
    is_repeat = Q(occasion=Occasion.REPEAT) | Exists(here.filter(occasion=Occasion.REPEAT))
    same = Assignment.objects.filter(is_repeat, Exists(here), user=user).exclude(pk=assignment)
    rows = rows.filter(Q(assignment=assignment) | Q(turn__in=lines)).order_by("id")
    rows = rows.exclude(assignment__in=same)
    rows = rows.prefetch_related(Prefetch("messages", Message.objects.select_related("by")))
    name = viewer.get_username()
    return [as_json(row, viewer, annotator=name, line=lines.get(row.turn_id or 0)) for row in rows]


def as_json(thread: Thread, viewer: User, *, annotator: str, line: int | None = None) -> dict[str, Any]:
    """Return a thread for a page or program; `annotator` is what its reader calls the annotator."""
    return {
        "thread": thread.pk,
        "line": line,
        "unread": thread.unread,
        "closed": thread.closed_at is not None,
        "messages": [
            {"by": said.by, "mine": said.mine, "text": said.text, "at": said.at.isoformat()}
            for said in shown(thread, viewer, annotator=annotator)
        ],
    }
