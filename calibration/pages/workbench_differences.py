"""Where drafts and people disagree on a bench, what was said of it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_POST

from annotation.models import Item, Question, turn_numbers
from calibration import access
from calibration.disagreements.showing import lines_of, named_value
from calibration.errors import CalibrationError
from calibration.models import Mark
from calibration.pages.workbench import ROOM
from calibration.workbench import marks
from calibration.workbench.sheets import Judged, Sheet, judged_on, sheets
from calibration.workbench.versions import DIRECTIONS, Difference, differences, systems_of
from config.files import row_id
from config.permissions import researcher_only
from judges.models import Bench
from judges.pages.runs import user_of

PAGE = 10
FILTERS = ("judged", "question", "direction", "system")


@require_GET
@researcher_only
def bench_differences(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: where a draft or judge differs from people, farthest apart first, and who is wrong."""
    bench = access.bench(pk)
    judged = judged_on(bench)
    chosen = _chosen(judged, request.GET.get("judged", ""))
    asked = {name: request.GET.get(name, "") for name in FILTERS[1:]}
    context: dict[str, Any] = {"bench": bench, "judged": judged, "chosen": chosen, "asked": asked, **ROOM}
    status = 200
    try:
        found = sheets(bench, [chosen] if chosen else [])
        listed = differences(found, chosen, **asked) if chosen else []
        context |= _listed(request, bench, chosen, found, listed)
    except CalibrationError as error:
        context["refused"], status = str(error), 422
    return render(request, "workbench/differences.html", context, status=status)


def _chosen(judged: list[Judged], key: str) -> Judged | None:
    if key and not any(one.key == key for one in judged):
        raise Http404
    return next((one for one in judged if not key or one.key == key), None)


def _listed(
    request: HttpRequest,
    bench: Bench,
    chosen: Judged | None,
    found: list[Sheet],
    listed: list[Difference],
) -> dict[str, Any]:
    page = Paginator(listed, PAGE).get_page(request.GET.get("page"))
    related = ("continuation__dialogue", "continuation__system", "turn")
    items = Item.objects.select_related(*related).in_bulk([one.item for one in page])
    turn_numbers.number(item.turn for item in items.values())
    lines, standing = lines_of(list(items.values())), marks.standing(bench)
    named = {name: request.GET.get(name, "") for name in FILTERS if request.GET.get(name)}
    return {
        "page": page,
        "query": f"{urlencode(named)}&" if named else "",
        "here": request.get_full_path(),
        "questions": [sheet.question for sheet in found],
        "systems": systems_of(found),
        "directions": DIRECTIONS,
        "counts": marks.counts(bench),
        "verdicts": [pair for pair in Mark.Verdict.choices if pair[0] != Mark.Verdict.WITHDRAWN],
        "rows": [
            {
                "one": one,
                "item": items[one.item],
                "lines": lines[one.item],
                "people": _said(one, one.sheet.ratings.of_kind("human")),
                "judge": _judge(one, chosen),
                "mark": standing.get((one.item, one.sheet.question.id, chosen.key)) if chosen else None,
            }
            for one in page
        ],
    }


def _said(one: Difference, columns: tuple[int, ...]) -> list[tuple[str, str]]:
    ratings = one.sheet.ratings
    return [
        (ratings.raters[j], named_value(one.sheet.question, ratings, float(ratings.values[one.row, j])))
        for j in columns
        if ratings.values[one.row, j] == ratings.values[one.row, j]
    ]


def _judge(one: Difference, chosen: Judged | None) -> str:
    values = one.sheet.of(chosen)[0].values if chosen else ()
    return named_value(one.sheet.question, one.sheet.ratings, float(values[one.row]))


@require_POST
@researcher_only
def bench_mark(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: say who is wrong, take it back, or send it on to adjudication."""
    bench, by = access.bench(pk), user_of(request)
    judged = next((one for one in judged_on(bench) if one.key == request.POST.get("judged")), None)
    if judged is None:
        raise Http404
    item = get_object_or_404(Item, pk=row_id(request.POST.get("item", "")) or 0)
    question = get_object_or_404(Question, pk=row_id(request.POST.get("question", "")) or 0)
    verdict, note = request.POST.get("verdict", ""), request.POST.get("note", "").strip()
    try:
        if verdict == "adjudicate":
            standing = marks.standing(bench).get((item.pk, question.pk, judged.key))
            if standing is None:
                raise Http404
            marks.send_to_adjudication(by=by, mark=standing)
            messages.success(request, "It waits for adjudication.")
        else:
            marks.mark(
                by=by, bench=bench, judged=judged, item=item, question=question, verdict=verdict, note=note
            )
    except CalibrationError as error:
        messages.error(request, str(error))
    named = {name: request.POST.get(f"keep-{name}", "") for name in (*FILTERS, "page")}
    query = urlencode({name: value for name, value in named.items() if value})
    return redirect(f"{reverse('bench-differences', args=[pk])}?{query}#item-{item.pk}-{question.pk}")


@require_GET
@researcher_only
def bench_marks(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """Researchers: the marks of a bench as CSV or JSON."""
    bench = access.bench(pk)
    if form not in marks.FORMS:
        raise Http404
    kind = f"{marks.FORMS[form]}; charset=utf-8"
    response = HttpResponse(marks.written(bench, form), content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="bench-{bench.pk}-marks.{form}"'
    return response
