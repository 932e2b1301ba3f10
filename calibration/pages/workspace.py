"""Pages of a corpus that gather what every part has of it: overview, annotation, judges, results, gold."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Max, Q, Value
from django.db.models.functions import Coalesce, NullIf
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation import access
from annotation.campaigns import progress as campaign_progress
from annotation.campaigns.bulk_acts import CAMPAIGN_ACTS, ONLY_ARCHIVED, ONLY_CURRENT
from annotation.models.schemes import VERSION_TITLE
from calibration.adjudication import rounds as reading
from calibration.gold.derivation import described
from calibration.overview import overview as overview_of
from calibration.pages.golds import GOLDS
from config.listing import Column, Listing, natural
from config.permissions import researcher_only
from jobs import runs
from jobs.bulk_acts import RUN_ACTS
from jobs.models.run import Call
from judges.drafts import DRAFT

CAMPAIGNS = Listing(
    Column("Select", is_hidden=True),
    Column("Campaign", natural("name")),
    Column("State", "state"),
    Column("Asks", VERSION_TITLE),
    Column("Annotators", "people", is_numeric=True),
    Column("Ratings"),
    search=("name",),
)
RUN_TITLE = Coalesce(NullIf("rater__short_name", Value("")), "rater__name", "title")
RUNS = Listing(
    Column("Select", is_hidden=True),
    Column("Run", natural(RUN_TITLE)),
    Column("State", "state"),
    Column("Progress"),
    Column("Failed", is_numeric=True),
    Column("Begun", "created_at", is_numeric=True),
    search=("rater__name", "rater__short_name", "title", "campaign__name"),
)
STUDIES = Listing(
    Column("Study", natural("name")),
    Column("Labels of", "campaign__name"),
    Column("Reports", "n_reports", is_numeric=True),
    Column("Last computed", "last"),
    Column("By", "created_by__username"),
    search=("name", "campaign__name"),
)


@require_GET
@researcher_only
def overview(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: how far a corpus has come, and what to do next."""
    corpus = access.corpus_named(name)
    context = {
        "corpus": corpus,
        "overview": overview_of(corpus),
        "latest": corpus.imports.order_by("-pk").first(),
    }
    return render(request, "corpora/overview.html", context)


@require_GET
@researcher_only
def annotation(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: the campaigns of a corpus, latest first, and its rounds of adjudication. `?archived=1`."""
    corpus, archived = access.corpus_named(name), request.GET.get("archived") == "1"
    campaigns = (
        corpus.campaigns.filter(archived_at__isnull=not archived)
        .select_related("scheme_version__scheme")
        .annotate(people=Count("members", distinct=True))
        .order_by("-pk")
    )
    page = CAMPAIGNS.page(request, campaigns)
    context = {
        "corpus": corpus,
        "page": page,
        "rows": [(campaign, campaign_progress.counts(campaign)) for campaign in page],
        "lacking": campaign_progress.lacking(list(page)),
        "archived": archived,
        "acts": CAMPAIGN_ACTS.without(*(ONLY_CURRENT if archived else ONLY_ARCHIVED)),
        "n_archived": corpus.campaigns.filter(archived_at__isnull=False).count(),
        "rounds": reading.rounds().filter(corpus=corpus),
    }
    return render(request, "corpora/annotation.html", context)


@require_GET
@researcher_only
def judges(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: the runs of judges and metrics over a corpus, latest first, and its benches."""
    corpus = access.corpus_named(name)
    rows = corpus.runs.exclude(kind=DRAFT).select_related("rater", "campaign").order_by("-pk")
    page = RUNS.page(request, rows)
    states = runs.by_state(page)
    tried = Count("drafts", filter=Q(drafts__targets__gt=0, drafts__of=None))
    context = {
        "corpus": corpus,
        "page": page,
        "rows": [(run, *_calls(states.get(run.pk, {}))) for run in page],
        "acts": RUN_ACTS.acts,
        "run_sets": corpus.run_sets.select_related("campaign").annotate(n_runs=Count("members")),
        "benches": corpus.benches.select_related("campaign").annotate(tried=tried).order_by("-pk"),
    }
    return render(request, "corpora/judges.html", context)


def _calls(states: dict[str, int]) -> tuple[int, int, int]:
    """Return the numbers of a run's calls that are done, failed, and all."""
    return states.get(Call.State.DONE, 0), states.get(Call.State.FAILED, 0), sum(states.values())


@require_GET
@researcher_only
def results(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: the studies of a corpus with their reports, those of people first, and other results."""
    corpus = access.corpus_named(name)
    studies = (
        corpus.studies.select_related("campaign", "created_by")
        .annotate(n_reports=Count("reports"), last=Max("reports__created_at"))
        .order_by("automatic", "-pk")
    )
    page = STUDIES.page(request, studies)
    campaigns = corpus.campaigns.filter(archived_at=None).order_by("name")
    return render(request, "corpora/results.html", {"corpus": corpus, "page": page, "campaigns": campaigns})


@require_GET
@researcher_only
def gold(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: the gold labels of a corpus, newest first, and what can be exported."""
    corpus = access.corpus_named(name)
    golds = corpus.golds.select_related("corpus", "campaign", "scheme_version__scheme", "created_by")
    page = GOLDS.page(request, golds.order_by("-pk"))
    context: dict[str, Any] = {"corpus": corpus, "page": page, "shown": [described(row) for row in page]}
    return render(request, "corpora/gold.html", context)
