"""One loader for each object, used by pages and API alike: what an address names, or 404. For researchers."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404

from calibration.exports import kept
from calibration.models import Export, ForAdjudication, Gold, Report, Search, SearchText, Study
from config.ids import row_id
from jobs.models import Job
from judges.models import Bench, Draft


def study(pk: int) -> Study:
    """Return a study with its corpus and campaign. Researchers see every study."""
    return get_object_or_404(Study.objects.select_related("corpus", "campaign__corpus"), pk=pk)


def snapshot(study: Study, pk: int) -> Report:
    """Return an earlier report of a study."""
    return get_object_or_404(study.reports, pk=pk)


def gold(pk: int) -> Gold:
    """Return a gold derivation with what it is about. Researchers see every derivation."""
    related = ("corpus", "campaign__corpus", "scheme_version__scheme", "created_by")
    return get_object_or_404(Gold.objects.select_related(*related), pk=pk)


def export(pk: int) -> Export:
    """Return what was downloaded, with what it is about. Researchers see every export."""
    return get_object_or_404(Export.objects.select_related("corpus", "campaign"), pk=pk)


def export_job_of(pk: int, user: User) -> Job:
    """Return the job that writes a large download, for whoever asked for it alone."""
    return get_object_or_404(Job, pk=pk, kind=kept.KIND, created_by=user)


def bench(pk: int) -> Bench:
    """Return a bench of the workbench with what it is about. Researchers see every bench."""
    related = ("corpus", "campaign__scheme_version__scheme", "split", "scheme_version__scheme")
    return get_object_or_404(Bench.objects.select_related(*related), pk=pk)


def draft(bench: Bench, number: int) -> Draft:
    """Return a draft of a bench by its number."""
    related = ("bench__corpus", "bench__campaign", "bench__split", "rater", "kept_rater", "text", "endpoint")
    return get_object_or_404(Draft.objects.select_related(*related), bench=bench, number=number)


def for_adjudication(pk: int) -> ForAdjudication:
    """Return what waits, or waited, for adjudication."""
    return get_object_or_404(ForAdjudication, pk=pk)


def search(bench: Bench, pk: int) -> Search:
    """Return a search of a bench."""
    related = ("bench__corpus", "bench__split", "prompt", "text", "endpoint", "improver", "rater")
    return get_object_or_404(Search.objects.select_related(*related), bench=bench, pk=pk)


def search_text(search: Search, number: str) -> SearchText:
    """Return a text of a search by its number as an address or a form names it."""
    rows = search.texts.select_related("version__prompt")
    return get_object_or_404(rows, number=row_id(number) or 0)
