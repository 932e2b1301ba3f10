"""The Cascade report of group-chat agents: its tables, the funnel, its files. Researchers only."""

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
from annotation.models import Corpus
from annotation.scenarios.records import FORM, STAGES
from annotation.text.numbers import number
from calibration.cascade import funnel_chart
from calibration.cascade.computing import CascadeReport, compute, open_test
from calibration.cascade.query import BY, COMPETENCE, TURN_SCORE, read
from calibration.cascade.reading import judges_of
from calibration.cascade.renderings import RENDERINGS, oracle_line
from calibration.cascade.tables import Cell, Table, flags, interval, reasons
from calibration.errors import CalibrationError
from calibration.statistics.core.result import FLAGS, Result
from config.permissions import researcher_only

NAMES = (
    *("by", "judge", "k", "success", "threshold", "tau", *(f"tau_{stage}" for stage in STAGES)),
    *("jaccard", "part", "resamples", "seed"),
)
"""What an address may ask for."""
SUCCESSES = ((COMPETENCE, "competence 1 at every probe"), (TURN_SCORE, "a turn score of at least …"))
MOST_EXAMPLES = 5
GREY = "pass@"
"""How the heads of columns begin that are set back: they are no reliability."""


@require_GET
@researcher_only
def cascade(request: HttpRequest, pk: int) -> HttpResponse:
    """The report of what the form asks for, or why there is none."""
    corpus = access.corpus(pk)
    given = _given(request)
    context = _form(corpus, given)
    status = 200
    if context["has_scenarios"]:
        try:
            context |= _shown(compute(query=read(given, corpus), by=_user(request)))
        except CalibrationError as refused:
            context["refused"] = str(refused)
            status = 422 if given else 200
    return render(request, "calibration/cascade.html", context, status=status)


@require_GET
@researcher_only
def cascade_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """The report as CSV, Markdown, LaTeX or JSON, its funnel as SVG or PNG."""
    corpus = access.corpus(pk)
    rendering = (RENDERINGS | funnel_chart.RENDERINGS).get(form)
    if rendering is None:
        raise Http404
    try:
        made = compute(query=read(_given(request), corpus), by=_user(request))
    except CalibrationError as refused:
        return HttpResponse(f"{refused}\n", status=422, content_type="text/plain; charset=utf-8")
    response = HttpResponse(rendering.write(made), content_type=rendering.media_type)
    response["Content-Disposition"] = f'attachment; filename="cascade-{corpus.pk}.{rendering.suffix}"'
    return response


@require_POST
@researcher_only
def cascade_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Log a look at test with its purpose, and show the report of the test part."""
    corpus = access.corpus(pk)
    purpose = request.POST.get("purpose", "").replace("\0", "")[:500]
    query = request.GET.copy()
    query.pop("part", None)
    try:
        given = {"judge": _given(request).get("judge", "")}
        open_test(query=read(given, corpus), by=_user(request), purpose=purpose)
        query["part"] = "test"
    except CalibrationError as refused:
        messages.error(request, f"Test was not opened: {refused}.")
    return redirect(f"{reverse('cascade', args=[corpus.pk])}?{query.urlencode()}")


def _given(request: HttpRequest) -> dict[str, str]:
    """Return what the address asks for; lists may be given several times, or by commas."""
    given = {name: ",".join(filter(None, request.GET.getlist(name))).replace("\0", "") for name in NAMES}
    return {name: text for name, text in given.items() if text}


def _form(corpus: Corpus, given: dict[str, str]) -> dict[str, Any]:
    """Return what the form offers and what is chosen."""
    by = given.get("by", ",".join(BY)).split(",")
    judges = given.get("judge", "").split(",")
    return {
        "corpus": corpus,
        "active_room": "corpora",
        "given": given,
        "split": splits.lock_of(corpus),
        "has_scenarios": corpus.dialogues.filter(scenario__isnull=False).exists(),
        "keys": [(key, key in by) for key in BY],
        "judges": [(name, name in judges) for name in judges_of(corpus)],
        "successes": SUCCESSES,
        "forms": RENDERINGS.values(),
    }


def _shown(made: CascadeReport) -> dict[str, Any]:
    """Return what the page shows of a report."""
    return {
        "made": made,
        "plan": made.query.plan,
        "oracle": oracle_line(made),
        "tables": [_table(table) for table in made.tables],
        "failing": _failing(made),
        "reasons": [f"{reason}." for reason in reasons(made.tables)],
        "flags": [(flag, FLAGS.get(flag, flag)) for flag in flags(made.tables)],
        "chart_title": funnel_chart.TITLE,
        "chart_caption": funnel_chart.CAPTION,
        "svg": mark_safe(funnel_chart.inline_svg(made)),
    }


def _table(table: Table) -> dict[str, Any]:
    grey = [head.startswith(GREY) for head in table.heads]
    return {
        "key": table.key,
        "title": table.title,
        "heads": list(zip(table.heads, grey, strict=True)),
        "lines": [(line.name, line.is_baseline, list(map(_cell, line.cells, grey))) for line in table.lines],
        "notes": table.notes,
    }


def _failing(made: CascadeReport) -> list[tuple[str, str, list[tuple[int, str]]]]:
    """Return by row and stage some decisions that failed first there, each with its item and its probes."""
    found: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for row in made.rows:
        for one in row.decisions:
            stage = one.result.failed_at
            if stage in (FORM, *STAGES) and one.item is not None and one.is_probed:
                place = found.setdefault((row.name, stage), [])
                if len(place) < MOST_EXAMPLES:
                    kinds = ", ".join(kind for kind, _ in one.probes).replace("_", " ")
                    place.append((one.item, f"turn {one.point}, {kinds}"))
    return [(name, stage, examples) for (name, stage), examples in found.items()]


def _cell(cell: Cell, grey: bool) -> dict[str, Any]:
    """Return a cell as the template reads it: a text, a count, or a figure with its interval and n."""
    if not isinstance(cell, Result):
        return {"kind": "text" if isinstance(cell, str) else "count", "text": cell, "grey": grey}
    return {
        "kind": "figure" if cell.ok else "none",
        "text": number(cell.value) if cell.ok else cell.status,
        "interval": interval(cell) or "no interval",
        "n": cell.n_items,
        "why": cell.reason,
        "grey": grey,
    }


def _user(request: HttpRequest) -> Any:
    return request.user
