"""The API of copying a corpus's dialogues without their turns."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import access
from annotation.api.corpora_serializers import REFUSED_FILE, ImportAnswer
from annotation.formats import ImportProblem
from annotation.importing.without_turns import MOST_COPIED, USUAL, copy_without_turns
from config.permissions import IsResearcher

MOST_TURNS = 1_000_000


class WithoutTurnsRequest(serializers.Serializer[Any]):
    """The new corpus's name, how many dialogues, and how many turns these have (0: no limit)."""

    name = serializers.CharField(max_length=100)
    first = serializers.IntegerField(min_value=1, max_value=MOST_COPIED, default=USUAL)
    min_turns = serializers.IntegerField(min_value=0, max_value=MOST_TURNS, default=0)
    max_turns = serializers.IntegerField(min_value=0, max_value=MOST_TURNS, default=0)


class WithoutTurns(APIView):
    """A corpus's dialogues without what was said in them."""

    permission_classes = (IsResearcher,)

    @extend_schema(
        request=WithoutTurnsRequest,
        responses={
            201: ImportAnswer,
            200: ImportAnswer,
            400: OpenApiResponse(REFUSED_FILE, description="There is nothing to copy, or the name is taken."),
        },
    )
    def post(self, request: Request, name: str) -> Response:
        """Copy dialogues into a new corpus: people, metadata, agenda, topic; 200 where it is there."""
        found = access.corpus_named(name)
        asked = WithoutTurnsRequest(data=request.data)
        asked.is_valid(raise_exception=True)
        told = asked.validated_data
        assert isinstance(request.user, User)
        try:
            result = copy_without_turns(
                by=request.user,
                corpus=found,
                name=told["name"],
                first=told["first"],
                least=told["min_turns"],
                most=told["max_turns"],
            )
        except ImportProblem as problem:
            answer = {"detail": str(problem), "code": "import_refused", **problem.as_answer()}
            return Response(answer, status=status.HTTP_400_BAD_REQUEST)
        code = status.HTTP_201_CREATED if result.created else status.HTTP_200_OK
        return Response({**result.as_answer(), "format": "jsonl"}, status=code)
