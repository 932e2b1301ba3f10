"""Runs of judges and metrics, and the calls they consist of."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q, Value

from jobs.endpoints.parameters import FORMS, TEXT

# Batches: many calls of a run that a provider does together, within a day, for a part of the price.


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


# How many calls of a run are in which state and what they took, kept by triggers.


class CallCount(models.Model):
    """A part of what the calls of a run in one state and of one error kind come to; the sum over such rows
    is exact.

    Whatever inserts, changes or deletes calls adds a row with its difference in the same transaction
    (triggers on `jobs_call`); `compact_call_counts` puts rows together now and then. `troubled` counts
    calls that failed or have an error noted, `flagged` those with flags, `costed` and `timed` those with a
    cost and a latency, `asked` sums the completions that were paid for, `sent` the requests, `lost` those
    whose reply was lost with a worker, `cached` counts
    the calls that were answered from the cache and `saved` what that saved. The database deletes a row with
    its run.
    """

    run = models.ForeignKey("jobs.Run", on_delete=models.DO_NOTHING, related_name="+", db_constraint=False)
    state = models.CharField(max_length=10)
    error_kind = models.CharField(max_length=20, default="")
    n = models.BigIntegerField()
    flagged = models.BigIntegerField()
    troubled = models.BigIntegerField()
    tokens_in = models.BigIntegerField()
    tokens_out = models.BigIntegerField()
    costed = models.BigIntegerField()
    cost = models.DecimalField(max_digits=20, decimal_places=8)
    timed = models.BigIntegerField()
    latency_ms = models.BigIntegerField()
    asked = models.BigIntegerField(default=0)
    sent = models.BigIntegerField(default=0, db_default=0)
    lost = models.BigIntegerField(default=0, db_default=0)
    cached = models.BigIntegerField(default=0)
    saved = models.DecimalField(max_digits=20, decimal_places=8, default=0)

    def __str__(self) -> str:
        return f"{self.n} calls of run {self.run_id}: {self.state}"


TROUBLED = Q(state="failed") | ~Q(error="")
"""Calls that failed, or succeeded only after an error."""
FLAGGED = ~Q(flags=[])
REUSABLE = Q(state="done", cached=False) & ~Q(request_hash="")
"""Calls whose reply another call with the same request may take."""


class Run(models.Model):
    """One execution of a judge or metric (its rater) over items of a corpus or campaign, or of what writes.

    A run of what writes has no rater: it has a `title`, and `spec` says who writes, as a rater's does. `kind`
    names an entry of `jobs.kinds.RUN_KINDS`; `queue` says which worker does it: `calls` (waits on a network)
    or `metrics` (computes). `scope` is the selection, `scope_hash` its hash: the same rater over the same
    scope, asked at the same endpoint, is the same run, and resumes; a run never changes its endpoint.
    `questions` maps what the rater answers to question ids, fixed at the start. `reused` counts the calls of
    the scope that other runs of the rater had finished before. `error` says why a run failed as a whole. One
    that is paused says why (`pause_reason`), and who paused it where somebody did; `at_cap` says that it
    waits for a cap to be raised. `unserved_since` is since when no worker has the key that it needs. The caps
    limit what its own calls may take: requests sent, tokens read and written, money in the endpoint's
    currency; null for no limit. `use_cache` lets a call take the reply that an equal request of another run
    got. `mode` says whether its calls are asked one by one, at once, or in batches of the provider (`Batch`),
    which is no part of who the rater is. Once it has ended, `values` and `missing` count the answers of its
    calls (null before), and `missing_reason` is the commonest reason of those without a value. Where calls
    follow from the replies to others, `expected` says how many there will be in all, and `values` and
    `missing` count what was written and what failed.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"
        PAUSED = "paused"

    class Mode(models.TextChoices):
        AT_ONCE = "at_once", "at once"
        BATCH = "batch", "in batches"

    class Queue(models.TextChoices):
        CALLS = "calls"
        METRICS = "metrics"

    rater = models.ForeignKey("annotation.Rater", null=True, on_delete=models.PROTECT, related_name="runs")
    title = models.CharField(max_length=200, blank=True, default="", db_default="")
    spec = models.JSONField(default=dict, db_default=Value({}, models.JSONField()))
    corpus = models.ForeignKey("annotation.Corpus", on_delete=models.CASCADE, related_name="runs")
    campaign = models.ForeignKey(
        "annotation.Campaign", null=True, on_delete=models.SET_NULL, related_name="runs"
    )
    endpoint = models.ForeignKey("jobs.Endpoint", null=True, on_delete=models.PROTECT)
    scheme_version = models.ForeignKey("annotation.SchemeVersion", null=True, on_delete=models.PROTECT)
    kind = models.CharField(max_length=10)
    queue = models.CharField(max_length=10, choices=Queue)
    scope = models.JSONField(default=dict)
    scope_hash = models.CharField(max_length=64)
    questions = models.JSONField(default=dict)
    samples = models.PositiveIntegerField(default=1)
    reused = models.PositiveIntegerField(default=0)
    expected = models.PositiveIntegerField(null=True)
    max_attempts = models.PositiveIntegerField(default=6)
    reasks = models.PositiveIntegerField(default=1)
    use_cache = models.BooleanField(default=True)
    mode = models.CharField(max_length=10, choices=Mode, default=Mode.AT_ONCE, db_default=Mode.AT_ONCE)
    cap_calls = models.PositiveBigIntegerField(null=True)
    cap_tokens = models.PositiveBigIntegerField(null=True)
    cap_cost = models.DecimalField(max_digits=14, decimal_places=6, null=True)
    pause_reason = models.TextField(blank=True)
    at_cap = models.BooleanField(default=False, db_default=False)
    unserved_since = models.DateTimeField(null=True)
    paused_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="paused_runs"
    )
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    error = models.TextField(blank=True)
    values = models.PositiveIntegerField(null=True)
    missing = models.PositiveIntegerField(null=True)
    missing_reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["rater", "scope_hash", "endpoint"],
                condition=Q(rater__isnull=False),
                nulls_distinct=False,
                name="run_scope_once",
            ),
            models.UniqueConstraint(
                fields=["kind", "scope_hash", "endpoint"],
                condition=Q(rater__isnull=True),
                nulls_distinct=False,
                name="run_written_scope_once",
            ),
            models.CheckConstraint(
                condition=Q(rater__isnull=False, title="") | (Q(rater__isnull=True) & ~Q(title="")),
                name="run_has_a_rater_or_a_title",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["queued", "running", "done", "failed", "cancelled", "paused"]),
                name="run_state_known",
            ),
            models.CheckConstraint(condition=Q(mode__in=["at_once", "batch"]), name="run_mode_known"),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"

    @property
    def name(self) -> str:
        """What it is called: by its rater, or by its own title."""
        return self.rater.name if self.rater else self.title

    @property
    def identity(self) -> Mapping[str, Any]:
        """Who answers or writes, in full."""
        spec: Mapping[str, Any] = self.rater.spec if self.rater else self.spec
        return spec

    @property
    def address(self) -> str:
        """The address of the server that it asks; '' where it asks none."""
        return str(self.identity.get("address", ""))

    @property
    def revision(self) -> str:
        """The served revision of its model, where its endpoint names one."""
        return str(self.identity.get("revision", ""))

    @property
    def moved(self) -> str:
        """Why its endpoint may not be asked for it: that is another server by now; '' where it may be."""
        if self.endpoint is None:
            return ""
        now, own = self.endpoint.server, {"address": self.address, "revision": self.revision}
        if all(now.get(name, "") == value for name, value in own.items()):
            return ""
        return (
            f"The endpoint {self.endpoint.name} is {_server_told(now)} by now, and this run asked "
            f"{_server_told(own)}: a run never changes its server. Set the endpoint back, or start the judge "
            "anew."
        )

    @property
    def answerer(self) -> Any:
        """The rater whose answers it collects; only a run that writes has none. (Raters live a floor up.)"""
        assert self.rater is not None, f"{self} has no rater"
        return self.rater

    @property
    def is_capped(self) -> bool:
        """Whether something limits what its calls may take."""
        return any(cap is not None for cap in (self.cap_calls, self.cap_tokens, self.cap_cost))

    @property
    def is_empty(self) -> bool:
        """Whether it is done and every answer is missing."""
        return self.state == Run.State.DONE and self.values == 0 and bool(self.missing)


def _server_told(server: Mapping[str, str]) -> str:
    revision = server.get("revision", "")
    return server.get("address", "") + (f", revision {revision}" if revision else "")


class Call(models.Model):
    """One request of a run: about an item, or about a continuation with all its turns, or a `part` of that.

    A call of a run that writes has neither rater nor continuation; its `part` tells people which it is, and
    the room that writes keeps what it is for.

    Claimed with a lease (`lease_expires`, renewed as a heartbeat); its result lands once, under the unique
    constraint: a rater has one call per continuation or item, part and sample, whichever run holds it, so
    nothing is paid for twice. A reply that cannot be parsed is a failed call with its raw text, never a
    label. `attempts` counts the times it was claimed, `reasked` those after an unparseable reply, `sent` the
    requests that were sent, whatever came of them, `asked` the completions that were paid for: those that
    came, and the `lost` ones, whose worker was gone before their reply was stored (their tokens and cost are
    estimates).

    `error_kind` is which of `jobs.errors` its error is. `request_hash` is that of the whole request
    with its endpoint and sample: one that is `cached` took the reply of another call with the same, and
    `saved` is what that one cost. `reply_form` is how the reply was asked for, `reasoning` what the model
    thought where the server tells it apart, `logprobs` the probabilities of the reply's tokens where they
    were asked for. While it is under way, `reserved_tokens` and `reserved_cost` are held back from its run's
    caps. `batch` is the batch that it is in (`batched`) or was asked in last, null where it was asked at
    once.
    """

    class State(models.TextChoices):
        PENDING = "pending"
        LEASED = "leased"
        BATCHED = "batched"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="calls", db_index=False)
    rater = models.ForeignKey("annotation.Rater", null=True, on_delete=models.PROTECT, related_name="calls")
    continuation = models.ForeignKey("annotation.Continuation", null=True, on_delete=models.CASCADE)
    item = models.ForeignKey("annotation.Item", null=True, on_delete=models.CASCADE)
    part = models.CharField(max_length=100, blank=True, default="", db_default="")
    sample = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    attempts = models.PositiveIntegerField(default=0)
    reasked = models.PositiveIntegerField(default=0)
    not_before = models.DateTimeField(null=True)
    lease_expires = models.DateTimeField(null=True)
    worker = models.CharField(max_length=200, blank=True)
    prompt_hash = models.CharField(max_length=64, blank=True)
    reply = models.TextField(blank=True)
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    latency_ms = models.PositiveIntegerField(null=True)
    error = models.TextField(blank=True)
    flags = models.JSONField(default=list)
    error_kind = models.CharField(max_length=20, blank=True)
    request_hash = models.CharField(max_length=64, blank=True)
    cached = models.BooleanField(default=False)
    saved = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    asked = models.PositiveIntegerField(default=0)
    sent = models.PositiveIntegerField(default=0, db_default=0)
    lost = models.PositiveIntegerField(default=0, db_default=0)
    reply_form = models.CharField(max_length=10, blank=True)
    reasoning = models.TextField(blank=True)
    logprobs = models.JSONField(null=True)
    reserved_tokens = models.PositiveBigIntegerField(null=True)
    reserved_cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    finished_at = models.DateTimeField(null=True)
    batch = models.ForeignKey("jobs.Batch", null=True, on_delete=models.RESTRICT, related_name="calls")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["rater", "continuation", "item", "part", "sample"],
                condition=Q(rater__isnull=False),
                nulls_distinct=False,
                name="call_once",
            ),
            models.CheckConstraint(
                condition=Q(rater__isnull=False, continuation__isnull=False)
                | Q(rater__isnull=True, continuation__isnull=True, item__isnull=True),
                name="call_rates_or_writes",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["pending", "leased", "batched", "done", "failed", "cancelled"]),
                name="call_state_known",
            ),
            models.CheckConstraint(
                condition=~Q(state="batched") | Q(batch__isnull=False), name="call_batched_in_a_batch"
            ),
            models.CheckConstraint(
                condition=~Q(state="leased") | Q(lease_expires__isnull=False), name="call_lease_has_end"
            ),
        ]
        indexes = [
            models.Index(fields=["run", "id"], condition=Q(state="pending"), name="call_pending"),
            models.Index(fields=["lease_expires"], condition=Q(state="leased"), name="call_leases"),
            models.Index(fields=["run", "state"], name="call_by_state"),
            models.Index(fields=["run", "id"], name="call_in_order"),
            models.Index(fields=["run", "id"], condition=TROUBLED, name="call_troubled"),
            models.Index(fields=["run", "id"], condition=FLAGGED, name="call_flagged"),
            models.Index(fields=["request_hash"], condition=REUSABLE, name="call_reusable"),
            models.Index(
                fields=["run", "finished_at"], condition=Q(finished_at__isnull=False), name="call_finished"
            ),
        ]

    def __str__(self) -> str:
        return f"call {self.pk} of run {self.run_id}: {self.state}"

    @property
    def rated(self) -> int:
        """The id of the continuation that it is about; only a call of a run that writes has none."""
        assert self.continuation_id is not None, f"{self} is about no continuation"
        return self.continuation_id

    @property
    def form_told(self) -> str:
        """How its reply was asked for, in words; '' for plain text."""
        return "" if self.reply_form == TEXT else FORMS.get(self.reply_form, "")

    @property
    def error_told(self) -> str:
        """Its kind of error in words."""
        return self.error_kind.replace("_", " ")

    @property
    def error_beside_kind(self) -> str:
        """Its error as it stands beside its kind, which says already that the reply could not be read."""
        return self.error.removeprefix("unparseable: ") if self.error_kind else self.error


class OpenRequest(models.Model):
    """What a leased call has sent and heard nothing of yet, so that it counts where its worker is lost.

    Written before a request is sent, and deleted with the call's result or when it is counted as lost.
    `requests` of this lease were sent (several until a form of structured output is taken); `tokens_in` and
    `tokens_out` are about what the last one takes. Whoever deletes a call leaves its row to the sweep.
    """

    call = models.OneToOneField(
        Call, primary_key=True, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False
    )
    requests = models.PositiveIntegerField(default=1)
    tokens_in = models.PositiveIntegerField()
    tokens_out = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"open request of call {self.call_id}"
