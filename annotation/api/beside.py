"""API of notes on turns, messages, and the submissions of the signed-in user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.access import IsCampaignResearcher
from annotation.errors import NoteRefused, NotTaskHolder
from annotation.models import Assignment, Thread, TurnNote, turn_numbers
from annotation.work import messages as message_actions
from annotation.work import notes, own_work, screens
from annotation.work.labels import pseudonyms_of_people as of_people
from annotation.work.messages import TEXT_LIMIT
from annotation.work.notes import COMMENT_LIMIT
from config import api
from config.permissions import IsSignedIn

# Request and response bodies.

ID = 2**63 - 1
LINES = 10**6


class NewNote(serializers.Serializer[Any]):
    """A note on a line of a task (lines count from 1); fields that are missing or null stay unchanged."""

    line = serializers.IntegerField(min_value=1, max_value=LINES)
    comment = serializers.CharField(allow_blank=True, allow_null=True, default=None, max_length=COMMENT_LIMIT)
    flagged = serializers.BooleanField(allow_null=True, default=None)
    bookmarked = serializers.BooleanField(allow_null=True, default=None)


NoteSerializer = api.serializer_of(notes.Note, "Note")


class TurnNoteSerializer(serializers.Serializer[Any]):
    """An annotator's note on a turn, in the form for researchers."""

    campaign = serializers.CharField()
    annotator = serializers.CharField()
    dialogue = serializers.CharField()
    continuation = serializers.CharField()
    turn = serializers.IntegerField(help_text="0-based index within the continuation")
    turn_number = serializers.IntegerField()
    item = serializers.CharField()
    flagged = serializers.BooleanField()
    comment = serializers.CharField()
    at = serializers.DateTimeField()
    assignment = serializers.IntegerField()


class MessageSerializer(serializers.Serializer[Any]):
    """A message of a thread; `mine` is true where the reader wrote it."""

    by = serializers.CharField()
    mine = serializers.BooleanField()
    text = serializers.CharField()
    at = serializers.DateTimeField()


class ThreadSerializer(serializers.Serializer[Any]):
    """A thread between an annotator and researchers about a turn of a task, a task or the campaign."""

    thread = serializers.IntegerField()
    campaign = serializers.IntegerField()
    annotator = serializers.CharField(help_text="their pseudonym; to themselves, their user name")
    assignment = serializers.IntegerField(allow_null=True)
    line = serializers.IntegerField(allow_null=True, help_text="the line of the task, counted from 1")
    unread = serializers.IntegerField(help_text="messages that the annotator has not seen")
    waits = serializers.BooleanField(help_text="whether the last word is the annotator's")
    closed = serializers.BooleanField()
    messages = MessageSerializer(many=True)


class Question(serializers.Serializer[Any]):
    """An annotator's question about a line of an own task, the task or the campaign."""

    campaign = serializers.IntegerField(min_value=1, max_value=ID)
    assignment = serializers.IntegerField(allow_null=True, default=None, min_value=1, max_value=ID)
    line = serializers.IntegerField(allow_null=True, default=None, min_value=1, max_value=LINES)
    text = serializers.CharField(max_length=TEXT_LIMIT)


class NewMessage(serializers.Serializer[Any]):
    """A researcher's message to annotators by pseudonym, or to the holder of a task about it or its line."""

    to = serializers.ListField(child=serializers.CharField(max_length=150), default=list, max_length=1_000)
    everybody = serializers.BooleanField(default=False)
    assignment = serializers.IntegerField(allow_null=True, default=None, min_value=1, max_value=ID)
    line = serializers.IntegerField(allow_null=True, default=None, min_value=1, max_value=LINES)
    text = serializers.CharField(max_length=TEXT_LIMIT)


class Answer(serializers.Serializer[Any]):
    """A reply in a thread; a null text only marks the thread as read."""

    text = serializers.CharField(max_length=TEXT_LIMIT, allow_null=True, default=None)


class ThreadVerb(serializers.Serializer[Any]):
    """A researcher's action on a thread: answer with a text, close or reopen."""

    verb = serializers.ChoiceField(choices=["answer", *message_actions.VERBS], default="answer")
    text = api.optional_text(max_length=TEXT_LIMIT)


OwnSubmission = api.serializer_of(own_work.Submission, "OwnSubmission")

SEARCH = [OpenApiParameter(name, str) for name in own_work.SEARCH_FIELDS]


@api.get(NoteSerializer, many=True, permission=IsSignedIn)
def own_notes(request: Request, campaign: int, assignment: int) -> list[notes.Note]:
    """Members: read your notes on the lines of your own task. Bookmarks are private."""
    viewer = api.user(request)
    access.membership(viewer, campaign)
    own = Assignment.objects.filter(pk=assignment, campaign=campaign, user=viewer)
    assignment_row = own.exclude(state=Assignment.State.VOIDED).first()
    if assignment_row is None:
        raise NotTaskHolder("This task is not yours.")
    turns = screens.load(assignment_row.task_id).turns
    rows = notes.notes_on(campaign=campaign, user=viewer.pk, assignment=assignment_row.pk, turns=turns)
    return [rows[line] for line in sorted(rows)]


@api.post(NewNote, NoteSerializer, permission=IsSignedIn)
def note(request: Request, campaign: int, assignment: int) -> notes.Note:
    """Members: write a note on a line of your own task."""
    viewer = api.user(request)
    access.membership(viewer, campaign)
    values = api.data(request)
    return notes.set_note(by=viewer, campaign=campaign, assignment=assignment, **values)


@api.listing(TurnNoteSerializer, permission=IsCampaignResearcher)
def campaign_notes(request: Request, campaign: int) -> Response:
    """Researchers: list the annotators' notes on turns in a campaign, latest first; no bookmarks."""
    campaign_row = access.campaign(campaign)

    def payload(page: list[TurnNote]) -> list[dict[str, Any]]:
        names = of_people({row.user_id for row in page}, campaign_row.corpus_id)
        turn_numbers.number(row.turn for row in page)
        return [notes.note_json(row, names) for row in page]

    return api.page_of(request, notes.live_notes(campaign_row), payload)


@api.listing(OwnSubmission, query=SEARCH, permission=IsSignedIn, page=own_work.describe_submissions)
def own_submissions(request: Request) -> QuerySet[Assignment] | list[Assignment]:
    """Everyone signed in: list your submissions, latest first; the search works as on the page."""
    search = {name: api.query_text(request, name).strip() for name in own_work.SEARCH_FIELDS}
    return own_work.own_submissions(api.user(request), own_work.submission_query(search))


@api.listing(ThreadSerializer, permission=IsSignedIn)
def own_threads(request: Request) -> Response:
    """Everyone signed in: list your threads with researchers, latest first."""
    viewer = api.user(request)
    rows = message_actions.of_annotator(viewer)
    return api.page_of(request, rows, lambda page: [_own_thread(row, viewer) for row in page])


@api.post(Question, ThreadSerializer, status=201, permission=IsSignedIn, name="work_messages_ask")
def ask(request: Request) -> dict[str, Any]:
    """Everyone signed in: ask researchers a question."""
    viewer = api.user(request)
    thread = message_actions.ask(by=viewer, **api.data(request))
    return _own_thread(message_actions.of_annotator(viewer).get(pk=thread.pk), viewer)


@api.post(Answer, ThreadSerializer, permission=IsSignedIn)
def own_thread(request: Request, thread: int) -> dict[str, Any]:
    """Everyone signed in: read one of your threads, and reply in it."""
    viewer = api.user(request)
    thread_row = access.own_thread(viewer, thread)
    text = api.data(request)["text"]
    if text is not None:
        message_actions.answer(by=viewer, thread=thread_row, text=text)
    message_actions.see(by=viewer, thread=thread_row)
    return _own_thread(access.own_thread(viewer, thread), viewer)


@api.listing(ThreadSerializer, permission=IsCampaignResearcher)
def campaign_threads(request: Request, campaign: int) -> Response:
    """Researchers: list the threads of a campaign, latest first."""
    rows, viewer = message_actions.of_campaign(access.campaign(campaign)), api.user(request)
    return api.page_of(request, rows, lambda page: _threads(page, viewer))


@api.post(
    NewMessage,
    {"type": "array", "items": {"$ref": "#/components/schemas/Thread"}},
    status=201,
    permission=IsCampaignResearcher,
    name="campaigns_messages_write",
)
def write(request: Request, campaign: int) -> list[dict[str, Any]]:
    """Researchers: send a message to annotators of a campaign, each in a separate thread."""
    campaign_row = access.campaign(campaign)
    data = api.data(request)
    about = None
    if data["assignment"] is not None:
        about = campaign_row.assignments.select_related("user").filter(pk=data["assignment"]).first()
        if about is None:
            raise NoteRefused("The campaign has no such task.")
    threads = message_actions.write(
        by=api.user(request),
        campaign=campaign_row,
        to=message_actions.recipients(campaign_row, data["to"], everybody=data["everybody"]),
        text=data["text"],
        assignment=about,
        line=data["line"],
    )
    rows = message_actions.of_campaign(campaign_row).filter(pk__in=[thread.pk for thread in threads])
    return _threads(rows, api.user(request))


@api.post(ThreadVerb, ThreadSerializer, permission=IsCampaignResearcher)
def campaign_thread(request: Request, campaign: int, thread: int) -> dict[str, Any]:
    """Researchers: answer in a thread, close it or reopen it."""
    thread_row, by = access.thread(campaign, thread), api.user(request)
    data = api.data(request)
    if data["verb"] == "answer":
        message_actions.answer(by=by, thread=thread_row, text=data["text"])
    else:
        message_actions.VERBS[data["verb"]](by=by, thread=thread_row)
    (payload,) = _threads([access.thread(campaign, thread)], by)
    return payload


def _own_thread(thread: Thread, viewer: User) -> dict[str, Any]:
    return _thread(thread, viewer, viewer.get_username())


def _threads(threads: Sequence[Thread] | QuerySet[Thread], viewer: User) -> list[dict[str, Any]]:
    """Return threads of one campaign as JSON data for a researcher."""
    names = message_actions.pseudonyms(threads)
    return [_thread(row, viewer, names[row.annotator_id]) for row in threads]


def _thread(thread: Thread, viewer: User, annotator: str) -> dict[str, Any]:
    """Return a thread as JSON data; `line` is looked up where the thread is about a turn."""
    line = None
    if thread.turn_id is not None and thread.assignment is not None:
        turns = screens.load(thread.assignment.task_id).turns
        line = turns.index(thread.turn_id) + 1 if thread.turn_id in turns else None
    return message_actions.as_json(thread, viewer, annotator=annotator, line=line) | {
        "campaign": thread.campaign_id,
        "annotator": annotator,
        "assignment": thread.assignment_id,
        "waits": thread.waits,
        "messages": [
            message._asdict()
            for message in message_actions.list_messages(thread, viewer, annotator=annotator)
        ],
    }
