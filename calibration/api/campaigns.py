"""API of a campaign's training, tests, checks and progress, for users who may manage the campaign."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from annotation import access
from annotation.access import IsCampaignResearcher
from annotation.api.campaigns import SettingsSerializer
from annotation.campaigns.progress import Counts
from annotation.models import CheckPlan, KeyTask
from annotation.work import check_actions
from annotation.work.labels import person_called
from annotation.work.submissions import REASON_LIMIT
from calibration import campaign_checks
from calibration.access import check_key, own_campaign
from calibration.api.serializers import ResultSerializer
from calibration.campaign_checks import STATES, collect_results
from calibration.campaign_progress import (
    BY,
    Act,
    Annotator,
    Forecast,
    Stratum,
    choices,
    watch,
)
from calibration.own_agreement import Own, own_agreement
from config import api
from config.permissions import IsSignedIn

# Training, test and checks, for users who may manage the campaign.


class CheckPlanSerializer(SettingsSerializer):
    """Training, test and check settings; pass marks are shares from 0 to 1, and null means never or none."""

    settings = check_actions.SETTINGS

    class Meta:
        model = CheckPlan
        fields = tuple(check_actions.SETTINGS)


class KeyAnswerSerializer(serializers.Serializer[Any]):
    """The correct answer to a question: one of `values`, or a number within `tolerance` of one of them.

    `item` names the item if the task asks about several.
    """

    item = api.optional_text()
    question = serializers.CharField()
    values = serializers.ListField(
        child=serializers.JSONField(), min_length=1, help_text="numbers, or names of categories"
    )
    tolerance = serializers.FloatField(default=0.0, min_value=0)

    def validate_values(self, values: list[Any]) -> list[Any]:
        """Reject values that are neither numbers nor strings."""
        if any(isinstance(value, bool) or not isinstance(value, int | float | str) for value in values):
            raise serializers.ValidationError("Each value is a number or a text.")
        return values


class ChangedKeySerializer(serializers.Serializer[Any]):
    """A key's answers and their explanation."""

    answers = KeyAnswerSerializer(many=True)
    explanation = api.optional_text()


class NewKeySerializer(ChangedKeySerializer):
    """A key: `about` is `dialogue/continuation/turn`, or `dialogue/continuation` if tasks are whole
    continuations."""

    about = serializers.CharField()
    occasion = serializers.ChoiceField(choices=list(KeyTask.OCCASIONS))


class KeysFromSerializer(serializers.Serializer[Any]):
    """Source of keys (`rater:NAME`, `gold:NUMBER` or `adjudicated`), and the seed that draws the tasks."""

    source: Any = serializers.CharField()
    occasion = serializers.ChoiceField(choices=list(KeyTask.OCCASIONS))
    most = serializers.IntegerField(min_value=1, max_value=check_actions.MOST_AT_ONCE, default=10)
    tolerance = serializers.FloatField(default=0.0, min_value=0)


class DecisionSerializer(serializers.Serializer[Any]):
    """A decision about an annotator, by pseudonym, with a reason."""

    annotator = serializers.CharField(max_length=150)
    verb = serializers.ChoiceField(choices=list(check_actions.VERBS))
    reason = serializers.CharField(max_length=REASON_LIMIT)


@api.get(CheckPlanSerializer, permission=IsCampaignResearcher)
def checks(request: Request, campaign: int) -> CheckPlan:
    """Researchers: return a campaign's training, test and check settings."""
    about = access.campaign(campaign)
    return CheckPlan.objects.filter(campaign=about).first() or CheckPlan(campaign=about)


@api.patch(CheckPlanSerializer, CheckPlanSerializer, partial=True, permission=IsCampaignResearcher)
def set_checks(request: Request, campaign: int) -> CheckPlan:
    """Researchers: change the given training, test and check settings of a campaign."""
    about, values = access.campaign(campaign), api.data(request)
    first = values.get("prerequisite")
    if first is not None and not access.may_manage(api.user(request), first):
        raise ValidationError({"prerequisite": "You do not manage that campaign."})
    return check_actions.set_up(by=api.user(request), campaign=about, **values)


@api.get(permission=IsCampaignResearcher)
def check_results(request: Request, campaign: int) -> dict[str, Any]:
    """Researchers: return each annotator's state, scores with intervals, and self-agreement."""
    return collect_results(access.campaign(campaign))


@api.post(DecisionSerializer, status=204, permission=IsCampaignResearcher)
def decide(request: Request, campaign: int) -> None:
    """Researchers: admit, pause or resume an annotator, or exclude from or readmit to gold, with a reason."""
    about = access.campaign(campaign)
    data = api.data(request)
    person = person_called(data["annotator"], about)
    if person is None:
        raise ValidationError({"annotator": "No annotator of this campaign is called so."})
    verb = check_actions.VERBS[data["verb"]]
    verb(by=api.user(request), campaign=about, user=person, reason=data["reason"])


@api.get(permission=IsCampaignResearcher, name="campaigns_checks_keys_list")
def list_keys(request: Request, campaign: int) -> dict[str, Any]:
    """Researchers: list a campaign's tasks with a key (`keys`)."""
    keys = check_actions.list_keys(access.campaign(campaign))
    return {"keys": [check_actions.key_as_json(key) for key in keys]}


@api.post(NewKeySerializer, status=201, permission=IsCampaignResearcher)
def add_key(request: Request, campaign: int) -> dict[str, Any]:
    """Researchers: add a key to a task."""
    about = access.campaign(campaign)
    data = api.data(request)
    spot = check_actions.spot_named(about, data["about"])
    new_key = check_actions.add_key(
        by=api.user(request),
        campaign=about,
        occasion=data["occasion"],
        spot=spot,
        answers=check_actions.parse_answers(about, spot, data["answers"]),
        explanation=data["explanation"],
    )
    return check_actions.key_as_json(new_key)


@api.post(KeysFromSerializer, status=201, permission=IsCampaignResearcher)
def add_keys_from(request: Request, campaign: int) -> dict[str, Any]:
    """Researchers: add keys from known answers; returns the number of `tasks` with a key."""
    about = access.campaign(campaign)
    return {"tasks": campaign_checks.add(by=api.user(request), campaign=about, **api.data(request))}


@api.get(permission=IsCampaignResearcher)
def show_key(request: Request, campaign: int, key: int) -> dict[str, Any]:
    """Researchers: return a key."""
    return check_actions.key_as_json(check_key(access.campaign(campaign), key))


@api.put(ChangedKeySerializer, permission=IsCampaignResearcher)
def correct_key(request: Request, campaign: int, key: int) -> dict[str, Any]:
    """Researchers: correct a key; scores are recomputed."""
    about = access.campaign(campaign)
    keyed_task = check_key(about, key)
    data = api.data(request)
    answers = check_actions.parse_answers(about, check_actions.spot_of(keyed_task), data["answers"])
    check_actions.change_key(
        by=api.user(request), key=keyed_task, answers=answers, explanation=data["explanation"]
    )
    return check_actions.key_as_json(keyed_task)


@api.delete(permission=IsCampaignResearcher)
def retire_key(request: Request, campaign: int, key: int) -> None:
    """Researchers: retire a key."""
    check_actions.retire_key(by=api.user(request), key=check_key(access.campaign(campaign), key))


# Monitoring a campaign, for users who may manage it.

# An annotator's own agreement with others, if the campaign shows it.


class OwnAgreementRow(serializers.Serializer[Any]):
    """Share of pairs of an own and another rater's answer that are the same; null with a reason."""

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
    """Tasks counted, tasks that all raters finished, and one row per question (none below 20 tasks)."""

    tasks = serializers.IntegerField()
    finished = serializers.IntegerField()
    rows = OwnAgreementRow(many=True)


@api.get(OwnAgreement, permission=IsSignedIn)
def own(request: Request, campaign: int) -> Own:
    """Members of a campaign that shows agreement: return your agreement with the others."""
    by = api.user(request)
    return own_agreement(by, own_campaign(by, campaign))


Plain = serializers.Serializer[Any]


class WatchQuerySerializer(api.QuerySerializer):
    """The grouping of progress, and the key of the question whose raters are listed."""

    by = serializers.ChoiceField(choices=list(BY), required=False, help_text="system unless told")
    question = serializers.CharField(
        required=False, max_length=120, help_text="the key of a question; the first with answers by default"
    )
    everyone = serializers.BooleanField(
        default=False, help_text="whether agreement counts who is left out of gold, too"
    )


class WatchedDaySerializer(Plain):
    """Number of submits on a UTC day."""

    day = serializers.DateField()
    submitted = serializers.IntegerField()


class WatchedProgressSerializer(Plain):
    """Progress of the campaign."""

    counts = api.serializer_of(Counts, "WatchCounts")()
    annotators = api.serializer_of(Annotator, "WatchedAnnotator")(many=True)
    by = serializers.CharField()
    strata = api.serializer_of(Stratum, "WatchedStratum")(many=True)
    days = WatchedDaySerializer(many=True)
    forecast = api.serializer_of(Forecast, "Forecast")()


class WatchedQuestionSerializer(Plain):
    """A question's figures so far, or the reason for their absence."""

    question = serializers.CharField()
    statistics = ResultSerializer(many=True)
    reason = serializers.CharField(allow_blank=True)


class WatchedRaterSerializer(Plain):
    """A rater's figures on the selected question."""

    rater = serializers.CharField()
    group = serializers.IntegerField()
    figures = ResultSerializer(many=True)


class WatchedAnswerSerializer(Plain):
    """A rater's answer."""

    rater = serializers.CharField()
    value = serializers.CharField()


class DividingSerializer(Plain):
    """An item on which raters disagree strongly."""

    item = serializers.CharField()
    apart = serializers.FloatField()
    answers = WatchedAnswerSerializer(many=True)


class WatchedAgreementSerializer(Plain):
    """Agreement between people so far."""

    labels = serializers.IntegerField()
    too_many = serializers.BooleanField()
    test_left_out = serializers.BooleanField()
    weighted = serializers.BooleanField()
    questions = WatchedQuestionSerializer(many=True)
    chosen = serializers.CharField(allow_null=True)
    raters = WatchedRaterSerializer(many=True)
    raters_reason = serializers.CharField(allow_blank=True)
    dividing = DividingSerializer(many=True)


class WatchedLeftOutSerializer(Plain):
    """An annotator excluded from gold, with date and reason."""

    annotator = serializers.CharField()
    since = serializers.DateTimeField()
    why = serializers.CharField()


class WatchedChecksSerializer(Plain):
    """An annotator's results in training, test, hidden checks and repeats; shares with intervals."""

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
    """Progress, agreement and activity of a campaign at one time."""

    campaign = serializers.CharField()
    state = serializers.CharField()
    at = serializers.DateTimeField()
    progress = WatchedProgressSerializer()
    agreed_at = serializers.DateTimeField()
    agreement = WatchedAgreementSerializer()
    everyone = serializers.BooleanField()
    left_out = WatchedLeftOutSerializer(many=True)
    checks = WatchedChecksSerializer(many=True)
    activity = api.serializer_of(Act, "Act")(many=True)


@api.get(WatchSerializer, WatchQuerySerializer, permission=IsCampaignResearcher)
def campaign_watch(request: Request, campaign: int) -> dict[str, Any]:
    """Return a campaign's progress, agreement so far, and latest activity."""
    about = access.campaign(campaign)
    query = api.data(request)
    by = query.get("by", "")
    if by and by not in choices(about):
        raise ValidationError({"by": [f"The campaign has no {by} to tell by."]})
    return watch(about, by=by, question=query.get("question", ""), everyone=query["everyone"]).as_json()
