"""The HTTP API of group-chat agents: who decided in a corpus's scenarios, and baselines that decide."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import access
from annotation.scenario_records import MODES
from config.permissions import IsResearcher
from jobs.api import JobAnswer
from jobs.errors import JobError
from jobs.models import Job
from judges.runs.lookup import PARTS, split_for
from suites.continuation.productions.actions import MOST_TRIALS
from suites.continuation.productions.dialogues import Dialogues
from suites.group_chat import baselines
from suites.group_chat.baselines import deciders, scenario_count
from suites.group_chat.scenarios.agents import AGENTS


class BaselineSerializer(serializers.Serializer[Any]):
    """A baseline: whether it learns from keys, and whether its trials differ."""

    key = serializers.CharField()
    title = serializers.CharField()
    learns = serializers.BooleanField()
    varies = serializers.BooleanField()


class DeciderSerializer(serializers.Serializer[Any]):
    """A system under a condition: in how many scenarios it decided, in how many trials, how often."""

    system = serializers.CharField()
    condition = serializers.JSONField()
    scenarios = serializers.IntegerField()
    trials = serializers.IntegerField()
    decisions = serializers.IntegerField()


class AgentsSerializer(serializers.Serializer[Any]):
    """The baselines that there are, the number of scenarios, and who decided in them."""

    baselines = BaselineSerializer(many=True)
    scenarios = serializers.IntegerField()
    systems = DeciderSerializer(many=True)


class PlaySerializer(serializers.Serializer[Any]):
    """A baseline that is to decide. `seed` is that of its draws; `part` is dev, test or training, or
    empty for all but training."""

    agent = serializers.ChoiceField(choices=list(AGENTS))
    mode = serializers.ChoiceField(choices=MODES, default=MODES[0])
    trials = serializers.IntegerField(min_value=1, max_value=MOST_TRIALS, default=1)
    part = serializers.ChoiceField(choices=PARTS, default="", allow_blank=True)
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=0)


class PlayedSerializer(serializers.Serializer[Any]):
    """What a baseline came to: new continuations (`made`), those that were there (`reused`), decisions."""

    system = serializers.CharField()
    condition = serializers.JSONField()
    scenarios = serializers.IntegerField()
    made = serializers.IntegerField()
    reused = serializers.IntegerField()
    decisions = serializers.IntegerField()
    left_out = serializers.IntegerField()


class Agents(APIView):
    """Researchers: group-chat agents in the scenarios of a corpus."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)

    @extend_schema(responses={200: AgentsSerializer})
    def get(self, request: Request, pk: int) -> Response:
        """Say which baselines there are, and who decided; agents that ask a model are productions."""
        corpus = access.corpus(pk)
        payload = {
            "baselines": baselines.list_baselines(),
            "scenarios": scenario_count(corpus),
            "systems": [decider.as_json() for decider in deciders(corpus)],
        }
        return Response(AgentsSerializer(payload).data)

    @extend_schema(request=PlaySerializer, responses={201: PlayedSerializer, 202: JobAnswer})
    def post(self, request: Request, pk: int) -> Response:
        """Let a baseline decide at every point; what it decided before stays as it is.

        202 with the id of a job for many scenarios and trials; the job's result is what it came to.
        """
        corpus = access.corpus(pk)
        serializer = PlaySerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = serializer.validated_data
        assert isinstance(request.user, User)
        try:
            played = baselines.start(
                by=request.user,
                baseline=baselines.Baseline(data["agent"], data["mode"], data["trials"], data["seed"]),
                dialogues=Dialogues(corpus, split_for(corpus, data["part"]), data["part"]),
            )
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        if isinstance(played, Job):
            return Response({"job": played.pk}, status=status.HTTP_202_ACCEPTED)
        return Response(PlayedSerializer(played.as_json()).data, status=status.HTTP_201_CREATED)
