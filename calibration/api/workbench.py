"""The judge workbench over HTTP: benches and drafts. Researchers only, as by default."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import Item, Question
from calibration import access
from calibration.errors import CalibrationError
from calibration.models import Mark
from calibration.workbench import as_json, checks, marks, searches
from calibration.workbench.checks import CHECKS
from calibration.workbench.searches import BOUNDS
from calibration.workbench.sheets import Judged, judged_on, sheets
from calibration.workbench.versions import DIRECTIONS, Difference, differences, side_by_side
from config.lists import Pages, paged
from jobs import runs
from jobs.endpoints.parameter_inputs import parameter_serializer_fields
from jobs.errors import JobError
from judges.drafts import actions, benches
from judges.drafts.benches import USUAL, begun_from, options_of, parent_of, picked, wording_from
from judges.models import Bench, Draft
from judges.prompts import versions
from judges.prompts.examples import MOST_SHOWN, RULE_CHOICES
from judges.protocols.wording import LONGEST
from judges.runs.lookup import endpoint_named, selection_of
from judges.runs.plans import LEAST_BUDGET, MOST_SAMPLES

# What the workbench's API takes.

Plain = serializers.Serializer[Any]


class NewBenchSerializer(Plain):
    """A bench over a corpus or a campaign, by name."""

    name = serializers.CharField(max_length=100)
    protocol = serializers.CharField(max_length=60)
    corpus = serializers.CharField(required=False, default="", allow_blank=True)
    campaign = serializers.CharField(required=False, default="", allow_blank=True)
    scheme = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=140,
        help_text="whose questions a rubric asks: key or key@version; over a campaign its own by default",
    )
    variant = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=60, help_text="how a rubric asks (json)"
    )
    include_self = serializers.BooleanField(
        required=False, default=False, help_text="dialogues' own turns, too, where they have continuations"
    )
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=2**31 - 1)


class DraftExamplesSerializer(Plain):
    """How a draft's worked examples are picked, from dev of its bench, in place of those it has."""

    rule = serializers.ChoiceField(choices=RULE_CHOICES)
    n = serializers.IntegerField(required=False, default=USUAL, min_value=1, max_value=MOST_SHOWN)
    items = serializers.ListField(
        child=serializers.CharField(), required=False, default=list, max_length=MOST_SHOWN
    )
    judge = serializers.CharField(required=False, default="", allow_blank=True)
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=2**31 - 1)


class TrySerializer(Plain):
    """A draft and how many targets it is tried on (null: all of dev). `begin` is what it is begun from:
    `draft-3`, `name@2`, or nothing for what comes with Concord; parts left out are those of that text."""

    begin = serializers.CharField(required=False, default="", allow_blank=True, max_length=120)
    system = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, max_length=LONGEST
    )
    user = serializers.CharField(required=False, trim_whitespace=False, max_length=LONGEST)
    form = serializers.CharField(required=False, allow_blank=True, max_length=40)
    variant = serializers.CharField(required=False, allow_blank=True, max_length=60)
    endpoint = serializers.CharField(max_length=100, help_text="its name")
    needs = serializers.DictField(
        child=serializers.CharField(),
        required=False,
        default=dict,
        help_text="per role the judge or metric, by name or fingerprint, or the draft (BENCH/draft-3), that "
        "the protocol reads",
    )
    budget = serializers.IntegerField(
        required=False, allow_null=True, min_value=LEAST_BUDGET, max_value=10**9
    )
    examples = DraftExamplesSerializer(required=False, allow_null=True, default=None)
    targets = serializers.IntegerField(required=False, default=5, allow_null=True, min_value=1)
    samples = serializers.IntegerField(required=False, default=1, min_value=1, max_value=MOST_SAMPLES)
    estimate = serializers.BooleanField(
        required=False, default=False, help_text="only say what it takes; the draft is written all the same"
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields above, and one for each sampling parameter."""
        return super().get_fields() | parameter_serializer_fields()


class KeepSerializer(Plain):
    """Under which name a draft is kept."""

    name = serializers.CharField(required=False, default="", allow_blank=True, max_length=100)
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=5000)


class MarkSerializer(Plain):
    """What is said of a disagreement. `adjudicate` also sends what is marked `people_wrong` on."""

    judged = serializers.CharField(max_length=40, help_text="draft-3 or judge-17")
    item = serializers.IntegerField(help_text="item_id of the disagreement")
    question = serializers.IntegerField(help_text="question_id of the disagreement")
    verdict = serializers.ChoiceField(choices=Mark.Verdict.choices)
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=5000)
    adjudicate = serializers.BooleanField(required=False, default=False)


class DifferencesSerializer(Plain):
    """Which disagreements are listed."""

    judged = serializers.CharField(required=False, default="", max_length=40)
    question = serializers.CharField(required=False, default="", help_text="its key")
    direction = serializers.ChoiceField(required=False, default="", choices=DIRECTIONS)
    system = serializers.CharField(required=False, default="")


class CheckSerializer(Plain):
    """A check of a draft that asks something."""

    draft = serializers.IntegerField()
    check_key = serializers.ChoiceField(choices=[key for key, check in CHECKS.items() if check.asks])
    estimate = serializers.BooleanField(required=False, default=False)


VERBS = ("cancel", "retry", "keep", "discard")


def person(request: Request) -> User:
    """Return who asks."""
    assert isinstance(request.user, User)
    return request.user


@extend_schema(methods=["GET"], responses=OpenApiTypes.OBJECT, operation_id="benches_list")
@extend_schema(
    methods=["POST"],
    request=NewBenchSerializer,
    operation_id="benches_open",
    responses={201: OpenApiTypes.OBJECT},
)
@paged
@api_view(["GET", "POST"])
def bench_list(request: Request) -> Response:
    """List the benches, latest first; POST opens one on the dev part of a corpus or campaign."""
    if request.method == "GET":
        all_benches: QuerySet[Bench] = Bench.objects.select_related("corpus", "campaign", "split")
        pager = Pages()
        rows = pager.paginate_queryset(all_benches.order_by("-pk"), request) or []
        return pager.get_paginated_response([as_json.bench(row) for row in rows])
    serializer = NewBenchSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    data = dict(serializer.validated_data)
    try:
        place = selection_of(corpus=data.pop("corpus"), campaign=data.pop("campaign"))
        bench = benches.open_bench(by=person(request), corpus=place.corpus, campaign=place.campaign, **data)
    except JobError as error:
        raise ValidationError({"detail": str(error)}) from None
    return Response(as_json.bench(bench), status=status.HTTP_201_CREATED)


@extend_schema(responses=OpenApiTypes.OBJECT, operation_id="benches_read")
@api_view(["GET"])
def bench_one(request: Request, pk: int) -> Response:
    """Return a bench with its drafts in short."""
    return Response(as_json.bench(access.bench(pk)))


@extend_schema(request=TrySerializer, operation_id="drafts_try", responses={201: OpenApiTypes.OBJECT})
@api_view(["POST"])
def bench_try(request: Request, pk: int) -> Response:
    """Write a draft and try it on the bench's first targets; with `estimate` say only what that takes."""
    serializer = TrySerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    try:
        return _tried(access.bench(pk), person(request), serializer.validated_data)
    except JobError as error:
        raise ValidationError({"detail": str(error)}) from None


def _tried(bench: Bench, by: User, data: dict[str, Any]) -> Response:
    begin = begun_from(bench, data["begin"])
    variant = data.get("variant", begin["variant"])
    wording = wording_from(bench, data["begin"], data)
    draft = actions.write(
        by=by,
        bench=bench,
        wording=picked(bench, variant, wording, data["examples"]),
        variant=variant,
        endpoint=endpoint_named(data["endpoint"]),
        options=options_of(data),
        parent=parent_of(bench, data["begin"]),
    )
    if data["estimate"]:
        estimate = actions.estimate(draft, data["targets"], data["samples"])
        return Response({"draft": draft.number, "estimate": estimate.as_json()})
    actions.run(by=by, draft=draft, targets=data["targets"], samples=data["samples"])
    return Response(as_json.draft(access.draft(bench, draft.number)), status=status.HTTP_201_CREATED)


@extend_schema(responses=OpenApiTypes.OBJECT, operation_id="drafts_read")
@api_view(["GET"])
def draft_one(request: Request, pk: int, number: int) -> Response:
    """Return a draft with its text, how far it is, the agreement so far, and all answers beside people's."""
    try:
        return Response(as_json.draft(access.draft(access.bench(pk), number)))
    except CalibrationError as error:
        raise ValidationError({"detail": str(error)}) from None


@extend_schema(request=KeepSerializer, responses=OpenApiTypes.OBJECT, operation_id="drafts_act")
@api_view(["POST"])
def draft_act(request: Request, pk: int, number: int, verb: str) -> Response:
    """Cancel a draft, ask again for what failed (`retry`), keep it as a version, or throw it away."""
    draft = access.draft(access.bench(pk), number)
    if verb not in VERBS:
        raise NotFound(f"There is no {verb}; there are {', '.join(VERBS)}.")
    serializer = KeepSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    try:
        _done(verb, draft, person(request), serializer.validated_data)
    except JobError as error:
        raise ValidationError({"detail": str(error)}) from None
    return Response(as_json.draft(access.draft(access.bench(pk), number)))


def _done(verb: str, draft: Draft, by: User, data: dict[str, Any]) -> None:
    run = actions.run_of(draft)
    if verb == "keep":
        actions.keep(by=by, draft=draft, **data)
    elif verb == "discard":
        actions.discard(by=by, draft=draft)
    elif run is not None and verb == "cancel":
        runs.cancel(by=by, run=run)
    elif run is not None:
        runs.retry_failed(by=by, run=run)


# What the workbench found, over HTTP: disagreements, marks, versions side by side, checks, adjudication.


@extend_schema(parameters=[DifferencesSerializer], responses=OpenApiTypes.OBJECT)
@paged
@api_view(["GET"])
def bench_disagreements(request: Request, pk: int) -> Response:
    """List where a draft or judge and people disagree, largest share of the scale first."""
    bench = access.bench(pk)
    serializer = DifferencesSerializer(data=request.query_params)
    serializer.is_valid(raise_exception=True)
    filters = dict(serializer.validated_data)
    judged = _judged(bench, filters.pop("judged"))
    try:
        disagreements = differences(sheets(bench, [judged]), judged, **filters)
    except CalibrationError as error:
        raise ValidationError({"detail": str(error)}) from None
    pager = Pages()
    rows: list[Difference] = pager.paginate_queryset(disagreements, request) or []
    current = marks.current_marks(bench)
    return pager.get_paginated_response(
        [
            as_json.difference(disagreement, judged)
            | {"mark": mark.verdict if (mark := current.get(_place(disagreement, judged))) else None}
            for disagreement in rows
        ]
    )


def _place(disagreement: Difference, judged: Judged) -> tuple[int, int, str]:
    return disagreement.item, disagreement.sheet.question.id, judged.key


def _judged(bench: Bench, key: str) -> Judged:
    matching = [candidate for candidate in judged_on(bench) if key in ("", candidate.key)]
    if not matching:
        raise NotFound(
            f"This bench has nobody {key!r} who was tried." if key else "Nobody was tried here yet."
        )
    return matching[0]


@extend_schema(methods=["GET"], responses=OpenApiTypes.OBJECT)
@extend_schema(methods=["POST"], request=MarkSerializer, responses={201: OpenApiTypes.OBJECT})
@api_view(["GET", "POST"])
def bench_marks(request: Request, pk: int) -> Response:
    """Return the marks that stand, and their numbers; POST says who is wrong (`withdrawn` takes it back)."""
    bench = access.bench(pk)
    if request.method == "GET":
        return Response({"counts": marks.counts(bench), "marks": marks.marks_as_json(bench)})
    serializer = MarkSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    data = serializer.validated_data
    try:
        new_mark = marks.mark(
            by=person(request),
            bench=bench,
            judged=_judged(bench, data["judged"]),
            item=get_object_or_404(Item, pk=data["item"]),
            question=get_object_or_404(Question, pk=data["question"]),
            verdict=data["verdict"],
            note=data["note"],
        )
        sent = marks.send_to_adjudication(by=person(request), mark=new_mark) if data["adjudicate"] else None
    except CalibrationError as error:
        raise ValidationError({"detail": str(error)}) from None
    return Response(
        {"id": new_mark.pk, "verdict": new_mark.verdict, "adjudication": sent.pk if sent else None},
        status=status.HTTP_201_CREATED,
    )


@extend_schema(
    parameters=[
        OpenApiParameter("with", str, description="draft-3 or judge-17; the first tried if left out")
    ],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def bench_versions(request: Request, pk: int) -> Response:
    """Put all versions and drafts of a bench side by side, each compared with a chosen one."""
    try:
        comparison = side_by_side(access.bench(pk), request.query_params.get("with", ""))
    except CalibrationError as error:
        raise ValidationError({"with": [str(error)]}) from None
    return Response(as_json.side_by_side(comparison))


@extend_schema(
    methods=["GET"],
    parameters=[
        OpenApiParameter("draft", int, required=True, description="a draft's number"),
        OpenApiParameter("own", str, many=True, description="systems of the judge's own family"),
    ],
    responses=OpenApiTypes.OBJECT,
)
@extend_schema(methods=["POST"], request=CheckSerializer, responses={201: OpenApiTypes.OBJECT})
@api_view(["GET", "POST"])
def bench_checks(request: Request, pk: int) -> Response:
    """Return what checks of a draft found; POST asks what one needs, or says (`estimate`) what it takes."""
    bench = access.bench(pk)
    if request.method == "GET":
        number = request.query_params.get("draft", "")
        if not (number.isdecimal() and len(number) < 10):
            raise ValidationError({"draft": ["Give a draft's number."]})
        draft = access.draft(bench, int(number))
        own = request.query_params.getlist("own")
        try:
            findings = [checks.finding(draft, key, own=own) for key in checks.CHECKS]
        except CalibrationError as error:
            raise ValidationError({"detail": str(error)}) from None
        return Response({"findings": [as_json.finding(finding) for finding in findings]})
    serializer = CheckSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    data = serializer.validated_data
    draft = access.draft(bench, data["draft"])
    try:
        if data["estimate"]:
            return Response({"estimate": checks.cost(draft, data["check_key"]).as_json()})
        drafts = checks.start(by=person(request), draft=draft, key=data["check_key"])
    except (CalibrationError, JobError) as error:
        raise ValidationError({"detail": str(error)}) from None
    return Response(
        {"drafts": [variant_draft.number for variant_draft in drafts]}, status=status.HTTP_201_CREATED
    )


@extend_schema(responses=OpenApiTypes.OBJECT)
@paged
@api_view(["GET"])
def adjudication(request: Request) -> Response:
    """List what waits for adjudication, latest first."""
    pager = Pages()
    rows = pager.paginate_queryset(marks.waiting(), request) or []
    return pager.get_paginated_response(as_json.waiting(rows))


@extend_schema(request=None, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
def withdraw_adjudication(request: Request, pk: int) -> Response:
    """Take an item off the list."""
    row = marks.withdraw(by=person(request), row=access.for_adjudication(pk))
    return Response({"id": row.pk, "withdrawn_at": row.withdrawn_at})


# Searches over HTTP: a model proposes texts for a judge. Researchers only, as by default.


def _number(name: str, default: int) -> serializers.IntegerField:
    least, most = BOUNDS[name]
    return serializers.IntegerField(required=False, default=default, min_value=least, max_value=most)


class SearchParametersSerializer(serializers.Serializer[Any]):
    """The sampling parameters of the judge, or of the model that proposes."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return one field for each."""
        return super().get_fields() | parameter_serializer_fields()


class NewSearchSerializer(serializers.Serializer[Any]):
    """From which text (`name@number`), by which models, within which bounds."""

    begin = serializers.CharField(max_length=120, help_text="a version of a prompt")
    name = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=99, help_text="the prompt of the proposals"
    )
    endpoint = serializers.CharField(max_length=100, help_text="where the judge is asked")
    improver = serializers.CharField(max_length=100, help_text="where proposals are asked for")
    rounds = _number("rounds", 8)
    few = _number("few", 5)
    most_calls = _number("most_calls", 1000)
    most_cost = serializers.DecimalField(
        required=False, allow_null=True, default=None, max_digits=12, decimal_places=4, min_value=0
    )
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=2**31 - 1)
    needs = serializers.DictField(
        child=serializers.CharField(), required=False, default=dict, help_text="per role whom the judge reads"
    )
    parameters = SearchParametersSerializer(required=False, default=dict)
    improver_parameters = SearchParametersSerializer(required=False, default=dict)


class SearchActSerializer(serializers.Serializer[Any]):
    """`text` names the proposal to adopt; cancelling and resuming take nothing."""

    text = serializers.IntegerField(required=False, min_value=1, max_value=2**31 - 1)


@extend_schema(methods=["GET"], responses=OpenApiTypes.OBJECT, operation_id="searches_list")
@extend_schema(
    methods=["POST"],
    request=NewSearchSerializer,
    operation_id="searches_start",
    responses={201: OpenApiTypes.OBJECT},
)
@paged
@api_view(["GET", "POST"])
def bench_searches(request: Request, pk: int) -> Response:
    """List a bench's searches, latest first; POST starts one."""
    bench = access.bench(pk)
    if request.method == "GET":
        pager = Pages()
        rows = pager.paginate_queryset(bench.searches.order_by("-pk"), request) or []
        return pager.get_paginated_response(
            [{"id": row.pk, "from": row.parent, "state": row.state} for row in rows]
        )
    serializer = NewSearchSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    data = dict(serializer.validated_data)
    try:
        search = searches.start(
            by=person(request),
            bench=bench,
            version=versions.find(data.pop("begin")),
            endpoint=endpoint_named(data.pop("endpoint")),
            improver=endpoint_named(data.pop("improver")),
            options={name: data.pop(name) for name in ("needs", "parameters")},
            **data,
        )
    except (CalibrationError, JobError) as error:
        raise ValidationError({"detail": str(error)}) from None
    return Response(searches.as_json(search), status=status.HTTP_201_CREATED)


@extend_schema(responses=OpenApiTypes.OBJECT, operation_id="searches_read")
@api_view(["GET"])
def bench_search(request: Request, pk: int, search: int) -> Response:
    """Return a search: how far it is, what it took, its texts and what they are worth."""
    prompt_search = access.search(access.bench(pk), search)
    try:
        return Response(searches.as_json(prompt_search))
    except CalibrationError as error:
        raise ValidationError({"detail": str(error)}) from None


@extend_schema(request=SearchActSerializer, responses=OpenApiTypes.OBJECT, operation_id="searches_act")
@api_view(["POST"])
def search_act(request: Request, pk: int, search: int, verb: str) -> Response:
    """Cancel or resume a search, or adopt one of its proposals."""
    prompt_search = access.search(access.bench(pk), search)
    serializer = SearchActSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    try:
        if verb == "adopt":
            number = str(serializer.validated_data.get("text", ""))
            searches.adopt(by=person(request), text=access.search_text(prompt_search, number))
        elif verb in searches.VERBS:
            prompt_search = searches.VERBS[verb](by=person(request), search=prompt_search)
        else:
            raise NotFound
    except (CalibrationError, JobError) as error:
        raise ValidationError({"detail": str(error)}) from None
    return Response(searches.as_json(prompt_search))
