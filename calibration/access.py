"""One loader for each object, used by pages and API alike: what an address names, or 404. For researchers."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.http import Http404
from django.shortcuts import get_object_or_404

from calibration.adjudication.actions import may_decide
from calibration.exports import kept
from calibration.models import (
    AdjudicationCase,
    AdjudicationDecision,
    AdjudicationRound,
    Export,
    ForAdjudication,
    Gold,
    Report,
    Search,
    SearchText,
    Study,
)
from config.files import row_id
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


def adjudication_round(pk: int) -> AdjudicationRound:
    """Return a round of adjudication with what it is about. Researchers see every round."""
    related = ("corpus", "campaign__corpus", "scheme_version__scheme", "created_by")
    return get_object_or_404(AdjudicationRound.objects.select_related(*related), pk=pk)


def own_round(viewer: User, pk: int) -> AdjudicationRound:
    """Return a round in which the viewer may decide; 404 for everybody else."""
    found = AdjudicationRound.objects.select_related(
        "corpus", "campaign__corpus", "scheme_version__scheme"
    ).filter(pk=pk)
    if not found or not may_decide(viewer, found[0]):
        raise Http404
    return found[0]


def adjudication_case(found: AdjudicationRound, pk: int) -> AdjudicationCase:
    """Return a case of a round, with its item and question."""
    related = ("item__turn", "item__continuation__dialogue__corpus", "item__continuation__system")
    rows = found.cases.select_related(*related, "question__version__scheme", "draw")
    return get_object_or_404(rows, pk=pk)


def adjudication_decision(pk: int) -> AdjudicationDecision:
    """Return somebody's decision on a case. Researchers see everybody's."""
    related = ("round__corpus", "round__campaign", "label", "adjudicator", "case")
    return get_object_or_404(AdjudicationDecision.objects.select_related(*related), pk=pk)


def search(bench: Bench, pk: int) -> Search:
    """Return a search of a bench."""
    related = ("bench__corpus", "bench__split", "prompt", "text", "endpoint", "improver", "rater")
    return get_object_or_404(Search.objects.select_related(*related), bench=bench, pk=pk)


def search_text(search: Search, number: str) -> SearchText:
    """Return a text of a search by its number as an address or a form names it."""
    rows = search.texts.select_related("version__prompt")
    return get_object_or_404(rows, number=row_id(number) or 0)
