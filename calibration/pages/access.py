"""The loaders of calibration's pages: what a researcher asked for, or 404."""

from __future__ import annotations

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from annotation.models import Campaign, Corpus
from calibration.models import Gold, Report, Study
from calibration.studies import actions as studies
from config.ids import row_id

WHOSE = "Whose labels? A campaign’s are those that its people gave; a corpus’s are all of them."


def study_of(pk: int) -> Study:
    """Return a study with its corpus and campaign."""
    return get_object_or_404(Study.objects.select_related("corpus", "campaign__corpus"), pk=pk)


def snapshot_of(study: Study, request: HttpRequest) -> Report | None:
    """Return the earlier report that a request names, None where it names none."""
    number = row_id(request.GET.get("snapshot", ""))
    return None if number is None else get_object_or_404(study.reports, pk=number)


def part_of(request: HttpRequest, study: Study) -> str | None:
    """Return the part of the split that a request asks for; None for a test part that was not yet shown."""
    if request.GET.get("part") != "test":
        return studies.default_part(study)
    return "test" if studies.latest(study, "test") else None


def gold_of(pk: int) -> Gold:
    """Return a gold derivation with what it is about."""
    related = ("corpus", "campaign", "scheme_version__scheme", "created_by")
    return get_object_or_404(Gold.objects.select_related(*related), pk=pk)


def place_of(request: HttpRequest) -> tuple[Corpus | None, Campaign | None]:
    """Return the corpus and campaign that a request's parameters name."""
    campaign, corpus = row_id(request.GET.get("campaign", "")), row_id(request.GET.get("corpus", ""))
    if campaign is not None:
        found = get_object_or_404(Campaign.objects.select_related("corpus"), pk=campaign)
        return found.corpus, found
    if corpus is not None:
        return get_object_or_404(Corpus, pk=corpus), None
    return None, None
