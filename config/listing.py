"""Lists on pages: columns, sort order, filter and paging, all from the address."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import CharField, Expression, F, Func, OrderBy, Q, QuerySet, Value
from django.db.models.functions import Lower
from django.http import HttpRequest, QueryDict
from django.utils.text import slugify

from config.templatetags.components import Heading

# A list declares its columns once, in its view:
#
#     JOBS = Listing(
#         Column("Job", "kind"), Column("Progress"), Column("Started", "created_at", is_numeric=True),
#         search=("kind", "subject"),
#     )
#     page = JOBS.page(request, Job.objects.all())
#
# Its template frames the rows with `{% listing page ... %}` in `#list`: the headings of columns with an order
# are links such as `?sort=-started`. `_components/filter.html`, before `#list`, narrows it by `?text=`.

FILTERED_FROM = 8
"""Rows from which a list has a field to filter it."""
TEXT_LIMIT = 200


@dataclass(frozen=True)
class Column:
    """A column of a list; `order` is the field or expression that sorts by it, None if nothing does."""

    text: str
    order: str | Expression | None = None
    is_numeric: bool = False
    is_hidden: bool = False

    @property
    def key(self) -> str:
        """The column's name in `?sort=`."""
        return slugify(self.text)

    def ordered(self, *, falls: bool) -> OrderBy:
        """Return the order by this column, rows without a value last."""
        expression: Any = F(self.order) if isinstance(self.order, str) else self.order
        return OrderBy(expression, descending=falls, nulls_last=True)


def natural(text: str | Expression) -> Expression:
    """Return the order of a text column by its words and numbers: "Talk 9" comes before "Talk 10"."""
    padded = _replace(Lower(text), r"(\d+)", r"000000000000\1")
    return _replace(padded, r"\d*(\d{12})", r"\1")


def _replace(text: Any, pattern: str, by: str) -> Func:
    values = (Value(part) for part in (pattern, by, "g"))
    return Func(text, *values, function="REGEXP_REPLACE", output_field=CharField())


class Listing:
    """A list of rows, as pages of it are requested: `?sort=`, `?text=` and `?page=`.

    search: the fields in which `?text=` looks; without any, the list has no filter of its own.
    tie: the order of rows that are equal.
    """

    def __init__(
        self, *columns: Column, search: Sequence[str] = (), size: int = 50, tie: str = "-pk"
    ) -> None:
        self.columns, self.search, self.size, self.tie = columns, search, size, tie

    def page(
        self,
        request: HttpRequest,
        rows: QuerySet[Any],
        *,
        without: Iterable[str] = (),
        unsorted: Paginator[Any] | None = None,
    ) -> ListPage:
        """Return the requested page; rows without a requested order stay as they are.

        without: texts of columns that this page lacks; unsorted: a faster paginator of the rows in their own
        order. A column by which the list does not sort is refused with a message.
        """
        columns = [column for column in self.columns if column.text not in without]
        sort, text = _requested_sort(request, columns), self._text(request)
        if text:
            rows = rows.filter(reduce(or_, (Q(**{f"{field}__icontains": text}) for field in self.search)))
        if sort:
            column = next(column for column in columns if column.key == sort.removeprefix("-"))
            rows = rows.order_by(column.ordered(falls=sort[0] == "-"), self.tie)
        pages = unsorted if unsorted and not sort else Paginator(rows, self.size)
        page = pages.get_page(request.GET.get("page"))
        return ListPage(page, [_heading(request, column, sort) for column in columns], text, self, request)

    def _text(self, request: HttpRequest) -> str:
        text = request.GET.get("text", "") if self.search else ""
        return text.replace("\0", "").strip()[:TEXT_LIMIT]


def _requested_sort(request: HttpRequest, columns: Iterable[Column]) -> str:
    sort = request.GET.get("sort", "")
    if sort and sort.removeprefix("-") not in {column.key for column in columns if column.order is not None}:
        messages.error(request, f"This list does not sort by “{sort[:60]}”. Choose one of its headings.")
        return ""
    return sort


def _heading(request: HttpRequest, column: Column, sort: str) -> Heading:
    heading = Heading(column.text, is_numeric=column.is_numeric, is_hidden=column.is_hidden)
    if column.order is None:
        return heading
    direction = {column.key: "ascending", f"-{column.key}": "descending"}.get(sort, "")
    address = request.GET.copy()
    address.pop("page", None)
    address["sort"] = f"-{column.key}" if direction == "ascending" else column.key
    return replace(heading, key=column.key, href=f"?{address.urlencode()}", direction=direction)


class ListPage(Page[Any]):
    """A page of a list, with the headings of its columns and what its filter needs."""

    def __init__(
        self, page: Page[Any], columns: list[Heading], text: str, listing: Listing, request: HttpRequest
    ) -> None:
        super().__init__(page.object_list, page.number, page.paginator)
        self.columns, self.text, self._listing, self._sent = columns, text, listing, request.GET

    @property
    def has_filter(self) -> bool:
        """Whether the list is long enough to be filtered, or is filtered."""
        return bool(self._listing.search) and (bool(self.text) or self.paginator.count >= FILTERED_FROM)

    @property
    def others(self) -> list[tuple[str, str]]:
        """Return the parameters of the address that a filter keeps."""
        return [(name, str(value)) for name, value in self._sent.items() if name not in ("text", "page")]

    @property
    def unfiltered(self) -> str:
        """Return the address of the list without its filter."""
        address = QueryDict(mutable=True)
        address.update(dict(self.others))
        return f"?{address.urlencode()}"
