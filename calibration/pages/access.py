"""The loaders of calibration's pages: what a researcher asked for, or 404."""

from __future__ import annotations

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from annotation.models import Campaign, Corpus
from calibration import studies
from calibration.models import Gold, Report, Study

WHOSE = "Whose labels? A campaign’s are those that its people gave; a corpus’s are all of them."


def study_of(pk: int) -> Study:
    """Return a study with its corpus and campaign."""
    return get_object_or_404(Study.objects.select_related("corpus", "campaign__corpus"), pk=pk)


def snapshot_of(study: Study, request: HttpRequest) -> Report | None:
    """Return the earlier report that a request names, None where it names none."""
    number = request.GET.get("snapshot", "")
    if not number.isascii() or not number.isdigit():
        return None
    return get_object_or_404(study.reports, pk=int(number))


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
    campaign, corpus = request.GET.get("campaign", ""), request.GET.get("corpus", "")
    if campaign.isascii() and campaign.isdigit():
        found = get_object_or_404(Campaign.objects.select_related("corpus"), pk=int(campaign))
        return found.corpus, found
    if corpus.isascii() and corpus.isdigit():
        return get_object_or_404(Corpus, pk=int(corpus)), None
    return None, None
