"""The HTTP API of scripts: sessions, turns, name maps, and a script as a file. Researchers only."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import FileResponse, Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.formats.fields import ID_LIMIT, NAME_LIMIT
from annotation.models import Dialogue, Turn
from annotation.records import SELF
from annotation.script_records import FACT, QUESTION, NameMap
from config import api
from jobs.endpoints.parameter_inputs import serializer_field
from suites.long_dialogue.editing import sessions as reading
from suites.long_dialogue.editing.export import MEDIA, ExportSelection, answer
from suites.long_dialogue.editing.name_maps import (
    KINDS,
    LONGEST,
    MOST,
    SEED,
    as_dict,
    make_names,
    maps_of,
    save_names,
)
from suites.long_dialogue.editing.sessions import (
    DATE_LIMIT,
    NOTE_LIMIT,
    REASONS,
    Overview,
    Row,
    change_session,
    versions_of,
    warnings_of,
)

Plain = serializers.Serializer[Any]


class FieldRefusal(Plain):
    """The reason why nothing was changed, with the invalid field, if there is one."""

    detail = serializers.CharField()
    code = serializers.CharField()
    field = serializers.CharField(required=False)


REFUSES_FIELD = {400: OpenApiResponse(FieldRefusal, description="Nothing is changed: by field and reason.")}

# Sessions and turns.

NUMBER = OpenApiParameter(
    "session", {"type": "integer", "minimum": 1, "maximum": 10**6}, description="by number"
)
WORDS = OpenApiParameter("text", OpenApiTypes.STR, description="turns that hold it, in any case")
CONTINUATION = OpenApiParameter(
    "continuation", OpenApiTypes.STR, description="by id; the script's own turns where none is named"
)
SPEAKER = OpenApiParameter("speaker", OpenApiTypes.STR, description="an id or a name, in any case")


class ScriptRow(Plain):
    """A script with counts; `heard` counts the sessions in which its main character is present."""

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
    """A session of a script. `present` are all people in it, `listed` those whom the script lists besides.

    `first` and `last` are the positions of its own turns, from 0; `facts` and `questions` count the facts
    that it states and the questions that it answers.
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
        """Count the facts that the session states."""
        return int(self.context["records"][row.session.id][FACT])

    def get_questions(self, row: Row) -> int:
        """Count the questions that the session answers."""
        return int(self.context["records"][row.session.id][QUESTION])


class SessionVersionRow(Plain):
    """A version of a session, with its author and reason."""

    version = serializers.IntegerField()
    date = serializers.CharField()
    place = serializers.CharField()
    present = serializers.ListField(child=serializers.CharField())
    kind = serializers.CharField()
    reason = serializers.CharField()
    by = serializers.CharField()
    at = serializers.DateTimeField()


class WholeSession(SessionRow):
    """A session with its versions, newest first; none before its first change."""

    versions = SessionVersionRow(many=True)


class ChangeSession(Plain):
    """New values with the reason; fields left out stay. `present` are ids or names of participants.

    `seen` is the version that the change is based on (1 before any change): if another is current, the
    change is refused.
    """

    date = serializers.CharField(max_length=DATE_LIMIT, required=False)
    place = serializers.CharField(max_length=NAME_LIMIT, required=False, allow_blank=True)
    present = serializers.ListField(
        child=serializers.CharField(max_length=ID_LIMIT), required=False, max_length=1000
    )
    kind = serializers.ChoiceField(choices=list(REASONS))
    reason = serializers.CharField(max_length=NOTE_LIMIT, required=False, default="", allow_blank=True)
    seen = serializers.IntegerField(min_value=1, max_value=10**6, required=False)


class MarkedSet(Plain):
    """A question set marked as stale, with the reason."""

    name = serializers.CharField()
    version = serializers.IntegerField()
    stale = serializers.CharField()


class ChangedSession(WholeSession):
    """A changed session, with warnings and the question sets marked as stale."""

    warnings = serializers.ListField(child=serializers.CharField())
    stale = MarkedSet(many=True)


class ScriptTurn(Plain):
    """A turn of a script, or of a system's answers; `number` counts from 1 within either, `session` is
    the session's id. `at` counts the script's turns before a question and its answer.
    """

    number = serializers.SerializerMethodField()
    speaker = serializers.CharField()
    text = serializers.CharField()
    session = serializers.SerializerMethodField()
    at = serializers.IntegerField(allow_null=True)
    given = serializers.BooleanField()

    def get_number(self, turn: Turn) -> int:
        """Return the turn's number as annotators see it."""
        return turn.position + 1

    def get_session(self, turn: Turn) -> str:
        """Return the id of the turn's session."""
        return str((turn.extra or {}).get("session", ""))


def _script_rows(page: list[Dialogue]) -> list[dict[str, Any]]:
    return [_in_numbers(reading.overview(dialogue)) for dialogue in page]


@api.listing(ScriptRow, page=_script_rows)
def scripts(request: Request, pk: int) -> QuerySet[Dialogue]:
    """List the long dialogues of a corpus, with counts."""
    return access.corpus(pk).dialogues.filter(script__isnull=False).order_by("id")


@api.listing(SessionRow, name="corpora_scripts_sessions")
def sessions(request: Request, pk: int, dialogue: int) -> Response:
    """List the sessions of a script in order."""
    overview = reading.overview(access.script(pk, dialogue))

    def payload(page: list[Row]) -> Any:
        records = reading.records_of(overview.dialogue, [row.session.id for row in page])
        return SessionRow(page, many=True, context={"records": records}).data

    return api.page_of(request, overview.rows, payload)


@api.listing(ScriptTurn, query=[NUMBER, WORDS, SPEAKER, CONTINUATION], name="corpora_scripts_turns")
def script_turns(request: Request, pk: int, dialogue: int) -> QuerySet[Turn]:
    """List turns in order: of one session, that hold some words, or by a speaker; filters combine.

    With `continuation` they are the turns of a system's answers.
    """
    overview = reading.overview(access.script(pk, dialogue))
    search: dict[str, Any] = {
        "words": api.query_text(request, "text"),
        "speaker": api.query_text(request, "speaker"),
        "continuation": api.query_text(request, "continuation") or SELF,
    }
    number = _session_number(request)
    if number is None:
        return reading.find_turns(overview, **search)
    row = overview.row(number)
    return Turn.objects.none() if row is None else reading.find_turns(overview, **search, row=row)


def _session_number(request: Request) -> int | None:
    number = request.query_params.get("session", "")
    if number and not (number.isascii() and number.isdigit() and 1 <= int(number[:8]) <= 10**6):
        raise ValidationError({"session": ["A whole number from 1 to 1000000."]})
    return int(number) if number else None


@api.get(WholeSession)
def script_session(request: Request, pk: int, dialogue: int, number: int) -> dict[str, Any]:
    """Return a session with all its versions."""
    return _session(*_row(access.script(pk, dialogue), number))


@api.patch(ChangeSession, ChangedSession, responses=REFUSES_FIELD)
def change_script_session(request: Request, pk: int, dialogue: int, number: int) -> dict[str, Any]:
    """Change a session's date, place or people, with the reason; question sets are marked as stale."""
    script = access.script(pk, dialogue)
    _, row = _row(script, number)
    changed = change_session(
        dialogue=script, session=row.session.id, by=api.user(request), **api.data(request)
    )
    return _session(*_row(script, number)) | {
        "warnings": list(changed.warnings),
        "stale": MarkedSet(changed.stale, many=True).data,
    }


def _in_numbers(overview: Overview) -> dict[str, Any]:
    counts = reading.counts_of(overview.dialogue)
    return {
        "id": overview.dialogue.pk,
        "key": overview.dialogue.key,
        "main": overview.script.main,
        "sessions": len(overview.rows),
        "heard": sum(row.heard for row in overview.rows),
        "turns": sum(row.turns for row in overview.rows),
        "facts": counts[FACT],
        "questions": counts[QUESTION],
        "names": [f"{name_map.kind}:{name_map.version}" for name_map in overview.script.names],
        "warnings": list(warnings_of(overview.script)),
    }


def _row(dialogue: Dialogue, number: int) -> tuple[Overview, Row]:
    overview = reading.overview(dialogue)
    row = overview.row(number)
    if row is None:
        raise Http404
    return overview, row


def _session(overview: Overview, row: Row) -> dict[str, Any]:
    records = reading.records_of(overview.dialogue, [row.session.id])
    versions = SessionVersionRow(versions_of(overview.dialogue, row.session), many=True)
    return {**SessionRow(row, context={"records": records}).data, "versions": versions.data}


# A script as a file: a line of the native format.


class FileQuery(Plain):
    """Contents beside the script: question sets by name; without a name, the last version of each."""

    set = serializers.ListField(
        child=serializers.CharField(max_length=100),
        required=False,
        max_length=100,
        help_text="a question set, by name or as name@version; may be repeated",
    )
    without_sets = serializers.BooleanField(default=False)
    continuations = serializers.BooleanField(default=False, help_text="systems' answers, too")


@api.get(
    takes=FileQuery,
    responses={(200, MEDIA): OpenApiTypes.BINARY} | REFUSES_FIELD,
    name="corpora_scripts_file",
)
def script_file(request: Request, pk: int, dialogue: int) -> FileResponse:
    """Send a script in the native format: as it is now, with its facts, questions and question sets."""
    script = access.script(pk, dialogue)
    data = api.data(request)
    sets = () if data["without_sets"] else tuple(data.get("set") or ()) or None
    selection = ExportSelection(sets, data["continuations"])
    return answer(dialogue=script, selection=selection, by=api.user(request))


# Name maps: all versions, made from a seed or written.

Texts = serializers.ListField


def _names(most: int = MOST) -> Texts:
    return Texts(
        child=serializers.CharField(max_length=LONGEST), required=False, default=list, max_length=most
    )


class Names(Plain):
    """A version of a name map: `pairs` are [old name, new name], `kept` are spellings that stay.

    `names` is the map's name in conditions.
    """

    names = serializers.CharField()
    kind = serializers.ChoiceField(choices=list(KINDS))
    version = serializers.IntegerField()
    pairs = Texts(child=Texts(child=serializers.CharField(), min_length=2, max_length=2))
    kept = Texts(child=serializers.CharField())


class NamesRequest(Plain):
    """A new name map: written as `pairs`, or without them made from a `seed`.

    `cast` are the people whose names are swapped (by id or name; empty: those who speak most); `genders`
    and `aliases`, by id or name, add to those that participants declare. `kept` are spellings that stay.
    """

    kind = serializers.ChoiceField(choices=list(KINDS))
    pairs = Texts(
        child=Texts(child=serializers.CharField(max_length=LONGEST), min_length=2, max_length=2),
        required=False,
        min_length=1,
        max_length=MOST,
    )
    kept = _names()
    seed = serializer_field(SEED, default=0, allow_null=False)
    cast = _names(1000)
    genders = serializers.DictField(child=serializers.CharField(max_length=20), required=False, default=dict)
    aliases = serializers.DictField(child=_names(100), required=False, default=dict)


@api.get(Names, many=True, name="corpora_scripts_names_list")
def name_maps(request: Request, pk: int, dialogue: int) -> list[dict[str, Any]]:
    """List all versions of a script's name maps by kind, newest first."""
    return [as_dict(name_map) for name_map in maps_of(access.script(pk, dialogue))]


@api.post(NamesRequest, Names, status=201, responses=REFUSES_FIELD)
def add_name_map(request: Request, pk: int, dialogue: int) -> dict[str, Any]:
    """Store the next version of a kind; earlier versions never change."""
    script = access.script(pk, dialogue)
    return as_dict(_add_name_map(script, api.user(request), api.data(request)))


def _add_name_map(script: Dialogue, by: User, data: dict[str, Any]) -> NameMap:
    if "pairs" not in data:
        return make_names(dialogue=script, by=by, **data)
    pairs = [(old, new) for old, new in data["pairs"]]
    return save_names(dialogue=script, kind=data["kind"], pairs=pairs, kept=data["kept"], by=by)
