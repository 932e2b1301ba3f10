"""API of drift: anchor sets, rechecks of judges, and monitoring. For researchers."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from annotation import access as loading
from annotation.api.corpora_serializers import exclude_field
from annotation.models import Corpus, Question, Rater
from annotation.models.campaigns import Campaign
from calibration import access
from calibration.drift import anchor_actions
from calibration.drift.monitor import BASELINE, MOST_BASELINE, monitor
from calibration.models import AnchorSet, Gold, Recheck
from calibration.statistics.monitoring import ALPHA, LEAST_BASELINE
from calibration.statistics.rechecks import MARGIN
from config import api
from config.lists import Filters, numbered


class AnchorSetSerializer(serializers.ModelSerializer[AnchorSet]):
    """An anchor set: its reference, its schedule, and the number of its items."""

    items = serializers.SerializerMethodField()
    judges = serializers.SerializerMethodField(help_text="Judges that can be asked again, by name.")
    scheduled = serializers.SlugRelatedField[Any](many=True, read_only=True, slug_field="name")

    class Meta:
        model = AnchorSet
        fields = (
            *("id", "name", "corpus", "gold", "campaign", "seed", "margin", "items", "judges"),
            *("every_days", "next_due", "scheduled", "created_at"),
        )

    def get_items(self, anchors: AnchorSet) -> int:
        """Return the number of items."""
        return anchors.items.count()

    def get_judges(self, anchors: AnchorSet) -> list[str]:
        """Return the judges that can be asked again."""
        return [rater.name for rater in anchor_actions.judges_of(anchors)]


class NewAnchorSetSerializer(serializers.Serializer[Any]):
    """A new anchor set: items with labels of `gold`, or with people's labels (of `campaign`, if given)."""

    name = serializers.CharField(max_length=100)
    corpus: Any = serializers.PrimaryKeyRelatedField(queryset=Corpus.objects.all())
    gold: Any = serializers.PrimaryKeyRelatedField(
        queryset=Gold.objects.all(), required=False, allow_null=True
    )
    campaign: Any = serializers.PrimaryKeyRelatedField(
        queryset=Campaign.objects.all(), required=False, allow_null=True
    )
    size = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=anchor_actions.LEAST_ITEMS,
        max_value=anchor_actions.MOST_ITEMS,
    )
    seed = serializers.IntegerField(default=0, min_value=0, max_value=2**31 - 1)
    margin = serializers.FloatField(default=MARGIN, min_value=0.001, max_value=1)
    exclude = exclude_field()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a gold or a campaign of another corpus."""
        for name in ("gold", "campaign"):
            if attrs.get(name) is not None and attrs[name].corpus_id != attrs["corpus"].pk:
                raise serializers.ValidationError({name: ["It belongs to another corpus."]})
        return attrs


class AnchorScheduleSerializer(serializers.Serializer[Any]):
    """A schedule: every so many days, or null for none; `judges` by name, else all that can be asked."""

    every_days = serializers.IntegerField(min_value=1, max_value=anchor_actions.MOST_DAYS, allow_null=True)
    judges = api.texts()


class RecheckSerializer(serializers.ModelSerializer[Recheck]):
    """A judge asked again. `state` is empty until the comparison, whose figures `result` holds."""

    judge = serializers.CharField(source="rater.name")
    run_state = serializers.CharField(source="run.state")
    result = serializers.JSONField()

    class Meta:
        model = Recheck
        fields = (
            *("id", "anchors", "judge", "number", "run", "run_state", "due", "state", "result"),
            *("compared_at", "created_at"),
        )


class JudgeNameSerializer(serializers.Serializer[Any]):
    """A judge of an anchor set, by name."""

    judge = serializers.CharField()


class MonitorQuerySerializer(api.QuerySerializer):
    """Whose answers are monitored, to which question (`scheme@version/key` or key), since which baseline."""

    judge = serializers.CharField()
    question = serializers.CharField()
    baseline = serializers.IntegerField(default=BASELINE, min_value=LEAST_BASELINE, max_value=MOST_BASELINE)
    alpha = serializers.FloatField(default=ALPHA, min_value=0.001, max_value=0.5)


@api.listing(AnchorSetSerializer, filters=Filters({"corpus": numbered("corpus", "corpus")}))
def anchor_sets(request: Request) -> QuerySet[AnchorSet]:
    """Researchers: list the anchor sets, newest first."""
    return AnchorSet.objects.prefetch_related("scheduled")


@api.post(NewAnchorSetSerializer, AnchorSetSerializer, status=201)
def create_anchor_set(request: Request) -> AnchorSet:
    """Researchers: create an anchor set. Items of the test part are never anchors."""
    return anchor_actions.create(by=api.user(request), **api.data(request))


@api.get(AnchorSetSerializer)
def anchor_set(request: Request, pk: int) -> AnchorSet:
    """Researchers: return an anchor set."""
    return access.anchor_set(pk)


@api.patch(AnchorScheduleSerializer, AnchorSetSerializer)
def schedule_rechecks(request: Request, pk: int) -> AnchorSet:
    """Researchers: set or end the schedule on which judges are asked again."""
    anchors, data = access.anchor_set(pk), api.data(request)
    judges = [anchor_actions.judge_named(anchors, name) for name in data["judges"]]
    judges = judges or anchor_actions.judges_of(anchors)
    return anchor_actions.set_schedule(
        by=api.user(request), anchors=anchors, every_days=data["every_days"], judges=judges
    )


@api.delete()
def delete_anchor_set(request: Request, pk: int) -> None:
    """Researchers: delete an anchor set that no judge was asked about."""
    anchor_actions.delete(by=api.user(request), anchors=access.anchor_set(pk))


@api.listing(RecheckSerializer)
def rechecks(request: Request, pk: int) -> QuerySet[Recheck]:
    """Researchers: list the rechecks on an anchor set, newest first."""
    return access.anchor_set(pk).rechecks.select_related("rater", "run")


@api.post(JudgeNameSerializer, RecheckSerializer, status=201)
def start_recheck(request: Request, pk: int) -> Recheck:
    """Researchers: ask a judge again; the one in progress is returned if there is one."""
    anchors = access.anchor_set(pk)
    rater = anchor_actions.judge_named(anchors, api.data(request)["judge"])
    return anchor_actions.recheck(by=api.user(request), anchors=anchors, rater=rater)


@api.post(JudgeNameSerializer)
def estimate_recheck(request: Request, pk: int) -> dict[str, Any]:
    """Researchers: return the calls, tokens and cost of asking a judge again; nothing is sent or stored."""
    anchors = access.anchor_set(pk)
    rater = anchor_actions.judge_named(anchors, api.data(request)["judge"])
    return anchor_actions.estimate(anchors, rater).as_json()


@api.get(RecheckSerializer)
def recheck(request: Request, pk: int) -> Recheck:
    """Researchers: return a recheck with its comparison."""
    return access.recheck(pk)


@api.get(takes=MonitorQuerySerializer)
def judge_monitor(request: Request, pk: int) -> dict[str, Any]:
    """Researchers: return a judge's answers to a question over time, with evidence and alarm."""
    corpus, data = loading.corpus(pk), api.data(request)
    rater = Rater.objects.filter(kind=Rater.Kind.JUDGE, name=data["judge"]).order_by("corpus").first()
    if rater is None:
        raise ValidationError({"judge": ["No judge has this name."]})
    place, _, key = data["question"].rpartition("/")
    answered = Question.objects.filter(key=key, labels__rater=rater, labels__item__corpus=corpus).distinct()
    question = next(
        (
            row
            for row in answered.select_related("version__scheme").order_by("-version")
            if place in ("", f"{row.version.scheme.key}@{row.version.version}")
        ),
        None,
    )
    if question is None:
        raise ValidationError({"question": ["The judge has not answered it in this corpus."]})
    monitored = monitor(
        corpus=corpus, rater=rater, question=question, n_baseline=data["baseline"], alpha=data["alpha"]
    )
    return monitored.as_json()
