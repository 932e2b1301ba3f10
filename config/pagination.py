"""Lists of the HTTP API come in pages: `limit` of them from `offset` on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.db.models import QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request

from config.long_lists import stretch

MOST = 1000
LAST = 10**9
DEFAULT = 50
FAR = 1000
Viewed = TypeVar("Viewed", bound=Callable[..., Any])


class Pages(LimitOffsetPagination):
    """At most MOST at a time. A `limit` or `offset` that is not a number is refused, not passed over."""

    default_limit = DEFAULT
    max_limit = MOST

    def get_limit(self, request: Request) -> int:
        """Return how many are asked for."""
        return _whole(request, "limit", least=1, most=MOST, default=DEFAULT)

    def get_offset(self, request: Request) -> int:
        """Return after how many the page begins."""
        return _whole(request, "offset", least=0, most=LAST, default=0)

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any] | None:
        """Return a page. One far into a long list does not read what comes before."""
        offset, limit = self.get_offset(request), self.get_limit(request)
        if offset < FAR or not _by_id(queryset):
            found: list[Any] | None = super().paginate_queryset(queryset, request, view)
            return found
        self.request, self.limit, self.offset = request, limit, offset
        self.count = self.get_count(queryset)
        stop = min(offset + limit, self.count)
        return stretch(queryset, offset, stop, many=self.count, rows=queryset) if offset < stop else []

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Say what may be asked for."""
        bounds = {"limit": (1, MOST, DEFAULT), "offset": (0, LAST, 0)}
        described = super().get_schema_operation_parameters(view)
        for parameter in described:
            least, most, default = bounds[parameter["name"]]
            parameter["schema"] |= {"minimum": least, "maximum": most, "default": default}
        return described


def _by_id(queryset: Any) -> bool:
    """Whether a list is in the order of its ids, which has no ties."""
    return isinstance(queryset, QuerySet) and queryset.query.order_by in {
        ("id",),
        ("-id",),
        ("pk",),
        ("-pk",),
    }


def _whole(request: Request, name: str, *, least: int, most: int, default: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 12 and least <= int(text) <= most):
        raise ValidationError({name: [f"A whole number from {least} to {most}."]})
    return int(text)


def paged(view: Viewed) -> Viewed:
    """Decorator above `api_view`: its lists come in pages, and the schema says so."""
    view.cls.pagination_class = Pages  # type: ignore[attr-defined]
    return view
