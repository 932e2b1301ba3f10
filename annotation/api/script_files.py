"""The API of scripts that leave: one as a line of the native format."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from annotation import access
from annotation.api.scripts import REFUSED, refused_answer
from annotation.errors import ScriptRefused
from annotation.script_editing.leaving import Wanted
from annotation.script_editing.sending import MEDIA, answer
from config.permissions import IsResearcher


class WantedFile(serializers.Serializer[Any]):
    """What leaves beside the script: question sets by name, the last version of each where none is named."""

    set = serializers.ListField(
        child=serializers.CharField(max_length=100),
        required=False,
        max_length=100,
        help_text="a question set, by name or as name@version; may be repeated",
    )
    without_sets = serializers.BooleanField(default=False)
    continuations = serializers.BooleanField(default=False, help_text="what systems answered leaves, too")


class ScriptFile(APIView):
    """A script as a file."""

    permission_classes = (IsResearcher,)

    @extend_schema(
        parameters=[WantedFile],
        responses={(200, MEDIA): OpenApiTypes.BINARY, 400: REFUSED},
        operation_id="corpora_scripts_file",
    )
    def get(self, request: Request, pk: int, dialogue: int) -> HttpResponseBase:
        """Send a script in the native format: as it stands, with its facts, questions and question sets."""
        found = access.script(pk, dialogue)
        asked = WantedFile(data=request.query_params)
        asked.is_valid(raise_exception=True)
        told = asked.validated_data
        sets = () if told["without_sets"] else tuple(told.get("set") or ()) or None
        assert isinstance(request.user, User)
        try:
            return answer(dialogue=found, wanted=Wanted(sets, told["continuations"]), by=request.user)
        except ScriptRefused as refused:
            return refused_answer(refused)
