"""Preferences between systems over HTTP. Researchers only, as by default."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from calibration.api.serializers import LookedAtSerializer, OpensTestSerializer, asked, made_of
from calibration.preferences.computing import compute as compute_preferences
from calibration.preferences.computing import compute_on_test
from calibration.preferences.computing import read as read_preferences_query
from calibration.preferences.renderings.as_json import content as preference_content
from calibration.statistics.preferences.fitting import MODELS
from calibration.statistics.preferences.votes import BOTH_BAD_POLICIES

Plain = serializers.Serializer[Any]


class PreferencesQuerySerializer(LookedAtSerializer):
    """Which answers are read, and how. See the documentation of preferences."""

    question = serializers.CharField(required=False, max_length=300, help_text="scheme@version/key, or a key")
    systems = serializers.CharField(required=False, help_text="comparisons among these alone, by commas")
    ties = serializers.ChoiceField(required=False, choices=list(MODELS))
    both_bad = serializers.ChoiceField(required=False, choices=list(BOTH_BAD_POLICIES))
    anchor = serializers.CharField(required=False, max_length=300, help_text="the system of strength 1000")


class PreferencesTestSerializer(OpensTestSerializer, PreferencesQuerySerializer):
    """What is read of test, and for what test is opened."""


class PreferenceFigureSerializer(Plain):
    """A value with its interval; null where there is none, and `reason` says why."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n_items = serializers.IntegerField()
    n_clusters = serializers.IntegerField()
    n_raters = serializers.IntegerField()
    n_missing = serializers.IntegerField()
    method = serializers.CharField(allow_blank=True)
    status = serializers.ChoiceField(choices=["ok", "undefined", "insufficient", "rejected"])
    reason = serializers.CharField(allow_blank=True)
    flags = serializers.ListField(child=serializers.CharField())


class StandingSerializer(Plain):
    """One system against all others."""

    system = serializers.CharField()
    wins = serializers.IntegerField()
    ties = serializers.IntegerField()
    losses = serializers.IntegerField()
    win_rate = PreferenceFigureSerializer()
    strength = PreferenceFigureSerializer()
    rank = PreferenceFigureSerializer()


class MeetingSerializer(Plain):
    """Two systems: the first's wins, and what the strengths expect."""

    first = serializers.CharField()
    second = serializers.CharField()
    wins = serializers.IntegerField()
    ties = serializers.IntegerField()
    losses = serializers.IntegerField()
    win_rate = PreferenceFigureSerializer()
    expected_win_rate = PreferenceFigureSerializer()


class PositionSerializer(Plain):
    """How often the one shown first was chosen; `both_orders` is null where no item was answered in both."""

    rater = serializers.CharField()
    shown_first = PreferenceFigureSerializer()
    both_orders = serializers.DictField(child=PreferenceFigureSerializer(), allow_null=True)


class VotersSerializer(Plain):
    """Raters whose answers count together: all people, or one judge."""

    name = serializers.CharField()
    kind = serializers.CharField(allow_blank=True)
    raters = serializers.ListField(child=serializers.CharField())
    answers = serializers.DictField(child=serializers.IntegerField())
    n_missing = serializers.IntegerField()
    scale = serializers.CharField()
    systems = StandingSerializer(many=True)
    meetings = MeetingSerializer(many=True)
    tie_parameter = PreferenceFigureSerializer(allow_null=True)
    position = PositionSerializer(allow_null=True)


class PairAgreementSerializer(Plain):
    """Agreement of two raters, or of all, in one setup."""

    raters = serializers.ListField(child=serializers.CharField())
    setup = serializers.ChoiceField(choices=["as_answered", "with_ties", "without_ties"])
    figures = serializers.DictField(child=PreferenceFigureSerializer())


class RankingAgreementSerializer(Plain):
    """Agreement of two raters on rankings, or of all."""

    raters = serializers.ListField(child=serializers.CharField())
    figures = serializers.DictField(child=PreferenceFigureSerializer())


class PreferenceQuestionSerializer(Plain):
    """The report of one question."""

    question = serializers.CharField()
    title = serializers.CharField()
    ties = serializers.ChoiceField(choices=list(MODELS))
    both_bad = serializers.ChoiceField(choices=list(BOTH_BAD_POLICIES))
    anchor = serializers.CharField(allow_null=True)
    resamples = serializers.IntegerField()
    seed = serializers.IntegerField()
    level = serializers.FloatField()
    voters = VotersSerializer(many=True)
    positions = PositionSerializer(many=True)
    agreement = PairAgreementSerializer(many=True)
    rankings = RankingAgreementSerializer(many=True)


class PreferencesSerializer(Plain):
    """The report of a corpus or campaign, question by question."""

    name = serializers.CharField()
    facts = serializers.ListField(child=serializers.CharField())
    questions = PreferenceQuestionSerializer(many=True)


@extend_schema(methods=["GET"], parameters=[PreferencesQuerySerializer], responses=PreferencesSerializer)
@extend_schema(methods=["POST"], request=PreferencesTestSerializer, responses=PreferencesSerializer)
@api_view(["GET", "POST"])
def preferences(request: Request, pk: int) -> Response:
    """Return win rates, strengths, agreement, position bias; POST logs a look at test and reports there."""
    corpus = access.corpus(pk)
    data, purpose = asked(request, PreferencesQuerySerializer, PreferencesTestSerializer)
    campaign = data.pop("campaign", None)
    if campaign is not None and campaign.corpus_id != corpus.pk:
        raise ValidationError({"campaign": [f"The campaign is about another corpus than {corpus.name}."]})
    made = made_of(
        request,
        lambda: read_preferences_query(data, corpus, campaign),
        compute_preferences,
        compute_on_test,
        purpose,
    )
    return Response(preference_content(made.report))
