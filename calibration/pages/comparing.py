"""Continuations of one context side by side, with what metrics say of each. Researchers only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from annotation import access
from annotation.text.display import language_tag
from calibration.errors import CalibrationError
from calibration.profiles.contexts import Wanted, contexts
from calibration.profiles.side_by_side import Cell, Column, Comparison, Row, compare
from calibration.profiles.side_by_side_files import FILES as SIDE_BY_SIDE_FILES
from calibration.profiles.side_by_side_files import signed
from config.files import row_id
from config.permissions import researcher_only

NEAR = 6
"""Turns of the context that are shown; those before them unfold."""
FEW = 12
"""Continuations to choose from that are shown; where there are more, they unfold."""


@require_GET
@researcher_only
def compare_page(request: HttpRequest, pk: int) -> HttpResponse:
    """One context and its continuations, or why there is nothing to compare."""
    dialogue = access.dialogue(pk)
    frame = {"dialogue": dialogue, "corpus": dialogue.corpus, "active_room": "corpora"}
    try:
        made = compare(dialogue, _wanted(request))
    except CalibrationError as refused:
        found = contexts(dialogue)
        context = frame | {"refused": str(refused), "found": found}
        return render(request, "calibration/compare.html", context, status=422 if found else 200)
    return render(request, "calibration/compare.html", frame | _shown(request, made))


@require_GET
@researcher_only
def compare_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """The same as CSV or JSON."""
    dialogue = access.dialogue(pk)
    if form not in SIDE_BY_SIDE_FILES:
        raise Http404
    write, media_type = SIDE_BY_SIDE_FILES[form]
    try:
        made = compare(dialogue, _wanted(request))
    except CalibrationError as refused:
        return HttpResponse(f"{refused}\n", status=422, content_type="text/plain; charset=utf-8")
    name = f"compare-{dialogue.pk}-{made.chosen.context.at}.{form}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(write(made), content_type=media_type, headers=headers)


def _wanted(request: HttpRequest) -> Wanted:
    """Return what an address asks for; a number of turns that is none is left out."""
    asked = request.GET.get("at", "")
    return Wanted(
        at=0 if asked == "0" else row_id(asked),
        continuations=tuple(filter(None, request.GET.getlist("continuation"))),
        against=request.GET.get("against", ""),
        metric=request.GET.get("metric", ""),
    )


def _shown(request: HttpRequest, made: Comparison) -> dict[str, Any]:
    context, points = made.chosen.context, {one.at for one in made.found}
    columns = {column.answer.name for column in made.columns}
    return {
        "made": made,
        "far": made.context[:-NEAR],
        "near": made.context[-NEAR:],
        "left_out": made.n_context - len(made.context),
        "points": [
            (at, max(len(one.answers) for one in made.found if one.at == at)) for at in sorted(points)
        ],
        "choices": [(answer, answer.name in columns) for answer in context.answers],
        "unfolds": len(context.answers) > FEW,
        "has_people": any(column.answer.is_human for column in made.columns),
        "unscored": [column for column in made.columns if not column.scored],
        "sections": [(section.title, _lines(section.rows, made)) for section in made.sections],
        "language": language_tag(made.dialogue.language),
        "metric": row_id(request.GET.get("metric", "")),
        "query": _query(made, request.GET.get("metric", "")),
    }


def _query(made: Comparison, metric: str) -> str:
    """Return the parameters that give exactly these columns again."""
    told: list[tuple[str, Any]] = [("at", made.chosen.context.at)]
    told += [("continuation", column.answer.name) for column in made.columns]
    told += [("against", made.against.answer.name), *([("metric", metric)] if metric else [])]
    return urlencode(told)


def _lines(rows: Iterable[Row], made: Comparison) -> list[tuple[Row, list[dict[str, Any]]]]:
    """Return rows with their cells as the page writes them."""
    return [
        (row, [_cell(row, *pair, made) for pair in zip(made.columns, row.cells, strict=True)]) for row in rows
    ]


def _cell(row: Row, column: Column, cell: Cell, made: Comparison) -> dict[str, Any]:
    part = column.answer.continuation
    behind = f"{reverse('profile-continuation', args=[part.pk])}?metric={row.metric.id}"
    leads = [
        (place, f"#{anchor}" if anchor in made.anchors else f"{behind}#{anchor}")
        for place, anchor in cell.leads
    ]
    of_turn = row.metric.metric.kind == "turn"
    return {
        "cell": cell,
        "shown": cell.value if isinstance(cell.value, str) else None,
        "difference": "" if cell.difference is None else signed(cell.difference),
        "behind": f"{behind}#{column.line.anchor}" if of_turn else behind,
        "leads": leads,
    }
