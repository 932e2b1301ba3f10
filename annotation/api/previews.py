"""What annotators would get, for researchers: nothing is handed out, and nothing is kept."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.refusals import answered
from annotation.api.schemes import written
from annotation.api.schemes_serializers import WrittenSerializer
from annotation.api.work import TOLD
from annotation.api.work_serializers import ScreenSerializer
from annotation.scheme_versions.asked import Questionnaire, questionnaire_from, questionnaire_of
from annotation.work import previews
from annotation.work.screens import Screen
from config.permissions import IsResearcher


class PreviewSerializer(serializers.Serializer[Any]):
    """A task (`number`, from 1, of the first `of`) as its annotator gets it: what is asked, what is shown."""

    number = serializers.IntegerField()
    of = serializers.IntegerField()
    questions = serializers.ListField(child=serializers.DictField())
    guidelines = serializers.CharField()
    task = ScreenSerializer()


TASK = OpenApiParameter(
    "task",
    {"type": "integer", "minimum": 1, "maximum": previews.FIRST, "default": 1},
    description=f"which of the campaign's first tasks, {previews.FIRST} at most",
)


@extend_schema(request=WrittenSerializer, responses=PreviewSerializer)
@api_view(["POST"])
@permission_classes([IsResearcher])
@answered
def scheme_preview(request: Request) -> Response:
    """Researchers: a scheme's questions beside a sample, as an annotator gets them; nothing is stored."""
    definition = written(WrittenSerializer, request)
    plan = questionnaire_from(definition)
    screen = previews.of_scheme(definition, None)
    return Response(_told(plan, screen, definition.guidelines, 1, 1))


@extend_schema(parameters=[TASK], responses=PreviewSerializer)
@api_view(["GET"])
@permission_classes([IsResearcher])
def campaign_preview(request: Request, campaign: int) -> Response:
    """Researchers: one of a campaign's first tasks as an annotator would get it, before or after it opens."""
    found = access.campaign(campaign)
    number = _number(request.query_params.get("task", "1"))
    places = previews.places(found)
    if number > len(places):
        raise Http404(f"The campaign has {len(places)} tasks to look at.")
    plan = questionnaire_of(found.scheme_version_id)
    screen = previews.of_campaign(found, places[number - 1])
    guidelines = found.guidelines.order_by("-version").first()
    return Response(_told(plan, screen, guidelines.text if guidelines else "", number, len(places)))


def _told(plan: Questionnaire, screen: Screen, guidelines: str, number: int, of: int) -> dict[str, Any]:
    questions = [{name: getattr(question, name) for name in TOLD} for question in plan.questions]
    told = {"number": number, "of": of, "questions": questions, "guidelines": guidelines}
    return told | {"task": ScreenSerializer(screen).data}


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 4 and 1 <= int(text) <= previews.FIRST):
        raise ValidationError({"task": [f"A whole number from 1 to {previews.FIRST}."]})
    return int(text)
