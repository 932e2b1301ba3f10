"""Lists of the HTTP API come in pages: `limit` of them from `offset` on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from rest_framework.exceptions import ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request

MOST = 1000
LAST = 10**9
DEFAULT = 50
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

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Say what may be asked for."""
        bounds = {"limit": (1, MOST, DEFAULT), "offset": (0, LAST, 0)}
        described = super().get_schema_operation_parameters(view)
        for parameter in described:
            least, most, default = bounds[parameter["name"]]
            parameter["schema"] |= {"minimum": least, "maximum": most, "default": default}
        return described


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
