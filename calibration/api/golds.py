"""API of gold labels, for researchers; those of a campaign also for its managers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import IsResearcherSomewhere
from calibration import access
from calibration.access import IsGoldResearcher, must_manage, visible_to
from calibration.api.exports import EXCLUDE, FORM, PART, download, refused_as, response_of, taken_by
from calibration.api.serializers import (
    ExportPartSerializer,
    GoldPreviewSerializer,
    GoldRuleSerializer,
    GoldSerializer,
    NewGoldSerializer,
    rule_out,
)
from calibration.exports import downloads
from calibration.exports.writing import FORMATS
from calibration.gold import export as gold_export
from calibration.gold.derivation import QuestionPreview, changes_of, gold_or_job, preview_gold
from calibration.gold.difference import STATUSES, as_json, difference, shared_questions
from calibration.gold.rules import RULES
from calibration.gold.shares import shares_of
from calibration.models import Gold
from config import api
from config.lists import Filters, numbered, since, with_name
from jobs.api import accepted
from jobs.models import Job

# Comparison of two golds, for users who may see both.

STATUS = OpenApiParameter("status", str, enum=list(STATUSES), description="which items: different by default")
QUESTION = OpenApiParameter("question", str, description="the key of a question that both answer")
PAGE = [OpenApiParameter("limit", int), OpenApiParameter("offset", int)]


@api.listing(query=[STATUS, QUESTION, *PAGE], permission=IsGoldResearcher)
def compare(request: Request, pk: int, other: int) -> Response:
    """Compare two golds of the same corpus and questions; `results` are the items with the given status.

    `questions` has, per question, item counts by status, the share changed, the distance of values, and
    transitions between values. Items of an unopened test part are omitted and counted in `locked`.
    """
    status = request.query_params.get("status", "different")
    if status not in STATUSES:
        raise ValidationError({"status": [f"One of {', '.join(STATUSES)}."]})
    with refused_as("other"):
        gold_difference = difference(access.gold(pk), access.gold(other))
    key = request.query_params.get("question", "")
    question = next((row.question for row in gold_difference.questions if row.question.key == key), None)
    if key and question is None:
        keys = ", ".join(row.question.key for row in gold_difference.questions)
        raise ValidationError({"question": [f"Both answer {keys}."]})
    rows = gold_difference.rows(status, question)
    answer = api.page_of(request, rows, lambda page: [_row(row) for row in page])
    answer.data |= as_json(gold_difference)
    return answer


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """Return an item with both values, or the reason for a missing value."""
    sides = {
        name: row[f"{name}_number"] if row[f"{name}_text"] is None else row[f"{name}_text"]
        for name in ("first", "second")
    }
    names = ("item", "question", "status", "difference", "first_reason", "second_reason")
    return {name: row[name] for name in names} | sides


@download(ExportPartSerializer, query=[PART, EXCLUDE], path=FORM, permission=IsGoldResearcher)
def difference_file(request: Request, pk: int, other: int, form: str) -> HttpResponseBase:
    """Stream two golds side by side as a file; test or all by POST with a purpose."""
    first, second = access.gold(pk), access.gold(other)
    if form not in FORMATS:
        raise Http404
    data = api.data(request)
    with refused_as("other"):
        shared_questions(first, second)
    part = taken_by(request, first.corpus, first, data)
    with refused_as("detail"):
        return response_of(
            downloads.difference_or_job(
                first=first, second=second, export_part=part, form=form, by=api.user(request)
            )
        )


GOLDS = Filters(
    {
        "corpus": with_name("corpus__name", "corpus"),
        "campaign": numbered("campaign_id", "campaign"),
        "rule": with_name("rule", "rule"),
        "since": since("created_at"),
    },
    order=("id", "created_at"),
)


@api.listing(GoldSerializer, filters=GOLDS, permission=IsResearcherSomewhere)
def golds(request: Request) -> QuerySet[Gold]:
    """List gold derivations, newest first."""
    return visible_to(request.user, Gold.objects.select_related("scheme_version__scheme"))


@api.post(
    NewGoldSerializer,
    GoldSerializer,
    status=201,
    responses={202: OpenApiTypes.OBJECT},
    permission=IsResearcherSomewhere,
)
def derive(request: Request) -> Gold | Response:
    """Derive gold: 202 with the id of a job if that takes a while."""
    choice = _choice(request)
    with refused_as("rule", end=""):
        started = gold_or_job(**choice, by=api.user(request))
    return accepted(started) if isinstance(started, Job) else started


def _choice(request: Request) -> dict[str, Any]:
    """Return the arguments of a derivation."""
    data = api.data(request)
    data.setdefault("campaign", None)
    must_manage(request.user, data["campaign"])
    return data


@api.post(NewGoldSerializer, GoldPreviewSerializer, permission=IsResearcherSomewhere)
def preview(request: Request) -> dict[str, Any]:
    """Count the items that would get a value, and the items that would not; nothing is stored."""
    choice = _choice(request)
    with refused_as("rule", end=""):
        counted = preview_gold(**choice)
    return {
        **asdict(counted),
        "ties": counted.ties,
        "questions": [_question(each) for each in counted.questions],
    }


def _question(counted: QuestionPreview) -> dict[str, Any]:
    """Return the expected outcome for a question as the API shows it."""
    return {**asdict(counted), "ties": counted.ties}


@api.get(GoldRuleSerializer, many=True, permission=IsResearcherSomewhere)
def rules(request: Request) -> list[dict[str, Any]]:
    """List the rules for deriving gold, with their options."""
    return [rule_out(rule) for rule in RULES.values()]


@api.get(permission=IsGoldResearcher)
def gold(request: Request, pk: int) -> dict[str, Any]:
    """Return a derivation's provenance, the labels added or changed since (`changes`), and its `shares`.

    `shares` has, per question, each value's items and share with its interval, and the mean on ordered
    scales. With `weighted` they are of the `population` that people's items were drawn from, otherwise of the
    items with a gold label; items of an unopened test part are omitted.
    """
    derivation = access.gold(pk)
    return gold_export.provenance(derivation) | {
        "changes": asdict(changes_of(derivation)),
        "shares": [question.as_dict() for question in shares_of(derivation)],
    }


@download(ExportPartSerializer, query=[PART, EXCLUDE], path=FORM, permission=IsGoldResearcher)
def labels(request: Request, pk: int, form: str) -> HttpResponseBase:
    """Stream a derivation's labels as a file; test or all by POST with a purpose."""
    derivation = access.gold(pk)
    if form not in FORMATS:
        raise Http404
    part = taken_by(request, derivation.corpus, derivation, api.data(request))
    with refused_as("detail"):
        return response_of(
            downloads.gold_or_job(gold=derivation, export_part=part, form=form, by=api.user(request))
        )
