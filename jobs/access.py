"""Object loaders for pages and the API: the object that a URL names, or 404.

The role that a URL requires is set on its view, by decorator or permission class.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404

from config.permissions import is_administrator
from jobs.endpoints import ownership
from jobs.models import Batch, Delivery, Endpoint, Job, ModelPrice, Run, Webhook


def job(pk: int) -> Job:
    """Return a job. Researchers may see every job."""
    return get_object_or_404(Job, pk=pk)


def run(pk: int) -> Run:
    """Return a run with the related objects that its page shows. Researchers may see every run."""
    related = ("rater", "corpus", "campaign", "endpoint", "created_by", "scheme_version__scheme")
    return get_object_or_404(Run.objects.select_related(*related), pk=pk)


def batch(pk: int) -> Batch:
    """Return a batch with its run. Researchers may see every batch."""
    return get_object_or_404(Batch.objects.select_related("run"), pk=pk)


def endpoint(viewer: User, pk: int) -> Endpoint:
    """Return an endpoint that the viewer may see: the installation's, their own, a shared one; or any for
    administrators.
    """
    return get_object_or_404(ownership.visible_to(viewer), pk=pk)


def changeable_endpoint(viewer: User, pk: int) -> Endpoint:
    """Return an endpoint that the viewer may change; raise PermissionDenied for one that they only see."""
    row = endpoint(viewer, pk)
    if not ownership.may_change(viewer, row):
        raise PermissionDenied
    return row


def model_price(pk: int) -> ModelPrice:
    """Return a row of the table of prices. Researchers may see it, administrators change it."""
    return get_object_or_404(ModelPrice, pk=pk)


def webhook(viewer: User, pk: int) -> Webhook:
    """Return a webhook with its campaign. Researchers may see webhooks of campaigns, administrators all
    webhooks.
    """
    webhooks = Webhook.objects.select_related("campaign", "created_by")
    if not is_administrator(viewer):
        webhooks = webhooks.filter(campaign__isnull=False)
    return get_object_or_404(webhooks, pk=pk)


def delivery(viewer: User, pk: int) -> Delivery:
    """Return a delivery of a webhook that the viewer may see."""
    row = get_object_or_404(Delivery.objects.select_related("event"), pk=pk)
    row.webhook = webhook(viewer, row.webhook_id)
    return row
