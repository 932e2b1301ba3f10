"""The API of annotating: what the annotation page does, for programs. Members of the campaign only."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.refusals import answered
from annotation.api.work_serializers import (
    AcceptSerializer,
    DraftSerializer,
    GuidelinesSerializer,
    MyCampaignSerializer,
    ReopenSerializer,
    ScreenSerializer,
    SkipSerializer,
    SubmitSerializer,
)
from annotation.checks import notices
from annotation.models import Assignment, CampaignMember, Guidelines
from annotation.scheme_versions.asked import Asked, questionnaire_of
from annotation.work import actions as labelling
from annotation.work import agreements
from annotation.work.beside import beside
from annotation.work.completing import completion
from annotation.work.leases import Hold, Seat
from annotation.work.limits import limits_of
from annotation.work.progress import progress
from annotation.work.screens import load
from config.permissions import IsSignedIn


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


@extend_schema(responses=MyCampaignSerializer(many=True))
@api_view(["GET"])
@permission_classes([IsSignedIn])
def my_campaigns(request: Request) -> Response:
    """Everyone signed in: the campaigns they take part in."""
    mine = CampaignMember.objects.filter(user=_user(request)).exclude(campaign__state="draft")
    mine = mine.filter(campaign__archived_at=None)
    found = mine.select_related("campaign").order_by("-campaign_id")
    return Response(
        [
            {
                "campaign": member.campaign_id,
                "name": member.campaign.name,
                "state": member.campaign.state,
                "done": member.done,
                "limits": limits_of(member).as_json(),
            }
            for member in found
        ]
    )


@extend_schema(request=None, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def next_task(request: Request, campaign: int) -> Response:
    """Members: the task before them; claims one where they hold none.

    Where `waiting` is set, `task` is null until what it tells is accepted: a consent text, guidelines that
    changed since they were last read, or a notice of the training, the test or the checks. Who came by a link
    and is done finds under `completion` the `code` to take away and the `address` to return to ('' for none).
    """
    seat, hold = labelling.start(by=_user(request), campaign=campaign)
    return Response(_state(_user(request), seat, hold, "next"))


@extend_schema(request=AcceptSerializer, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def accept(request: Request, campaign: int) -> Response:
    """Members: agree to a version of the consent text, say that changed guidelines or a notice are read.

    A notice is accepted with what it is and its `version`; accepting `training` or `test` begins it.
    """
    access.membership(_user(request), campaign)
    given = _checked(AcceptSerializer(data=request.data))
    agreements.accept(by=_user(request), campaign=campaign, **given)
    seat, hold = labelling.start(by=_user(request), campaign=campaign)
    return Response(_state(_user(request), seat, hold, "next"))


@extend_schema(request=ReopenSerializer, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def reopen(request: Request, campaign: int) -> Response:
    """Members: an earlier task of theirs, to be revised."""
    given = _checked(ReopenSerializer(data=request.data))
    seat, hold = labelling.reopen(by=_user(request), campaign=campaign, before=given["before"])
    return Response(_state(_user(request), seat, hold, "reopened"))


@extend_schema(request=DraftSerializer, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def save_draft(request: Request, campaign: int, assignment: int) -> Response:
    """Members: keep a draft; it replaces neither a newer one nor another client's that it has not seen."""
    draft = _checked(DraftSerializer(data=request.data))
    about = {name: draft.pop(name) for name in ("revising", "client", "based_on", "attention")}
    kept = labelling.save_draft(
        by=_user(request), campaign=campaign, assignment=assignment, draft=draft, **about
    )
    return Response({"version": kept})


@extend_schema(request=SubmitSerializer, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def submit(request: Request, campaign: int, assignment: int) -> Response:
    """Members: submit a task; the answer carries the next one. The same sent again changes nothing."""
    given = _checked(SubmitSerializer(data=request.data))
    outcome = labelling.submit(by=_user(request), campaign=campaign, assignment=assignment, **given)
    return Response(_state(_user(request), outcome.seat, outcome.next, outcome.status))


@extend_schema(request=SkipSerializer, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def skip(request: Request, campaign: int, assignment: int) -> Response:
    """Members: give a task up for a reason; the answer carries the next one."""
    given = _checked(SkipSerializer(data=request.data))
    outcome = labelling.skip(by=_user(request), campaign=campaign, assignment=assignment, **given)
    return Response(_state(_user(request), outcome.seat, outcome.next, outcome.status))


@extend_schema(responses=GuidelinesSerializer)
@api_view(["GET"])
@permission_classes([IsSignedIn])
def guidelines(request: Request, campaign: int) -> Response:
    """Members: the guidelines in force."""
    access.membership(_user(request), campaign)
    found = get_object_or_404(Guidelines.objects.filter(campaign_id=campaign).order_by("-version")[:1])
    return Response(GuidelinesSerializer(found).data)


TOLD = (
    "key",
    "wording",
    "level",
    "values",
    "anchors",
    "group",
    "required",
    "show_if",
    "minimum",
    "maximum",
    "whole",
    "evidence",
    "evidence_for",
    "evidence_required",
    "item_kind",
)
"""What programs are told of a question."""


def _checked(given: Any) -> dict[str, Any]:
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)


def _state(by: User, seat: Seat, hold: Hold | None, status: str) -> dict[str, Any]:
    task, plan = None, questionnaire_of(seat.version)
    if hold is not None:
        screen = load(hold.task, plan.is_tagged, hold.assignment, plan.item_kinds)
        task = ScreenSerializer(screen).data | {
            "assignment": hold.assignment,
            "draft": hold.draft,
            "revising": hold.state == Assignment.State.SUBMITTED,
            "note": hold.note,
            **beside(by=by, seat=seat, hold=hold, screen=screen),
        }
    before = (agreements.waiting(seat) or notices.waiting(seat)) if hold is None else None
    done = completion(seat) if hold is None and before is None and not seat.waits else None
    return {
        "status": status,
        "campaign": seat.state,
        "waiting": before and before.as_json(),
        "completion": done and done._asdict(),
        "progress": progress(seat=seat, hold=hold)._asdict(),
        "limits": seat.limits.as_json(),
        "questions": [_question(question) for question in plan.questions],
        "task": task,
    }


def _question(question: Asked) -> dict[str, Any]:
    return {name: getattr(question, name) for name in TOLD}
