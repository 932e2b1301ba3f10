"""The HTTP API of runs, protocols, metrics and endpoints."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from annotation.models import turn_numbers
from config.lists import Filters, numbered, one_of, since, with_name
from config.permissions import IsAdministrator, IsResearcher
from jobs import access, runs
from jobs.api import JobAnswer
from jobs.calls.batch_actions import of_run
from jobs.endpoints import actions as endpoints
from jobs.endpoints.limits import width_of
from jobs.endpoints.parameter_inputs import parameter_serializer_fields, parameters_from_data
from jobs.endpoints.parameters import FORMS
from jobs.errors import ERROR_KINDS, JobError
from jobs.models import Batch, Job
from jobs.models.endpoint import Endpoint
from jobs.models.run import Call, Run
from jobs.progress import progress
from judges.drafts import DRAFT
from judges.errors import JudgeError
from judges.metrics import METRICS, Metric
from judges.protocols import PROTOCOLS
from judges.runs.actions import start_judge, start_metrics
from judges.runs.estimates import Estimate, estimate, unanswered
from judges.runs.lookup import PARTS, Availability, availability, corpus_named, endpoint_named, selection_of
from judges.runs.plans import LEAST_BUDGET, MOST_SAMPLES, Judge
from judges.runs.selection import Selection, settings_of

# What the API reads and writes about what runs may take and have taken.

CAP_HELP = "The run pauses before the first call that could pass so {}; null: no limit."


def cap_fields() -> dict[str, Any]:
    """Return the fields of what a run may take, by their names."""
    shared: dict[str, Any] = {"required": False, "allow_null": True, "min_value": 0}
    integer = shared | {"max_value": 2**53}
    money = shared | {"max_digits": 14, "decimal_places": 6}
    return {
        "cap_calls": serializers.IntegerField(help_text=CAP_HELP.format("many calls"), **integer),
        "cap_tokens": serializers.IntegerField(help_text=CAP_HELP.format("many tokens"), **integer),
        "cap_cost": serializers.DecimalField(help_text=CAP_HELP.format("much money"), **money),
    }


class TakenSerializer(serializers.Serializer[Any]):
    """What asking a model would take, about, and to whom the text goes."""

    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)
    currency = serializers.CharField()
    endpoint = serializers.CharField()
    model = serializers.CharField()
    host = serializers.CharField()
    is_here = serializers.BooleanField()


class CapsSerializer(serializers.Serializer[Any]):
    """What a run may take. What is left out stays as it is; null lifts a cap."""

    def get_fields(self) -> dict[str, Any]:
        """Return the fields."""
        return cap_fields()


class SpentSerializer(serializers.Serializer[Any]):
    """What a judge, a campaign or a run took in all."""

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
    """A batch of a run's calls. `completed_there` and `failed_there` are what the provider counts;
    `answered`, `failed` and `returned` (to wait for another batch) what came of its calls once collected."""

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
    """Which of the provider's batches it is."""

    provider_id = serializers.CharField(max_length=200)


# What the API reads and writes about runs, calls and endpoints.


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
        fields = (
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
        """The batches in which it asked, oldest first; also those of a run that goes on at once since."""
        return of_run(run)


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
            *("endpoint", "address", "revision"),
            *(
                "error",
                "error_kind",
                "flags",
                "reply",
                "reply_form",
                "reasoning",
                "cached",
                "batch",
                "saved",
                "asked",
                "sent",
                "lost",
                "prompt_hash",
                "tokens_in",
                "tokens_out",
                "cost",
                "latency_ms",
                "finished_at",
            ),
        )


class NewRunSerializer(serializers.Serializer[Any]):
    """What starts a run: a protocol (with its endpoint) or a metric, over a corpus or a campaign by name."""

    corpus = serializers.CharField(required=False, default="", allow_blank=True)
    campaign = serializers.CharField(required=False, default="", allow_blank=True)
    systems = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    include_self = serializers.BooleanField(required=False, default=False)
    samples = serializers.IntegerField(
        required=False,
        default=None,
        allow_null=True,
        min_value=1,
        max_value=MOST_SAMPLES,
        help_text="Answers to ask for per call; null: one, of pairwise two, one in each order.",
    )
    part = serializers.ChoiceField(
        choices=PARTS,
        required=False,
        default="",
        allow_blank=True,
        help_text="dev or test of the split, or training, which is left out where it is not named",
    )
    open_test = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=500,
        help_text="what test is opened for; a judge's run that covers test items of a split in use needs it, "
        "once per judge",
    )
    metric = serializers.CharField(required=False, default="", allow_blank=True)
    protocol = serializers.CharField(required=False, default="", allow_blank=True)
    variant = serializers.CharField(required=False, default="", allow_blank=True)
    prompt = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        help_text="A version of a prompt as name@number, in place of a protocol and variant.",
    )
    scheme = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        help_text="For a protocol that takes any scheme: key or key@version. Over a campaign, its own.",
    )
    endpoint = serializers.CharField(required=False, default="", allow_blank=True)
    shows = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    budget = serializers.IntegerField(
        required=False, default=None, allow_null=True, min_value=LEAST_BUDGET, max_value=2**31 - 1
    )
    use_cache = serializers.BooleanField(
        required=False,
        default=None,
        allow_null=True,
        help_text="Take the reply that an equal request of another run got; null: yes, or as the run has it.",
    )
    mode = serializers.ChoiceField(
        choices=Run.Mode.choices,
        required=False,
        default=None,
        allow_null=True,
        help_text="Ask one by one, at once, or in the provider's batches, within a day; null: at once, or as "
        "the run has it.",
    )
    needs = serializers.DictField(
        child=serializers.CharField(),
        required=False,
        default=dict,
        help_text="Per need of the protocol, the name (or fingerprint) of the judge or metric that it reads.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require either a metric, or a protocol or a prompt."""
        if bool(attrs["metric"]) == bool(attrs["protocol"] or attrs["prompt"]):
            raise serializers.ValidationError("Name either a metric, or a protocol or a prompt.")
        return attrs | {"parameters": parameters_from_data(attrs)}

    def get_fields(self) -> dict[str, Any]:
        """Return the fields above, one for each sampling parameter, and the caps."""
        return super().get_fields() | parameter_serializer_fields() | cap_fields()


class UnansweredSerializer(serializers.Serializer[Any]):
    """Calls of which it is known beforehand that they have no answer."""

    calls = serializers.IntegerField()
    reason = serializers.CharField()
    about = serializers.BooleanField(help_text="told from a part of the calls")


class EstimateSerializer(TakenSerializer):
    """What a judge's run would take: calls to make, about how many tokens, and to whom the text goes."""

    calls = serializers.IntegerField()
    done = serializers.IntegerField()
    dialogues = serializers.IntegerField()
    about = serializers.BooleanField(help_text="calls and dialogues are told from a part of a large corpus")
    mode = serializers.ChoiceField(choices=Run.Mode.choices)
    unanswered = UnansweredSerializer(many=True)


class EndpointSerializer(serializers.ModelSerializer[Endpoint]):
    """An endpoint; the key is only named. `at_once` is `concurrency`, or less after it refused requests for
    their number (429); `reply_form` is the form of structured output that it takes, empty until it was asked.
    `fake_model`: replies had the mark of one, whatever its model is called."""

    at_once = serializers.SerializerMethodField()
    reply_form = serializers.ChoiceField(
        choices=[("", "not known yet"), *FORMS.items()], required=False, allow_blank=True
    )

    def get_at_once(self, endpoint: Endpoint) -> int:
        """Return how many requests at once it takes now."""
        return width_of(endpoint, getattr(endpoint, "pace", None))

    class Meta:
        model = Endpoint
        fields = (
            *("id", "name", "base_url", "model", "revision", "family", "tokenizer", "key_env", "price_in"),
            *("price_out", "currency"),
            *("concurrency", "at_once", "requests_per_minute", "tokens_per_minute"),
            *("reply_form", "fake_model"),
            *("batch_share", "batch_most", "keep_batch_files"),
            *("timeout_s", "allow_private", "active", "from_environment"),
            *("test_asked", "test_done", "test_error", "test_ms"),
        )
        read_only_fields = (
            "fake_model",
            "from_environment",
            "test_asked",
            "test_done",
            "test_error",
            "test_ms",
        )


class NeedSerializer(serializers.Serializer[Any]):
    """Answers of another rater that a protocol reads."""

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


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


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


@extend_schema_view(get=extend_schema(parameters=RUNS.parameters))
class Runs(generics.ListAPIView[Run]):
    """Researchers: all runs but those of drafts, latest first; POST starts or resumes one."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = RunSerializer
    queryset = (
        Run.objects.exclude(kind=DRAFT)
        .prefetch_related("batches")
        .select_related("rater", "corpus", "campaign", "endpoint")
        .order_by("-id")
    )

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return those that are asked for."""
        return RUNS.of(self.request, queryset)

    @extend_schema(request=NewRunSerializer, responses={201: RunSerializer, 202: JobAnswer})
    def post(self, request: Request) -> Response:
        """Start a run, or resume the one of the same judge or metric and the same selection.

        202 with the id of a job where starting takes a while; the job's result names the run.
        """
        serializer = NewRunSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        try:
            run = _start(_user(request), serializer.validated_data)
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        return _run_or_job(run, status.HTTP_201_CREATED)


class EstimateRun(generics.GenericAPIView[Run]):
    """Researchers: what a judge's run would take, before it is started."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = NewRunSerializer
    queryset = Run.objects.none()

    @extend_schema(request=NewRunSerializer, responses={200: EstimateSerializer})
    def post(self, request: Request) -> Response:
        """Estimate calls, tokens and cost; nothing is sent and nothing is kept."""
        serializer = NewRunSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        try:
            result = _estimate(serializer.validated_data)
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        return Response(EstimateSerializer(result.as_json()).data)


def _run_or_job(started: Run | Job, code: int) -> Response:
    if isinstance(started, Job):
        return Response({"job": started.pk}, status=status.HTTP_202_ACCEPTED)
    return Response(RunSerializer(started).data, status=code)


def _estimate(data: dict[str, Any]) -> Estimate:
    result = estimate(_judge(data), _selection(data), data["mode"]) if _is_judge(data) else None
    if result is None:
        gaps = unanswered(_judge(data), _selection(data)) if _is_judge(data) else ()
        lacking = "".join(f" Of all, {gap.sentence()}." for gap in gaps)
        raise JudgeError(f"This run asks nobody: it is computed here and costs nothing.{lacking}")
    return result


def _start(by: User, data: dict[str, Any]) -> Run | Job:
    selection = _selection(data)
    if data["metric"]:
        return start_metrics(by=by, keys=[data["metric"]], selection=selection)[0]
    judge, settings = _judge(data), settings_of(data)
    return start_judge(
        by=by, judge=judge, selection=selection, settings=settings, open_test=data["open_test"]
    )


def _judge(data: dict[str, Any]) -> Judge:
    endpoint = endpoint_named(data["endpoint"]) if data["endpoint"] else None
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


def _selection(data: dict[str, Any]) -> Selection:
    return selection_of(
        corpus=data["corpus"],
        campaign=data["campaign"],
        systems=data["systems"],
        include_self=data["include_self"],
        samples=data["samples"] or (_judge(data).usual_samples() if _is_judge(data) else 1),
        part=data["part"],
    )


class _OneRun(generics.GenericAPIView[Run]):
    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = RunSerializer
    queryset = Runs.queryset

    def get_object(self) -> Run:
        """Return the run."""
        return access.run(self.kwargs["pk"])


class OneRun(_OneRun, generics.RetrieveAPIView[Run]):
    """Researchers: one run with its progress."""


class CancelRun(_OneRun):
    """Researchers: stop a run; what is done stays."""

    @extend_schema(request=None)
    def post(self, request: Request, pk: int) -> Response:
        """Cancel the calls that wait."""
        return Response(RunSerializer(runs.cancel_calls(by=_user(request), run=self.get_object())).data)


class RetryRun(_OneRun):
    """Researchers: go on with a cancelled or failed run."""

    @extend_schema(request=None, responses={200: RunSerializer, 202: JobAnswer})
    def post(self, request: Request, pk: int) -> Response:
        """Ask again for what failed or was cancelled; 202 with the id of a job where that is a lot."""
        return _run_or_job(runs.retry(by=_user(request), run=self.get_object()), status.HTTP_200_OK)


@extend_schema(
    parameters=[
        OpenApiParameter("state", str, enum=Call.State.values),
        OpenApiParameter("error_kind", str, enum=list(ERROR_KINDS)),
    ]
)
class Calls(generics.ListAPIView[Call]):
    """Researchers: the calls of a run, with raw replies and errors."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = CallSerializer

    def get_queryset(self) -> QuerySet[Call]:
        """Return the run's calls, narrowed by `state` and `error_kind` where asked."""
        calls = Call.objects.select_related(
            "continuation__dialogue", "item__turn", "run__rater", "run__endpoint"
        ).order_by("pk")
        calls = calls.filter(run=self.kwargs.get("pk", 0))
        choices = {"state": list(Call.State.values), "error_kind": list(ERROR_KINDS)}
        for name, values in choices.items():
            value = self.request.query_params.get(name, "")
            if value and value not in values:
                raise ValidationError({name: f"One of {', '.join(values)}."})
            calls = calls.filter(**{name: value}) if value else calls
        return calls

    def paginate_queryset(self, queryset: Any) -> Any:
        """Number the turns of a page together."""
        page = super().paginate_queryset(queryset)
        turn_numbers.number(call.item.turn if call.item else None for call in page or [])
        return page


class Endpoints(generics.ListCreateAPIView[Endpoint]):
    """Administrators: where judges ask."""

    permission_classes: tuple[type[BasePermission], ...] = (IsAdministrator,)
    serializer_class = EndpointSerializer
    queryset = Endpoint.objects.order_by("name")

    def get_queryset(self) -> QuerySet[Endpoint]:
        """Return all, with those that the environment declares."""
        try:
            endpoints.sync_environment()
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        return super().get_queryset()

    def perform_create(self, serializer: BaseSerializer[Endpoint]) -> None:
        """Save through the same checks as the page."""
        serializer.instance = _save(self.request, serializer, None)


class _OneEndpoint(generics.GenericAPIView[Endpoint]):
    permission_classes: tuple[type[BasePermission], ...] = (IsAdministrator,)
    serializer_class = EndpointSerializer
    queryset = Endpoint.objects.all()

    def get_object(self) -> Endpoint:
        """Return the endpoint."""
        return access.endpoint(self.kwargs["pk"])


class OneEndpoint(_OneEndpoint, generics.RetrieveUpdateAPIView[Endpoint]):
    """Administrators: one endpoint."""

    def perform_update(self, serializer: BaseSerializer[Endpoint]) -> None:
        """Save through the same checks as the page."""
        serializer.instance = _save(self.request, serializer, self.get_object())


class TestEndpoint(_OneEndpoint):
    """Administrators: let a worker ask the endpoint something; its `test_` fields say the result."""

    @extend_schema(request=None, responses={202: EndpointSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Ask for a test; a worker answers within seconds."""
        tested = endpoints.ask_for_test(by=_user(request), endpoint=self.get_object())
        return Response(EndpointSerializer(tested).data, status=status.HTTP_202_ACCEPTED)


def _save(request: Request, serializer: BaseSerializer[Endpoint], endpoint: Endpoint | None) -> Endpoint:
    try:
        return endpoints.save(by=_user(request), fields=serializer.validated_data, endpoint=endpoint)
    except JobError as error:
        raise ValidationError({"detail": str(error)}) from None


class Protocols(APIView):
    """Researchers: the judge protocols."""

    permission_classes = (IsResearcher,)

    @extend_schema(responses=ProtocolSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List them all."""
        return Response(ProtocolSerializer(PROTOCOLS.values(), many=True).data)


class Metrics(APIView):
    """Researchers: the metrics."""

    permission_classes = (IsResearcher,)

    @extend_schema(
        parameters=[OpenApiParameter("corpus", str, description="name of a corpus to look at")],
        responses=MetricSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        """List them all; with `corpus`, say which have no value there, and why."""
        name = request.query_params.get("corpus", "")
        try:
            looked = availability(corpus_named(name)) if name else {}
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        rows = [_metric(metric, looked.get(key)) for key, metric in METRICS.items()]
        return Response(MetricSerializer(rows, many=True).data)


def _metric(metric: Metric, looked: Availability | None) -> dict[str, Any]:
    return {
        **{name: getattr(metric, name) for name in ("key", "title", "kind", "aspect", "documentation")},
        "needs": sorted(metric.needs),
        "obstacle": looked.obstacle if looked else "",
        "warning": looked.warning if looked else "",
        "variants": list(metric.variants),
    }
