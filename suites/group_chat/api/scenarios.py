"""The API of scenarios: what a corpus has, one turn by turn, checking a text, and saving."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import access
from annotation.api.corpora import LIMIT
from annotation.api.corpora_serializers import REFUSED_FILE
from annotation.formats.source import ImportProblem
from annotation.models.corpora import Dialogue
from config.permissions import IsResearcher
from suites.group_chat.editing import actions
from suites.group_chat.editing.actions import MOST, draft
from suites.group_chat.editing.answer_keys import correct, current
from suites.group_chat.editing.queries import (
    Row,
    is_decided,
    native,
    record_of,
    rows,
    scenario_turns,
    state_of,
    text_of,
)
from suites.group_chat.scenario_text import read_scenario
from suites.group_chat.scenarios.probes import overview

# The API of a scenario's keys: reading and correcting them.


class KeysRequest(serializers.Serializer[Any]):
    """A scenario's own fields as the native format has them; those left out stay, null empties one."""

    points = serializers.ListField(
        child=serializers.IntegerField(min_value=0), required=False, allow_null=True
    )
    secrets = serializers.ListField(child=serializers.DictField(), required=False, allow_null=True)
    common_ground = serializers.ListField(child=serializers.DictField(), required=False, allow_null=True)
    probes = serializers.ListField(child=serializers.DictField(), required=False, allow_null=True)
    keys = serializers.DictField(child=serializers.DictField(), required=False, allow_null=True)
    keyed_by = serializers.ListField(child=serializers.CharField(), required=False, allow_null=True)
    live = serializers.ListField(child=serializers.DictField(), required=False, allow_null=True)


class AnswerKeysSerializer(serializers.Serializer[Any]):
    """A scenario's keys: `rater` is what they are called as a rater, null before anything was decided."""

    dialogue = serializers.CharField()
    corpus = serializers.CharField()
    rater = serializers.CharField(allow_null=True)
    scenario = serializers.DictField()


class AnswerKeys(APIView):
    """The keys of one scenario, with its points, probes, secrets and common ground."""

    permission_classes = (IsResearcher,)

    @extend_schema(responses=AnswerKeysSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Return a scenario's own fields as the native format has them; 404 for other dialogues."""
        return _keys_response(_scenario(pk))

    @extend_schema(
        request=KeysRequest,
        responses={
            200: AnswerKeysSerializer,
            400: OpenApiResponse(REFUSED_FILE, description="An import would refuse the scenario."),
        },
    )
    def patch(self, request: Request, pk: int) -> Response:
        """Correct a scenario's keys: from then on they are another rater, and earlier labels stay."""
        dialogue = _scenario(pk)
        serializer = KeysRequest(data=request.data)
        serializer.is_valid(raise_exception=True)
        assert isinstance(request.user, User)
        try:
            correct(dialogue=dialogue, changes=serializer.validated_data, by=request.user)
        except ImportProblem as problem:
            answer = {"detail": str(problem), "code": "import_refused", **problem.details()}
            return Response(answer, status=status.HTTP_400_BAD_REQUEST)
        return _keys_response(dialogue)


def _scenario(pk: int) -> Dialogue:
    dialogue = access.dialogue(pk)
    if dialogue.scenario is None:
        raise Http404
    return dialogue


def _keys_response(dialogue: Dialogue) -> Response:
    rater = current(dialogue.corpus)
    payload = {
        "dialogue": dialogue.key,
        "corpus": dialogue.corpus.name,
        "rater": rater and rater.name,
        "scenario": dialogue.scenario,
    }
    return Response(AnswerKeysSerializer(payload).data)


OFFSET = OpenApiParameter("offset", {"type": "integer", "minimum": 0, "default": 0})
REFUSED = OpenApiResponse(REFUSED_FILE, description="The scenario is refused: by line, field and reason.")


class ScenarioText(serializers.Serializer[Any]):
    """A scenario as a script in plain text, or as a line of the native format."""

    text = serializers.CharField(max_length=MOST, trim_whitespace=False)
    any_size = serializers.BooleanField(default=False)


class SavedText(ScenarioText):
    """A scenario to be saved; `seen` is the `state` of the stored one that it was made from."""

    seen = serializers.RegexField(r"^[0-9a-f]{64}$", required=False, default="", allow_blank=True)


class OracleProblems(serializers.Serializer[Any]):
    """What the oracle gets wrong at a point, and the key's field at fault."""

    point = serializers.IntegerField()
    field = serializers.CharField()
    reason = serializers.CharField()


class ScenarioRow(serializers.Serializer[Any]):
    """A scenario in numbers: `decided` counts the static continuations that answer its points."""

    id = serializers.IntegerField()
    key = serializers.CharField()
    family = serializers.CharField()
    people = serializers.IntegerField()
    turns = serializers.IntegerField()
    points = serializers.IntegerField()
    probed = serializers.IntegerField()
    free = serializers.IntegerField()
    probes = serializers.ListField(child=serializers.CharField())
    agreed = serializers.BooleanField()
    decided = serializers.IntegerField()
    problems = OracleProblems(many=True)


class ProbeCounts(serializers.Serializer[Any]):
    """How often a kind of probe is planted."""

    kind = serializers.CharField()
    probes = serializers.IntegerField()
    controls = serializers.IntegerField()
    points = serializers.IntegerField()
    control_points = serializers.IntegerField()
    scenarios = serializers.IntegerField()
    families = serializers.IntegerField()


class ScenarioOverview(serializers.Serializer[Any]):
    """The scenarios of a corpus in numbers, with a page of them."""

    scenarios = serializers.IntegerField()
    families = serializers.IntegerField()
    points = serializers.IntegerField()
    probed = serializers.IntegerField()
    free = serializers.IntegerField()
    agreed = serializers.IntegerField()
    wrong = serializers.IntegerField()
    kinds = ProbeCounts(many=True)
    without_control = serializers.ListField(child=serializers.CharField())
    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = ScenarioRow(many=True)


class CheckedScenario(serializers.Serializer[Any]):
    """A scenario turn by turn: who sees it, what is marked there, its key, and what the oracle does."""

    native = serializers.DictField()
    script = serializers.CharField()
    turns = serializers.ListField(child=serializers.DictField())


class StoredScenario(CheckedScenario):
    """A stored scenario; `decided` says whether its script must stay, `state` what it is known by now."""

    id = serializers.IntegerField()
    decided = serializers.BooleanField()
    state = serializers.CharField()


class SavedScenario(StoredScenario):
    """A saved scenario, and what became of it."""

    became = serializers.ChoiceField(choices=["created", "rewritten", "corrected", "unchanged"])


class Scenarios(generics.GenericAPIView[Dialogue]):
    """The scenarios of a corpus."""

    permission_classes = (IsResearcher,)
    serializer_class = ScenarioOverview
    queryset = Dialogue.objects.none()

    @extend_schema(
        operation_id="corpora_scenarios_overview", parameters=[LIMIT, OFFSET], responses=ScenarioOverview
    )
    def get(self, request: Request, pk: int) -> Response:
        """Count the scenarios and their probes, and list them, each with the oracle's check."""
        scenario_rows = rows(access.corpus(pk))
        page = self.paginate_queryset(scenario_rows) or []
        totals = overview([row.summary for row in scenario_rows]).as_dict()
        page_data = self.get_paginated_response([_row(row) for row in page]).data
        return Response(totals | dict(page_data))

    @extend_schema(request=SavedText, responses={201: SavedScenario, 400: REFUSED})
    def post(self, request: Request, pk: int) -> Response:
        """Save a scenario as a new dialogue of the corpus."""
        return _save(request, access.corpus(pk).pk, None)


class OneScenario(APIView):
    """One scenario of a corpus."""

    permission_classes = (IsResearcher,)

    @extend_schema(responses=StoredScenario)
    def get(self, request: Request, pk: int, dialogue: int) -> Response:
        """Return a scenario as a script and in the native format, turn by turn."""
        return Response(_scenario_payload(access.scenario(pk, dialogue)))

    @extend_schema(request=SavedText, responses={200: SavedScenario, 201: SavedScenario, 400: REFUSED})
    def put(self, request: Request, pk: int, dialogue: int) -> Response:
        """Save a changed scenario: over one that nobody answered to, or as a correction of keys.

        With another id it becomes a new dialogue (201).
        """
        return _save(request, pk, access.scenario(pk, dialogue))


class CheckScenario(APIView):
    """Checking a scenario without saving it."""

    permission_classes = (IsResearcher,)

    @extend_schema(request=ScenarioText, responses={200: CheckedScenario, 400: REFUSED})
    def post(self, request: Request) -> Response:
        """Read a scenario as an import would, the oracle's check included; nothing is kept."""
        serializer = ScenarioText(data=request.data)
        serializer.is_valid(raise_exception=True)
        checked_draft = draft(
            serializer.validated_data["text"], any_size=serializer.validated_data["any_size"]
        )
        if checked_draft.record is None:
            assert checked_draft.problem is not None
            return _refusal_response(checked_draft.problem)
        return Response(_checked_payload(checked_draft.record))


def _row(row: Row) -> dict[str, Any]:
    summary = row.summary
    return {
        "id": row.dialogue.pk,
        "key": row.dialogue.key,
        "family": row.dialogue.cluster,
        "people": summary.people,
        "turns": len(summary.dialogue.turns),
        "points": summary.points,
        "probed": summary.probed,
        "free": summary.free,
        "probes": list(summary.kinds),
        "agreed": summary.agreed,
        "decided": row.decided,
        "problems": [{"point": p.point, "field": p.field, "reason": p.reason} for p in summary.problems],
    }


def _checked_payload(record: Any) -> dict[str, Any]:
    lines = [line.as_dict() for line in scenario_turns(record)]
    return {"native": native(record), "script": text_of(record), "turns": lines}


def _scenario_payload(dialogue: Dialogue) -> dict[str, Any]:
    record = record_of(dialogue)
    payload = {"id": dialogue.pk, "decided": is_decided(dialogue), "state": state_of(record)}
    return payload | _checked_payload(record)


def _save(request: Request, corpus: int, opened: Dialogue | None) -> Response:
    serializer = SavedText(data=request.data)
    serializer.is_valid(raise_exception=True)
    data = serializer.validated_data
    assert isinstance(request.user, User)
    try:
        saved = actions.save(
            corpus=access.corpus(corpus),
            record=read_scenario(data["text"], any_size=data["any_size"]),
            by=request.user,
            opened=opened,
            seen=data["seen"],
            any_size=data["any_size"],
        )
    except ImportProblem as problem:
        return _refusal_response(problem)
    code = status.HTTP_201_CREATED if saved.became == "created" else status.HTTP_200_OK
    return Response(_scenario_payload(saved.dialogue) | {"became": saved.became}, status=code)


def _refusal_response(problem: ImportProblem) -> Response:
    payload = {"detail": str(problem), "code": "import_refused", **problem.details()}
    return Response(payload, status=status.HTTP_400_BAD_REQUEST)
