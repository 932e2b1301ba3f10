"""What the parameters of an address name: a place, a part, an earlier report."""

from __future__ import annotations

from django.http import HttpRequest

from annotation import access as loading
from annotation.models import Campaign, Corpus
from calibration import access
from calibration.models import Report, Study
from calibration.studies import actions as studies
from config.files import row_id

WHOSE = "Whose labels? A campaign’s are those that its people gave; a corpus’s are all of them."


def asked_report(study: Study, request: HttpRequest) -> Report | None:
    """Return the earlier report that a request names, None where it names none."""
    number = row_id(request.GET.get("snapshot", ""))
    return None if number is None else access.snapshot(study, number)


def part_of(request: HttpRequest, study: Study) -> str | None:
    """Return the part of the split that a request asks for; None for a test part that was not yet shown."""
    if request.GET.get("part") != "test":
        return studies.default_part(study)
    return "test" if studies.latest(study, "test") else None


def place_of(request: HttpRequest) -> tuple[Corpus | None, Campaign | None]:
    """Return the corpus and campaign that a request's parameters name."""
    campaign, corpus = row_id(request.GET.get("campaign", "")), row_id(request.GET.get("corpus", ""))
    if campaign is not None:
        found = loading.campaign(campaign)
        return found.corpus, found
    if corpus is not None:
        return loading.corpus(corpus), None
    return None, None
