"""Deciding on cases over HTTP, for adjudicators of the round; others get 404."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import SchemeVersion
from annotation.text.views import DEFAULT
from annotation.work.screens import load_place
from calibration import access
from calibration.adjudication import deciding, holding, reading
from calibration.adjudication.actions import may_decide
from calibration.api.adjudication import CaseDraftSerializer, DecideSerializer, WhySerializer, answered
from calibration.api.workbench import person
from calibration.models import AdjudicationDecision
from config.lists import Pages, paged
from config.permissions import IsSignedIn


@extend_schema(responses=OpenApiTypes.OBJECT)
@paged
@api_view(["GET"])
@permission_classes([IsSignedIn])
def my_rounds(request: Request) -> Response:
    """Everyone signed in: the open rounds in which they may decide."""
    by = person(request)
    found = [one for one in reading.waiting_for(by) if may_decide(by, one)]
    pager = Pages()
    page = pager.paginate_queryset(found, request) or []
    return pager.get_paginated_response(
        [
            {
                "id": one.pk,
                "name": one.name,
                "progress": reading.progress(one).as_dict(),
                "mine": reading.mine(one, by),
            }
            for one in page
        ]
    )


@extend_schema(request=None, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def claim(request: Request, pk: int) -> Response:
    """Adjudicators: the case before them, claimed where they hold none; `decision` is null at the end."""
    by = person(request)
    found = access.own_round(by, pk)
    held = holding.next_case(by=by, found=found)
    return Response(
        {"round": found.pk, "progress": reading.progress(found).as_dict(), "decision": _held(held)}
    )


@extend_schema(request=DecideSerializer, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def decide(request: Request, pk: int, decision: int) -> Response:
    """Adjudicators: decide on a case of their own, or decide anew."""
    by = person(request)
    access.own_round(by, pk)
    wanted = DecideSerializer(data=request.data)
    wanted.is_valid(raise_exception=True)
    made = deciding.decide(by=by, decision=decision, **wanted.validated_data)
    return Response(reading.decision_as_dict(made))


@extend_schema(request=CaseDraftSerializer, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def draft(request: Request, pk: int, decision: int) -> Response:
    """Adjudicators: keep the draft of a case of their own; the answer tells the version that is kept."""
    by = person(request)
    access.own_round(by, pk)
    wanted = CaseDraftSerializer(data=request.data)
    wanted.is_valid(raise_exception=True)
    return Response({"version": deciding.save_draft(by=by, decision=decision, draft=wanted.validated_data)})


@extend_schema(request=WhySerializer, responses={204: None})
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def pass_on(request: Request, pk: int, decision: int) -> Response:
    """Adjudicators: pass a case on to somebody else, with a reason."""
    by = person(request)
    access.own_round(by, pk)
    wanted = WhySerializer(data=request.data)
    wanted.is_valid(raise_exception=True)
    deciding.pass_on(by=by, decision=decision, reason=wanted.validated_data["reason"])
    return Response(status=204)


def _held(held: AdjudicationDecision | None) -> dict[str, Any] | None:
    """Return a case in hand as its adjudicator sees it: names and system where the round shows them."""
    if held is None:
        return None
    case, found = held.case, held.round
    asked_of_all = found.scheme_version.unit == SchemeVersion.Unit.CONTINUATION
    whole = asked_of_all and case.item.turn_id is not None
    shows = found.campaign.shows if found.campaign else DEFAULT
    screen = load_place(case.item.continuation_id, None if whole else case.item_id, shows, tagged=False)
    return {
        "id": held.pk,
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
        "answers": [one.as_dict() for one in reading.said_about(found, case)],
        "system": case.item.continuation.system.name if found.shows_systems else None,
        "draft": {**held.draft, "version": held.revision},
        "lease_expires": held.lease_expires,
    }
