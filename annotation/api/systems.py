"""The API of a corpus's systems: which there are, and of which family of models each is."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import access
from annotation.corpora import reading
from annotation.corpora.actions import LONGEST, set_families
from annotation.errors import FamilyRefused
from annotation.models import Corpus, System
from config.permissions import IsResearcher


class SystemSerializer(serializers.ModelSerializer[System]):
    """A system with its family and the number of its continuations."""

    continuations = serializers.IntegerField(source="produced", read_only=True)

    class Meta:
        model = System
        fields = ("name", "family", "continuations")


class FamiliesRequest(serializers.Serializer[Any]):
    """Families by the names of systems; an empty one takes it back, systems left out keep theirs."""

    families = serializers.DictField(child=serializers.CharField(max_length=LONGEST, allow_blank=True))


class Systems(APIView):
    """The systems of a corpus."""

    permission_classes = (IsResearcher,)

    @extend_schema(responses=SystemSerializer(many=True))
    def get(self, request: Request, name: str) -> Response:
        """List all systems with their families of models (such as gpt or llama)."""
        return _listed(access.corpus_named(name))

    @extend_schema(request=FamiliesRequest, responses=SystemSerializer(many=True))
    def patch(self, request: Request, name: str) -> Response:
        """Say of which family systems are; return all systems."""
        corpus = access.corpus_named(name)
        asked = FamiliesRequest(data=request.data)
        asked.is_valid(raise_exception=True)
        assert isinstance(request.user, User)
        try:
            set_families(by=request.user, corpus=corpus, **asked.validated_data)
        except FamilyRefused as refused:
            raise ValidationError({"families": [str(refused)]}) from None
        return _listed(corpus)


def _listed(corpus: Corpus) -> Response:
    return Response(SystemSerializer(reading.systems(corpus), many=True).data)
