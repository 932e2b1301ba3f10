"""API of runs, their calls and batches, and of protocols and metrics. Researchers only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.fields import empty
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import turn_numbers
from config import api
from config.lists import Filters, numbered, one_of, since, with_name
from jobs import access, runs
from jobs.api import JobAnswer, accepted
from jobs.calls import batch_actions
from jobs.calls.batch_actions import of_run
from jobs.calls.causes import Cause, failure_causes
from jobs.calls.served_models import served_models
from jobs.endpoints.parameter_inputs import (
    serializer_field,
)
from jobs.errors import ERROR_KINDS
from jobs.models import Batch, Job
from jobs.models.run import Call, Run
from jobs.progress import progress
from jobs.runs import CAPS, PAUSES
from judges.drafts import DRAFT
from judges.metrics import METRICS, Metric
from judges.protocols import PROTOCOLS, Protocol
from judges.runs.lookup import Availability, availability, corpus_named

# Request and response bodies about caps, estimates and spending.


def cap_fields() -> dict[str, Any]:
    """Return the fields of a run's caps, by name."""
    return {
        name: serializer_field(
            cap, required=False, default=empty, help_text=f"{cap.label}: {PAUSES}; null: no limit."
        )
        for name, cap in CAPS.items()
    }


class TakenSerializer(serializers.Serializer[Any]):
    """Approximate calls, tokens and cost of asking a model, and the receiver of the text."""

    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)
    currency = serializers.CharField()
    endpoint = serializers.CharField()
    model = serializers.CharField()
    host = serializers.CharField()
    is_here = serializers.BooleanField()


class CapsSerializer(serializers.Serializer[Any]):
    """Caps of a run. Omitted caps stay unchanged; null removes a cap."""

    def get_fields(self) -> dict[str, Any]:
        """Return one field per cap."""
        return cap_fields()


class SpentSerializer(serializers.Serializer[Any]):
    """Total calls, tokens and cost of a judge, a campaign or a run."""

    key = serializers.IntegerField(allow_null=True, help_text="Id of the judge, campaign or run.")
    name = serializers.CharField(allow_null=True)
    currency = serializers.CharField()
    runs = serializers.IntegerField()
    asked = serializers.IntegerField(help_text="Completions that were paid for.")
    cached = serializers.IntegerField(help_text="Calls that took the reply of an equal request.")
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True, help_text="null: the endpoint had no prices.")
    at_least = serializers.BooleanField(help_text="Of some calls the cost is not known.")
    saved = serializers.FloatField(help_text="What the cached calls would have cost.")


class BatchSerializer(serializers.Serializer[Any]):
    """A batch of a run's calls. `completed_there` and `failed_there` are the provider's counts; `answered`,
    `failed` and `returned` (waiting for another batch) count outcomes of its calls once collected."""

    id = serializers.IntegerField()
    run_id = serializers.IntegerField()
    state = serializers.ChoiceField(choices=Batch.State.choices)
    provider_id = serializers.CharField(allow_blank=True)
    provider_state = serializers.CharField(allow_blank=True)
    size = serializers.IntegerField(help_text="Calls in it.")
    completed_there = serializers.IntegerField(allow_null=True)
    failed_there = serializers.IntegerField(allow_null=True)
    answered = serializers.IntegerField(allow_null=True)
    failed = serializers.IntegerField(allow_null=True)
    returned = serializers.IntegerField(allow_null=True)
    share = serializers.FloatField(help_text="Of the ordinary price.")
    created_at = serializers.DateTimeField()
    submitted_at = serializers.DateTimeField(allow_null=True)
    looked_at = serializers.DateTimeField(allow_null=True)
    next_look = serializers.DateTimeField(allow_null=True)
    cancel_sent_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    error = serializers.CharField(allow_blank=True)
    files = serializers.ChoiceField(
        choices=Batch.Files.choices,
        allow_blank=True,
        help_text="Those at the provider, once it has ended; empty: none that are Concord's to delete.",
    )
    files_note = serializers.CharField(allow_blank=True, help_text="Why they are there still.")


class AdoptSerializer(serializers.Serializer[Any]):
    """The provider's id of the batch to adopt."""

    provider_id = serializers.CharField(max_length=200)


# Request and response bodies about runs, calls and endpoints.


class ServedModelSerializer(serializers.Serializer[Any]):
    """A model and its build by the replies of the server; empty where it does not say it."""

    model = serializers.CharField(allow_blank=True)
    system_fingerprint = serializers.CharField(allow_blank=True)
    calls = serializers.IntegerField(help_text="Replies that name it.")


class RunSerializer(serializers.ModelSerializer[Run]):
    """A run with its progress."""

    name = serializers.CharField()
    rater = serializers.CharField(source="rater.name", default=None, allow_null=True)
    spec = serializers.JSONField(source="identity")
    endpoint = serializers.CharField(source="endpoint.name", default=None, allow_null=True)
    address = serializers.CharField(help_text="Of the server that it asks; empty where it asks none.")
    revision = serializers.CharField(help_text="Of its model there, where the endpoint names one.")
    corpus = serializers.CharField(source="corpus.name")
    campaign = serializers.CharField(source="campaign.name", default=None, allow_null=True)
    progress = serializers.SerializerMethodField()
    batches = serializers.SerializerMethodField()

    class Meta:
        model = Run
        fields: tuple[str, ...] = (
            *("id", "kind", "name", "rater", "spec", "endpoint", "address", "revision", "corpus", "campaign"),
            *("queue", "scope", "samples"),
            *("state", "error", "created_at", "started_at", "finished_at", "mode", "progress", "batches"),
        )

    @extend_schema_field(serializers.DictField())
    def get_progress(self, run: Run) -> dict[str, Any]:
        """Counts, rate, time left, tokens and cost."""
        return progress(run).as_json()

    @extend_schema_field(BatchSerializer(many=True))
    def get_batches(self, run: Run) -> list[dict[str, Any]]:
        """The run's batches, oldest first; also if the run has since switched to direct requests."""
        return of_run(run)


class RunDetailSerializer(RunSerializer):
    """A run with its progress, and the models that served it, which are read from all of its calls."""

    served = serializers.SerializerMethodField()

    class Meta(RunSerializer.Meta):
        fields = (*RunSerializer.Meta.fields, "served")

    @extend_schema_field(ServedModelSerializer(many=True))
    def get_served(self, run: Run) -> list[dict[str, Any]]:
        """Models and builds that the replies name, the most frequent first."""
        return [row.as_json() for row in served_models(run.calls.all())]


class CallSerializer(serializers.ModelSerializer[Call]):
    """A call with its raw reply."""

    dialogue = serializers.CharField(source="continuation.dialogue.key", default=None, allow_null=True)
    continuation = serializers.CharField(source="continuation.key", default=None, allow_null=True)
    turn = serializers.IntegerField(source="item.turn.position", default=None, allow_null=True)
    turn_number = serializers.IntegerField(source="item.turn.number", default=None, allow_null=True)
    endpoint = serializers.CharField(source="run.endpoint.name", default=None, allow_null=True)
    address = serializers.CharField(source="run.address")
    revision = serializers.CharField(source="run.revision")

    class Meta:
        model = Call
        fields = (
            *("id", "dialogue", "continuation", "turn", "turn_number", "part", "sample", "state", "attempts"),
            *("endpoint", "address", "revision", "error", "error_kind", "flags", "reply", "reply_form"),
            *("reasoning", "cached", "batch", "saved", "asked", "sent", "lost", "prompt_hash"),
            *("served_model", "system_fingerprint"),
            *("tokens_in", "tokens_out", "cost", "latency_ms", "finished_at"),
        )


class CauseSerializer(serializers.Serializer[Any]):
    """Failed calls of a run with the same error, apart from numbers and ids."""

    key = serializers.CharField(help_text="Names the group in a retry of its calls.")
    error_kind = serializers.CharField(source="kind", allow_blank=True)
    description = serializers.CharField()
    error = serializers.CharField(help_text="Of the example.")
    n = serializers.IntegerField(help_text="Failed calls.")
    next_step = serializers.CharField()
    example = CallSerializer()


class RetrySerializer(serializers.Serializer[Any]):
    """Which calls are asked again: all that failed or were cancelled, or the failed ones of a cause."""

    cause = api.optional_text(help_text="The `key` of a cause.")


class NeedSerializer(serializers.Serializer[Any]):
    """Another rater's answers that a protocol reads."""

    role = serializers.CharField()
    question = serializers.CharField(help_text="scheme/question")
    aggregate = serializers.CharField(help_text="How the rater's samples become one value.")
    missing = serializers.CharField(help_text="What happens where a turn has no value.")
    optional = serializers.BooleanField(help_text="It may be left unbound, and keeps nothing back.")
    also = serializers.ListField(
        child=serializers.CharField(), help_text="Further questions of the same scheme that are read with it."
    )


class ProtocolSerializer(serializers.Serializer[Any]):
    """A judge protocol."""

    key = serializers.CharField()
    title = serializers.CharField()
    version = serializers.IntegerField()
    covers = serializers.CharField()
    network = serializers.BooleanField()
    variants = serializers.ListField(child=serializers.CharField())
    takes_scheme = serializers.BooleanField(help_text="It asks the questions of whichever scheme is named.")
    needs = NeedSerializer(many=True)


class MetricSerializer(serializers.Serializer[Any]):
    """A metric."""

    key = serializers.CharField()
    title = serializers.CharField()
    kind = serializers.CharField()
    aspect = serializers.CharField()
    needs = serializers.ListField(child=serializers.CharField())
    obstacle = serializers.CharField(
        default="", help_text="Why it has no value in `corpus`, where one is named."
    )
    warning = serializers.CharField(default="", help_text="Why its values in `corpus` may mean little.")
    documentation = serializers.CharField()
    variants = serializers.ListField(child=serializers.CharField())


RUNS = Filters(
    {
        "state": one_of("state", Run.State.values),
        "kind": one_of("kind", ("judge", "metric", "generate")),
        "corpus": with_name("corpus__name", "corpus"),
        "campaign": numbered("campaign_id", "campaign"),
        "rater": with_name("rater__name", "rater"),
        "since": since("created_at"),
    },
    order=("id", "created_at", "finished_at"),
)


@api.listing(RunSerializer, filters=RUNS)
def all_runs(request: Request) -> QuerySet[Run]:
    """Researchers: list all runs except those of drafts, latest first."""
    rows = Run.objects.exclude(kind=DRAFT).prefetch_related("batches").order_by("-id")
    return rows.select_related("rater", "corpus", "campaign", "endpoint")


@api.get(RunDetailSerializer)
def run(request: Request, pk: int) -> Run:
    """Researchers: return a run with its progress, and the models that served it."""
    return access.run(pk)


@api.post(gives=RunSerializer)
def cancel(request: Request, pk: int) -> Run:
    """Researchers: stop a run and cancel its pending calls; finished calls are kept."""
    return runs.cancel_calls(by=api.user(request), run=access.run(pk))


@api.get(CauseSerializer, many=True)
def causes(request: Request, pk: int) -> list[Cause]:
    """List the causes of a run's failed calls, the commonest first, each with one call as an example."""
    return failure_causes(access.run(pk))


@api.post(RetrySerializer, RunSerializer, responses={202: JobAnswer})
def retry(request: Request, pk: int) -> Run | Response:
    """Retry failed and cancelled calls, or those of one cause; 202 with the id of a job if there are many."""
    retried = runs.retry(by=api.user(request), run=access.run(pk), cause=api.data(request)["cause"])
    return accepted(retried) if isinstance(retried, Job) else retried


def _changed(request: Request, pk: int, verb: Callable[..., Run], **arguments: Any) -> Run:
    verb(by=api.user(request), run=access.run(pk), **arguments)
    return access.run(pk)


@api.post(gives=RunSerializer)
def pause(request: Request, pk: int) -> Run:
    """Pause a run: no further calls until it is resumed; calls in progress are finished."""
    return _changed(request, pk, runs.pause)


@api.post(gives=RunSerializer)
def resume(request: Request, pk: int) -> Run:
    """Resume a paused run; a run that has reached a cap pauses again at once."""
    return _changed(request, pk, runs.resume)


@api.post(CapsSerializer, RunSerializer)
def set_caps(request: Request, pk: int) -> Run:
    """Set or remove caps; a run paused by a cap continues."""
    return _changed(request, pk, runs.set_caps, caps=api.data(request))


BY = OpenApiParameter("by", str, enum=list(runs.SPENT_BY), description="judge where nothing is said")


def _spent(page: list[dict[str, Any]]) -> Any:
    return SpentSerializer([runs.spending_row(row) for row in page], many=True).data


@api.listing(SpentSerializer, query=[BY], page=_spent)
def costs(request: Request) -> Any:
    """Researchers: return the cost of judges, by judge, campaign or run, most expensive first."""
    by = request.query_params.get("by", "judge")
    if by not in runs.SPENT_BY:
        raise ValidationError({"by": f"One of {', '.join(runs.SPENT_BY)}."})
    return runs.spent(by)


CHOICES = {"state": list(Call.State.values), "error_kind": list(ERROR_KINDS)}


def _numbered(page: list[Call]) -> list[Call]:
    """Number the turns of a page together."""
    turn_numbers.number(call.item.turn if call.item else None for call in page)
    return page


@api.listing(
    CallSerializer,
    query=[OpenApiParameter(name, str, enum=values) for name, values in CHOICES.items()],
    page=_numbered,
)
def calls(request: Request, pk: int) -> QuerySet[Call]:
    """Researchers: list a run's calls with raw replies and errors; filter by `state` or `error_kind`."""
    related = ("continuation__dialogue", "item__turn", "run__rater", "run__endpoint")
    rows = Call.objects.select_related(*related).filter(run=pk).order_by("pk")
    for name, values in CHOICES.items():
        value = request.query_params.get(name, "")
        if value and value not in values:
            raise ValidationError({name: f"One of {', '.join(values)}."})
        rows = rows.filter(**{name: value}) if value else rows
    return rows


@api.listing(BatchSerializer)
def batches(request: Request, pk: int) -> QuerySet[Batch]:
    """Researchers: list a run's batches, oldest first."""
    return Batch.objects.filter(run=pk).order_by("pk")


@api.post(gives=BatchSerializer)
def look_at_batch(request: Request, pk: int) -> Any:
    """Let a worker query the provider now for a batch's progress."""
    return batch_actions.as_row(batch_actions.look_now(by=api.user(request), batch=access.batch(pk)))


@api.post(AdoptSerializer, BatchSerializer)
def adopt_batch(request: Request, pk: int) -> Any:
    """Link a batch of unclear state to one of the provider's batches.

    Its state is queried and its results collected; a run that paused for it continues.
    """
    data = api.data(request)
    return batch_actions.as_row(batch_actions.adopt(by=api.user(request), batch=access.batch(pk), **data))


@api.post(gives=BatchSerializer)
def give_up_batch(request: Request, pk: int) -> Any:
    """Give up a batch whose fate at the provider is unclear: its calls are sent again, and may be paid for
    twice."""
    return batch_actions.as_row(batch_actions.give_up(by=api.user(request), batch=access.batch(pk)))


@api.get(ProtocolSerializer, many=True)
def protocols(request: Request) -> list[Protocol]:
    """Researchers: list all judge protocols."""
    return list(PROTOCOLS.values())


CORPUS = OpenApiParameter("corpus", str, description="name of a corpus to look at")


@api.get(MetricSerializer, many=True, query=[CORPUS])
def metrics(request: Request) -> list[dict[str, Any]]:
    """Researchers: list all metrics; with `corpus`, also which of them have no value there, and why."""
    name = request.query_params.get("corpus", "")
    looked = availability(corpus_named(name)) if name else {}
    return [_metric(metric, looked.get(key)) for key, metric in METRICS.items()]


def _metric(metric: Metric, looked: Availability | None) -> dict[str, Any]:
    return {
        **{name: getattr(metric, name) for name in ("key", "title", "kind", "aspect", "documentation")},
        "needs": sorted(metric.needs),
        "obstacle": looked.obstacle if looked else "",
        "warning": looked.warning if looked else "",
        "variants": list(metric.variants),
    }
