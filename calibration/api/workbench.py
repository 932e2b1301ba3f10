"""API of the judge workbench: benches and drafts. Researchers only, the default permission."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.fields import empty
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import Item, Question
from calibration import access
from calibration.api.exports import refused_as
from calibration.models import COST, ForAdjudication, Mark, Search
from calibration.workbench import as_json, checks, marks, searches
from calibration.workbench.checks import CHECKS
from calibration.workbench.searches import DEFAULTS, NUMBERS
from calibration.workbench.sheets import explanations, judged_on, reasons_of_people, sheets
from calibration.workbench.versions import DIRECTIONS, Difference, differences, side_by_side
from config import api
from jobs.endpoints.parameter_inputs import parameter_serializer_fields, serializer_field
from jobs.endpoints.parameters import MOST_WHOLE
from judges.api.prompts import PickSerializer
from judges.drafts import benches, draft_actions
from judges.drafts.benches import begun_from, options_of, parent_of, picked, wording_from
from judges.models import Bench
from judges.prompts import versions
from judges.prompts.prompt_actions import LONGEST_NAME, LONGEST_NOTE
from judges.protocols.wording import LONGEST
from judges.runs.lookup import endpoint_named, selection_of
from judges.runs.plans import BUDGET

# Request bodies.

Plain = serializers.Serializer[Any]


class NewBenchSerializer(Plain):
    """A new bench on a corpus or a campaign, by name."""

    name = serializers.CharField(max_length=benches.LONGEST_NAME)
    protocol = serializers.CharField(max_length=60)
    corpus = api.optional_text()
    campaign = api.optional_text()
    scheme = api.optional_text(
        max_length=140,
        help_text="whose questions a rubric asks: key or key@version; over a campaign its own by default",
    )
    variant = api.optional_text(max_length=60, help_text="how a rubric asks (json)")
    include_self = serializers.BooleanField(
        default=False, help_text="dialogues' own turns, too, where they have continuations"
    )
    seed = serializer_field(benches.SEED, default=0, allow_null=False)


class DraftExamplesSerializer(PickSerializer):
    """Selection of a draft's worked examples from its bench's dev part; they replace existing examples."""


class TrySerializer(Plain):
    """A draft and the number of targets to run it on (null: all of dev). `begin` is its starting point:
    `draft-3`, `name@2`, or empty for Concord's own text; omitted parts are taken from there."""

    begin = api.optional_text(max_length=120)
    system = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, max_length=LONGEST
    )
    user = serializers.CharField(required=False, trim_whitespace=False, max_length=LONGEST)
    form = serializers.CharField(required=False, allow_blank=True, max_length=40)
    variant = serializers.CharField(required=False, allow_blank=True, max_length=60)
    endpoint = serializers.CharField(max_length=100, help_text="its name")
    needs = serializers.DictField(
        child=serializers.CharField(),
        default=dict,
        help_text="per role the judge or metric, by name or fingerprint, or the draft (BENCH/draft-3), that "
        "the protocol reads",
    )
    budget = serializer_field(BUDGET, required=False, default=empty)
    examples = DraftExamplesSerializer(allow_null=True, default=None)
    targets = serializers.IntegerField(default=5, allow_null=True, min_value=1)
    samples = serializer_field(draft_actions.SAMPLES, default=1, allow_null=False)
    estimate = serializers.BooleanField(
        default=False, help_text="only say what it takes; the draft is written all the same"
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields above, and one for each sampling parameter."""
        return super().get_fields() | parameter_serializer_fields()


class KeepSerializer(Plain):
    """The prompt name under which to keep a draft, and a note."""

    name = api.optional_text(max_length=LONGEST_NAME)
    note = api.optional_text(max_length=LONGEST_NOTE)


class MarkSerializer(Plain):
    """A verdict on a disagreement. `adjudicate` also sends items marked `people_wrong` to adjudication."""

    judged = serializers.CharField(max_length=40, help_text="draft-3 or judge-17")
    item = serializers.IntegerField(help_text="item_id of the disagreement")
    question = serializers.IntegerField(help_text="question_id of the disagreement")
    verdict = serializers.ChoiceField(choices=Mark.Verdict.choices)
    note = api.optional_text(max_length=marks.LONGEST)
    adjudicate = serializers.BooleanField(default=False)


class DifferencesSerializer(Plain):
    """Filters for the list of disagreements."""

    judged = serializers.CharField(default="", max_length=40)
    question = serializers.CharField(default="", help_text="its key")
    direction = serializers.ChoiceField(default="", choices=DIRECTIONS)
    system = serializers.CharField(default="")


class FindingsSerializer(api.QuerySerializer):
    """Of which draft, and which systems are of the judge's own family."""

    draft = serializers.IntegerField(min_value=0, max_value=MOST_WHOLE, help_text="a draft's number")
    own = api.texts(help_text="systems of the judge's own family")


class CheckSerializer(Plain):
    """A check of a draft that sends requests."""

    draft = serializers.IntegerField()
    check_key = serializers.ChoiceField(choices=[key for key, check in CHECKS.items() if check.asks])
    estimate = serializers.BooleanField(default=False)


@api.listing(name="benches_list", page=lambda page: [as_json.bench(row) for row in page])
def list_benches(request: Request) -> QuerySet[Bench]:
    """List benches, latest first."""
    return Bench.objects.select_related("corpus", "campaign", "split").order_by("-pk")


@api.post(NewBenchSerializer, status=201, name="benches_open")
def open_bench(request: Request) -> dict[str, Any]:
    """Open a bench on the dev part of a corpus or campaign."""
    data = api.data(request)
    place = selection_of(corpus=data.pop("corpus"), campaign=data.pop("campaign"))
    by = api.user(request)
    return as_json.bench(benches.open_bench(by=by, corpus=place.corpus, campaign=place.campaign, **data))


@api.get(name="benches_read")
def show_bench(request: Request, pk: int) -> dict[str, Any]:
    """Return a bench with a summary of its drafts."""
    return as_json.bench(access.bench(pk))


@api.post(TrySerializer, status=201, name="drafts_try")
def try_draft(request: Request, pk: int) -> Response | dict[str, Any]:
    """Write a draft and run it on the bench's first targets; with `estimate`, only return the estimate."""
    data, bench, by = api.data(request), access.bench(pk), api.user(request)
    begin = begun_from(bench, data["begin"])
    variant = data.get("variant", begin["variant"])
    wording = wording_from(bench, data["begin"], data)
    draft = draft_actions.write(
        by=by,
        bench=bench,
        wording=picked(bench, variant, wording, data["examples"]),
        variant=variant,
        endpoint=endpoint_named(data["endpoint"], by),
        options=options_of(data),
        parent=parent_of(bench, data["begin"]),
    )
    if data["estimate"]:
        estimate = draft_actions.estimate(draft, data["targets"], data["samples"])
        return Response({"draft": draft.number, "estimate": estimate.as_json()})
    draft_actions.run(by=by, draft=draft, targets=data["targets"], samples=data["samples"])
    return as_json.draft(access.draft(bench, draft.number))


@api.get(name="drafts_read")
def show_draft(request: Request, pk: int, number: int) -> dict[str, Any]:
    """Return a draft with its text, progress, agreement so far, and all answers beside people's answers."""
    return as_json.draft(access.draft(access.bench(pk), number))


@api.post(KeepSerializer, name="drafts_act")
def act_on_draft(request: Request, pk: int, number: int, verb: str) -> dict[str, Any]:
    """Cancel a draft, retry its failed calls (`retry`), keep it as a version, or discard it."""
    draft, by = access.draft(access.bench(pk), number), api.user(request)
    if verb not in draft_actions.VERBS:
        raise NotFound(f"There is no {verb}; there are {', '.join(draft_actions.VERBS)}.")
    data = api.data(request)
    draft_actions.VERBS[verb](by=by, draft=draft, **(data if verb == "keep" else {}))
    return as_json.draft(access.draft(access.bench(pk), number))


# Findings: disagreements, marks, versions side by side, checks, adjudication.


@api.listing(takes=DifferencesSerializer)
def list_disagreements(request: Request, pk: int) -> Response:
    """List disagreements between a draft or judge and people, largest share of the scale first."""
    bench = access.bench(pk)
    filters = api.data(request)
    judged = access.judged(judged_on(bench), filters.pop("judged"))
    current = marks.current_marks(bench)

    def payload(page: list[Difference]) -> list[dict[str, Any]]:
        items = [row.item for row in page]
        why, reasons = explanations(judged, items), reasons_of_people(bench, items)
        current_marks = [current.get((row.item, row.sheet.question.id, judged.key)) for row in page]
        return [
            as_json.difference(row, judged, why, reasons) | {"mark": current_mark and current_mark.verdict}
            for row, current_mark in zip(page, current_marks, strict=True)
        ]

    return api.page_of(request, differences(sheets(bench, [judged]), judged, **filters), payload)


@api.get()
def show_marks(request: Request, pk: int) -> dict[str, Any]:
    """Return the current marks and their counts."""
    bench = access.bench(pk)
    return {"counts": marks.counts(bench), "marks": marks.marks_as_json(bench)}


@api.post(MarkSerializer, status=201)
def mark(request: Request, pk: int) -> dict[str, Any]:
    """Mark who is wrong in a disagreement (`withdrawn` removes the mark)."""
    bench, by = access.bench(pk), api.user(request)
    data = api.data(request)
    new_mark = marks.mark(
        by=by,
        bench=bench,
        judged=access.judged(judged_on(bench), data["judged"]),
        item=get_object_or_404(Item, pk=data["item"]),
        question=get_object_or_404(Question, pk=data["question"]),
        verdict=data["verdict"],
        note=data["note"],
    )
    sent = marks.send_to_adjudication(by=by, mark=new_mark) if data["adjudicate"] else None
    return {"id": new_mark.pk, "verdict": new_mark.verdict, "adjudication": sent.pk if sent else None}


WITH = OpenApiParameter("with", str, description="draft-3 or judge-17; the first tried if left out")


@api.get(query=[WITH])
def compare_versions(request: Request, pk: int) -> dict[str, Any]:
    """Compare all versions and drafts of a bench with a selected one."""
    bench = access.bench(pk)
    with refused_as("with", end=""):
        return as_json.side_by_side(side_by_side(bench, request.query_params.get("with", "")))


@api.get(takes=FindingsSerializer)
def show_findings(request: Request, pk: int) -> dict[str, Any]:
    """Return the results of a draft's checks."""
    data = api.data(request)
    draft = access.draft(access.bench(pk), data["draft"])
    findings = [checks.finding(draft, key, own=data["own"]) for key in checks.CHECKS]
    return {"findings": [as_json.finding(finding) for finding in findings]}


@api.post(CheckSerializer, status=201)
def start_check(request: Request, pk: int) -> Response | dict[str, Any]:
    """Start a draft's check by sending its requests, or return its `estimate`."""
    bench = access.bench(pk)
    data = api.data(request)
    draft = access.draft(bench, data["draft"])
    if data["estimate"]:
        return Response({"estimate": checks.cost(draft, data["check_key"]).as_json()})
    drafts = checks.start(by=api.user(request), draft=draft, key=data["check_key"])
    return {"drafts": [variant_draft.number for variant_draft in drafts]}


@api.listing(page=as_json.waiting)
def adjudication(request: Request) -> QuerySet[ForAdjudication]:
    """List the items waiting for adjudication, latest first."""
    return marks.waiting()


@api.post()
def withdraw_adjudication(request: Request, pk: int) -> dict[str, Any]:
    """Remove an item from the adjudication list."""
    row = marks.withdraw(by=api.user(request), row=access.for_adjudication(pk))
    return {"id": row.pk, "withdrawn_at": row.withdrawn_at}


# Searches: a model proposes texts for a judge. Researchers only, the default permission.


def _number(name: str) -> serializers.Field[Any, Any, Any, Any]:
    return serializer_field(NUMBERS[name], default=DEFAULTS[name], allow_null=False)


class SearchParametersSerializer(serializers.Serializer[Any]):
    """The sampling parameters of the judge, or of the proposing model."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return one field for each sampling parameter."""
        return super().get_fields() | parameter_serializer_fields()


class NewSearchSerializer(serializers.Serializer[Any]):
    """A new search: the initial text (`name@number`), the models, and the limits."""

    begin = serializers.CharField(max_length=120, help_text="a version of a prompt")
    name = api.optional_text(max_length=LONGEST_NAME, help_text="the prompt of the proposals")
    endpoint = serializers.CharField(max_length=100, help_text="where the judge is asked")
    improver = serializers.CharField(max_length=100, help_text="where proposals are asked for")
    rounds = _number("rounds")
    few = _number("few")
    most_calls = _number("most_calls")
    most_cost = serializers.DecimalField(allow_null=True, default=None, min_value=0, **COST)
    seed = _number("seed")
    needs = serializers.DictField(
        child=serializers.CharField(), default=dict, help_text="per role whom the judge reads"
    )
    parameters = SearchParametersSerializer(default=dict)
    improver_parameters = SearchParametersSerializer(default=dict)


class SearchActSerializer(serializers.Serializer[Any]):
    """Arguments of an action on a search: `text` is the proposal to adopt; cancel and resume need none."""

    text = serializers.IntegerField(required=False, min_value=1, max_value=2**31 - 1)


@api.listing(
    name="searches_list",
    page=lambda page: [{"id": row.pk, "from": row.parent, "state": row.state} for row in page],
)
def list_searches(request: Request, pk: int) -> QuerySet[Search]:
    """List a bench's searches, latest first."""
    return access.bench(pk).searches.order_by("-pk")


@api.post(NewSearchSerializer, status=201, name="searches_start")
def start_search(request: Request, pk: int) -> dict[str, Any]:
    """Start a search on a bench."""
    bench = access.bench(pk)
    data = api.data(request)
    search = searches.start(
        by=api.user(request),
        bench=bench,
        version=versions.find(data.pop("begin")),
        endpoint=endpoint_named(data.pop("endpoint"), api.user(request)),
        improver=endpoint_named(data.pop("improver"), api.user(request)),
        options={name: data.pop(name) for name in ("needs", "parameters")},
        **data,
    )
    return searches.as_json(search)


@api.get(name="searches_read")
def show_search(request: Request, pk: int, search: int) -> dict[str, Any]:
    """Return a search with its progress, cost, texts and their scores."""
    return searches.as_json(access.search(access.bench(pk), search))


@api.post(SearchActSerializer, name="searches_act")
def act_on_search(request: Request, pk: int, search: int, verb: str) -> dict[str, Any]:
    """Cancel or resume a search, or adopt one of its proposals."""
    prompt_search, by = access.search(access.bench(pk), search), api.user(request)
    data = api.data(request)
    if verb == "adopt":
        searches.adopt(by=by, text=access.search_text(prompt_search, str(data.get("text", ""))))
    elif verb in searches.VERBS:
        prompt_search = searches.VERBS[verb](by=by, search=prompt_search)
    else:
        raise NotFound
    return searches.as_json(prompt_search)
