"""API of new runs: a judge or metric, or a run set, estimated and started. Researchers only."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework import serializers
from rest_framework.request import Request

from annotation.api.corpora_serializers import exclude_field
from annotation.corpora.splits import LONGEST_PURPOSE
from config import api
from jobs.api import JobAnswer, accepted
from jobs.endpoints.parameter_inputs import (
    parameter_serializer_fields,
    parameters_from_data,
    serializer_field,
)
from jobs.models import Job
from jobs.models.run import Run
from judges.api.run_sets import RunSetCostSerializer, RunSetSerializer, described
from judges.api.runs import RunSerializer, TakenSerializer, cap_fields
from judges.errors import JudgeError
from judges.runs import estimates
from judges.runs.estimates import Estimate, estimate, unanswered
from judges.runs.lookup import PARTS, endpoint_named, selection_of
from judges.runs.plans import BUDGET, SAMPLE_COUNT, Judge
from judges.runs.run_actions import start_judge, start_metrics
from judges.runs.run_sets import MOST_RUNS, NAME_LIMIT, start_run_set
from judges.runs.selection import PlannedJudge, Selection, settings_of, title_of

# Request bodies.


class RunScopeSerializer(serializers.Serializer[Any]):
    """Selection and settings of new runs, on a corpus or a campaign by name."""

    corpus = api.optional_text()
    campaign = api.optional_text()
    systems = api.texts()
    include_self = serializers.BooleanField(default=False)
    part = serializers.ChoiceField(
        choices=PARTS,
        default="",
        allow_blank=True,
        help_text="dev or test of the split, or training, which is left out where it is not named",
    )
    exclude = exclude_field()
    open_test = api.optional_text(
        max_length=LONGEST_PURPOSE,
        help_text="what test is opened for; a judge's run that covers test items of a split in use needs it, "
        "once per judge",
    )
    use_cache = serializers.BooleanField(
        default=None,
        allow_null=True,
        help_text="Take the reply that an equal request of another run got; null: yes, or as the run has it.",
    )
    mode = serializers.ChoiceField(
        choices=Run.Mode.choices,
        default=None,
        allow_null=True,
        help_text="Ask one by one, at once, or in the provider's batches, within a day; null: at once, or as "
        "the run has it.",
    )

    def get_fields(self) -> dict[str, Any]:
        """Return the fields above, and the caps."""
        return super().get_fields() | cap_fields()


class RunJudgeSerializer(serializers.Serializer[Any]):
    """A judge: a protocol with its variant, or a version of a prompt, and how it is asked."""

    protocol = api.optional_text()
    variant = api.optional_text()
    prompt = api.optional_text(
        help_text="A version of a prompt as name@number, in place of a protocol and variant."
    )
    scheme = api.optional_text(
        help_text="For a protocol that takes any scheme: key or key@version. Over a campaign, its own."
    )
    endpoint = api.optional_text()
    samples = serializer_field(SAMPLE_COUNT)
    shows = api.texts()
    budget = serializer_field(BUDGET)
    needs = serializers.DictField(
        child=serializers.CharField(),
        default=dict,
        help_text="Per need of the protocol, the name (or fingerprint) of the judge or metric that it reads.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Gather the sampling parameters."""
        return attrs | {"parameters": parameters_from_data(attrs)}

    def get_fields(self) -> dict[str, Any]:
        """Return the fields above, and one for each sampling parameter."""
        return super().get_fields() | parameter_serializer_fields()


class NewRunSerializer(RunScopeSerializer, RunJudgeSerializer):
    """A new run: a judge (with its endpoint) or a metric, on a corpus or a campaign by name."""

    metric = api.optional_text(
        help_text="A key such as m_sns_avg@paper:window=10, or ll:endpoint=NAME for an endpoint's likelihood."
    )
    metrics = api.texts(help_text="Several metrics: the response is then their run set.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require either metrics, or a protocol or a prompt."""
        if bool(attrs["metric"] or attrs["metrics"]) == bool(attrs["protocol"] or attrs["prompt"]):
            raise serializers.ValidationError("Name either a metric, or a protocol or a prompt.")
        if attrs["endpoint"] and not (attrs["protocol"] or attrs["prompt"]):
            text = "A metric names its endpoint in its key, as in ll:endpoint=NAME."
            raise serializers.ValidationError({"endpoint": text})
        return super().validate(attrs)


class SetJudgeSerializer(RunJudgeSerializer):
    """A judge of a run set; without an `endpoint` of its own it asks each of the set's `endpoints`."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a protocol or a prompt."""
        if not (attrs["protocol"] or attrs["prompt"]):
            raise serializers.ValidationError("Name a protocol or a prompt.")
        return super().validate(attrs)


class NewRunSetSerializer(RunScopeSerializer):
    """A new run set: judges, each at each endpoint, and metrics, over one corpus or campaign. Caps apply to
    each run."""

    name = api.optional_text(
        max_length=NAME_LIMIT, help_text="Once per corpus; empty: named after its judges and metrics."
    )
    judges = SetJudgeSerializer(many=True, required=False, default=list)
    endpoints = api.texts(max_length=MOST_RUNS, help_text="Names of the endpoints that each judge asks.")
    metrics = api.texts(max_length=MOST_RUNS)


# Estimates.


class UnansweredSerializer(serializers.Serializer[Any]):
    """Calls known beforehand to have no answer."""

    calls = serializers.IntegerField()
    reason = serializers.CharField()
    about = serializers.BooleanField(help_text="told from a part of the calls")


class EstimateSerializer(TakenSerializer):
    """Estimate of a run that asks a model: calls to make, approximate tokens, and the receiver of the
    text."""

    calls = serializers.IntegerField()
    done = serializers.IntegerField()
    dialogues = serializers.IntegerField()
    about = serializers.BooleanField(
        help_text="calls and dialogues are estimated from a part of a large corpus"
    )
    mode = serializers.ChoiceField(choices=Run.Mode.choices)
    unanswered = UnansweredSerializer(many=True)


class SetForecastSerializer(serializers.Serializer[Any]):
    """A judge of a set, or a metric that asks an endpoint, before its run."""

    title = serializers.CharField()
    samples = serializers.IntegerField()
    estimate = EstimateSerializer(allow_null=True, help_text="null: it asks no model")
    unanswered = UnansweredSerializer(many=True)


class SetEstimateSerializer(serializers.Serializer[Any]):
    """Estimate of a run set: the sums over the judges and metrics that ask a model, and each judge and such
    metric. Other metrics are computed here and cost nothing."""

    calls = serializers.IntegerField()
    done = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    costs = RunSetCostSerializer(many=True)
    unpriced = serializers.IntegerField(help_text="Runs whose endpoint has no prices; in no cost.")
    seconds = serializers.IntegerField(
        allow_null=True, help_text="Duration if the endpoints are asked side by side; null: not known."
    )
    timed = serializers.IntegerField(help_text="Earlier calls whose reply times `seconds` follows from.")
    runs = SetForecastSerializer(many=True)


STARTED = PolymorphicProxySerializer(
    "StartedRun", [RunSerializer, RunSetSerializer], resource_type_field_name=None
)


@api.post(NewRunSerializer, RunSerializer, status=201, responses={201: STARTED, 202: JobAnswer})
def start(request: Request) -> Any:
    """Start a run, or resume the run of the same judge or metric with the same selection.

    Several `metrics` are a run set, which is the response then. 202 with the id of a job if starting a single
    run takes a while; the job's result names the run.
    """
    by, data = api.user(request), api.data(request)
    if len(keys := _metrics(data)) > 1:
        selection, settings = _selection(by, data), settings_of(data)
        return described(start_run_set(by=by, metrics=keys, selection=selection, settings=settings))
    started = _start(by, data)
    return accepted(started) if isinstance(started, Job) else started


@api.post(NewRunSerializer, EstimateSerializer)
def estimate_run(request: Request) -> Any:
    """Estimate calls, tokens and cost of the run of a judge, or of a metric that asks an endpoint; nothing is
    sent or stored."""
    return EstimateSerializer(_estimate(api.user(request), api.data(request)).as_json()).data


def _estimate(by: User, data: dict[str, Any]) -> Estimate:
    keys, selection = _metrics(data), _selection(by, data)
    if len(keys) > 1:
        raise JudgeError("Several metrics are a run set: estimate them at run-sets/estimate/.")
    result = estimate(_judge(by, data), selection, data["mode"]) if _is_judge(data) else None
    if metrics := estimates.planned_metrics(keys, selection, by):
        result = estimates.estimate_metric(metrics[0], by, data["mode"])
    if result is None:
        gaps = unanswered(_judge(by, data), _selection(by, data)) if _is_judge(data) else ()
        lacking = "".join(f" Of all, {gap.sentence()}." for gap in gaps)
        raise JudgeError(f"This run asks nobody: it is computed here and costs nothing.{lacking}")
    return result


def _start(by: User, data: dict[str, Any]) -> Run | Job:
    selection = _selection(by, data)
    if keys := _metrics(data):
        return start_metrics(by=by, keys=keys, selection=selection, settings=settings_of(data))[0]
    judge, settings = _judge(by, data), settings_of(data)
    return start_judge(
        by=by, judge=judge, selection=selection, settings=settings, open_test=data["open_test"]
    )


def _metrics(data: dict[str, Any]) -> list[str]:
    """Return the keys of the metrics of a request, each once."""
    return list(dict.fromkeys([*([data["metric"]] if data["metric"] else []), *data["metrics"]]))


def _judge(by: User, data: dict[str, Any]) -> Judge:
    endpoint = endpoint_named(data["endpoint"], by) if data["endpoint"] else None
    return Judge(
        data["protocol"],
        data["variant"],
        endpoint,
        data["parameters"],
        shows=tuple(data["shows"]),
        budget=data["budget"],
        needs=data["needs"],
        prompt=data["prompt"],
        scheme=data["scheme"],
    )


def _is_judge(data: dict[str, Any]) -> bool:
    return bool(data["protocol"] or data["prompt"])


def _selection(by: User, data: dict[str, Any]) -> Selection:
    samples = data["samples"] or (_judge(by, data).usual_samples() if _is_judge(data) else 1)
    return _scope(data, samples)


def _scope(data: dict[str, Any], samples: int) -> Selection:
    return selection_of(
        corpus=data["corpus"],
        campaign=data["campaign"],
        systems=data["systems"],
        include_self=data["include_self"],
        samples=samples,
        part=data["part"],
        exclude=data["exclude"],
    )


@api.post(NewRunSetSerializer, RunSetSerializer, status=201)
def start_set(request: Request) -> Any:
    """Start the runs of a set, all or none; the same judges, metrics and selection again resume their set."""
    by, data = api.user(request), api.data(request)
    run_set = start_run_set(
        by=by,
        planned=_planned(by, data),
        metrics=data["metrics"],
        selection=_scope(data, 1),
        name=data["name"],
        settings=settings_of(data),
        open_test=data["open_test"],
    )
    return described(run_set)


@api.post(NewRunSetSerializer, SetEstimateSerializer)
def estimate_set(request: Request) -> Any:
    """Estimate calls, tokens, cost and time of a run set; nothing is sent or stored."""
    by, data = api.user(request), api.data(request)
    metrics = estimates.planned_metrics(data["metrics"], _scope(data, 1), by)
    together = estimates.estimate_set([*_planned(by, data), *metrics], data["mode"], by)
    return estimates.estimate_as_json(together)


def _planned(by: User, data: dict[str, Any]) -> list[PlannedJudge]:
    """Return each judge of a request at its own endpoint, or at each of the set's; raise JudgeError."""
    endpoints = [endpoint_named(name, by) for name in dict.fromkeys(data["endpoints"])]
    planned = []
    for fields in data["judges"]:
        judge = _judge(by, fields)
        selection = _scope(data, fields["samples"] or judge.usual_samples())
        own = [judge.endpoint] if judge.endpoint else endpoints
        planned += [PlannedJudge(title_of(judge), row, selection) for row in judge.at(own)]
    if len(planned) > MOST_RUNS:
        raise JudgeError(f"A run set has at most {MOST_RUNS} runs, not {len(planned)}.")
    return planned
