"""The profile of a corpus: what metrics say of each system, and of one continuation. Researchers only."""

from __future__ import annotations

from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET

from annotation import access
from annotation.models import Continuation, Label
from calibration.profiles import causes, distribution, summary, tables
from calibration.profiles.contexts import contexts
from config.ids import row_id
from config.permissions import researcher_only
from judges.rating.doubts import doubtful_values, fitted_on_themselves

FILES = {
    "csv": (tables.as_csv, "text/csv; charset=utf-8"),
    "tex": (tables.as_latex, "text/plain; charset=utf-8"),
}


@require_GET
@researcher_only
def profile(request: HttpRequest, pk: int) -> HttpResponse:
    """Systems as rows, metrics as columns, in their aspects."""
    corpus = access.corpus(pk)
    scored = Label.objects.filter(item__continuation=OuterRef("pk"), rater__kind="metric")
    examples = Continuation.objects.filter(Exists(scored), dialogue__corpus=corpus)
    panels = summary.profile(corpus)
    columns = {column.id: column.name for panel in panels for column in panel.columns}
    doubts = doubtful_values(corpus, columns)
    learned = fitted_on_themselves(corpus, columns)
    context = {
        "corpus": corpus,
        "active_room": "corpora",
        "panels": panels,
        "doubts": [(columns[rater], doubt) for rater, doubt in doubts.items()],
        "learned": [(columns[rater], n) for rater, n in learned.items()],
        "examples": examples.select_related("dialogue", "system").order_by("pk")[:30],
    }
    return render(request, "calibration/profile.html", context)


@require_GET
@researcher_only
def profile_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """The profile as CSV or LaTeX."""
    corpus = access.corpus(pk)
    if form not in FILES:
        raise Http404
    write, media_type = FILES[form]
    return _download(write(summary.profile(corpus)), media_type, f"profile-{corpus.pk}.{form}")


@require_GET
@researcher_only
def profile_chart(request: HttpRequest, pk: int, metric: int, form: str) -> HttpResponse:
    """How one metric's values are spread: as a part of the page, or as an SVG file."""
    corpus = access.corpus(pk)
    column = summary.column(corpus, metric)
    if column is None or form not in ("part", "svg"):
        raise Http404
    values = distribution.distribution(corpus, column)
    if form == "svg":
        name = f"profile-{corpus.pk}-{column.metric.key}.svg"
        return _download(distribution.svg(values, column), "image/svg+xml", name)
    drawn = mark_safe(distribution.inline_svg(values, column))
    return render(request, "calibration/_profile_chart.html", {"svg": drawn})


@require_GET
@researcher_only
def profile_continuation(request: HttpRequest, pk: int) -> HttpResponse:
    """One continuation's values with the turns that caused them; of one metric where one is chosen."""
    continuation = access.continuation(pk)
    lines, values = causes.values(continuation)
    first = {value.rater: value.metric for value in reversed(values)}  # of several, its own question's
    metrics = dict(sorted(first.items(), key=lambda pair: pair[1]))
    asked = request.GET.get("metric", "")
    chosen = number if (number := row_id(asked)) in metrics else None
    shown = [value for value in values if chosen in (None, value.rater)]
    beside = _beside(continuation, chosen)
    history = sum(line.history for line in lines)
    by_turn = [
        (line, [value for value in shown if value.place == line.place], beside.get(line.place - 1 - history))
        for line in lines
    ]
    context = {
        "continuation": continuation,
        "corpus": continuation.dialogue.corpus,
        "siblings": continuation.dialogue.continuations.select_related("system").order_by("pk"),
        "metrics": metrics,
        "chosen": chosen,
        "active_room": "corpora",
        "turns": by_turn,
        "compared": next(iter(beside.values()), ""),
        "whole": [value for value in shown if value.place is None],
    }
    return render(request, "calibration/profile_continuation.html", context)


def _beside(continuation: Continuation, metric: int | None) -> dict[int, str]:
    """Return by the index of a turn how the page Compare is asked for its context, where others share it."""
    told: dict[str, str | int] = {"continuation": continuation.key}
    if metric:
        told["metric"] = metric
    return {
        answer.position: urlencode({"at": context.at, **told})
        for context in contexts(continuation.dialogue)
        for answer in context.answers
        if answer.continuation == continuation
    }


def _download(text: str, media_type: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type=media_type, headers=headers)
