"""The HTTP API of group chats: scenarios with their keys, agents, the Cascade report. Researchers only."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http import Http404
from django.urls import URLPattern, path
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.corpora import LIMIT
from annotation.api.corpora_serializers import REFUSED_FILE, LeftOutDialoguesSerializer, exclude_field
from annotation.models.corpora import Corpus, Dialogue
from annotation.scenario_records import MODES, STAGES, Outcome
from calibration.api.exports import refused_as
from calibration.api.serializers import (
    OpensTestSerializer,
    ReportQuerySerializer,
    ResultSerializer,
    compute_report,
)
from calibration.reports.kinds import split_names
from config import api
from jobs.api import JobAnswer, accepted
from jobs.endpoints.parameter_inputs import serializer_field
from jobs.models import Job
from judges.runs.lookup import PARTS
from suites.api import ReportLookSerializer, ReportTableSerializer, SystemVerdictSerializer
from suites.continuation.productions.dialogues import select_dialogues
from suites.group_chat import baselines, editing
from suites.group_chat.answer_keys import correct, current
from suites.group_chat.baselines import TRIALS, Decider, Played, deciders, scenario_count
from suites.group_chat.cascade.decisions import DecisionView, raters_named, view
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
from suites.group_chat.scenarios.probes import OracleProblem, ProbeCount, overview

Plain = serializers.Serializer[Any]

# Scenarios: keys, lists, single scenarios turn by turn, checking and saving texts.

OFFSET = OpenApiParameter("offset", {"type": "integer", "minimum": 0, "default": 0})
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
    """A scenario's keys. `rater` is the name of the rater that holds them, null before the first decision."""

    dialogue = serializers.CharField(source="key")
    corpus = serializers.CharField(source="corpus.name")
    rater = serializers.SerializerMethodField()
    scenario = serializers.DictField()

    def get_rater(self, dialogue: Dialogue) -> str | None:
        """Name of the rater that holds the keys, None before the first decision."""
        rater = current(dialogue.corpus)
        return rater.name if rater else None


@api.get(AnswerKeysSerializer)
def answer_keys(request: Request, pk: int) -> Dialogue:
    """Return a scenario's own fields as the native format has them; 404 for other dialogues."""
    return _scenario(pk)


@api.patch(
    KeysRequest,
    AnswerKeysSerializer,
    responses={400: OpenApiResponse(REFUSED_FILE, description="An import would refuse the scenario.")},
)
def correct_answer_keys(request: Request, pk: int) -> Dialogue:
    """Correct a scenario's keys: the new keys belong to a new rater, and earlier labels stay."""
    dialogue = _scenario(pk)
    correct(dialogue=dialogue, changes=api.data(request), by=api.user(request))
    return dialogue


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
    """A scenario to save; `seen` is the `state` of the stored scenario that was edited."""

    seen = serializers.RegexField(r"^[0-9a-f]{64}$", default="", allow_blank=True)


OracleProblemsSerializer = api.serializer_of(OracleProblem, "OracleProblems")


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
    problems = OracleProblemsSerializer(many=True, source="summary.problems")


ProbeCountsSerializer = api.serializer_of(ProbeCount, "ProbeCounts")


class ScenarioOverview(Plain):
    """Counts of a corpus's scenarios, with a page of them."""

    scenarios = serializers.IntegerField()
    families = serializers.IntegerField()
    points = serializers.IntegerField()
    probed = serializers.IntegerField()
    free = serializers.IntegerField()
    agreed = serializers.IntegerField()
    wrong = serializers.IntegerField()
    kinds = ProbeCountsSerializer(many=True)
    without_control = serializers.ListField(child=serializers.CharField())
    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = ScenarioRow(many=True)


class CheckedScenario(Plain):
    """A scenario turn by turn: who sees each turn, its probes and key, and the oracle's decision."""

    native = serializers.DictField()
    script = serializers.CharField()
    turns = serializers.ListField(child=serializers.DictField())


class StoredScenario(CheckedScenario):
    """A stored scenario. `decided`: its script must stay; `state`: SHA-256 of its content, for saving."""

    id = serializers.IntegerField()
    decided = serializers.BooleanField()
    state = serializers.CharField()


class SavedScenario(StoredScenario):
    """A saved scenario, and the effect of saving it."""

    became = serializers.ChoiceField(choices=["created", "rewritten", "corrected", "unchanged"])


@api.get(ScenarioOverview, query=[LIMIT, OFFSET], name="corpora_scenarios_overview")
def scenarios(request: Request, pk: int) -> dict[str, Any]:
    """Count the scenarios and their probes, and list them, each with the oracle's check."""
    scenario_rows = rows(access.corpus(pk))
    totals = overview([row.summary for row in scenario_rows]).as_dict()
    page = api.page_of(request, scenario_rows, lambda page: ScenarioRow(page, many=True).data)
    return totals | dict(page.data)


@api.post(SavedText, SavedScenario, status=201, responses={400: REFUSED})
def add_scenario(request: Request, pk: int) -> Response:
    """Save a scenario as a new dialogue of the corpus."""
    return _save(request, access.corpus(pk), None)


@api.get(StoredScenario)
def scenario(request: Request, pk: int, dialogue: int) -> dict[str, Any]:
    """Return a scenario as a script and in the native format, turn by turn."""
    return _scenario_payload(access.scenario(pk, dialogue))


@api.put(SavedText, SavedScenario, responses={201: SavedScenario, 400: REFUSED})
def save_scenario(request: Request, pk: int, dialogue: int) -> Response:
    """Save a changed scenario: over the stored one while nobody answered to it, else as a correction of keys.

    With another id it becomes a new dialogue (201).
    """
    opened = access.scenario(pk, dialogue)
    return _save(request, opened.corpus, opened)


@api.post(ScenarioText, CheckedScenario, responses={400: REFUSED})
def check_scenario(request: Request) -> dict[str, Any]:
    """Read a scenario as an import would, the oracle's check included; nothing is stored."""
    data = api.data(request)
    checked_draft = draft(data["text"], any_size=data["any_size"])
    if checked_draft.record is None:
        assert checked_draft.problem is not None
        raise checked_draft.problem
    return _checked_payload(checked_draft.record)


def _checked_payload(record: Any) -> dict[str, Any]:
    lines = [line.as_dict() for line in scenario_turns(record)]
    return {"native": native(record), "script": text_of(record), "turns": lines}


def _scenario_payload(dialogue: Dialogue) -> dict[str, Any]:
    record = record_of(dialogue)
    payload = {"id": dialogue.pk, "decided": is_decided(dialogue), "state": state_of(record)}
    return payload | _checked_payload(record)


def _save(request: Request, corpus: Corpus, opened: Dialogue | None) -> Response:
    data = api.data(request)
    saved = editing.save(
        corpus=corpus,
        record=read_scenario(data["text"], any_size=data["any_size"]),
        by=api.user(request),
        opened=opened,
        seen=data["seen"],
        any_size=data["any_size"],
    )
    status = 201 if saved.became == "created" else 200
    return Response(_scenario_payload(saved.dialogue) | {"became": saved.became}, status=status)


# Agents: systems that decided in a corpus's scenarios, and baselines to run.


class BaselineSerializer(Plain):
    """A baseline: whether it learns from keys, and whether its trials differ."""

    key = serializers.CharField()
    title = serializers.CharField()
    learns = serializers.BooleanField()
    varies = serializers.BooleanField()


DeciderSerializer = api.serializer_of(Decider, "Decider", condition=serializers.JSONField())


class AgentsSerializer(Plain):
    """Available baselines, the number of scenarios, and the systems that decided in them."""

    baselines = BaselineSerializer(many=True)
    scenarios = serializers.IntegerField()
    systems = DeciderSerializer(many=True)


class PlaySerializer(Plain):
    """A baseline to run. `seed` is for its random draws; an empty `part` means all dialogues but training."""

    agent = serializers.ChoiceField(choices=list(AGENTS))
    mode = serializers.ChoiceField(choices=MODES, default=MODES[0])
    trials = serializer_field(TRIALS, default=1, allow_null=False)
    part = serializers.ChoiceField(choices=PARTS, default="", allow_blank=True)
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=0)
    exclude = exclude_field()


PlayedSerializer = api.serializer_of(Played, "Played", condition=serializers.JSONField())


@api.get(AgentsSerializer)
def agents(request: Request, pk: int) -> Any:
    """List the baselines, and the systems that decided in a corpus; agents with a model are productions."""
    corpus = access.corpus(pk)
    payload = {
        "baselines": AGENTS.values(),
        "scenarios": scenario_count(corpus),
        "systems": deciders(corpus),
    }
    return AgentsSerializer(payload).data


@api.post(PlaySerializer, PlayedSerializer, status=201, responses={202: JobAnswer})
def run_baseline(request: Request, pk: int) -> Played | Response:
    """Run a baseline at every point; its earlier decisions stay as they are.

    202 with the id of a job for many scenarios and trials; the job's result has the same fields.
    """
    corpus = access.corpus(pk)
    data = api.data(request)
    played = baselines.start(
        by=api.user(request),
        baseline=baselines.Baseline(data["agent"], data["mode"], data["trials"], data["seed"]),
        dialogues=select_dialogues(corpus, data),
    )
    return accepted(played) if isinstance(played, Job) else played


# The Cascade report, and single decisions.


class CascadeQuerySerializer(ReportQuerySerializer):
    """Query of a Cascade report; lists are separated by commas. See the docs of the Cascade report."""

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
    """Query of a Cascade report of test, with the purpose of opening test."""


class CascadeSystemSerializer(Plain):
    """Figures of a system or a baseline, each {value, low, high, n, reason}, in objects by name."""

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


class CascadeVerdictSerializer(SystemVerdictSerializer):
    """A verdict on a system's competence; `decided` is the share of decisions at probes with a score."""

    system = serializers.CharField()
    condition = serializers.CharField(allow_blank=True)
    decided = serializers.FloatField(allow_null=True)


class CascadeReportSerializer(Plain):
    """A Cascade report. No field combines the three scores."""

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
    verdicts = CascadeVerdictSerializer(many=True)
    systems = CascadeSystemSerializer(many=True)
    tables = ReportTableSerializer(many=True)
    facts = serializers.ListField(child=serializers.CharField())
    excluded = LeftOutDialoguesSerializer(allow_null=True)
    guardrails = serializers.ListField(child=serializers.CharField())
    looks_at_test = ReportLookSerializer(many=True)


class CascadeStageSerializer(Plain):
    """A stage's score from 0 to 1; where it is null, `state` and `why` give the reason."""

    stage = serializers.ChoiceField(choices=list(STAGES))
    score = serializers.FloatField(allow_null=True)
    state = serializers.CharField()
    why = serializers.CharField(allow_blank=True)


class CascadeOutcomeSerializer(Plain):
    """Result of the cascade for a decision; a score is null while it waits for a judge."""

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
    """An agent's act at a point, with its declarations, null where it declared nothing."""

    act = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    mode = serializers.CharField()
    attend = serializers.BooleanField(allow_null=True)
    addressed = serializers.ListField(child=serializers.CharField(), allow_null=True)
    targets = serializers.ListField(child=serializers.CharField(), allow_null=True)
    ground = serializers.CharField(allow_null=True)
    flags = serializers.ListField(child=serializers.CharField())


class AgentDecisionSerializer(Plain):
    """A decision with its key. `outcome` is null for the test part until test is opened."""

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


@api.get(CascadeReportSerializer, CascadeQuerySerializer)
def cascade(request: Request, pk: int) -> dict[str, Any]:
    """Return the three scores of group-chat agents."""
    return _cascade_report(request, access.corpus(pk))


@api.post(CascadeTestSerializer, CascadeReportSerializer)
def cascade_on_test(request: Request, pk: int) -> dict[str, Any]:
    """Log a look at test, and return the three scores of group-chat agents there."""
    return _cascade_report(request, access.corpus(pk))


def _cascade_report(request: Request, corpus: Corpus) -> dict[str, Any]:
    return content(compute_report(request, lambda data: read(data, corpus), compute, compute_on_test))


@api.get(
    AgentDecisionSerializer,
    query=[OpenApiParameter("judge", str, description="raters whose answers count, by commas")],
)
def decision(request: Request, pk: int) -> DecisionView:
    """Return a decision of a group-chat agent, with its key and the scores of its stages."""
    item = access.decision(pk)
    with refused_as("judge", end=""):
        raters = raters_named(item.corpus, split_names(request.query_params.get("judge", "")))
    return view(item, raters)


urlpatterns: list[URLPattern] = [
    path("corpora/<int:pk>/scenarios/", api.route(scenarios, add_scenario), name="api-scenarios"),
    path(
        "corpora/<int:pk>/scenarios/<int:dialogue>/",
        api.route(scenario, save_scenario),
        name="api-scenario",
    ),
    path("scenarios/check/", api.route(check_scenario), name="api-check-scenario"),
    path("dialogues/<int:pk>/keys/", api.route(answer_keys, correct_answer_keys), name="api-answer-keys"),
    path("corpora/<int:pk>/cascade/", api.route(cascade, cascade_on_test), name="api-cascade"),
    path("decisions/<int:pk>/", api.route(decision), name="api-decision"),
    path("corpora/<int:pk>/agents/", api.route(agents, run_baseline), name="api-agents"),
]
