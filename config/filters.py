"""What lists of the HTTP API may be narrowed by and put in order: each list declares its own.

    RUNS = Filters({"state": one_of("state", Run.State.values), "since": since("created_at")}, order=("id",))

`RUNS.parameters` goes into the route's description, `RUNS.of(request, rows)` narrows its rows. What is not as
described is refused, never passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.utils.dateparse import parse_date, parse_datetime
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from config.files import row_id
from config.request_json import storable

Rows = TypeVar("Rows", bound=Model)
ORDER = "order"


@dataclass(frozen=True)
class Filter:
    """One parameter: what may be said, and the condition that it means. `read` raises ValueError."""

    lookup: str
    read: Callable[[str], Any]
    described: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Filters:
    """The parameters of a list; `order` names the columns that put it in order, up or (`-`) down."""

    by: Mapping[str, Filter]
    order: tuple[str, ...] = ()

    @property
    def parameters(self) -> list[OpenApiParameter]:
        """Return what the document says of them."""
        told = [OpenApiParameter(name, **one.described) for name, one in self.by.items()]
        return [*told, OpenApiParameter(ORDER, enum=self._orders())] if self.order else told

    def of(self, request: Request, rows: QuerySet[Rows]) -> QuerySet[Rows]:
        """Return the rows that a request asks for; raise ValidationError for a value that means nothing."""
        refused: dict[str, list[str]] = {}
        for name, one in self.by.items():
            text = request.query_params.get(name)
            if text is None:
                continue
            try:
                rows = rows.filter(**{one.lookup: one.read(storable(text))})
            except ValueError as error:
                refused[name] = [str(error)]
        chosen = request.query_params.get(ORDER)
        if chosen is not None and self.order and chosen not in self._orders():
            refused[ORDER] = [f"One of {', '.join(self._orders())}."]
        elif chosen is not None and self.order:
            rows = rows.order_by(*([chosen] if chosen.strip("-") == "id" else [chosen, "-id"]))
        if refused:
            raise ValidationError(refused)
        return rows

    def _orders(self) -> list[str]:
        return [sign + name for name in self.order for sign in ("", "-")]


def one_of(column: str, values: Iterable[str]) -> Filter:
    """Rows whose column is one of a few words."""
    words = list(values)

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"One of {', '.join(words)}.")
        return text

    return Filter(column, read, {"enum": words})


def holds(column: str) -> Filter:
    """Rows whose column holds a text, in capitals or not."""
    return Filter(f"{column}__icontains", str, {"description": f"only where the {column} holds this text"})


def named(column: str, what: str) -> Filter:
    """Rows of the thing with a name."""
    return Filter(column, str, {"description": f"only of the {what} of this name"})


def numbered(column: str, what: str) -> Filter:
    """Rows of the thing with an id."""

    def read(text: str) -> int:
        number = row_id(text)
        if number is None:
            raise ValueError("An id: a whole number.")
        return number

    told = {"type": {"type": "integer", "minimum": 0, "maximum": 2**63 - 1}}
    return Filter(column, read, {**told, "description": f"only of this {what}"})


def since(column: str) -> Filter:
    """Rows from a time on, which is a date or a date with a time (UTC where no zone is given)."""

    def read(text: str) -> Any:
        wrong = "A date or a time, such as 2026-01-31 or 2026-01-31T12:00:00Z."
        try:
            day, at = parse_date(text), parse_datetime(text)
        except ValueError:
            raise ValueError(wrong) from None
        if at is None and day is not None:
            at = parse_datetime(f"{day.isoformat()}T00:00:00Z")
        if at is None:
            raise ValueError(wrong)
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
        try:
            return at.astimezone(UTC)  # PostgreSQL knows no offsets beyond 16 hours
        except OverflowError:  # at either end of what there is
            return at.replace(tzinfo=UTC)

    return Filter(
        f"{column}__gte", read, {"type": OpenApiTypes.DATETIME, "description": "only from this time on"}
    )
