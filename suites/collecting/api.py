"""The API of collecting: the release check of a corpus (researchers only), and the routes of all."""

from __future__ import annotations

from typing import Any

from django.urls import URLPattern, path
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from config import api
from config.api import route
from suites.collecting import chat_api, persona_api, release, writing_api
from suites.collecting.personal_data import KINDS

Plain = serializers.Serializer[Any]


class ReleaseReasonSerializer(Plain):
    """A reviewer's reason for an objection; `rater` is the pseudonym in the corpus."""

    rater = serializers.CharField()
    reason = serializers.CharField()


class PersonalDataFlagSerializer(Plain):
    """Possible personal data in a turn: its index in the continuation, and its number for annotators."""

    continuation = serializers.CharField()
    turn = serializers.IntegerField()
    turn_number = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=list(KINDS))
    text = serializers.CharField()


class ReleaseCheckSerializer(Plain):
    """A dialogue in the release check.

    It is `hidden`, without answers, in a test part that nobody has opened.
    """

    dialogue = serializers.CharField()
    state = serializers.ChoiceField(choices=list(release.TITLES))
    objections = serializers.IntegerField(allow_null=True, help_text="People who object.")
    reviews = serializers.IntegerField(allow_null=True, help_text="People who have answered.")
    needed = serializers.IntegerField(help_text="People who are to answer.")
    reasons = ReleaseReasonSerializer(many=True)
    flags = PersonalDataFlagSerializer(many=True)


@api.listing(
    ReleaseCheckSerializer, query=[OpenApiParameter("state", str, enum=list(release.TITLES), default="")]
)
def release_check(request: Request, name: str) -> Response:
    """List the dialogues of a corpus with their states, reviewers' reasons and possible personal data."""
    corpus = access.corpus_named(name)
    state = request.query_params.get("state", "")
    if state and state not in release.TITLES:
        raise ValidationError({"state": [f"One of {', '.join(release.TITLES)}."]})

    def payload(page: list[Any]) -> list[dict[str, Any]]:
        return [checked.as_json() for checked in release.checked_dialogues(corpus, page)]

    return api.page_of(request, release.release_reviews(corpus, state), payload)


urlpatterns: list[URLPattern] = [
    *chat_api.urlpatterns,
    *persona_api.urlpatterns,
    *writing_api.urlpatterns,
    path("corpora/<str:name>/release/", route(release_check), name="api-release-check"),
]
