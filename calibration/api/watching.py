"""Watching a campaign over HTTP. For who may manage the campaign."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.access import IsCampaignResearcher
from calibration.agreement.own import own_agreement
from calibration.api.serializers import ResultSerializer
from calibration.checks.results import STATES
from calibration.watching.watch import BY, choices, watch
from config.permissions import IsSignedIn

# One's own agreement with others over HTTP, where the campaign shows it.


class OwnAgreementRow(serializers.Serializer[Any]):
    """The share of pairs of an own answer and another's that are the same; null with the reason why."""

    question = serializers.CharField()
    value = serializers.FloatField(source="result.value", allow_null=True)
    low = serializers.FloatField(source="result.low", allow_null=True)
    high = serializers.FloatField(source="result.high", allow_null=True)
    n_items = serializers.IntegerField(source="result.n_items")
    n_clusters = serializers.IntegerField(source="result.n_clusters")
    n_raters = serializers.IntegerField(source="result.n_raters")
    status = serializers.CharField(source="result.status")
    reason = serializers.CharField(source="result.reason")
    method = serializers.CharField(source="result.method")
    flags = serializers.ListField(child=serializers.CharField(), source="result.flags")


class OwnAgreement(serializers.Serializer[Any]):
    """Tasks that count, tasks that all raters finished, and a row a question (none below 20 tasks)."""

    tasks = serializers.IntegerField()
    finished = serializers.IntegerField()
    rows = OwnAgreementRow(many=True)


@extend_schema(responses=OwnAgreement)
@api_view(["GET"])
@permission_classes([IsSignedIn])
def own(request: Request, campaign: int) -> Response:
    """Members of a campaign that shows it: how far they agree with the others."""
    assert isinstance(request.user, User)
    member = access.membership(request.user, campaign)
    if not member.campaign.shows_agreement:
        raise Http404
    return Response(OwnAgreement(own_agreement(request.user, member.campaign)).data)


Plain = serializers.Serializer[Any]


class WatchQuerySerializer(Plain):
    """By what progress is told, and the key of the question whose raters are told."""

    by = serializers.ChoiceField(choices=list(BY), required=False, help_text="system unless told")
    question = serializers.CharField(
        required=False, max_length=120, help_text="the key of a question; the first with answers unless told"
    )
    everyone = serializers.BooleanField(
        default=False, help_text="whether agreement counts who is left out of gold, too"
    )


class WatchCountsSerializer(Plain):
    """Tasks, their slots, and what became of them."""

    tasks = serializers.IntegerField()
    slots = serializers.IntegerField()
    submitted = serializers.IntegerField()
    held = serializers.IntegerField()
    skipped = serializers.IntegerField()
    flagged = serializers.IntegerField()
    returned = serializers.IntegerField()
    voided = serializers.IntegerField()


class WatchedAnnotatorSerializer(Plain):
    """One annotator's part, by pseudonym; `attended` and `taken` are median seconds a submitted task."""

    name = serializers.CharField()
    active = serializers.BooleanField()
    submitted = serializers.IntegerField()
    held = serializers.IntegerField()
    skipped = serializers.IntegerField()
    expired = serializers.IntegerField()
    returned = serializers.IntegerField()
    voided = serializers.IntegerField()
    flagged = serializers.IntegerField()
    attended = serializers.FloatField(allow_null=True)
    taken = serializers.FloatField(allow_null=True)
    last = serializers.DateTimeField(allow_null=True)


class WatchedStratumSerializer(Plain):
    """The tasks of one stratum and their slots; `taken` are those submitted or held."""

    name = serializers.CharField()
    tasks = serializers.IntegerField()
    slots = serializers.IntegerField()
    submitted = serializers.IntegerField()
    taken = serializers.IntegerField()


class WatchedDaySerializer(Plain):
    """What was submitted on a day of UTC."""

    day = serializers.DateField()
    submitted = serializers.IntegerField()


class ForecastSerializer(Plain):
    """Submissions a day over the last seven days, and the days that the rest takes at that pace."""

    left = serializers.IntegerField()
    a_day = serializers.FloatField()
    days = serializers.FloatField(allow_null=True)


class WatchedProgressSerializer(Plain):
    """How far the campaign is."""

    counts = WatchCountsSerializer()
    annotators = WatchedAnnotatorSerializer(many=True)
    by = serializers.CharField()
    strata = WatchedStratumSerializer(many=True)
    days = WatchedDaySerializer(many=True)
    forecast = ForecastSerializer()


class WatchedQuestionSerializer(Plain):
    """One question's figures so far, or why there are none."""

    question = serializers.CharField()
    statistics = ResultSerializer(many=True)
    reason = serializers.CharField(allow_blank=True)


class WatchedRaterSerializer(Plain):
    """One rater's figures on the chosen question."""

    rater = serializers.CharField()
    group = serializers.IntegerField()
    figures = ResultSerializer(many=True)


class WatchedAnswerSerializer(Plain):
    """What one rater answered."""

    rater = serializers.CharField()
    value = serializers.CharField()


class DividingSerializer(Plain):
    """An item whose raters are far apart."""

    item = serializers.CharField()
    apart = serializers.FloatField()
    answers = WatchedAnswerSerializer(many=True)


class WatchedAgreementSerializer(Plain):
    """How far people agree so far."""

    labels = serializers.IntegerField()
    too_many = serializers.BooleanField()
    test_left_out = serializers.BooleanField()
    questions = WatchedQuestionSerializer(many=True)
    chosen = serializers.CharField(allow_null=True)
    raters = WatchedRaterSerializer(many=True)
    raters_reason = serializers.CharField(allow_blank=True)
    dividing = DividingSerializer(many=True)


class ActSerializer(Plain):
    """What somebody did last."""

    at = serializers.DateTimeField()
    who = serializers.CharField(allow_blank=True)
    what = serializers.CharField()
    submission = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)


class WatchedLeftOutSerializer(Plain):
    """Somebody whom gold leaves out, since when and why."""

    annotator = serializers.CharField()
    since = serializers.DateTimeField()
    why = serializers.CharField()


class WatchedChecksSerializer(Plain):
    """How an annotator does in training, test, hidden checks and repeats; shares with their intervals."""

    annotator = serializers.CharField()
    state = serializers.ChoiceField(choices=list(STATES))
    training_rounds = serializers.IntegerField()
    test_tries = serializers.IntegerField()
    test_score = serializers.FloatField(allow_null=True)
    test_passed = serializers.BooleanField(allow_null=True)
    let_in_because = serializers.CharField(allow_blank=True)
    checks = serializers.IntegerField()
    checks_skipped = serializers.IntegerField()
    score = serializers.FloatField(allow_null=True)
    score_low = serializers.FloatField(allow_null=True)
    score_high = serializers.FloatField(allow_null=True)
    score_reason = serializers.CharField(allow_blank=True)
    recent_score = serializers.FloatField(allow_null=True)
    recent_checks = serializers.IntegerField()
    repeats = serializers.IntegerField()
    same = serializers.FloatField(allow_null=True)
    same_low = serializers.FloatField(allow_null=True)
    same_high = serializers.FloatField(allow_null=True)
    same_reason = serializers.CharField(allow_blank=True)
    warned_at = serializers.DateTimeField(allow_null=True)
    paused_at = serializers.DateTimeField(allow_null=True)
    paused_because = serializers.CharField(allow_blank=True)
    left_out_at = serializers.DateTimeField(allow_null=True)
    left_out_because = serializers.CharField(allow_blank=True)


class WatchSerializer(Plain):
    """A campaign at a moment."""

    campaign = serializers.CharField()
    state = serializers.CharField()
    at = serializers.DateTimeField()
    progress = WatchedProgressSerializer()
    agreed_at = serializers.DateTimeField()
    agreement = WatchedAgreementSerializer()
    everyone = serializers.BooleanField()
    left_out = WatchedLeftOutSerializer(many=True)
    checks = WatchedChecksSerializer(many=True)
    activity = ActSerializer(many=True)


@extend_schema(parameters=[WatchQuerySerializer], responses=WatchSerializer)
@api_view(["GET"])
@permission_classes([IsCampaignResearcher])
def campaign_watch(request: Request, campaign: int) -> Response:
    """Tell how far a campaign is, how far its people agree so far, and what happened last."""
    about = access.campaign(campaign)
    asked = WatchQuerySerializer(data=request.query_params.dict())
    asked.is_valid(raise_exception=True)
    by = asked.validated_data.get("by", "")
    if by and by not in choices(about):
        raise ValidationError({"by": [f"The campaign has no {by} to tell by."]})
    question, everyone = asked.validated_data.get("question", ""), asked.validated_data["everyone"]
    found = watch(about, by=by, question=question, everyone=everyone)
    return Response(found.as_json())
