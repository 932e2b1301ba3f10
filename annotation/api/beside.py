"""The API of what stands beside answers: notes on turns, messages, one's own submissions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.access import IsCampaignResearcher
from annotation.api.refusals import answered
from annotation.errors import NoteRefused, NotTaskHolder
from annotation.models import Assignment, Campaign, Thread, turn_numbers
from annotation.work import messages as message_actions
from annotation.work import notes as files
from annotation.work import notes as note_actions
from annotation.work import own_work, screens
from annotation.work.labels import pseudonyms_of_people as of_people
from annotation.work.messages import TEXT_LIMIT
from annotation.work.notes import COMMENT_LIMIT, notes_on
from annotation.work.notes import live_notes as live
from config.lists import Pages, paged
from config.permissions import IsSignedIn

# What the API of notes, messages and own submissions takes and gives.

ID = 2**63 - 1
LINES = 10**6


class NewNote(serializers.Serializer[Any]):
    """What is to be noted on a line of a task (counted from 1); what is left out or null stays as it is."""

    line = serializers.IntegerField(min_value=1, max_value=LINES)
    comment = serializers.CharField(allow_blank=True, allow_null=True, default=None, max_length=COMMENT_LIMIT)
    flagged = serializers.BooleanField(allow_null=True, default=None)
    bookmarked = serializers.BooleanField(allow_null=True, default=None)


class NoteSerializer(serializers.Serializer[Any]):
    """All that one noted on a line of a task."""

    line = serializers.IntegerField()
    comment = serializers.CharField()
    flagged = serializers.BooleanField()
    bookmarked = serializers.BooleanField()


class TurnNoteSerializer(serializers.Serializer[Any]):
    """What an annotator noted on a turn, as researchers read it."""

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
    """One message; `mine` says whether the reader wrote it."""

    by = serializers.CharField()
    mine = serializers.BooleanField()
    text = serializers.CharField()
    at = serializers.DateTimeField()


class ThreadSerializer(serializers.Serializer[Any]):
    """A thread between an annotator and researchers: about a turn of a task, a task, or the campaign."""

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
    """What an annotator asks: about a line of a task of theirs, about the task, or about the campaign."""

    campaign = serializers.IntegerField(min_value=1, max_value=ID)
    assignment = serializers.IntegerField(allow_null=True, default=None, min_value=1, max_value=ID)
    line = serializers.IntegerField(allow_null=True, default=None, min_value=1, max_value=LINES)
    text = serializers.CharField(max_length=TEXT_LIMIT)


class NewMessage(serializers.Serializer[Any]):
    """What a researcher writes: to annotators by pseudonym, or about a task (a line of it) to its holder."""

    to = serializers.ListField(child=serializers.CharField(max_length=150), default=list, max_length=1_000)
    everybody = serializers.BooleanField(default=False)
    assignment = serializers.IntegerField(allow_null=True, default=None, min_value=1, max_value=ID)
    line = serializers.IntegerField(allow_null=True, default=None, min_value=1, max_value=LINES)
    text = serializers.CharField(max_length=TEXT_LIMIT)


class Answer(serializers.Serializer[Any]):
    """What is said in a thread; null only notes that it was seen."""

    text = serializers.CharField(max_length=TEXT_LIMIT, allow_null=True, default=None)


class ThreadVerb(serializers.Serializer[Any]):
    """What a researcher does with a thread: answer with a text, close it, or open it again."""

    verb = serializers.ChoiceField(choices=["answer", "close", "open"], default="answer")
    text = serializers.CharField(max_length=TEXT_LIMIT, allow_blank=True, default="")


class OwnSubmission(serializers.Serializer[Any]):
    """One's own submission; `closed` says why it cannot be revised, empty where it can."""

    assignment = serializers.IntegerField()
    campaign = serializers.IntegerField()
    name = serializers.CharField()
    state = serializers.CharField()
    submitted_at = serializers.DateTimeField()
    excerpt = serializers.CharField()
    answers = serializers.ListField(child=serializers.CharField())
    n_answers = serializers.IntegerField()
    comment = serializers.CharField()
    flagged = serializers.BooleanField()
    notes = serializers.ListField(child=serializers.CharField())
    bookmarks = serializers.IntegerField()
    closed = serializers.CharField()
    reason = serializers.CharField()


SEARCH = [OpenApiParameter(name, str) for name in own_work.SEARCH_FIELDS]
VERBS = {"close": message_actions.close, "open": message_actions.open_again}


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


def _validated(serializer: Any) -> dict[str, Any]:
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


@extend_schema(methods=["GET"], responses=NoteSerializer(many=True))
@extend_schema(methods=["POST"], request=NewNote, responses=NoteSerializer)
@api_view(["GET", "POST"])
@permission_classes([IsSignedIn])
@answered
def own_notes(request: Request, campaign: int, assignment: int) -> Response:
    """Members: what they noted on the lines of a task of theirs; note something. Bookmarks are private."""
    access.membership(_user(request), campaign)
    if request.method == "POST":
        values = _validated(NewNote(data=request.data))
        note = note_actions.set_note(by=_user(request), campaign=campaign, assignment=assignment, **values)
        return Response(note.as_json())
    own = Assignment.objects.filter(pk=assignment, campaign=campaign, user=_user(request))
    assignment_row = own.exclude(state=Assignment.State.VOIDED).first()
    if assignment_row is None:
        raise NotTaskHolder("This task is not yours.")
    turns = screens.load(assignment_row.task_id).turns
    rows = notes_on(campaign=campaign, user=_user(request).pk, assignment=assignment_row.pk, turns=turns)
    return Response([rows[line].as_json() for line in sorted(rows)])


@extend_schema(responses=TurnNoteSerializer(many=True))
@paged
@api_view(["GET"])
@permission_classes([IsCampaignResearcher])
def campaign_notes(request: Request, campaign: int) -> Response:
    """Researchers: what annotators of a campaign noted on turns, latest first; no bookmarks."""
    pager = Pages()
    campaign_row = access.campaign(campaign)
    page = pager.paginate_queryset(live(campaign_row), request) or []
    names = of_people({note.user_id for note in page}, campaign_row.corpus_id)
    turn_numbers.number(note.turn for note in page)
    return pager.get_paginated_response([files.note_json(note, names) for note in page])


@extend_schema(parameters=SEARCH, responses=OwnSubmission(many=True))
@paged
@api_view(["GET"])
@permission_classes([IsSignedIn])
def own_submissions(request: Request) -> Response:
    """Everyone signed in: what they submitted, latest first; searched as the page does it."""
    search = {
        name: request.query_params.get(name, "").replace("\0", "").strip() for name in own_work.SEARCH_FIELDS
    }
    pager = Pages()
    submissions: Any = own_work.own_submissions(_user(request), own_work.submission_query(search))
    page: Any = pager.paginate_queryset(submissions, request) or []
    return pager.get_paginated_response([row.as_json() for row in own_work.describe_submissions(page)])


@extend_schema(methods=["GET"], responses=ThreadSerializer(many=True))
@extend_schema(
    methods=["POST"],
    request=Question,
    responses={201: ThreadSerializer},
    operation_id="work_messages_ask",
)
@paged
@api_view(["GET", "POST"])
@permission_classes([IsSignedIn])
@answered
def own_threads(request: Request) -> Response:
    """Everyone signed in: the threads between them and researchers, latest first; or ask something."""
    viewer = _user(request)
    if request.method == "POST":
        thread = message_actions.ask(by=viewer, **_validated(Question(data=request.data)))
        return Response(
            _own_thread(message_actions.of_annotator(viewer).get(pk=thread.pk), viewer), status=201
        )
    pager = Pages()
    page = pager.paginate_queryset(message_actions.of_annotator(viewer), request) or []
    return pager.get_paginated_response([_own_thread(row, viewer) for row in page])


@extend_schema(request=Answer, responses=ThreadSerializer)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def own_thread(request: Request, thread: int) -> Response:
    """Everyone signed in: see a thread of their own, and say something in it."""
    viewer = _user(request)
    thread_row = access.own_thread(viewer, thread)
    text = _validated(Answer(data=request.data))["text"]
    if text is not None:
        message_actions.answer(by=viewer, thread=thread_row, text=text)
    message_actions.see(by=viewer, thread=thread_row)
    return Response(_own_thread(access.own_thread(viewer, thread), viewer))


@extend_schema(methods=["GET"], responses=ThreadSerializer(many=True))
@extend_schema(
    methods=["POST"],
    request=NewMessage,
    responses={201: {"type": "array", "items": {"$ref": "#/components/schemas/Thread"}}},
    operation_id="campaigns_messages_write",
)
@paged
@api_view(["GET", "POST"])
@permission_classes([IsCampaignResearcher])
@answered
def campaign_threads(request: Request, campaign: int) -> Response:
    """Researchers: the threads of a campaign, latest first; or write to annotators, each by themselves."""
    campaign_row = access.campaign(campaign)
    viewer = _user(request)
    if request.method == "GET":
        pager = Pages()
        page = pager.paginate_queryset(message_actions.of_campaign(campaign_row), request) or []
        return pager.get_paginated_response(_threads(page, viewer))
    values = _validated(NewMessage(data=request.data))
    about, turn = None, None
    if values["assignment"] is not None:
        about = campaign_row.assignments.select_related("user").filter(pk=values["assignment"]).first()
        if about is None:
            raise NoteRefused("The campaign has no such task.")
    if values["line"] is not None:
        turns = screens.load(about.task_id).turns if about else ()
        if values["line"] > len(turns):
            raise NoteRefused(f"There is no line {values['line']} in what was shown.")
        turn = turns[values["line"] - 1]
    to = _recipients(campaign_row, values)
    threads = message_actions.write(
        by=viewer,
        campaign=campaign_row,
        to=[about.user] if about else to,
        text=values["text"],
        assignment=about,
        turn=turn,
    )
    rows = message_actions.of_campaign(campaign_row).filter(pk__in=[thread.pk for thread in threads])
    return Response(_threads(rows, viewer), status=201)


@extend_schema(request=ThreadVerb, responses=ThreadSerializer)
@api_view(["POST"])
@permission_classes([IsCampaignResearcher])
@answered
def campaign_thread(request: Request, campaign: int, thread: int) -> Response:
    """Researchers: answer in a thread, close it, or open it again."""
    thread_row = access.thread(campaign, thread)
    values = _validated(ThreadVerb(data=request.data))
    verb = VERBS.get(values["verb"])
    if verb is None:
        message_actions.answer(by=_user(request), thread=thread_row, text=values["text"])
    else:
        verb(by=_user(request), thread=thread_row)
    (payload,) = _threads([access.thread(campaign, thread)], _user(request))
    return Response(payload)


def _recipients(campaign: Campaign, values: Mapping[str, Any]) -> list[User]:
    """Return whom a message goes to: everybody, or the members with these pseudonyms. Raises NoteRefused."""
    members = {member.user_id: member.user for member in campaign.members.select_related("user")}
    if values["everybody"]:
        return list(members.values())
    names = {name.replace("\0", "") for name in values["to"]}
    accounts = {name: account for account, name in of_people(members, campaign.corpus_id).items()}
    if unknown := names - accounts.keys():
        raise NoteRefused(
            f"{min(unknown)} does not take part in this campaign. Name annotators by their pseudonyms."
        )
    return [members[accounts[name]] for name in sorted(names)]


def _own_thread(thread: Thread, viewer: User) -> dict[str, Any]:
    return _thread(thread, viewer, viewer.get_username())


def _threads(threads: Sequence[Thread] | QuerySet[Thread], viewer: User) -> list[dict[str, Any]]:
    """Return threads of one campaign for a researcher's program."""
    names = message_actions.pseudonyms(threads)
    return [_thread(row, viewer, names[row.annotator_id]) for row in threads]


def _thread(thread: Thread, viewer: User, annotator: str) -> dict[str, Any]:
    """Return a thread for a program; `line` is looked up where the thread is about a turn."""
    line = None
    if thread.turn_id is not None and thread.assignment is not None:
        turns = screens.load(thread.assignment.task_id).turns
        line = turns.index(thread.turn_id) + 1 if thread.turn_id in turns else None
    return message_actions.as_json(thread, viewer, annotator=annotator, line=line) | {
        "campaign": thread.campaign_id,
        "annotator": annotator,
        "assignment": thread.assignment_id,
        "waits": thread.waits,
    }
