"""The API of what stands beside answers: notes on turns, messages, one's own submissions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api import beside_serializers as serializers
from annotation.api.refusals import answered
from annotation.errors import NoteRefused, NotTaskHolder
from annotation.labels.pseudonyms import of_people
from annotation.messages import actions as messages
from annotation.messages import reading
from annotation.models import Assignment, Campaign, Thread, turn_numbers
from annotation.notes import actions as notes
from annotation.notes import files
from annotation.notes.reading import live, notes_on
from annotation.permissions import IsCampaignResearcher
from annotation.work import screens, submitted
from config.pagination import Pages, paged
from config.permissions import IsSignedIn

SEARCH = [OpenApiParameter(name, str) for name in submitted.ASKED]
VERBS = {"close": messages.close, "open": messages.open_again}


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


def _given(serializer: Any) -> dict[str, Any]:
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


@extend_schema(methods=["GET"], responses=serializers.NoteSerializer(many=True))
@extend_schema(methods=["POST"], request=serializers.NewNote, responses=serializers.NoteSerializer)
@api_view(["GET", "POST"])
@permission_classes([IsSignedIn])
@answered
def own_notes(request: Request, campaign: int, assignment: int) -> Response:
    """Members: what they noted on the lines of a task of theirs; note something. Bookmarks are private."""
    access.membership(_user(request), campaign)
    if request.method == "POST":
        given = _given(serializers.NewNote(data=request.data))
        kept = notes.set_note(by=_user(request), campaign=campaign, assignment=assignment, **given)
        return Response(kept.as_json())
    own = Assignment.objects.filter(pk=assignment, campaign=campaign, user=_user(request))
    found = own.exclude(state=Assignment.State.VOIDED).first()
    if found is None:
        raise NotTaskHolder("This task is not yours.")
    turns = screens.load(found.task_id).turns
    rows = notes_on(campaign=campaign, user=_user(request).pk, assignment=found.pk, turns=turns)
    return Response([rows[line].as_json() for line in sorted(rows)])


@extend_schema(responses=serializers.TurnNoteSerializer(many=True))
@paged
@api_view(["GET"])
@permission_classes([IsCampaignResearcher])
def campaign_notes(request: Request, campaign: int) -> Response:
    """Researchers: what annotators of a campaign noted on turns, latest first; no bookmarks."""
    pager = Pages()
    found = access.campaign(campaign)
    page = pager.paginate_queryset(live(found), request) or []
    names = of_people({note.user_id for note in page}, found.corpus_id)
    turn_numbers.number(note.turn for note in page)
    return pager.get_paginated_response([files.as_json(note, names) for note in page])


@extend_schema(parameters=SEARCH, responses=serializers.OwnSubmission(many=True))
@paged
@api_view(["GET"])
@permission_classes([IsSignedIn])
def own_submissions(request: Request) -> Response:
    """Everyone signed in: what they submitted, latest first; searched as the page does it."""
    asked = {name: request.query_params.get(name, "").replace("\0", "").strip() for name in submitted.ASKED}
    pager = Pages()
    found: Any = submitted.own(_user(request), submitted.wanted(asked))
    page: Any = pager.paginate_queryset(found, request) or []
    return pager.get_paginated_response([row.as_json() for row in submitted.told(page)])


@extend_schema(methods=["GET"], responses=serializers.ThreadSerializer(many=True))
@extend_schema(
    methods=["POST"],
    request=serializers.Question,
    responses={201: serializers.ThreadSerializer},
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
        made = messages.ask(by=viewer, **_given(serializers.Question(data=request.data)))
        return Response(_own_thread(reading.of_annotator(viewer).get(pk=made.pk), viewer), status=201)
    pager = Pages()
    page = pager.paginate_queryset(reading.of_annotator(viewer), request) or []
    return pager.get_paginated_response([_own_thread(row, viewer) for row in page])


@extend_schema(request=serializers.Answer, responses=serializers.ThreadSerializer)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def own_thread(request: Request, thread: int) -> Response:
    """Everyone signed in: see a thread of their own, and say something in it."""
    viewer = _user(request)
    found = access.own_thread(viewer, thread)
    text = _given(serializers.Answer(data=request.data))["text"]
    if text is not None:
        messages.answer(by=viewer, thread=found, text=text)
    messages.see(by=viewer, thread=found)
    return Response(_own_thread(access.own_thread(viewer, thread), viewer))


@extend_schema(methods=["GET"], responses=serializers.ThreadSerializer(many=True))
@extend_schema(
    methods=["POST"],
    request=serializers.NewMessage,
    responses={201: {"type": "array", "items": {"$ref": "#/components/schemas/Thread"}}},
    operation_id="campaigns_messages_write",
)
@paged
@api_view(["GET", "POST"])
@permission_classes([IsCampaignResearcher])
@answered
def campaign_threads(request: Request, campaign: int) -> Response:
    """Researchers: the threads of a campaign, latest first; or write to annotators, each by themselves."""
    found = access.campaign(campaign)
    viewer = _user(request)
    if request.method == "GET":
        pager = Pages()
        page = pager.paginate_queryset(reading.of_campaign(found), request) or []
        return pager.get_paginated_response(_threads(page, viewer))
    given = _given(serializers.NewMessage(data=request.data))
    about, turn = None, None
    if given["assignment"] is not None:
        about = found.assignments.select_related("user").filter(pk=given["assignment"]).first()
        if about is None:
            raise NoteRefused("The campaign has no such task.")
    if given["line"] is not None:
        turns = screens.load(about.task_id).turns if about else ()
        if given["line"] > len(turns):
            raise NoteRefused(f"There is no line {given['line']} in what was shown.")
        turn = turns[given["line"] - 1]
    to = _recipients(found, given)
    made = messages.write(
        by=viewer,
        campaign=found,
        to=[about.user] if about else to,
        text=given["text"],
        assignment=about,
        turn=turn,
    )
    rows = reading.of_campaign(found).filter(pk__in=[thread.pk for thread in made])
    return Response(_threads(rows, viewer), status=201)


@extend_schema(request=serializers.ThreadVerb, responses=serializers.ThreadSerializer)
@api_view(["POST"])
@permission_classes([IsCampaignResearcher])
@answered
def campaign_thread(request: Request, campaign: int, thread: int) -> Response:
    """Researchers: answer in a thread, close it, or open it again."""
    found = access.thread(campaign, thread)
    given = _given(serializers.ThreadVerb(data=request.data))
    verb = VERBS.get(given["verb"])
    if verb is None:
        messages.answer(by=_user(request), thread=found, text=given["text"])
    else:
        verb(by=_user(request), thread=found)
    (told,) = _threads([access.thread(campaign, thread)], _user(request))
    return Response(told)


def _recipients(campaign: Campaign, given: Mapping[str, Any]) -> list[User]:
    """Return whom a message goes to: everybody, or the members with these pseudonyms. Raises NoteRefused."""
    members = {member.user_id: member.user for member in campaign.members.select_related("user")}
    if given["everybody"]:
        return list(members.values())
    names = {name.replace("\0", "") for name in given["to"]}
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
    names = reading.pseudonyms(threads)
    return [_thread(row, viewer, names[row.annotator_id]) for row in threads]


def _thread(thread: Thread, viewer: User, annotator: str) -> dict[str, Any]:
    """Return a thread for a program; `line` is looked up where the thread is about a turn."""
    line = None
    if thread.turn_id is not None and thread.assignment is not None:
        turns = screens.load(thread.assignment.task_id).turns
        line = turns.index(thread.turn_id) + 1 if thread.turn_id in turns else None
    return reading.as_json(thread, viewer, annotator=annotator, line=line) | {
        "campaign": thread.campaign_id,
        "annotator": annotator,
        "assignment": thread.assignment_id,
        "waits": thread.waits,
    }
