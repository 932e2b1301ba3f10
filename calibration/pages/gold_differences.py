"""Two golds side by side: how many items differ, how far, and which. For who may see both."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_http_methods

from annotation.corpora import splits
from annotation.models import Item, turn_numbers
from calibration import access
from calibration.errors import CalibrationError
from calibration.exports import job as export_job
from calibration.exports.writing import FORMATS
from calibration.gold.described import described
from calibration.gold.difference import STATUSES, difference, shared_questions
from calibration.models import Gold
from calibration.pages.exports import being_written, place_told, taken_by
from calibration.permissions import gold_researcher_only, may_see
from config.ids import row_id
from jobs.models import Job

PAGE = 50


@require_GET
@gold_researcher_only
def compared(request: HttpRequest, pk: int) -> HttpResponse:
    """A gold beside another one of the same corpus and questions; `with` names it."""
    number = row_id(request.GET.get("with", ""))
    if number is None:
        return redirect("gold", pk)
    try:
        found = difference(access.gold(pk), _other(request, number))
    except CalibrationError as refused:
        return _refused(request, pk, refused)
    status = request.GET.get("show", "")
    status = status if status in STATUSES else "different"
    key = request.GET.get("question")
    asked = next((one.question for one in found.questions if one.question.key == key), None)
    page = Paginator(found.rows(status, asked), PAGE).get_page(request.GET.get("page"))
    narrowed: dict[str, Any] = {"with": number, "show": status} | ({"question": asked.key} if asked else {})
    context = {
        "active_room": "golds",
        "found": found,
        "first": described(found.first),
        "second": described(found.second),
        "meaning": STATUSES[status],
        "pair": urlencode({"with": number}),
        "status": status,
        "asked": asked,
        "page": page,
        "rows": _with_items(list(page)),
        "split": splits.lock_of(found.first.corpus),
        "query": f"{urlencode(narrowed)}&",
    }
    return render(request, "calibration/gold_difference.html", context)


def _other(request: HttpRequest, number: int) -> Gold:
    if not may_see(request.user, Gold.objects.all(), number):
        raise PermissionDenied
    return access.gold(number)


def _refused(request: HttpRequest, pk: int, refused: CalibrationError) -> HttpResponse:
    messages.error(request, f"Not compared: {refused}.")
    return redirect("gold", pk)


def _with_items(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of a difference with their items, whose turns are numbered together."""
    related = ("continuation__dialogue", "turn")
    items = Item.objects.select_related(*related).in_bulk({row["item_id"] for row in rows})
    turn_numbers.number(item.turn for item in items.values())
    return [row | {"place": items[row["item_id"]]} for row in rows]


@require_http_methods(["GET", "POST"])
@gold_researcher_only
def file(request: HttpRequest, pk: int, form: str) -> HttpResponse | StreamingHttpResponse:
    """Two golds side by side as CSV, JSONL or Parquet; test is taken out by POST alone."""
    first, number = access.gold(pk), row_id(request.GET.get("with", ""))
    if form not in FORMATS or number is None:
        raise Http404
    second = _other(request, number)
    try:
        shared_questions(first, second)
    except CalibrationError as refused:
        return _refused(request, pk, refused)
    taken = taken_by(request, first.corpus, first)
    if taken is None:
        return redirect(f"{reverse('gold-difference', args=[pk])}?with={number}")
    user: Any = request.user
    found = export_job.difference_or_job(first=first, second=second, taken=taken, form=form, by=user)
    if isinstance(found, Job):
        return being_written(request, place_told(first.corpus_id, first.campaign_id))
    return found.response(f"gold-{first.pk}-and-{second.pk}")
