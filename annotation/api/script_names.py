"""The API of a script's name maps: reading all versions, making one from a seed, writing one."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import access
from annotation.api.scripts import REFUSED, refused_answer
from annotation.errors import ScriptRefused
from annotation.script_editing.name_maps import KINDS, LONGEST, MOST, as_dict, make_names, maps_of, save_names
from config.permissions import IsResearcher

Texts = serializers.ListField


def _names(most: int = MOST) -> Texts:
    return Texts(
        child=serializers.CharField(max_length=LONGEST), required=False, default=list, max_length=most
    )


class Names(serializers.Serializer[Any]):
    """A version of other names: `pairs` are [in the script, becomes], `kept` what stays.

    `names` is what a condition calls it.
    """

    names = serializers.CharField()
    kind = serializers.ChoiceField(choices=list(KINDS))
    version = serializers.IntegerField()
    pairs = Texts(child=Texts(child=serializers.CharField(), min_length=2, max_length=2))
    kept = Texts(child=serializers.CharField())


class NamesRequest(serializers.Serializer[Any]):
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

    permission_classes = (IsResearcher,)

    @extend_schema(responses=Names(many=True), operation_id="corpora_scripts_names_list")
    def get(self, request: Request, pk: int, dialogue: int) -> Response:
        """Return all versions by kind, the newest first."""
        return Response([as_dict(one) for one in maps_of(access.script(pk, dialogue))])

    @extend_schema(request=NamesRequest, responses={201: Names, 400: REFUSED})
    def post(self, request: Request, pk: int, dialogue: int) -> Response:
        """Keep the next version of a kind; what is there is never changed."""
        found = access.script(pk, dialogue)
        asked = NamesRequest(data=request.data)
        asked.is_valid(raise_exception=True)
        told = asked.validated_data
        assert isinstance(request.user, User)
        try:
            if "pairs" in told:
                pairs = [(old, new) for old, new in told["pairs"]]
                made = save_names(
                    dialogue=found, kind=told["kind"], pairs=pairs, kept=told["kept"], by=request.user
                )
            else:
                made = make_names(dialogue=found, by=request.user, **told)
        except ScriptRefused as refused:
            return refused_answer(refused)
        return Response(as_dict(made), status=status.HTTP_201_CREATED)
