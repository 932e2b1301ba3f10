"""One loader for each object, used by pages and API alike: what an address names, or 404.

Which role an address is for says its view, by decorator or permission class.
"""

from __future__ import annotations

from django.shortcuts import get_object_or_404

from jobs.models import Batch, Endpoint, Job, Run


def job(pk: int) -> Job:
    """Return a job. Researchers see every job."""
    return get_object_or_404(Job, pk=pk)


def run(pk: int) -> Run:
    """Return a run with all that its page names. Researchers see every run."""
    related = ("rater", "corpus", "campaign", "endpoint", "created_by", "scheme_version__scheme")
    return get_object_or_404(Run.objects.select_related(*related), pk=pk)


def batch(pk: int) -> Batch:
    """Return a batch with its run. Researchers see every batch."""
    return get_object_or_404(Batch.objects.select_related("run"), pk=pk)


def endpoint(pk: int) -> Endpoint:
    """Return an endpoint. Administrators see every endpoint."""
    return get_object_or_404(Endpoint, pk=pk)
