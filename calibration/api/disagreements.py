"""The items behind a figure, over HTTP. For who may see the study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import Item
from annotation.models.turn_numbers import numbers_of
from annotation.work.labels import Pointed
from calibration import access
from calibration.disagreements import reading
from calibration.disagreements.reading import Listing, listing
from calibration.disagreements.showing import Place, points_of
from calibration.errors import CalibrationError
from calibration.pages.asked import part_of
from calibration.permissions import IsStudyResearcher
from config.lists import Pages, paged

PARAMETERS = [
    OpenApiParameter("question", str, required=True, description="scheme@version/key, or scheme@version/all"),
    OpenApiParameter("a", str, description=f"a rater, or {reading.PEOPLE} (the default)"),
    OpenApiParameter("b", str, description=f"a rater, or {reading.PEOPLE} (the default)"),
    OpenApiParameter("cell", str, description="row,column of `table`: only these items"),
    OpenApiParameter("part", str, enum=["dev", "test", "all"]),
    OpenApiParameter("limit", int),
    OpenApiParameter("offset", int),
]


@extend_schema(parameters=PARAMETERS, responses=OpenApiTypes.OBJECT)
@paged
@api_view(["GET"])
@permission_classes([IsStudyResearcher])
def disagreements(request: Request, pk: int) -> Response:
    """List the items of a question on which two raters differ, farthest apart first, with all answers."""
    study = access.study(pk)
    try:
        part = part_of(request._request, study)
        if part is None:
            raise ValidationError(
                {"part": ["Test was not opened for this study: use open-test, with a purpose."]}
            )
        found = listing(study, part, request.query_params.dict())
    except CalibrationError as error:
        raise ValidationError({"question": [str(error)]}) from error
    except KeyError as error:
        raise NotFound(str(error.args[0])) from error
    pager = Pages()
    rows: list[Any] = pager.paginate_queryset(found.rows, request) or []
    items = [found.asked.items[row] for row in rows]
    numbers, points = _numbers(items), points_of(found.asked, items)
    answer = pager.get_paginated_response(
        [_row(found, row, numbers) | {"evidence": _evidence(found, row, points)} for row in rows]
    )
    ratings = found.compared.ratings
    answer.data |= {
        "both": found.both,
        "differ": found.differ,
        "scale": ratings.names or ratings.scale,
        "table": reading.table(found.compared),
    }
    return answer


def _numbers(items: Sequence[int]) -> dict[int, int]:
    """Return the numbers of items' turns as annotators count them, by the item's id."""
    turns = dict(Item.objects.filter(pk__in=items, turn__isnull=False).values_list("pk", "turn_id"))
    numbers = numbers_of(turns.values())
    return {item: numbers[turn] for item, turn in turns.items()}


def _evidence(
    found: Listing, row: int, points: Mapping[Place, tuple[Pointed, ...]]
) -> dict[str, list[dict[str, Any]]]:
    """Return what the answers to a row point at, by rater."""
    ratings = found.compared.ratings
    names = [ratings.raters[column] for column in found.compared.columns]
    place = found.asked.items[row], found.asked.tags[row]
    return {name: [one.as_json() for one in kept] for name in names if (kept := points.get((*place, name)))}


def _row(found: Listing, row: int, numbers: Mapping[int, int]) -> dict[str, Any]:
    """Return an item with its turn's number, its distance, and the answers; a category by its name."""
    ratings = found.compared.ratings
    answers = {ratings.raters[column]: ratings.values[row, column] for column in found.compared.columns}
    return {
        "item": ratings.items[row],
        "turn_number": numbers.get(found.asked.items[row]),
        "distance": found.apart[row],
        "answers": {
            rater: ratings.names[int(value)] if ratings.names else float(value)
            for rater, value in answers.items()
            if value == value
        },
    }
