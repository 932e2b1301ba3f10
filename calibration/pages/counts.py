"""Counts and scores by system and condition: the table, its chart, its files. Researchers only."""

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
from calibration.counts import charts as count_charts
from calibration.counts import choices, wording
from calibration.counts.computing import Counts
from calibration.counts.computing import facts as count_facts
from calibration.counts.computing import open_test as open_test_counts
from calibration.counts.job import counts_or_job
from calibration.counts.query import PEOPLE, SYSTEM, CountsQuery
from calibration.counts.query import read as read_counts_query
from calibration.counts.renderings import RENDERINGS as COUNT_FORMS
from calibration.counts.renderings.common import Kind, distances, kinds, rows_of
from calibration.errors import CalibrationError
from calibration.reading.census import Census, census
from calibration.reading.scope import scope_of
from calibration.statistics.judge_errors import CORRECTIONS
from config.files import row_id
from config.permissions import researcher_only
from jobs.models import Job

TITLE = "Behaviour counts"
CORRECTION_NAMES = {
    "auto": "yes, what people rated was drawn at random",
    "rogan_gladen": "yes, it was not drawn at random",
    "none": "no",
}
SINGLE = (
    "rater",
    "beside",
    "questions",
    "strata",
    "per_turns",
    "samples",
    "correction",
    "part",
    "resamples",
    "seed",
    "campaign",
)


@require_GET
@researcher_only
def counts(request: HttpRequest, pk: int) -> HttpResponse:
    """The table of what the form asks for, or why there is none."""
    corpus = access.corpus(pk)
    campaign = _campaign(request, corpus)
    given = _given(request)
    counted = census(scope_of(corpus, campaign, given.get("part", "")))
    context = _form(corpus, campaign, given, counted) | {"split": splits.lock_of(corpus)}
    status = 200
    if context["raters"]:
        try:
            found = _found(request, corpus, campaign, given)
            if "again" in request.GET:
                asked = request.GET.copy()
                del asked["again"]
                return redirect(f"{reverse('counts', args=[corpus.pk])}?{asked.urlencode()}")
            if isinstance(found, Job):
                page = {"corpus": corpus, "active_room": "corpora", "job": found, "title": TITLE}
                return render(request, "calibration/figures_progress.html", page)
            context |= found
        except CalibrationError as refused:
            context["refused"] = str(refused)
            status = 422 if given else 200
    return render(request, "calibration/counts.html", context, status=status)


@require_GET
@researcher_only
def counts_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """The table as CSV, Markdown, LaTeX or JSON, its chart as SVG or PNG."""
    corpus = access.corpus(pk)
    rendering = COUNT_FORMS.get(form)
    if rendering is None:
        raise Http404
    try:
        query = read_counts_query(_given(request), corpus, _campaign(request, corpus))
        made = counts_or_job(query=query, by=_user(request))
    except CalibrationError as refused:
        return HttpResponse(f"{refused}\n", status=422, content_type="text/plain; charset=utf-8")
    if isinstance(made, Job):
        return redirect(f"{reverse('counts', args=[corpus.pk])}?{request.GET.urlencode()}")
    response = HttpResponse(rendering.write(made), content_type=rendering.media_type)
    response["Content-Disposition"] = f'attachment; filename="counts-{corpus.pk}.{rendering.suffix}"'
    return response


@require_POST
@researcher_only
def counts_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Log a look at test with its purpose, and show the counts of the test part."""
    corpus = access.corpus(pk)
    purpose = request.POST.get("purpose", "").replace("\0", "")[:500]
    query = request.GET.copy()
    query.pop("part", None)
    try:
        open_test_counts(
            query=CountsQuery(corpus, rater=_given(request).get("rater", "")),
            by=_user(request),
            purpose=purpose,
        )
        query["part"] = "test"
    except CalibrationError as refused:
        messages.error(request, f"Test was not opened: {refused}.")
    return redirect(f"{reverse('counts', args=[corpus.pk])}?{query.urlencode()}")


def _given(request: HttpRequest) -> dict[str, str]:
    """Return what the address asks for; keys may be given several times, or by commas."""
    given = {name: request.GET[name].replace("\0", "") for name in SINGLE if request.GET.get(name)}
    if by := ",".join(key.replace("\0", "") for key in request.GET.getlist("by") if key):
        given["by"] = by
    return given


def _campaign(request: HttpRequest, corpus: Corpus) -> Campaign | None:
    number = row_id(request.GET.get("campaign", ""))
    if number is None:
        return None
    campaign = access.campaign(number)
    if campaign.corpus_id != corpus.pk:
        raise Http404
    return campaign


def _form(
    corpus: Corpus, campaign: Campaign | None, given: dict[str, str], counted: Census
) -> dict[str, Any]:
    """Return what the form offers and what is chosen."""
    by = given.get("by", SYSTEM).split(",")
    raters = choices.raters(counted)
    return {
        "corpus": corpus,
        "campaign": campaign,
        "active_room": "corpora",
        "given": given,
        "people": PEOPLE,
        "raters": raters,
        "rater": given.get("rater") or (choices.by_default(counted) if raters else ""),
        "sets": list(choices.sets(counted).items()),
        "keys": [(key, key in by) for key in choices.condition_keys(corpus)],
        "metadata": choices.metadata_keys(corpus),
        "corrections": [(key, CORRECTION_NAMES[key]) for key in CORRECTIONS],
        "forms": COUNT_FORMS.values(),
    }


def _shown(made: Counts) -> dict[str, Any]:
    """Return what the page shows of a table."""
    tables = [
        {
            "title": kind.title,
            "bodies": _bodies(made, kind),
            "first": at == 0,
        }
        for at, kind in enumerate(kinds(made))
    ]
    return {
        "made": made,
        "facts": count_facts(made),
        "tables": tables,
        "heads": [made.titles[column.key] for column in made.columns],
        "distances": distances(made),
        "distance_names": list(wording.DISTANCES.values()),
        "missing": [
            (wording.row_name(made, row), made.titles[cell.column.key], wording.bounds(cell))
            for row in made.table.rows
            for cell in row.cells
            if wording.bounds(cell)
        ],
        "flags": wording.flags(made),
        "chart_title": count_charts.title(made),
        "chart_caption": count_charts.caption(made),
        "svg": mark_safe(count_charts.inline_svg(made)),
    }


def _found(
    request: HttpRequest, corpus: Corpus, campaign: Campaign | None, given: dict[str, str]
) -> dict[str, Any] | Job:
    """Return what the page shows of the tables, or the job that computes one of them.

    Beside them are those of a second rater with the same rows: scores can be equal where counts differ.
    """
    again = "again" in request.GET
    made = counts_or_job(query=read_counts_query(given, corpus, campaign), by=_user(request), again=again)
    beside: Counts | Job | None = None
    if "beside" in given:
        other = {key: text for key, text in given.items() if key not in ("questions", "samples")}
        query = read_counts_query(other | {"rater": given["beside"]}, corpus, campaign)
        beside = counts_or_job(query=query, by=_user(request), again=again)
    if isinstance(made, Job):
        return made
    if isinstance(beside, Job):
        return beside
    return _shown(made) | ({"beside": _shown(beside)} if beside else {})


def _bodies(made: Counts, kind: Kind) -> list[list[Any]]:
    """Return the rows of a table in its parts: people's, and the others."""
    rows = [
        (row, wording.row_name(made, row), [(kind.of(cell), kind.more(cell), cell) for cell in row.cells])
        for row in rows_of(made, kind)
    ]
    parts = [[line for line in rows if line[0].human], [line for line in rows if not line[0].human]]
    return [part for part in parts if part]


def _user(request: HttpRequest) -> Any:
    return request.user
