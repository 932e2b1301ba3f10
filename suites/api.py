"""Shared by the APIs of all suites: serializers of report queries, tables and refusals; reading input."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.errors import QuestionsRefused, ScriptRefused
from annotation.formats.source import ImportProblem
from calibration.reports.kinds import MOST_RESAMPLES
from config.lists import Pages
from jobs.errors import JobError

Plain = serializers.Serializer[Any]
Answer = TypeVar("Answer", bound=HttpResponseBase)
OFFSET = OpenApiParameter("offset", {"type": "integer", "minimum": 0, "default": 0})


def validated(serializer: type[Plain], data: Any) -> dict[str, Any]:
    """Return validated data; raise ValidationError with the errors of each field."""
    checked = serializer(data=data)
    checked.is_valid(raise_exception=True)
    return dict(checked.validated_data)


def answered(view: Callable[..., Answer]) -> Callable[..., Answer | Response]:
    """Decorator: answer a refused import, script, set of questions or job with 400 and the reason."""

    @wraps(view)
    def guarded(*args: Any, **kwargs: Any) -> Answer | Response:
        try:
            return view(*args, **kwargs)
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        except ImportProblem as problem:
            refusal = {"detail": str(problem), "code": "import_refused", **problem.details()}
        except ScriptRefused as refused:
            refusal = _refused_field(refused, "script_refused")
        except QuestionsRefused as refused:
            refusal = _refused_field(refused, "questions_refused")
        return Response(refusal, status=status.HTTP_400_BAD_REQUEST)

    return guarded


def _refused_field(refused: ScriptRefused | QuestionsRefused, code: str) -> dict[str, Any]:
    return {"detail": str(refused), "code": code, "field": refused.field}


def list_answer(request: Request, rows: Any, represent: Callable[[list[Any]], Any]) -> Response:
    """Return a page of rows, as JSON data by `represent`."""
    pager = Pages()
    page = pager.paginate_queryset(rows, request) or []
    return pager.get_paginated_response(represent(page))


class FieldRefusal(Plain):
    """The reason why nothing was changed, with the invalid field, if there is one."""

    detail = serializers.CharField()
    code = serializers.CharField()
    field = serializers.CharField(required=False)


REFUSED_FIELD = OpenApiResponse(FieldRefusal, description="Nothing is changed: by field and reason.")


class ReportQuerySerializer(Plain):
    """The part that a report is about, and the resampling of its intervals."""

    part = serializers.ChoiceField(required=False, choices=["dev", "test", "all", "training"])
    resamples = serializers.IntegerField(required=False, min_value=0, max_value=MOST_RESAMPLES)
    seed = serializers.IntegerField(required=False, min_value=0, max_value=2**31)


class ReportLineSerializer(Plain):
    """A row of a table. A cell is a figure, a count or a text."""

    name = serializers.CharField()
    baseline = serializers.BooleanField()
    cells = serializers.ListField(child=serializers.JSONField())


class ReportTableSerializer(Plain):
    """A table of a report; `columns` head its cells."""

    key = serializers.CharField()
    title = serializers.CharField()
    columns = serializers.ListField(child=serializers.CharField())
    rows = ReportLineSerializer(many=True)
    notes = serializers.ListField(child=serializers.CharField())


class ReportLookSerializer(Plain):
    """A look at test."""

    by = serializers.CharField(allow_null=True)
    at = serializers.CharField()
    purpose = serializers.CharField()
