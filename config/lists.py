"""Lists of the HTTP API: pagination, filters and sort order; each list declares its own filters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any, TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import Model, QuerySet
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.functional import cached_property
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request

from config.files import row_id
from config.request_json import storable

# Filters and sort orders of lists in the HTTP API: each list declares its own.
#
#     RUNS = Filters(
#         {"state": one_of("state", Run.State.values), "since": since("created_at")}, order=("id",)
#     )
#
# `RUNS.parameters` goes into the route's schema, `RUNS.of(request, rows)` filters its rows. Invalid values
# are refused, never ignored.

Rows = TypeVar("Rows", bound=Model)
ORDER = "order"


@dataclass(frozen=True)
class Filter:
    """A filter parameter: its lookup on rows and its schema. `read` raises ValueError for invalid values."""

    lookup: str
    read: Callable[[str], Any]
    described: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Filters:
    """The parameters of a list; `order` names the columns for sorting, ascending or (`-`) descending."""

    by: Mapping[str, Filter]
    order: tuple[str, ...] = ()

    @property
    def parameters(self) -> list[OpenApiParameter]:
        """OpenAPI parameters of the filters."""
        parameters = [OpenApiParameter(name, **row_filter.described) for name, row_filter in self.by.items()]
        return [*parameters, OpenApiParameter(ORDER, enum=self._orders())] if self.order else parameters

    def of(self, request: Request, rows: QuerySet[Rows]) -> QuerySet[Rows]:
        """Return the rows that a request selects; raise ValidationError for an invalid value."""
        refused: dict[str, list[str]] = {}
        for name, row_filter in self.by.items():
            text = request.query_params.get(name)
            if text is None:
                continue
            try:
                rows = rows.filter(**{row_filter.lookup: row_filter.read(storable(text))})
            except ValueError as error:
                refused[name] = [str(error)]
        requested_order = request.query_params.get(ORDER)
        if requested_order is not None and self.order and requested_order not in self._orders():
            refused[ORDER] = [f"One of {', '.join(self._orders())}."]
        elif requested_order is not None and self.order:
            rows = rows.order_by(
                *([requested_order] if requested_order.strip("-") == "id" else [requested_order, "-id"])
            )
        if refused:
            raise ValidationError(refused)
        return rows

    def _orders(self) -> list[str]:
        return [sign + name for name in self.order for sign in ("", "-")]


def one_of(column: str, values: Iterable[str]) -> Filter:
    """Filter for rows whose column has one of a few values."""
    words = list(values)

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"One of {', '.join(words)}.")
        return text

    return Filter(column, read, {"enum": words})


def holds(column: str) -> Filter:
    """Filter for rows whose column contains a string, ignoring case."""
    return Filter(f"{column}__icontains", str, {"description": f"only where the {column} holds this text"})


def with_name(column: str, noun: str) -> Filter:
    """Filter for rows of the object with a given name; `noun` is the kind of object."""
    return Filter(column, str, {"description": f"only of the {noun} of this name"})


def numbered(column: str, noun: str) -> Filter:
    """Filter for rows of the object with a given id; `noun` is the kind of object."""

    def read(text: str) -> int:
        number = row_id(text)
        if number is None:
            raise ValueError("An id: a whole number.")
        return number

    schema = {"type": {"type": "integer", "minimum": 0, "maximum": 2**63 - 1}}
    return Filter(column, read, {**schema, "description": f"only of this {noun}"})


def since(column: str) -> Filter:
    """Filter for rows from a time on: a date, or a date with a time (UTC if no zone is given)."""

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
            return at.astimezone(UTC)  # PostgreSQL takes no offsets beyond 16 hours
        except OverflowError:  # at either end of the range of dates
            return at.replace(tzinfo=UTC)

    return Filter(
        f"{column}__gte", read, {"type": OpenApiTypes.DATETIME, "description": "only from this time on"}
    )


# Lists of the HTTP API come in pages: `limit` rows from `offset` on.

# Pages of long lists: no counting, and the last page is as fast as the first.


def stretch(
    ordered: QuerySet[Any], start: int, stop: int, *, many: int | None, rows: QuerySet[Any]
) -> list[Any]:
    """Return rows `start` to before `stop` of `ordered`, a queryset in an order without ties.

    Only ids are looked up, from the nearer end if the number of rows, `many`, is known; then they are read
    from `rows`.
    """
    ids = ordered.values_list("pk", flat=True)
    if many is not None and start > many // 2:
        keys = list(ids.reverse()[many - stop : many - start])[::-1]
    else:
        keys = list(ids[start:stop])
    row_by_key: dict[Any, Any] = {row.pk: row for row in rows.filter(pk__in=keys)}
    return [row_by_key[key] for key in keys if key in row_by_key]


class LongPaginator(Paginator):
    """The pages of `ordered`, an ordered queryset with a known number of rows.

    A page's ids are looked up from the nearer end of the list, in an index with this order, and then read
    from `rows`, which selects related data to show. If there may be `more` rows than known, the first ones
    are listed.
    """

    def __init__(
        self,
        ordered: QuerySet[Any],
        per_page: int,
        *,
        many: int,
        rows: QuerySet[Any] | None = None,
        more: bool = False,
    ) -> None:
        super().__init__(ordered, per_page)
        self.ordered, self.many, self.more = ordered, max(many, 0), more
        self.rows = ordered.model._default_manager.all() if rows is None else rows

    @cached_property
    def count(self) -> int:
        """Return the known number of rows."""
        return self.many

    def page(self, number: int | str) -> Page[Any]:
        """Return a page. Raises InvalidPage for a page that does not exist."""
        number = self.validate_number(number)
        start = (number - 1) * self.per_page
        stop = min(start + self.per_page, self.count)
        many = None if self.more else self.count
        return Page(stretch(self.ordered, start, stop, many=many, rows=self.rows), number, self)


MOST = 1000
LAST = 10**9
DEFAULT = 50
FAR = 1000
Viewed = TypeVar("Viewed", bound=Callable[..., Any])


class Pages(LimitOffsetPagination):
    """Pagination with at most MOST rows per page. An invalid `limit` or `offset` is refused, not ignored."""

    default_limit = DEFAULT
    max_limit = MOST

    def get_limit(self, request: Request) -> int:
        """Return the requested number of rows."""
        return _integer_parameter(request, "limit", least=1, most=MOST, default=DEFAULT)

    def get_offset(self, request: Request) -> int:
        """Return the number of rows before the page."""
        return _integer_parameter(request, "offset", least=0, most=LAST, default=0)

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any] | None:
        """Return a page. A page far into a long list is read without the rows before it."""
        offset, limit = self.get_offset(request), self.get_limit(request)
        if offset < FAR or not _by_id(queryset):
            page: list[Any] | None = super().paginate_queryset(queryset, request, view)
            return page
        self.request, self.limit, self.offset = request, limit, offset
        self.count = self.get_count(queryset)
        stop = min(offset + limit, self.count)
        return stretch(queryset, offset, stop, many=self.count, rows=queryset) if offset < stop else []

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Return the OpenAPI parameters with their bounds."""
        bounds = {"limit": (1, MOST, DEFAULT), "offset": (0, LAST, 0)}
        described = super().get_schema_operation_parameters(view)
        for parameter in described:
            least, most, default = bounds[parameter["name"]]
            parameter["schema"] |= {"minimum": least, "maximum": most, "default": default}
        return described


def _by_id(queryset: Any) -> bool:
    """Whether a list is ordered by id, an order without ties."""
    return isinstance(queryset, QuerySet) and queryset.query.order_by in {
        ("id",),
        ("-id",),
        ("pk",),
        ("-pk",),
    }


def _integer_parameter(request: Request, name: str, *, least: int, most: int, default: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 12 and least <= int(text) <= most):
        raise ValidationError({name: [f"A whole number from {least} to {most}."]})
    return int(text)


def paged(view: Viewed) -> Viewed:
    """Decorate a view, above `api_view`: its lists come in pages, also in the schema."""
    view.cls.pagination_class = Pages  # type: ignore[attr-defined]
    return view
