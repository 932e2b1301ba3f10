"""The HTTP API of group chats: scenarios with their keys, agents, the Cascade report. Researchers only."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http import Http404
from django.urls import URLPattern, path
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import generics, serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import access
from annotation.api.corpora import LIMIT
from annotation.api.corpora_serializers import REFUSED_FILE
from annotation.models.corpora import Dialogue
from annotation.scenario_records import MODES, STAGES, Outcome
from calibration.api.serializers import OpensTestSerializer, ResultSerializer, made_of, read_request
from config.permissions import user_of
from jobs.api import JobAnswer
from jobs.models import Job
from judges.runs.lookup import PARTS, split_for
from suites.api import (
    OFFSET,
    Plain,
    ReportLookSerializer,
    ReportQuerySerializer,
    ReportTableSerializer,
    answered,
    validated,
)
from suites.continuation.productions.dialogues import Dialogues
from suites.continuation.productions.production_actions import MOST_TRIALS
from suites.group_chat import baselines, editing
from suites.group_chat.answer_keys import correct, current
from suites.group_chat.baselines import deciders, scenario_count
from suites.group_chat.cascade.decisions import raters_named, view
from suites.group_chat.cascade.renderings import content
from suites.group_chat.cascade.report import compute, compute_on_test
from suites.group_chat.cascade.score_figures import COMPETENCE, TURN_SCORE, read
from suites.group_chat.editing import (
    MOST,
    draft,
    is_decided,
    native,
    record_of,
    rows,
    scenario_turns,
    state_of,
    text_of,
)
from suites.group_chat.scenario_text import read_scenario
from suites.group_chat.scenarios.agents import AGENTS
from suites.group_chat.scenarios.probes import overview
from suites.reports import ReportRefused

# Scenarios: what a corpus has, one turn by turn, its keys, checking a text, and saving.

REFUSED = OpenApiResponse(REFUSED_FILE, description="The scenario is refused: by line, field and reason.")


class KeysRequest(Plain):
    """A scenario's own fields as the native format has them; those left out stay, null empties one."""

    points = serializers.ListField(
        child=serializers.IntegerField(min_value=0), required=False, allow_null=True
    )
    secrets = serializers.ListField(child=serializers.DictField(), required=False, allow_null=True)
    common_ground = serializers.ListField(child=serializers.DictField(), required=False, allow_null=True)
    probes = serializers.ListField(child=serializers.DictField(), required=False, allow_null=True)
    keys = serializers.DictField(child=serializers.DictField(), required=False, allow_null=True)
    keyed_by = serializers.ListField(child=serializers.CharField(), required=False, allow_null=True)
    live = serializers.ListField(child=serializers.DictField(), required=False, allow_null=True)


class AnswerKeysSerializer(Plain):
    """A scenario's keys: `rater` is what they are called as a rater, null before anything was decided."""

    dialogue = serializers.CharField(source="key")
    corpus = serializers.CharField(source="corpus.name")
    rater = serializers.SerializerMethodField()
    scenario = serializers.DictField()

    def get_rater(self, dialogue: Dialogue) -> str | None:
        """Return the name of the rater that has the keys."""
        rater = current(dialogue.corpus)
        return rater.name if rater else None


class AnswerKeys(APIView):
    """The keys of one scenario, with its points, probes, secrets and common ground."""

    @extend_schema(responses=AnswerKeysSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Return a scenario's own fields as the native format has them; 404 for other dialogues."""
        return Response(AnswerKeysSerializer(_scenario(pk)).data)

    @extend_schema(
        request=KeysRequest,
        responses={
            200: AnswerKeysSerializer,
            400: OpenApiResponse(REFUSED_FILE, description="An import would refuse the scenario."),
        },
    )
    @answered
    def patch(self, request: Request, pk: int) -> Response:
        """Correct a scenario's keys: from then on they are another rater, and earlier labels stay."""
        dialogue = _scenario(pk)
        correct(dialogue=dialogue, changes=validated(KeysRequest, request.data), by=user_of(request))
        return Response(AnswerKeysSerializer(dialogue).data)


def _scenario(pk: int) -> Dialogue:
    dialogue = access.dialogue(pk)
    if dialogue.scenario is None:
        raise Http404
    return dialogue


class ScenarioText(Plain):
    """A scenario as a script in plain text, or as a line of the native format."""

    text = serializers.CharField(max_length=MOST, trim_whitespace=False)
    any_size = serializers.BooleanField(default=False)


class SavedText(ScenarioText):
    """A scenario to be saved; `seen` is the `state` of the stored one that it was made from."""

    seen = serializers.RegexField(r"^[0-9a-f]{64}$", required=False, default="", allow_blank=True)


class OracleProblems(Plain):
    """What the oracle gets wrong at a point, and the key's field at fault."""

    point = serializers.IntegerField()
    field = serializers.CharField()
    reason = serializers.CharField()


class ScenarioRow(Plain):
    """A scenario in numbers: `decided` counts the static continuations that answer its points."""

    id = serializers.IntegerField(source="dialogue.pk")
    key = serializers.CharField(source="dialogue.key")
    family = serializers.CharField(source="dialogue.cluster")
    people = serializers.IntegerField(source="summary.people")
    turns = serializers.IntegerField(source="summary.turns")
    points = serializers.IntegerField(source="summary.points")
    probed = serializers.IntegerField(source="summary.probed")
    free = serializers.IntegerField(source="summary.free")
    probes = serializers.ListField(child=serializers.CharField(), source="summary.kinds")
    agreed = serializers.BooleanField(source="summary.agreed")
    decided = serializers.IntegerField()
    problems = OracleProblems(many=True, source="summary.problems")


class ProbeCounts(Plain):
    """How often a kind of probe is planted."""

    kind = serializers.CharField()
    probes = serializers.IntegerField()
    controls = serializers.IntegerField()
    points = serializers.IntegerField()
    control_points = serializers.IntegerField()
    scenarios = serializers.IntegerField()
    families = serializers.IntegerField()


class ScenarioOverview(Plain):
    """The scenarios of a corpus in numbers, with a page of them."""

    scenarios = serializers.IntegerField()
    families = serializers.IntegerField()
    points = serializers.IntegerField()
    probed = serializers.IntegerField()
    free = serializers.IntegerField()
    agreed = serializers.IntegerField()
    wrong = serializers.IntegerField()
    kinds = ProbeCounts(many=True)
    without_control = serializers.ListField(child=serializers.CharField())
    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = ScenarioRow(many=True)


class CheckedScenario(Plain):
    """A scenario turn by turn: who sees it, what is marked there, its key, and what the oracle does."""

    native = serializers.DictField()
    script = serializers.CharField()
    turns = serializers.ListField(child=serializers.DictField())


class StoredScenario(CheckedScenario):
    """A stored scenario; `decided` says whether its script must stay, `state` what it is known by now."""

    id = serializers.IntegerField()
    decided = serializers.BooleanField()
    state = serializers.CharField()


class SavedScenario(StoredScenario):
    """A saved scenario, and what became of it."""

    became = serializers.ChoiceField(choices=["created", "rewritten", "corrected", "unchanged"])


class Scenarios(generics.GenericAPIView[Dialogue]):
    """The scenarios of a corpus."""

    serializer_class = ScenarioOverview
    queryset = Dialogue.objects.none()

    @extend_schema(
        operation_id="corpora_scenarios_overview", parameters=[LIMIT, OFFSET], responses=ScenarioOverview
    )
    def get(self, request: Request, pk: int) -> Response:
        """Count the scenarios and their probes, and list them, each with the oracle's check."""
        scenario_rows = rows(access.corpus(pk))
        page = self.paginate_queryset(scenario_rows) or []
        totals = overview([row.summary for row in scenario_rows]).as_dict()
        page_data = self.get_paginated_response(ScenarioRow(page, many=True).data).data
        return Response(totals | dict(page_data))

    @extend_schema(request=SavedText, responses={201: SavedScenario, 400: REFUSED})
    def post(self, request: Request, pk: int) -> Response:
        """Save a scenario as a new dialogue of the corpus."""
        return _save(request, access.corpus(pk).pk, None)


class OneScenario(APIView):
    """One scenario of a corpus."""

    @extend_schema(responses=StoredScenario)
    def get(self, request: Request, pk: int, dialogue: int) -> Response:
        """Return a scenario as a script and in the native format, turn by turn."""
        return Response(_scenario_payload(access.scenario(pk, dialogue)))

    @extend_schema(request=SavedText, responses={200: SavedScenario, 201: SavedScenario, 400: REFUSED})
    def put(self, request: Request, pk: int, dialogue: int) -> Response:
        """Save a changed scenario: over one that nobody answered to, or as a correction of keys.

        With another id it becomes a new dialogue (201).
        """
        return _save(request, pk, access.scenario(pk, dialogue))


@extend_schema(request=ScenarioText, responses={200: CheckedScenario, 400: REFUSED})
@api_view(["POST"])
@answered
def check_scenario(request: Request) -> Response:
    """Read a scenario as an import would, the oracle's check included; nothing is kept."""
    data = validated(ScenarioText, request.data)
    checked_draft = draft(data["text"], any_size=data["any_size"])
    if checked_draft.record is None:
        assert checked_draft.problem is not None
        raise checked_draft.problem
    return Response(_checked_payload(checked_draft.record))


def _checked_payload(record: Any) -> dict[str, Any]:
    lines = [line.as_dict() for line in scenario_turns(record)]
    return {"native": native(record), "script": text_of(record), "turns": lines}


def _scenario_payload(dialogue: Dialogue) -> dict[str, Any]:
    record = record_of(dialogue)
    payload = {"id": dialogue.pk, "decided": is_decided(dialogue), "state": state_of(record)}
    return payload | _checked_payload(record)


@answered
def _save(request: Request, corpus: int, opened: Dialogue | None) -> Response:
    data = validated(SavedText, request.data)
    saved = editing.save(
        corpus=access.corpus(corpus),
        record=read_scenario(data["text"], any_size=data["any_size"]),
        by=user_of(request),
        opened=opened,
        seen=data["seen"],
        any_size=data["any_size"],
    )
    code = status.HTTP_201_CREATED if saved.became == "created" else status.HTTP_200_OK
    return Response(_scenario_payload(saved.dialogue) | {"became": saved.became}, status=code)


# Agents: who decided in a corpus's scenarios, and baselines that decide.


class BaselineSerializer(Plain):
    """A baseline: whether it learns from keys, and whether its trials differ."""

    key = serializers.CharField()
    title = serializers.CharField()
    learns = serializers.BooleanField()
    varies = serializers.BooleanField()


class DeciderSerializer(Plain):
    """A system under a condition: in how many scenarios it decided, in how many trials, how often."""

    system = serializers.CharField()
    condition = serializers.JSONField()
    scenarios = serializers.IntegerField()
    trials = serializers.IntegerField()
    decisions = serializers.IntegerField()


class AgentsSerializer(Plain):
    """The baselines that there are, the number of scenarios, and who decided in them."""

    baselines = BaselineSerializer(many=True)
    scenarios = serializers.IntegerField()
    systems = DeciderSerializer(many=True)


class PlaySerializer(Plain):
    """A baseline that is to decide. `seed` is that of its draws; `part` is dev, test or training, or
    empty for all but training."""

    agent = serializers.ChoiceField(choices=list(AGENTS))
    mode = serializers.ChoiceField(choices=MODES, default=MODES[0])
    trials = serializers.IntegerField(min_value=1, max_value=MOST_TRIALS, default=1)
    part = serializers.ChoiceField(choices=PARTS, default="", allow_blank=True)
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=0)


class PlayedSerializer(Plain):
    """What a baseline came to: new continuations (`made`), those that were there (`reused`), decisions."""

    system = serializers.CharField()
    condition = serializers.JSONField()
    scenarios = serializers.IntegerField()
    made = serializers.IntegerField()
    reused = serializers.IntegerField()
    decisions = serializers.IntegerField()
    left_out = serializers.IntegerField()


class Agents(APIView):
    """Researchers: group-chat agents in the scenarios of a corpus."""

    @extend_schema(responses={200: AgentsSerializer})
    def get(self, request: Request, pk: int) -> Response:
        """Say which baselines there are, and who decided; agents that ask a model are productions."""
        corpus = access.corpus(pk)
        payload = {
            "baselines": AGENTS.values(),
            "scenarios": scenario_count(corpus),
            "systems": deciders(corpus),
        }
        return Response(AgentsSerializer(payload).data)

    @extend_schema(request=PlaySerializer, responses={201: PlayedSerializer, 202: JobAnswer})
    @answered
    def post(self, request: Request, pk: int) -> Response:
        """Let a baseline decide at every point; what it decided before stays as it is.

        202 with the id of a job for many scenarios and trials; the job's result is what it came to.
        """
        corpus = access.corpus(pk)
        data = validated(PlaySerializer, request.data)
        played = baselines.start(
            by=user_of(request),
            baseline=baselines.Baseline(data["agent"], data["mode"], data["trials"], data["seed"]),
            dialogues=Dialogues(corpus, split_for(corpus, data["part"]), data["part"]),
        )
        if isinstance(played, Job):
            return Response({"job": played.pk}, status=status.HTTP_202_ACCEPTED)
        return Response(PlayedSerializer(played).data, status=status.HTTP_201_CREATED)


# The Cascade report, and single decisions.


class CascadeQuerySerializer(ReportQuerySerializer):
    """What a report is asked for; lists are separated by commas. See the docs of the Cascade report."""

    by = serializers.CharField(required=False, help_text="system,condition (default), or system")
    judge = serializers.CharField(required=False, help_text="raters of conduct, composition and moves")
    k = serializers.CharField(required=False, help_text="trials of pass^k: 1,2,4,8")
    success = serializers.ChoiceField(required=False, choices=[COMPETENCE, TURN_SCORE])
    threshold = serializers.FloatField(required=False, min_value=0, max_value=1)
    tau = serializers.FloatField(required=False, min_value=0, max_value=1)
    tau_attend = serializers.FloatField(required=False, min_value=0, max_value=1)
    tau_speak = serializers.FloatField(required=False, min_value=0, max_value=1)
    tau_address = serializers.FloatField(required=False, min_value=0, max_value=1)
    tau_ground = serializers.FloatField(required=False, min_value=0, max_value=1)
    tau_compose = serializers.FloatField(required=False, min_value=0, max_value=1)
    tau_conduct = serializers.FloatField(required=False, min_value=0, max_value=1)
    jaccard = serializers.BooleanField(required=False, default=False)


class CascadeTestSerializer(OpensTestSerializer, CascadeQuerySerializer):
    """What a report of test is asked for, and for what test is opened."""


class CascadeSystemSerializer(Plain):
    """A system or a baseline. A figure is {value, low, high, n, reason}; objects of them are by name."""

    system = serializers.CharField()
    condition = serializers.CharField(allow_blank=True)
    baseline = serializers.BooleanField()
    competence = serializers.DictField()
    conduct = serializers.DictField(help_text="by dimension")
    leak_rate = serializers.DictField(help_text="of what reached CONDUCT, and of all")
    pass_hat = serializers.DictField(help_text="by k")
    stages = serializers.DictField(help_text="by stage: passed, of those scored there")
    probes = serializers.DictField(help_text="by kind: probe and control")
    restraint = serializers.DictField(help_text="by figure of the panel")


class CascadeReportSerializer(Plain):
    """The report. No field joins the three scores."""

    corpus = serializers.CharField()
    part = serializers.CharField()
    by = serializers.ListField(child=serializers.CharField())
    judges = serializers.ListField(child=serializers.CharField())
    k = serializers.ListField(child=serializers.IntegerField())
    success = serializers.CharField()
    thresholds = serializers.ListField(child=serializers.FloatField())
    jaccard = serializers.BooleanField()
    resamples = serializers.IntegerField()
    seed = serializers.IntegerField()
    level = serializers.FloatField()
    best_baseline = serializers.CharField()
    oracle = ResultSerializer()
    systems = CascadeSystemSerializer(many=True)
    tables = ReportTableSerializer(many=True)
    facts = serializers.ListField(child=serializers.CharField())
    guardrails = serializers.ListField(child=serializers.CharField())
    looks_at_test = ReportLookSerializer(many=True)


class CascadeStageSerializer(Plain):
    """A stage's score from 0 to 1, null where it has none: `state` and `why` say why."""

    stage = serializers.ChoiceField(choices=list(STAGES))
    score = serializers.FloatField(allow_null=True)
    state = serializers.CharField()
    why = serializers.CharField(allow_blank=True)


class CascadeOutcomeSerializer(Plain):
    """What the cascade makes of a decision; null is what waits for a judge."""

    stages = serializers.SerializerMethodField()
    failed_at = serializers.CharField(allow_null=True)
    competence = serializers.FloatField(allow_null=True)
    turn_score = serializers.FloatField(allow_null=True)
    flags = serializers.ListField(child=serializers.CharField())
    leaks = serializers.ListField(child=serializers.CharField())
    leaks_elsewhere = serializers.ListField(child=serializers.CharField())

    @extend_schema_field(CascadeStageSerializer(many=True))
    def get_stages(self, outcome: Outcome) -> list[dict[str, Any]]:
        """Return the stages in their order."""
        return [{"stage": stage, **asdict(outcome.stages[stage])} for stage in STAGES]


class DecisionMadeSerializer(Plain):
    """What an agent did at a point, and what it declared; null is what it did not declare."""

    act = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    mode = serializers.CharField()
    attend = serializers.BooleanField(allow_null=True)
    addressed = serializers.ListField(child=serializers.CharField(), allow_null=True)
    targets = serializers.ListField(child=serializers.CharField(), allow_null=True)
    ground = serializers.CharField(allow_null=True)
    flags = serializers.ListField(child=serializers.CharField())


class AgentDecisionSerializer(Plain):
    """A decision with its key. `outcome` is null for the test part before test was opened."""

    id = serializers.IntegerField(source="item.pk")
    corpus = serializers.CharField(source="item.corpus.name")
    dialogue = serializers.CharField(source="dialogue.id")
    system = serializers.CharField(source="continuation.system.name")
    condition = serializers.DictField(source="continuation.condition")
    trial = serializers.IntegerField(source="continuation.trial")
    point = serializers.IntegerField(source="decision.point")
    probes = serializers.ListField(child=serializers.CharField(), source="probe_names")
    seen = serializers.ListField(child=serializers.IntegerField())
    key = serializers.DictField(source="key_fields")
    decision = DecisionMadeSerializer()
    outcome = CascadeOutcomeSerializer(allow_null=True, source="result")


@extend_schema(methods=["GET"], parameters=[CascadeQuerySerializer], responses=CascadeReportSerializer)
@extend_schema(methods=["POST"], request=CascadeTestSerializer, responses=CascadeReportSerializer)
@api_view(["GET", "POST"])
def cascade(request: Request, pk: int) -> Response:
    """Return the three scores of group-chat agents; POST logs a look at test and reports there."""
    corpus = access.corpus(pk)
    data, purpose = read_request(request, CascadeQuerySerializer, CascadeTestSerializer)
    report = made_of(request, lambda: read(data, corpus), compute, compute_on_test, purpose)
    return Response(content(report))


@extend_schema(
    parameters=[OpenApiParameter("judge", str, description="raters whose answers count, by commas")],
    responses=AgentDecisionSerializer,
)
@api_view(["GET"])
def decision(request: Request, pk: int) -> Response:
    """Return a decision of a group-chat agent: its key, what it did, and its stages' scores."""
    item = access.decision(pk)
    names = [name.strip() for name in request.query_params.get("judge", "").split(",") if name.strip()]
    try:
        raters = raters_named(item.corpus, names)
    except ReportRefused as error:
        raise ValidationError({"judge": [str(error)]}) from error
    return Response(AgentDecisionSerializer(view(item, raters)).data)


urlpatterns: list[URLPattern] = [
    path("corpora/<int:pk>/scenarios/", Scenarios.as_view(), name="api-scenarios"),
    path("corpora/<int:pk>/scenarios/<int:dialogue>/", OneScenario.as_view(), name="api-scenario"),
    path("scenarios/check/", check_scenario, name="api-check-scenario"),
    path("dialogues/<int:pk>/keys/", AnswerKeys.as_view(), name="api-answer-keys"),
    path("corpora/<int:pk>/cascade/", cascade, name="api-cascade"),
    path("decisions/<int:pk>/", decision, name="api-decision"),
    path("corpora/<int:pk>/agents/", Agents.as_view(), name="api-agents"),
]
