"""The API of scripts: a corpus's long dialogues, their sessions and turns by windows; changing a session."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import access
from annotation.api.corpora import LIMIT
from annotation.models import Dialogue, Turn
from annotation.records import SELF
from annotation.script_records import FACT, QUESTION
from config.lists import paged
from config.permissions import user_of
from suites.api import OFFSET, REFUSED_FIELD, Plain, answered, list_answer, validated
from suites.long_dialogue.editing import sessions as reading
from suites.long_dialogue.editing.export import MEDIA, ExportSelection, answer
from suites.long_dialogue.editing.name_maps import (
    KINDS,
    LONGEST,
    MOST,
    as_dict,
    make_names,
    maps_of,
    save_names,
)
from suites.long_dialogue.editing.sessions import (
    NOTE_LIMIT,
    REASONS,
    Overview,
    Row,
    change_session,
    versions_of,
    warnings_of,
)

NUMBER = OpenApiParameter(
    "session", {"type": "integer", "minimum": 1, "maximum": 10**6}, description="by number"
)
WORDS = OpenApiParameter("text", OpenApiTypes.STR, description="turns that hold it, in any case")
CONTINUATION = OpenApiParameter(
    "continuation", OpenApiTypes.STR, description="by id; the script's own turns where none is named"
)
SPEAKER = OpenApiParameter("speaker", OpenApiTypes.STR, description="an id or a name, in any case")


class ScriptRow(Plain):
    """A script in numbers; `heard` are the sessions in which its main character is present."""

    id = serializers.IntegerField()
    key = serializers.CharField()
    main = serializers.CharField()
    sessions = serializers.IntegerField()
    heard = serializers.IntegerField()
    turns = serializers.IntegerField()
    facts = serializers.IntegerField()
    questions = serializers.IntegerField()
    names = serializers.ListField(
        child=serializers.CharField(), help_text="name maps, as conditions call them"
    )
    warnings = serializers.ListField(child=serializers.CharField(), help_text="where dates run backwards")


class SessionRow(Plain):
    """A session of a script. `present` are all who are there, `listed` those whom the script lists beside.

    `first` and `last` are the positions of its own turns, from 0; `facts` and `questions` count those that
    it says, and answers.
    """

    number = serializers.IntegerField()
    id = serializers.CharField(source="session.id")
    date = serializers.CharField(source="session.date")
    place = serializers.CharField(source="session.place")
    episode = serializers.CharField(source="session.episode")
    scene = serializers.CharField(source="session.scene")
    season = serializers.CharField(source="session.season")
    present = serializers.ListField(child=serializers.CharField(), source="people")
    listed = serializers.ListField(child=serializers.CharField(), source="session.present")
    heard = serializers.BooleanField()
    turns = serializers.IntegerField()
    first = serializers.IntegerField(allow_null=True)
    last = serializers.IntegerField(allow_null=True)
    facts = serializers.SerializerMethodField()
    questions = serializers.SerializerMethodField()

    def get_facts(self, row: Row) -> int:
        """Count the facts that it says."""
        return int(self.context["records"][row.session.id][FACT])

    def get_questions(self, row: Row) -> int:
        """Count the questions that it answers."""
        return int(self.context["records"][row.session.id][QUESTION])


class SessionVersionRow(Plain):
    """What was said of a session, by whom and why."""

    version = serializers.IntegerField()
    date = serializers.CharField()
    place = serializers.CharField()
    present = serializers.ListField(child=serializers.CharField())
    kind = serializers.CharField()
    reason = serializers.CharField()
    by = serializers.CharField()
    at = serializers.DateTimeField()


class WholeSession(SessionRow):
    """A session with all that was said of it, the last first; empty while it is as it was imported."""

    versions = SessionVersionRow(many=True)


class ChangeSession(Plain):
    """What is to be another, and why; what is left out stays. `present` are ids or names of participants.

    `seen` is the version that whoever changes it has seen (1 before any change): another one is refused.
    """

    date = serializers.CharField(max_length=20, required=False)
    place = serializers.CharField(max_length=200, required=False, allow_blank=True)
    present = serializers.ListField(
        child=serializers.CharField(max_length=300), required=False, max_length=1000
    )
    kind = serializers.ChoiceField(choices=list(REASONS))
    reason = serializers.CharField(max_length=NOTE_LIMIT, required=False, default="", allow_blank=True)
    seen = serializers.IntegerField(min_value=1, max_value=10**6, required=False)


class MarkedSet(Plain):
    """A question set that is marked, and why."""

    name = serializers.CharField()
    version = serializers.IntegerField()
    stale = serializers.CharField()


class ChangedSession(WholeSession):
    """A changed session: what to beware of, and the question sets that are marked."""

    warnings = serializers.ListField(child=serializers.CharField())
    stale = MarkedSet(many=True)


class ScriptTurn(Plain):
    """A turn of a script, or of what a system answered; `number` counts from 1 within either, `session` is
    the session's id. `at` counts the script's turns before a question and its answer.
    """

    number = serializers.SerializerMethodField()
    speaker = serializers.CharField()
    text = serializers.CharField()
    session = serializers.SerializerMethodField()
    at = serializers.IntegerField(allow_null=True)
    given = serializers.BooleanField()

    def get_number(self, turn: Turn) -> int:
        """Return how annotators count it."""
        return turn.position + 1

    def get_session(self, turn: Turn) -> str:
        """Return the id of its session."""
        return str((turn.extra or {}).get("session", ""))


@extend_schema(
    operation_id="corpora_scripts_list", parameters=[LIMIT, OFFSET], responses=ScriptRow(many=True)
)
@paged
@api_view(["GET"])
def scripts(request: Request, pk: int) -> Response:
    """List the long dialogues of a corpus, each in numbers."""
    rows = access.corpus(pk).dialogues.filter(script__isnull=False).order_by("id")
    return list_answer(request, rows, lambda page: [_in_numbers(reading.overview(row)) for row in page])


@extend_schema(
    operation_id="corpora_scripts_sessions", parameters=[LIMIT, OFFSET], responses=SessionRow(many=True)
)
@paged
@api_view(["GET"])
def sessions(request: Request, pk: int, dialogue: int) -> Response:
    """List the sessions of a script in order."""
    seen = reading.overview(access.script(pk, dialogue))

    def represent(page: list[Row]) -> Any:
        records = reading.records_of(seen.dialogue, [row.session.id for row in page])
        return SessionRow(page, many=True, context={"records": records}).data

    return list_answer(request, seen.rows, represent)


@extend_schema(
    parameters=[LIMIT, OFFSET, NUMBER, WORDS, SPEAKER, CONTINUATION],
    responses=ScriptTurn(many=True),
    operation_id="corpora_scripts_turns",
)
@paged
@api_view(["GET"])
def script_turns(request: Request, pk: int, dialogue: int) -> Response:
    """List turns in order: of one session, that hold some words, or by a speaker; all may be said.

    With `continuation` they are those of what a system answered.
    """
    turns = _searched_turns(request, reading.overview(access.script(pk, dialogue)))
    return list_answer(request, turns, lambda page: ScriptTurn(page, many=True).data)


class ScriptSession(APIView):
    """One session of a script, by its number from 1."""

    @extend_schema(responses=WholeSession)
    def get(self, request: Request, pk: int, dialogue: int, number: int) -> Response:
        """Return a session with all that was said of it."""
        return Response(_session(*_row(access.script(pk, dialogue), number)))

    @extend_schema(request=ChangeSession, responses={200: ChangedSession, 400: REFUSED_FIELD})
    @answered
    def patch(self, request: Request, pk: int, dialogue: int, number: int) -> Response:
        """Change a session's date, place or people, with the reason; question sets are marked."""
        script = access.script(pk, dialogue)
        _, row = _row(script, number)
        changes = validated(ChangeSession, request.data)
        changed = change_session(dialogue=script, session=row.session.id, by=user_of(request), **changes)
        outcome = {
            "warnings": list(changed.warnings),
            "stale": MarkedSet(changed.stale, many=True).data,
        }
        return Response(_session(*_row(script, number)) | outcome)


def _in_numbers(seen: Overview) -> dict[str, Any]:
    counts = reading.counts_of(seen.dialogue)
    return {
        "id": seen.dialogue.pk,
        "key": seen.dialogue.key,
        "main": seen.script.main,
        "sessions": len(seen.rows),
        "heard": sum(row.heard for row in seen.rows),
        "turns": sum(row.turns for row in seen.rows),
        "facts": counts[FACT],
        "questions": counts[QUESTION],
        "names": [f"{name_map.kind}:{name_map.version}" for name_map in seen.script.names],
        "warnings": list(warnings_of(seen.script)),
    }


def _searched_turns(request: Request, seen: Overview) -> QuerySet[Turn]:
    query = {
        name: request.query_params.get(name, "").replace("\0", "")
        for name in ("text", "speaker", "continuation")
    }
    search: dict[str, Any] = {
        "words": query["text"],
        "speaker": query["speaker"],
        "continuation": query["continuation"] or SELF,
    }
    number = request.query_params.get("session", "")
    if number and not (number.isascii() and number.isdigit() and 1 <= int(number[:8]) <= 10**6):
        raise serializers.ValidationError({"session": ["A whole number from 1 to 1000000."]})
    if not number:
        return reading.find_turns(seen, **search)
    row = seen.row(int(number))
    if row is None:
        return Turn.objects.none()
    return reading.find_turns(seen, **search, row=row)


def _row(dialogue: Dialogue, number: int) -> tuple[Overview, Row]:
    seen = reading.overview(dialogue)
    row = seen.row(number)
    if row is None:
        raise Http404
    return seen, row


def _session(seen: Overview, row: Row) -> dict[str, Any]:
    records = reading.records_of(seen.dialogue, [row.session.id])
    versions = SessionVersionRow(versions_of(seen.dialogue, row.session), many=True)
    return {**SessionRow(row, context={"records": records}).data, "versions": versions.data}


# The API of scripts that leave: one as a line of the native format.


class WantedFile(Plain):
    """What leaves beside the script: question sets by name, the last version of each where none is named."""

    set = serializers.ListField(
        child=serializers.CharField(max_length=100),
        required=False,
        max_length=100,
        help_text="a question set, by name or as name@version; may be repeated",
    )
    without_sets = serializers.BooleanField(default=False)
    continuations = serializers.BooleanField(default=False, help_text="what systems answered leaves, too")


@extend_schema(
    parameters=[WantedFile],
    responses={(200, MEDIA): OpenApiTypes.BINARY, 400: REFUSED_FIELD},
    operation_id="corpora_scripts_file",
)
@api_view(["GET"])
@answered
def script_file(request: Request, pk: int, dialogue: int) -> HttpResponseBase:
    """Send a script in the native format: as it stands, with its facts, questions and question sets."""
    script = access.script(pk, dialogue)
    data = validated(WantedFile, request.query_params)
    sets = () if data["without_sets"] else tuple(data.get("set") or ()) or None
    selection = ExportSelection(sets, data["continuations"])
    return answer(dialogue=script, selection=selection, by=user_of(request))


# The API of a script's name maps: reading all versions, making one from a seed, writing one.

Texts = serializers.ListField


def _names(most: int = MOST) -> Texts:
    return Texts(
        child=serializers.CharField(max_length=LONGEST), required=False, default=list, max_length=most
    )


class Names(Plain):
    """A version of other names: `pairs` are [in the script, becomes], `kept` what stays.

    `names` is what a condition calls it.
    """

    names = serializers.CharField()
    kind = serializers.ChoiceField(choices=list(KINDS))
    version = serializers.IntegerField()
    pairs = Texts(child=Texts(child=serializers.CharField(), min_length=2, max_length=2))
    kept = Texts(child=serializers.CharField())


class NamesRequest(Plain):
    """Names to be kept: written as `pairs`, or without them made from a `seed`.

    `cast` is whose names are swapped (by id or name; empty: who says most), `genders` and `aliases` by id or
    name add to what participants declare. `kept` are spellings that stay.
    """

    kind = serializers.ChoiceField(choices=list(KINDS))
    pairs = Texts(
        child=Texts(child=serializers.CharField(max_length=LONGEST), min_length=2, max_length=2),
        required=False,
        min_length=1,
        max_length=MOST,
    )
    kept = _names()
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=0)
    cast = _names(1000)
    genders = serializers.DictField(child=serializers.CharField(max_length=20), required=False, default=dict)
    aliases = serializers.DictField(child=_names(100), required=False, default=dict)


class ScriptNames(APIView):
    """The name maps of a script."""

    @extend_schema(responses=Names(many=True), operation_id="corpora_scripts_names_list")
    def get(self, request: Request, pk: int, dialogue: int) -> Response:
        """Return all versions by kind, the newest first."""
        return Response([as_dict(name_map) for name_map in maps_of(access.script(pk, dialogue))])

    @extend_schema(request=NamesRequest, responses={201: Names, 400: REFUSED_FIELD})
    @answered
    def post(self, request: Request, pk: int, dialogue: int) -> Response:
        """Keep the next version of a kind; what is there is never changed."""
        script = access.script(pk, dialogue)
        data = validated(NamesRequest, request.data)
        if "pairs" in data:
            pairs = [(old, new) for old, new in data["pairs"]]
            name_map = save_names(
                dialogue=script, kind=data["kind"], pairs=pairs, kept=data["kept"], by=user_of(request)
            )
        else:
            name_map = make_names(dialogue=script, by=user_of(request), **data)
        return Response(as_dict(name_map), status=status.HTTP_201_CREATED)
