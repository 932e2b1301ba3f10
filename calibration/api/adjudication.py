"""API of adjudication rounds, for researchers: create, monitor, change, and export decisions."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import FileResponse, Http404
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from calibration import access
from calibration.adjudication import agreement, decisions
from calibration.adjudication import rounds as actions
from calibration.adjudication import rounds as reading
from calibration.adjudication.cases import TITLES
from calibration.adjudication.decisions import LONGEST_REASON
from calibration.adjudication.rounds import (
    LEASE_MINUTES,
    LONGEST_NAME,
    MOST_SEED,
    STATES,
    TERMS,
    USUAL_LEASE,
    Plan,
)
from calibration.api.serializers import PlaceSerializer, SchemeVersionField
from calibration.models import AdjudicationDecision, AdjudicationRound
from config import api
from config.files import file_response
from config.openapi import files as files_of
from config.permissions import IsSignedIn
from jobs.endpoints.parameter_inputs import serializer_field

# Request bodies.


class PlanSerializer(PlaceSerializer):
    """Plan of a round: a corpus or campaign, a scheme (`key@version`), rules with bounds, and a seed."""

    scheme = SchemeVersionField()
    rules = serializers.DictField(child=serializers.JSONField(allow_null=True))
    seed = serializers.IntegerField(min_value=0, max_value=MOST_SEED, default=0)
    takes_locked = serializers.BooleanField(default=False)


class RoundSerializer(PlanSerializer):
    """A new round: its plan, name, number of adjudicators, and the information shown to them."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    adjudicators = serializers.ChoiceField(choices=[1, 2], default=1)
    own_items = serializers.BooleanField(default=False)
    shows_names = serializers.BooleanField(default=False)
    shows_systems = serializers.BooleanField(default=False)
    lease_minutes = serializer_field(LEASE_MINUTES, default=USUAL_LEASE, allow_null=False)


class ChangeRoundSerializer(serializers.Serializer[Any]):
    """An action on a round."""

    verb = serializers.ChoiceField(choices=list(actions.VERBS))


class CasesSerializer(serializers.Serializer[Any]):
    """Filters for the list of cases in a round."""

    state = serializers.ChoiceField(choices=list(STATES), default="")
    rule = serializers.ChoiceField(choices=list(TITLES), default="")


class DecideSerializer(serializers.Serializer[Any]):
    """A decision: an answer on the question's scale, or `cannot`; always with a reason."""

    answer = serializers.JSONField(allow_null=True, default=None)
    cannot = serializers.BooleanField(default=False)
    reason = serializers.CharField(max_length=LONGEST_REASON)


class CaseDraftSerializer(serializers.Serializer[Any]):
    """A draft: `version` grows with every change, `client` names its writer, `based_on` the version seen."""

    version = serializers.IntegerField(min_value=1, max_value=2**53 - 1)
    client = api.optional_text(max_length=64)
    based_on = serializers.IntegerField(min_value=0, max_value=2**53 - 1, required=False, allow_null=True)
    answer = serializers.JSONField(required=False, allow_null=True)
    cannot = serializers.BooleanField(default=False)
    reason = api.optional_text(max_length=LONGEST_REASON)


class WhySerializer(serializers.Serializer[Any]):
    """Reason for passing a case on, or for withdrawing a decision."""

    reason = serializers.CharField(max_length=LONGEST_REASON)


class DecisionsFileSerializer(serializers.Serializer[Any]):
    """Decisions made outside Concord: the text of a CSV or JSONL file."""

    form = serializers.ChoiceField(choices=list(decisions.FORMS))
    content = serializers.CharField(max_length=decisions.LARGEST_FILE, trim_whitespace=False)


def _plan(data: dict[str, Any]) -> Plan:
    place = data["corpus"], data.get("campaign")
    return Plan(*place, data["scheme"], data["rules"], data["seed"], data["takes_locked"])


@api.listing(
    name="adjudication_rounds_list",
    page=lambda page: [reading.round_as_dict(adjudication_round) for adjudication_round in page],
)
def rounds(request: Request) -> QuerySet[AdjudicationRound]:
    """List adjudication rounds, newest first."""
    return reading.rounds()


@api.post(RoundSerializer, status=201, name="adjudication_rounds_begin")
def begin(request: Request) -> dict[str, Any]:
    """Create an adjudication round and draw its cases."""
    data = api.data(request)
    fields = {name: data[name] for name in ("name", *TERMS)}
    return reading.round_as_dict(actions.begin(by=api.user(request), plan=_plan(data), **fields))


@api.post(PlanSerializer)
def preview(request: Request) -> dict[str, Any]:
    """Count the cases that each rule would select now, by question; nothing is stored."""
    return actions.preview(_plan(api.data(request))).as_dict()


@api.get()
def show_round(request: Request, pk: int) -> dict[str, Any]:
    """Return a round with its progress."""
    return reading.round_as_dict(access.adjudication_round(pk))


@api.post(ChangeRoundSerializer, name="adjudication_rounds_change")
def change_round(request: Request, pk: int) -> dict[str, Any]:
    """Top a round up (by `added` cases), close or reopen it."""
    adjudication_round, by = access.adjudication_round(pk), api.user(request)
    verb = api.data(request)["verb"]
    added = actions.VERBS[verb](by=by, adjudication_round=adjudication_round)
    return reading.round_as_dict(adjudication_round) | {"added": added or 0}


@api.get()
def report(request: Request, pk: int) -> dict[str, Any]:
    """Return the decisions' agreement with raters and majority, control apart, and the overturned answers."""
    return agreement.report(access.adjudication_round(pk)).as_dict()


@api.listing(
    takes=CasesSerializer,
    name="adjudication_cases_list",
    page=lambda page: [reading.case_as_dict(case) for case in page],
)
def cases(request: Request, pk: int) -> Any:
    """List the cases of a round in order, optionally filtered by state or by the rule that selected them."""
    adjudication_round = access.adjudication_round(pk)
    return reading.cases(adjudication_round, **api.data(request))


@api.get()
def case(request: Request, pk: int, case: int) -> dict[str, Any]:
    """Return a case with its answers and decisions; without both if it is in a locked test part."""
    adjudication_round = access.adjudication_round(pk)
    adjudication_case = access.adjudication_case(adjudication_round, case)
    history = reading.history(adjudication_round, adjudication_case)
    return reading.case_as_dict(adjudication_case) | {
        "locked": history.locked,
        "answers": [answer.as_dict() for answer in history.answers],
        "decisions": [reading.decision_as_dict(decision) for decision in history.decisions],
    }


@api.get(
    query=[
        OpenApiParameter("what", str, OpenApiParameter.PATH, enum=list(decisions.TABLES)),
        OpenApiParameter("form", str, OpenApiParameter.PATH, enum=list(decisions.FORMS)),
    ],
    responses=files_of(decisions.FORMS.values()),
)
def file(request: Request, pk: int, what: str, form: str) -> FileResponse:
    """Stream a round's queue or decisions as csv or jsonl, without answers and decisions in a locked test
    part."""
    adjudication_round = access.adjudication_round(pk)
    if what not in decisions.TABLES or form not in decisions.FORMS:
        raise Http404
    lines, name = decisions.write_table(adjudication_round, what, form), f"round-{pk}-{what}.{form}"
    return file_response(lines, media_type=decisions.FORMS[form], name=name)


@api.post(DecisionsFileSerializer)
def import_decisions(request: Request, pk: int) -> dict[str, Any]:
    """Import decisions made outside Concord as your own: all of them, or none and the first invalid line."""
    adjudication_round = access.adjudication_round(pk)
    data = api.data(request)
    n = decisions.import_decisions(
        by=api.user(request),
        adjudication_round=adjudication_round,
        content=data["content"].encode(),
        name=f"sent.{data['form']}",
    )
    return {"decisions": n}


@api.post(WhySerializer)
def withdraw_decision(request: Request, pk: int) -> dict[str, Any]:
    """Withdraw a decision, with a reason; its case becomes open again."""
    data = api.data(request)
    decision = access.adjudication_decision(pk)
    return reading.decision_as_dict(decisions.withdraw(by=api.user(request), decision=decision, **data))


# Deciding cases, for adjudicators of the round; others get 404.


@api.listing(permission=IsSignedIn)
def my_rounds(request: Request) -> Response:
    """Any signed-in user: list the open rounds in which you may decide."""
    by = api.user(request)

    def payload(page: list[AdjudicationRound]) -> list[dict[str, Any]]:
        return [
            {
                "id": adjudication_round.pk,
                "name": adjudication_round.name,
                "progress": reading.progress(adjudication_round).as_dict(),
                "mine": reading.mine(adjudication_round, by),
            }
            for adjudication_round in page
        ]

    return api.page_of(request, reading.waiting_for(by), payload)


@api.post(permission=IsSignedIn)
def claim(request: Request, pk: int) -> dict[str, Any]:
    """Adjudicators: return your current case, or claim the next one; `decision` is null when none is left."""
    by = api.user(request)
    adjudication_round = access.own_round(by, pk)
    decision = decisions.next_case(by=by, adjudication_round=adjudication_round)
    return {
        "round": adjudication_round.pk,
        "progress": reading.progress(adjudication_round).as_dict(),
        "decision": _case_in_hand(decision),
    }


@api.post(DecideSerializer, permission=IsSignedIn)
def decide(request: Request, pk: int, decision: int) -> dict[str, Any]:
    """Adjudicators: decide a case claimed by you, or change your decision."""
    by = api.user(request)
    access.own_round(by, pk)
    return reading.decision_as_dict(decisions.decide(by=by, decision=decision, **api.data(request)))


@api.post(CaseDraftSerializer, permission=IsSignedIn)
def draft(request: Request, pk: int, decision: int) -> dict[str, Any]:
    """Adjudicators: save the draft of a case claimed by you; the response gives the stored version."""
    by = api.user(request)
    access.own_round(by, pk)
    return {"version": decisions.save_draft(by=by, decision=decision, draft=api.data(request))}


@api.post(WhySerializer, status=204, permission=IsSignedIn)
def pass_on(request: Request, pk: int, decision: int) -> None:
    """Adjudicators: pass a case on to another adjudicator, with a reason."""
    by = api.user(request)
    access.own_round(by, pk)
    decisions.pass_on(by=by, decision=decision, **api.data(request))


def _case_in_hand(decision: AdjudicationDecision | None) -> dict[str, Any] | None:
    """Return a claimed case as its adjudicator sees it: names and system only if the round shows them."""
    if decision is None:
        return None
    case, adjudication_round = decision.case, decision.round
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
            for part in reading.screen_of(adjudication_round, case).parts
            for line in part.lines
        ],
        "answers": [answer.as_dict() for answer in reading.said_about(adjudication_round, case)],
        "system": case.item.continuation.system.name if adjudication_round.shows_systems else None,
        "draft": {**decision.draft, "version": decision.revision},
        "lease_expires": decision.lease_expires,
    }
