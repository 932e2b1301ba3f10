"""The tables of background work, one file per subject."""

from jobs.models.endpoint import Endpoint, ModelPrice, Pace, Share
from jobs.models.job import Job, Worker
from jobs.models.run import Batch, Call, CallCount, OpenRequest, Run
from jobs.models.webhook import Delivery, Webhook, WebhookEvent

__all__ = [
    "Batch",
    "Call",
    "CallCount",
    "Delivery",
    "Endpoint",
    "Job",
    "ModelPrice",
    "OpenRequest",
    "Pace",
    "Run",
    "Share",
    "Webhook",
    "WebhookEvent",
    "Worker",
]
