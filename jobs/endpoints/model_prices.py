"""Table of prices by model: the prices of endpoints without their own. Administrators keep it.

It is empty at first: prices are the provider's, and change. A call's cost is fixed by the prices at its
reply, so a change of the table leaves earlier calls as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction

from config.models import Event
from config.permissions import is_administrator
from jobs.models.endpoint import Endpoint, ModelPrice


def load_model_prices(endpoints: Iterable[Endpoint]) -> None:
    """Set `model_price` of endpoints, with one query at most; afterwards their prices need none."""
    unpriced = [endpoint for endpoint in endpoints if not endpoint.has_own_price]
    rows = list(ModelPrice.objects.all()) if unpriced else []
    for endpoint in unpriced:
        endpoint.model_price = ModelPrice.best(rows, endpoint.model)


@transaction.atomic
def save_price(*, by: User, fields: Mapping[str, Any], price: ModelPrice | None = None) -> ModelPrice:
    """Add prices of a model, or change a row; the fields are validated. Raises PermissionDenied."""
    if not is_administrator(by):
        raise PermissionDenied
    row = price or ModelPrice()
    for name, value in fields.items():
        setattr(row, name, value)
    row.changed_by = by
    row.save()
    Event.objects.create(by=by, verb="save model price", subject=row.model, detail=_detail(row))
    return row


@transaction.atomic
def delete_price(*, by: User, price: ModelPrice) -> None:
    """Delete a row: calls from now on take the next fitting row, or have no known cost."""
    if not is_administrator(by):
        raise PermissionDenied
    Event.objects.create(by=by, verb="delete model price", subject=price.model, detail=_detail(price))
    price.delete()


def _detail(row: ModelPrice) -> dict[str, Any]:
    return {"read": str(row.price_in), "written": str(row.price_out), "currency": row.currency}
