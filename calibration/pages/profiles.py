"""The profile of a corpus: what metrics say of each system, and of one continuation. Researchers only."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET

from annotation import access
from annotation.models import Continuation
from calibration.profiles import causes, distribution, summary
from calibration.profiles.contexts import contexts
from calibration.profiles.job import profile_or_job, spread_of
from calibration.profiles.points import ALL, SAME
from config.files import row_id
from config.permissions import researcher_only
from jobs.models import Job

TITLE = "What metrics say of each system"
FILES = {
    "csv": (summary.as_csv, "text/csv; charset=utf-8"),
    "tex": (summary.as_latex, "text/plain; charset=utf-8"),
}


@require_GET
@researcher_only
def profile(request: HttpRequest, pk: int) -> HttpResponse:
    """Systems as rows, metrics as columns, in their aspects; of a large corpus as they were last computed."""
    corpus = access.corpus(pk)
    points = _points(request)
    found = profile_or_job(corpus=corpus, by=_user(request), points=points, again="again" in request.GET)
    if "again" in request.GET:
        return redirect(f"{reverse('profile', args=[corpus.pk])}?points={points}")
    context: dict[str, Any] = {"corpus": corpus, "active_room": "corpora", "points": points}
    if isinstance(found, Job):
        return render(request, "calibration/figures_progress.html", context | {"job": found, "title": TITLE})
    columns = {column.id: column.name for panel in found.panels for column in panel.columns}
    context |= {
        "panels": found.panels,
        "doubts": [(columns[rater], doubt) for rater, doubt in found.doubts.items()],
        "learned": [(columns[rater], n) for rater, n in found.learned.items()],
        "examples": found.examples.select_related("dialogue", "system"),
        "kept": found.kept,
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
    points = _points(request)
    found = profile_or_job(corpus=corpus, by=_user(request), points=points)
    if isinstance(found, Job):
        return redirect("profile", corpus.pk)
    return _download(write(found.panels), media_type, f"profile-{corpus.pk}{_named(points)}.{form}")


@require_GET
@researcher_only
def profile_chart(request: HttpRequest, pk: int, metric: int, form: str) -> HttpResponse:
    """How one metric's values are spread: as a part of the page, or as an SVG file."""
    corpus = access.corpus(pk)
    column = summary.column(corpus, metric)
    if column is None or form not in ("part", "svg"):
        raise Http404
    points = _points(request)
    values = spread_of(corpus=corpus, column=column, by=_user(request), points=points)
    if form == "svg":
        name = f"profile-{corpus.pk}-{column.metric.key}{_named(points)}.svg"
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


def _points(request: HttpRequest) -> str:
    """Return which points an address asks for: those that rows share unless it names all."""
    return ALL if request.GET.get("points") == ALL else SAME


def _named(points: str) -> str:
    return "-all-points" if points == ALL else ""


def _user(request: HttpRequest) -> Any:
    return request.user


def _download(text: str, media_type: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type=media_type, headers=headers)
