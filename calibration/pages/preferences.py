"""Preferences between systems: win rates, strengths, agreement, position; their files. Researchers only."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.corpora import splits
from annotation.models import Campaign, Corpus
from calibration.errors import CalibrationError
from calibration.preferences import charts as preference_charts
from calibration.preferences import reading, wording
from calibration.preferences.computing import NAMES, Asked, Computed
from calibration.preferences.computing import compute as compute_preferences
from calibration.preferences.computing import open_test as open_test_preferences
from calibration.preferences.computing import read as read_preferences_query
from calibration.preferences.renderings import RENDERINGS as PREFERENCE_FORMS
from calibration.preferences.sheets import Cell as TableCell
from calibration.preferences.sheets import Sheet, flags_of, reasons_of, sheets
from calibration.reading.census import census
from calibration.reading.scope import scope_of
from calibration.reports import drawing
from calibration.statistics.core.result import Result
from calibration.statistics.preferences.fitting import MODELS
from calibration.statistics.preferences.votes import BOTH_BAD_POLICIES
from config.files import row_id
from config.permissions import researcher_only


@require_GET
@researcher_only
def preferences(request: HttpRequest, pk: int) -> HttpResponse:
    """The report of what the form asks for, or why there is none."""
    corpus = access.corpus(pk)
    campaign = _campaign(request, corpus)
    given = _given(request)
    context = _form(corpus, campaign, given) | {"split": splits.lock_of(corpus)}
    status = 200
    if context["questions"]:
        try:
            context |= _shown(
                compute_preferences(query=read_preferences_query(given, corpus, campaign), by=_user(request))
            )
        except CalibrationError as refused:
            context["refused"] = str(refused)
            status = 422 if given else 200
    return render(request, "calibration/preferences.html", context, status=status)


@require_GET
@researcher_only
def preferences_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """The report as CSV, Markdown, LaTeX or JSON, its chart as SVG or PNG."""
    corpus = access.corpus(pk)
    rendering = PREFERENCE_FORMS.get(form)
    if rendering is None:
        raise Http404
    try:
        made = compute_preferences(
            query=read_preferences_query(_given(request), corpus, _campaign(request, corpus)),
            by=_user(request),
        )
    except CalibrationError as refused:
        return HttpResponse(f"{refused}\n", status=422, content_type="text/plain; charset=utf-8")
    response = HttpResponse(rendering.write(made.report), content_type=rendering.media_type)
    response["Content-Disposition"] = f'attachment; filename="preferences-{corpus.pk}.{rendering.suffix}"'
    return response


@require_POST
@researcher_only
def preferences_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Log a look at test with its purpose, and show the preferences of the test part."""
    corpus = access.corpus(pk)
    campaign = _campaign(request, corpus)
    purpose = request.POST.get("purpose", "").replace("\0", "")[:500]
    query = request.GET.copy()
    query.pop("part", None)
    try:
        open_test_preferences(
            query=read_preferences_query({}, corpus, campaign), by=_user(request), purpose=purpose
        )
        query["part"] = "test"
    except CalibrationError as refused:
        messages.error(request, f"Test was not opened: {refused}.")
    return redirect(f"{reverse('preferences', args=[corpus.pk])}?{query.urlencode()}")


def _given(request: HttpRequest) -> dict[str, str]:
    return {name: request.GET[name].replace("\0", "") for name in NAMES if request.GET.get(name)}


def _campaign(request: HttpRequest, corpus: Corpus) -> Campaign | None:
    number = row_id(request.GET.get("campaign", ""))
    if number is None:
        return None
    campaign = access.campaign(number)
    if campaign.corpus_id != corpus.pk:
        raise Http404
    return campaign


def _form(corpus: Corpus, campaign: Campaign | None, given: dict[str, str]) -> dict[str, Any]:
    """Return what the form offers and what is chosen."""
    asked = reading.comparing(census(scope_of(corpus, campaign, given.get("part", ""))))
    return {
        "corpus": corpus,
        "campaign": campaign,
        "active_room": "corpora",
        "given": given,
        "questions": [(one.ref, one.title) for one in asked],
        "systems": list(corpus.systems.order_by("name").values_list("name", flat=True)),
        "models": [(key, text) for key, text in MODELS.items()],
        "both_bads": [(key, text[:1].upper() + text[1:]) for key, text in BOTH_BAD_POLICIES.items()],
        "forms": PREFERENCE_FORMS.values(),
    }


def _shown(made: Computed) -> dict[str, Any]:
    """Return what the page shows of a report."""
    return {
        "made": made,
        "plan": made.query.plan,
        "facts": made.report.facts,
        "asked": [_question(one) for one in made.report.questions],
    }


def _question(asked: Asked) -> dict[str, Any]:
    found = sheets(asked.figures)
    return {
        "title": asked.title,
        "ref": asked.key,
        "who": [*map(wording.who, asked.figures.voters), *wording.how(asked.figures.choices)],
        "charts": [
            (chart, mark_safe(drawing.inline_svg(chart))) for chart in preference_charts.charts(asked)
        ],
        "sheets": [_sheet(sheet) for sheet in found],
        "reasons": [f"{reason[:1].upper()}{reason[1:]}." for reason in reasons_of(found)],
        "flags": [(flag, wording.told(flag)) for flag in flags_of(found)],
    }


def _sheet(sheet: Sheet) -> dict[str, Any]:
    rows = [[_cell(cell) for cell in row] for row in sheet.rows]
    numeric = [not isinstance(cell, str) for cell in sheet.rows[0]]
    return {
        "title": sheet.title,
        "note": sheet.note,
        "head": list(zip(sheet.head, numeric, strict=True)),
        "rows": rows,
    }


def _cell(cell: TableCell) -> dict[str, Any]:
    """Return a cell as the template reads it: a text, a count, a figure with its interval, or nothing."""
    if isinstance(cell, Result):
        return {
            "kind": "figure" if cell.ok else "none",
            "text": wording.figure(cell) if cell.ok else cell.status,
            "interval": wording.interval(cell) if cell.low is not None else "no interval",
            "why": cell.reason,
        }
    if cell is None:
        return {"kind": "nothing"}
    return {"kind": "text", "text": cell} if isinstance(cell, str) else {"kind": "count", "text": cell}


def _user(request: HttpRequest) -> Any:
    return request.user
