"""API of run sets: list, follow, change. Researchers only."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request

from config import api
from config.lists import Filters, numbered, since, with_name
from judges import access
from judges.models import RunSet
from judges.runs import run_sets
from judges.runs.run_sets import VERBS, as_json, progress_of


class RunSetCostSerializer(serializers.Serializer[Any]):
    """An amount of money in one currency."""

    currency = serializers.CharField()
    cost = serializers.FloatField()


class SetRunSerializer(serializers.Serializer[Any]):
    """A run of a set. While a job starts it, `run` is null; `reused` calls were done by other runs."""

    title = serializers.CharField()
    run = serializers.IntegerField(allow_null=True)
    job = serializers.IntegerField(allow_null=True, help_text="The job that starts it, over a large corpus.")
    rater = serializers.CharField(allow_null=True)
    endpoint = serializers.CharField(allow_null=True)
    samples = serializers.IntegerField(allow_null=True)
    state = serializers.CharField()
    error = serializers.CharField(allow_blank=True)
    total = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    cancelled = serializers.IntegerField()
    reused = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True, help_text="null: not known, or nothing is asked")
    currency = serializers.CharField(allow_blank=True)


class RunSetSerializer(serializers.Serializer[Any]):
    """A run set with its progress: the counts are sums over its runs."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    corpus = serializers.CharField()
    campaign = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    state = serializers.CharField(help_text="running, paused, failed, cancelled or done")
    total = serializers.IntegerField(help_text="Calls of all runs.")
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    cancelled = serializers.IntegerField()
    reused = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    costs = RunSetCostSerializer(many=True, help_text="Known costs so far.")
    seconds_left = serializers.IntegerField(allow_null=True)
    runs = SetRunSerializer(many=True)


class ChangeRunSetSerializer(serializers.Serializer[Any]):
    """What to do with all runs of a set that it applies to."""

    verb = serializers.ChoiceField(choices=VERBS)


def described(run_set: RunSet) -> Any:
    """Return a set as its JSON."""
    return RunSetSerializer(as_json(run_set, progress_of([run_set])[run_set.pk])).data


def _described_page(page: list[RunSet]) -> Any:
    progress = progress_of(page)
    return RunSetSerializer([as_json(run_set, progress[run_set.pk]) for run_set in page], many=True).data


RUN_SETS = Filters(
    {
        "corpus": with_name("corpus__name", "corpus"),
        "campaign": numbered("campaign_id", "campaign"),
        "since": since("created_at"),
    },
    order=("id", "created_at"),
)


@api.listing(RunSetSerializer, filters=RUN_SETS, page=_described_page)
def all_sets(request: Request) -> QuerySet[RunSet]:
    """Researchers: list all run sets, latest first."""
    return RunSet.objects.select_related("corpus", "campaign").order_by("-id")


@api.get(RunSetSerializer)
def show_set(request: Request, pk: int) -> Any:
    """Researchers: return a run set with its progress."""
    return described(access.run_set(pk))


@api.post(ChangeRunSetSerializer, RunSetSerializer)
def change_set(request: Request, pk: int) -> Any:
    """Pause, resume, cancel or retry the runs of a set that this applies to; 400 where it applies to none."""
    run_set = access.run_set(pk)
    run_sets.change_run_set(by=api.user(request), run_set=run_set, **api.data(request))
    return described(run_set)
