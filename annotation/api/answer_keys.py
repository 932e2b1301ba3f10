"""The API of a scenario's keys: reading and correcting them."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.http import Http404
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import access
from annotation.answer_keys.actions import correct, current
from annotation.api.corpora_serializers import REFUSED_FILE
from annotation.formats import ImportProblem
from annotation.models import Dialogue
from config.permissions import IsResearcher


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
        return _told(_scenario(pk))

    @extend_schema(
        request=KeysRequest,
        responses={
            200: AnswerKeysSerializer,
            400: OpenApiResponse(REFUSED_FILE, description="An import would refuse the scenario."),
        },
    )
    def patch(self, request: Request, pk: int) -> Response:
        """Correct a scenario's keys: from then on they are another rater, and earlier labels stay."""
        found = _scenario(pk)
        asked = KeysRequest(data=request.data)
        asked.is_valid(raise_exception=True)
        assert isinstance(request.user, User)
        try:
            correct(dialogue=found, changes=asked.validated_data, by=request.user)
        except ImportProblem as problem:
            answer = {"detail": str(problem), "code": "import_refused", **problem.as_answer()}
            return Response(answer, status=status.HTTP_400_BAD_REQUEST)
        return _told(found)


def _scenario(pk: int) -> Dialogue:
    found = access.dialogue(pk)
    if found.scenario is None:
        raise Http404
    return found


def _told(dialogue: Dialogue) -> Response:
    rater = current(dialogue.corpus)
    told = {
        "dialogue": dialogue.key,
        "corpus": dialogue.corpus.name,
        "rater": rater and rater.name,
        "scenario": dialogue.scenario,
    }
    return Response(AnswerKeysSerializer(told).data)
