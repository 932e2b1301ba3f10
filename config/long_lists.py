"""Pages of long lists: nothing is counted, and the last page is as near as the first."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.utils.functional import cached_property


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
