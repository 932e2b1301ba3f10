"""One loader for each object, used by pages and API alike: what an address names, or 404. For researchers."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404

from calibration.exports import kept
from calibration.models import Export, Gold, Report, Study
from jobs.models import Job


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
