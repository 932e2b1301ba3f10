"""Batches: many calls of a run that a provider does together, within a day, for a part of the price."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q


class Batch(models.Model):
    """A batch of a run's calls at an endpoint; `share` is the part of the ordinary price that they cost.

    `key` is its own name, sent along in its metadata: a batch whose submission was interrupted is found by it
    among the provider's, and never submitted twice. It stands here before anything is sent. `posted_at` is
    when its submission was begun that nobody knows the end of; null where none was, or the provider refused
    it. `provider_id` is the provider's name for it, once that is known.

    A step of it is claimed with a lease (`worker`, `lease_expires`) and is due at `next_look`; between steps
    no worker holds it. `form` is how replies with fields are asked for. `size` counts its calls; `answered`,
    `failed` and `returned` say what they came to once it is collected. `provider_state`, `completed_there`
    and `failed_there` are what the provider said at `looked_at`. `tries` counts troubles with it in a row,
    `error` is the latest.

    `files` says what became of its files at the provider once it has ended: empty where there are none that
    Concord may delete, `there` while they are to be deleted, which is due at `next_look`; `files_note` is why
    they are there still.
    """

    class State(models.TextChoices):
        MAKING = "making", "making"
        SENDING = "sending", "sending"
        UNDER_WAY = "under_way", "under way"
        COLLECTING = "collecting", "collecting"
        UNCLEAR = "unclear", "unclear"
        COLLECTED = "collected", "collected"
        REFUSED = "refused", "refused"
        GIVEN_UP = "given_up", "given up"

    class Files(models.TextChoices):
        THERE = "there", "files to be deleted"
        DELETED = "deleted", "files deleted"
        KEPT = "kept", "files kept"
        LEFT = "left", "files not deleted"

    run = models.ForeignKey("jobs.Run", on_delete=models.CASCADE, related_name="batches")
    endpoint = models.ForeignKey("jobs.Endpoint", on_delete=models.PROTECT, related_name="batches")
    key = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    state = models.CharField(max_length=10, choices=State, default=State.MAKING)
    share = models.DecimalField(max_digits=5, decimal_places=4)
    form = models.CharField(max_length=10, blank=True)
    size = models.PositiveIntegerField(default=0)
    input_file = models.CharField(max_length=200, blank=True)
    output_file = models.CharField(max_length=200, blank=True)
    error_file = models.CharField(max_length=200, blank=True)
    files = models.CharField(max_length=10, choices=Files, blank=True, default="", db_default="")
    files_note = models.TextField(blank=True, default="", db_default="")
    provider_id = models.CharField(max_length=200, blank=True)
    provider_state = models.CharField(max_length=40, blank=True)
    completed_there = models.PositiveIntegerField(null=True)
    failed_there = models.PositiveIntegerField(null=True)
    answered = models.PositiveIntegerField(null=True)
    failed = models.PositiveIntegerField(null=True)
    returned = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    posted_at = models.DateTimeField(null=True)
    submitted_at = models.DateTimeField(null=True)
    cancel_sent_at = models.DateTimeField(null=True)
    looked_at = models.DateTimeField(null=True)
    next_look = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    tries = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    worker = models.CharField(max_length=200, blank=True)
    lease_expires = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["run"], condition=Q(state="making"), name="batch_made_singly"),
            models.UniqueConstraint(
                fields=["endpoint", "provider_id"], condition=~Q(provider_id=""), name="batch_adopted_once"
            ),
            models.CheckConstraint(
                condition=Q(
                    state__in=[
                        *("making", "sending", "under_way", "collecting", "unclear"),
                        *("collected", "refused", "given_up"),
                    ]
                ),
                name="batch_state_known",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["under_way", "collecting"]) | ~Q(provider_id=""),
                name="batch_under_way_has_id",
            ),
        ]
        indexes = [
            models.Index(
                fields=["next_look"],
                condition=Q(state__in=["making", "sending", "under_way", "collecting"]),
                name="batch_due",
            ),
        ]

    def __str__(self) -> str:
        return f"batch {self.pk} of run {self.run_id}: {self.state}"

    @property
    def is_live(self) -> bool:
        """Whether calls are still in it."""
        return self.state in LIVE

    @property
    def look_does(self) -> str:
        """What a look at it now is for, as a button says it; '' where there is nothing to look at."""
        if self.files in (Batch.Files.KEPT, Batch.Files.LEFT):
            return "Delete its files"
        return "Look now" if self.state == Batch.State.UNDER_WAY else ""

    @property
    def told(self) -> str:
        """What it is about, beyond its state, in words; '' where the state says all."""
        if self.state == Batch.State.UNDER_WAY and self.cancel_sent_at:
            return "being cancelled; what was answered is collected, and is paid for"
        if self.state == Batch.State.SENDING and self.posted_at:
            return "it is looked for among the provider's, as its submission was interrupted"
        return ""


LIVE = (
    Batch.State.MAKING,
    Batch.State.SENDING,
    Batch.State.UNDER_WAY,
    Batch.State.COLLECTING,
    Batch.State.UNCLEAR,
)
"""Batches that hold calls."""
UNCLEAR = "What became of batch"
"""How the reason begins for which a run pauses that has an unclear one."""
