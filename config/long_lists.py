"""Pages of long lists: nothing is counted, and the last page is as near as the first."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.utils.functional import cached_property


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
        ids = self.chosen.values_list("pk", flat=True)
        if start > self.count // 2 and not self.more:
            keys = list(ids.reverse()[self.count - stop : self.count - start])[::-1]
        else:
            keys = list(ids[start:stop])
        found: dict[Any, Any] = {row.pk: row for row in self.rows.filter(pk__in=keys)}
        return Page([found[key] for key in keys if key in found], number, self)
