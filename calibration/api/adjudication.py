"""Rounds of adjudication over HTTP, for researchers: begin, watch, change, and take out what was decided."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import FileResponse, Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.corpora import splits
from annotation.models import Campaign, Corpus, SchemeVersion
from annotation.scheme_store import find
from annotation.text.views import DEFAULT
from annotation.work.screens import load_place
from calibration import access
from calibration.adjudication import agreement, decisions
from calibration.adjudication import rounds as actions
from calibration.adjudication import rounds as reading
from calibration.adjudication.cases import TITLES, locked_clusters
from calibration.adjudication.decisions import LONGEST_REASON
from calibration.adjudication.rounds import MOST_SEED, STATES, Plan, may_decide
from calibration.api.workbench import person
from calibration.errors import AdjudicationRefused
from calibration.models import AdjudicationDecision
from config.files import file_response
from config.lists import Pages, paged
from config.openapi import files as files_of
from config.permissions import IsSignedIn

# What programs send about adjudication.


class PlanSerializer(serializers.Serializer[Any]):
    """What a round is about: a corpus or a campaign, a scheme (`key@version`), rules with bounds, a seed."""

    corpus = serializers.PrimaryKeyRelatedField(queryset=Corpus.objects.all(), required=False)
    campaign = serializers.PrimaryKeyRelatedField(
        queryset=Campaign.objects.select_related("corpus"), required=False, allow_null=True
    )
    scheme = serializers.RegexField(r"^.+@[0-9]{1,9}$", max_length=200)
    rules = serializers.DictField(child=serializers.JSONField(allow_null=True))
    seed = serializers.IntegerField(min_value=0, max_value=MOST_SEED, required=False, default=0)
    takes_locked = serializers.BooleanField(required=False, default=False)

    def validate(self, attrs: Any) -> Any:
        """Ask for one of corpus and campaign; a campaign names its corpus."""
        corpus, campaign = attrs.get("corpus"), attrs.get("campaign")
        if campaign is None and corpus is None:
            raise serializers.ValidationError({"corpus": ["Name a corpus or a campaign."]})
        if campaign is not None and corpus not in (None, campaign.corpus):
            raise serializers.ValidationError({"corpus": ["The campaign is of another corpus."]})
        return attrs | {"corpus": corpus or campaign.corpus, "campaign": campaign}


class RoundSerializer(PlanSerializer):
    """A round to begin: its plan, its name, who decides and what they see."""

    name = serializers.CharField(max_length=120)
    adjudicators = serializers.ChoiceField(choices=[1, 2], required=False, default=1)
    own_items = serializers.BooleanField(required=False, default=False)
    shows_names = serializers.BooleanField(required=False, default=False)
    shows_systems = serializers.BooleanField(required=False, default=False)
    lease_minutes = serializers.IntegerField(min_value=1, max_value=1440, required=False, default=30)


class ChangeRoundSerializer(serializers.Serializer[Any]):
    """What to do with a round."""

    verb = serializers.ChoiceField(choices=["top-up", "close", "reopen"])


class CasesSerializer(serializers.Serializer[Any]):
    """Which cases of a round are listed."""

    state = serializers.ChoiceField(choices=list(STATES), required=False, default="")
    rule = serializers.ChoiceField(choices=list(TITLES), required=False, default="")


class DecideSerializer(serializers.Serializer[Any]):
    """A decision: an answer on the question's scale, or `cannot`; always with a reason."""

    answer = serializers.JSONField(required=False, allow_null=True, default=None)
    cannot = serializers.BooleanField(required=False, default=False)
    reason = serializers.CharField(max_length=LONGEST_REASON)


class CaseDraftSerializer(serializers.Serializer[Any]):
    """A draft: `version` grows with every change, `client` names who writes, `based_on` what it has seen."""

    version = serializers.IntegerField(min_value=1, max_value=2**53 - 1)
    client = serializers.CharField(max_length=64, required=False, allow_blank=True, default="")
    based_on = serializers.IntegerField(min_value=0, max_value=2**53 - 1, required=False, allow_null=True)
    answer = serializers.JSONField(required=False, allow_null=True)
    cannot = serializers.BooleanField(required=False, default=False)
    reason = serializers.CharField(max_length=LONGEST_REASON, required=False, allow_blank=True, default="")


class WhySerializer(serializers.Serializer[Any]):
    """Why a case is passed on, or a decision withdrawn."""

    reason = serializers.CharField(max_length=LONGEST_REASON)


class DecisionsFileSerializer(serializers.Serializer[Any]):
    """Decisions made elsewhere: the text of a CSV or JSONL file."""

    form = serializers.ChoiceField(choices=["csv", "jsonl"])
    content = serializers.CharField(max_length=20_000_000, trim_whitespace=False)


View = Callable[..., Any]
HOW = ("name", "adjudicators", "own_items", "shows_names", "shows_systems", "lease_minutes")


def answered(view: View) -> View:
    """Decorator: a refusal becomes its HTTP status with `detail` for people and `code` for programs."""

    @wraps(view)
    def guarded(request: Request, *args: Any, **kwargs: Any) -> Any:
        try:
            return view(request, *args, **kwargs)
        except AdjudicationRefused as error:
            refusal = {"detail": str(error), "code": error.code, **error.details()}
            return Response(refusal, status=error.status)

    return guarded


def _plan(data: dict[str, Any]) -> Plan:
    version = find(data["scheme"])
    if version is None:
        raise ValidationError({"scheme": [f"There is no scheme {data['scheme']}."]})
    return Plan(data["corpus"], data["campaign"], version, data["rules"], data["seed"], data["takes_locked"])


@extend_schema(methods=["GET"], responses=OpenApiTypes.OBJECT, operation_id="adjudication_rounds_list")
@extend_schema(
    methods=["POST"],
    request=RoundSerializer,
    responses={201: OpenApiTypes.OBJECT},
    operation_id="adjudication_rounds_begin",
)
@paged
@api_view(["GET", "POST"])
@answered
def rounds(request: Request) -> Response:
    """List rounds of adjudication, newest first, or draw the cases of a new one."""
    if request.method == "GET":
        pager = Pages()
        page = pager.paginate_queryset(reading.rounds(), request) or []
        return pager.get_paginated_response(
            [reading.round_as_dict(adjudication_round) for adjudication_round in page]
        )
    serializer = RoundSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    data = serializer.validated_data
    new_round = actions.begin(by=person(request), plan=_plan(data), **{name: data[name] for name in HOW})
    return Response(reading.round_as_dict(new_round), status=status.HTTP_201_CREATED)


@extend_schema(request=PlanSerializer, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@answered
def preview(request: Request) -> Response:
    """Tell how many cases each rule would pick now, by question; nothing is kept."""
    serializer = PlanSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    return Response(actions.preview(_plan(serializer.validated_data)).as_dict())


@extend_schema(methods=["GET"], responses=OpenApiTypes.OBJECT)
@extend_schema(
    methods=["POST"],
    request=ChangeRoundSerializer,
    responses=OpenApiTypes.OBJECT,
    operation_id="adjudication_rounds_change",
)
@api_view(["GET", "POST"])
@answered
def one_round(request: Request, pk: int) -> Response:
    """Return a round and how far it is. POST tops it up (by `added` cases), closes or reopens it."""
    adjudication_round = access.adjudication_round(pk)
    if request.method == "GET":
        return Response(reading.round_as_dict(adjudication_round))
    serializer = ChangeRoundSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    verb, added = serializer.validated_data["verb"], 0
    if verb == "top-up":
        added = actions.top_up(by=person(request), adjudication_round=adjudication_round)
    else:
        actions.VERBS[verb](by=person(request), adjudication_round=adjudication_round)
    return Response(reading.round_as_dict(adjudication_round) | {"added": added})


@extend_schema(responses=OpenApiTypes.OBJECT)
@api_view(["GET"])
@answered
def report(request: Request, pk: int) -> Response:
    """Return the decisions' agreement with raters and majority, control apart, and what was overturned."""
    return Response(agreement.report(access.adjudication_round(pk)).as_dict())


@extend_schema(
    parameters=[CasesSerializer], responses=OpenApiTypes.OBJECT, operation_id="adjudication_cases_list"
)
@paged
@api_view(["GET"])
def cases(request: Request, pk: int) -> Response:
    """List the cases of a round in their order, in one state or picked by one rule where named."""
    adjudication_round = access.adjudication_round(pk)
    serializer = CasesSerializer(data=request.query_params)
    serializer.is_valid(raise_exception=True)
    pager = Pages()
    page = (
        pager.paginate_queryset(reading.cases(adjudication_round, **serializer.validated_data), request) or []
    )
    return pager.get_paginated_response([reading.case_as_dict(case) for case in page])


@extend_schema(responses=OpenApiTypes.OBJECT)
@api_view(["GET"])
def case(request: Request, pk: int, case: int) -> Response:
    """Return a case with the answers and the decisions; neither where it is in a test part that is locked."""
    adjudication_round = access.adjudication_round(pk)
    adjudication_case = access.adjudication_case(adjudication_round, case)
    locked = splits.of_item(adjudication_case.item) in locked_clusters(adjudication_round.corpus)
    payload = reading.case_as_dict(adjudication_case) | {"locked": locked, "answers": [], "decisions": []}
    if not locked:
        payload["answers"] = [
            answer.as_dict() for answer in reading.said_about(adjudication_round, adjudication_case)
        ]
        payload["decisions"] = [
            reading.decision_as_dict(decision) for decision in reading.decided_on(adjudication_case)
        ]
    return Response(payload)


@extend_schema(
    parameters=[
        OpenApiParameter("what", str, OpenApiParameter.PATH, enum=list(decisions.TABLES)),
        OpenApiParameter("form", str, OpenApiParameter.PATH, enum=list(decisions.FORMS)),
    ],
    responses=files_of(decisions.FORMS.values()),
)
@api_view(["GET"])
def file(request: Request, pk: int, what: str, form: str) -> FileResponse:
    """Stream a round's queue or decisions as csv or jsonl; of a locked test part no answers and decisions."""
    adjudication_round = access.adjudication_round(pk)
    if what not in decisions.TABLES or form not in decisions.FORMS:
        raise Http404
    lines, name = decisions.write_table(adjudication_round, what, form), f"round-{pk}-{what}.{form}"
    return file_response(lines, media_type=decisions.FORMS[form], name=name)


@extend_schema(request=DecisionsFileSerializer, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@answered
def import_decisions(request: Request, pk: int) -> Response:
    """Record decisions made elsewhere as one's own: all, or none and the first line that is wrong."""
    adjudication_round = access.adjudication_round(pk)
    serializer = DecisionsFileSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    data = serializer.validated_data
    n = decisions.import_decisions(
        by=person(request),
        adjudication_round=adjudication_round,
        content=data["content"].encode(),
        name=f"sent.{data['form']}",
    )
    return Response({"decisions": n})


@extend_schema(request=WhySerializer, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@answered
def withdraw_decision(request: Request, pk: int) -> Response:
    """Take a decision back, with a reason; its case waits again."""
    serializer = WhySerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    withdrawn = decisions.withdraw(
        by=person(request),
        decision=access.adjudication_decision(pk),
        reason=serializer.validated_data["reason"],
    )
    return Response(reading.decision_as_dict(withdrawn))


# Deciding on cases over HTTP, for adjudicators of the round; others get 404.


@extend_schema(responses=OpenApiTypes.OBJECT)
@paged
@api_view(["GET"])
@permission_classes([IsSignedIn])
def my_rounds(request: Request) -> Response:
    """Everyone signed in: the open rounds in which they may decide."""
    by = person(request)
    open_rounds = [
        adjudication_round
        for adjudication_round in reading.waiting_for(by)
        if may_decide(by, adjudication_round)
    ]
    pager = Pages()
    page = pager.paginate_queryset(open_rounds, request) or []
    return pager.get_paginated_response(
        [
            {
                "id": adjudication_round.pk,
                "name": adjudication_round.name,
                "progress": reading.progress(adjudication_round).as_dict(),
                "mine": reading.mine(adjudication_round, by),
            }
            for adjudication_round in page
        ]
    )


@extend_schema(request=None, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def claim(request: Request, pk: int) -> Response:
    """Adjudicators: the case before them, claimed where they hold none; `decision` is null at the end."""
    by = person(request)
    adjudication_round = access.own_round(by, pk)
    decision = decisions.next_case(by=by, adjudication_round=adjudication_round)
    return Response(
        {
            "round": adjudication_round.pk,
            "progress": reading.progress(adjudication_round).as_dict(),
            "decision": _case_in_hand(decision),
        }
    )


@extend_schema(request=DecideSerializer, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def decide(request: Request, pk: int, decision: int) -> Response:
    """Adjudicators: decide on a case of their own, or decide anew."""
    by = person(request)
    access.own_round(by, pk)
    serializer = DecideSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    recorded = decisions.decide(by=by, decision=decision, **serializer.validated_data)
    return Response(reading.decision_as_dict(recorded))


@extend_schema(request=CaseDraftSerializer, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def draft(request: Request, pk: int, decision: int) -> Response:
    """Adjudicators: keep the draft of a case of their own; the answer tells the version that is kept."""
    by = person(request)
    access.own_round(by, pk)
    serializer = CaseDraftSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    return Response(
        {"version": decisions.save_draft(by=by, decision=decision, draft=serializer.validated_data)}
    )


@extend_schema(request=WhySerializer, responses={204: None})
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def pass_on(request: Request, pk: int, decision: int) -> Response:
    """Adjudicators: pass a case on to somebody else, with a reason."""
    by = person(request)
    access.own_round(by, pk)
    serializer = WhySerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    decisions.pass_on(by=by, decision=decision, reason=serializer.validated_data["reason"])
    return Response(status=204)


def _case_in_hand(decision: AdjudicationDecision | None) -> dict[str, Any] | None:
    """Return a case in hand as its adjudicator sees it: names and system where the round shows them."""
    if decision is None:
        return None
    case, adjudication_round = decision.case, decision.round
    asked_of_all = adjudication_round.scheme_version.unit == SchemeVersion.Unit.CONTINUATION
    shows_whole = asked_of_all and case.item.turn_id is not None
    shows = adjudication_round.campaign.shows if adjudication_round.campaign else DEFAULT
    screen = load_place(case.item.continuation_id, None if shows_whole else case.item_id, shows, tagged=False)
    return {
        "id": decision.pk,
        "item": case.item.public,
        "question": {
            "key": case.question.key,
            "wording": case.question.wording,
            "level": case.question.level,
            "values": case.question.values,
            "anchors": case.question.anchors,
        },
        "transcript": [
            {"no": line.no, "who": line.who, "text": line.text, "place": line.place, "item": line.item}
            for part in screen.parts
            for line in part.lines
        ],
        "answers": [answer.as_dict() for answer in reading.said_about(adjudication_round, case)],
        "system": case.item.continuation.system.name if adjudication_round.shows_systems else None,
        "draft": {**decision.draft, "version": decision.revision},
        "lease_expires": decision.lease_expires,
    }
