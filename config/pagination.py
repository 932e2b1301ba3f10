"""Lists of the HTTP API come in pages: `limit` of them from `offset` on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.utils.functional import cached_property
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request

# Pages of long lists: nothing is counted, and the last page is as near as the first.


def stretch(
    chosen: QuerySet[Any], start: int, stop: int, *, many: int | None, rows: QuerySet[Any]
) -> list[Any]:
    """Return what stands from `start` to before `stop` in `chosen`, a queryset in an order without ties.

    Its ids are looked up alone, from the nearer end where it is known how `many` there are, and then read
    from `rows`.
    """
    ids = chosen.values_list("pk", flat=True)
    if many is not None and start > many // 2:
        keys = list(ids.reverse()[many - stop : many - start])[::-1]
    else:
        keys = list(ids[start:stop])
    found: dict[Any, Any] = {row.pk: row for row in rows.filter(pk__in=keys)}
    return [found[key] for key in keys if key in found]


class LongPaginator(Paginator):
    """The pages of `chosen`, an ordered queryset of which it is known how many there are.

    A page is looked up by ids from the nearer end of the list, in an index that holds them in this order,
    and then read from `rows`, which selects what is shown with them. Where there may be `more` than are
    known, the first ones are listed.
    """

    def __init__(
        self,
        chosen: QuerySet[Any],
        per_page: int,
        *,
        many: int,
        rows: QuerySet[Any] | None = None,
        more: bool = False,
    ) -> None:
        super().__init__(chosen, per_page)
        self.chosen, self.many, self.more = chosen, max(many, 0), more
        self.rows = chosen.model._default_manager.all() if rows is None else rows

    @cached_property
    def count(self) -> int:
        """Return how many there are."""
        return self.many

    def page(self, number: int | str) -> Page[Any]:
        """Return a page. Raises InvalidPage for one that there is none of."""
        number = self.validate_number(number)
        start = (number - 1) * self.per_page
        stop = min(start + self.per_page, self.count)
        many = None if self.more else self.count
        return Page(stretch(self.chosen, start, stop, many=many, rows=self.rows), number, self)


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
