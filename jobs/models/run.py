"""Runs of judges and metrics, and the calls they consist of."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q, Value

from jobs.endpoints.parameters import FORMS, TEXT

MOST_SAMPLES = 50
"""Most samples of a judge's run: calls with this number or a higher one belong to rechecks."""

# Batches: many calls of a run that a provider executes together, within a day, at a share of the price.


class Batch(models.Model):
    """A batch of a run's calls at an endpoint; `share` is the share of the full price that they cost.

    `key` is its own name, sent along in its metadata: an interrupted submission is found by it among the
    provider's batches, and never submitted twice. It is stored before anything is sent. `posted_at` is the
    start of a submission with unknown outcome; null if there is none, or the provider refused it.
    `provider_id` is the provider's id, once known.

    A step is claimed with a lease (`worker`, `lease_expires`) and due at `next_look`; between steps no worker
    holds the batch. `form` is the form of structured output. `size` counts its calls; `answered`, `failed`
    and `returned` count their outcomes once it is collected. `provider_state`, `completed_there` and
    `failed_there` are the provider's report at `looked_at`. `tries` counts consecutive errors, `error` is the
    latest.

    `files` is the state of its files at the provider after its end: empty if there are none that Concord may
    delete, `there` while they are to be deleted, which is due at `next_look`; `files_note` is why they still
    exist.
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
        """Whether the batch still holds calls."""
        return self.state in LIVE

    @property
    def look_does(self) -> str:
        """Button label for the next look at the batch; '' if there is nothing to do."""
        if self.files in (Batch.Files.KEPT, Batch.Files.LEFT):
            return "Delete its files"
        return "Look now" if self.state == Batch.State.UNDER_WAY else ""

    @property
    def told(self) -> str:
        """Details beyond its state, in words; '' if the state says all."""
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
"""States of batches that hold calls."""
UNCLEAR = "What became of batch"
"""Start of the pause reason of a run with an unclear batch."""


# Counts and usage of a run's calls by state, kept by triggers.


class CallCount(models.Model):
    """A partial sum over the calls of a run in one state and of one error kind; the sum over such rows is
    exact.

    Each insert, change or deletion of calls adds a row with the difference in the same transaction (triggers
    on `jobs_call`); `compact_call_counts` merges rows now and then. `troubled` counts calls that failed or
    have an error, `flagged` calls with flags, `costed` and `timed` calls with a cost and a latency; `asked`
    sums the completions paid for, `sent` the requests, `lost` the replies lost with a worker; `cached` counts
    calls answered from the cache and `saved` their savings. The database deletes rows with their run.
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
SERVED = ~Q(served_model="", system_fingerprint="")
"""Calls whose server says which model or build answered."""
REUSABLE = Q(state="done", cached=False) & ~Q(request_hash="")
"""Calls whose reply can be reused for an equal request."""


class Run(models.Model):
    """One execution of a judge or metric (its rater) over items of a corpus or campaign, or of a writer.

    A writer's run has no rater: it has a `title`, and `spec` identifies the writer, as a rater's spec does.
    `kind` is a key of `jobs.kinds.RUN_KINDS`; `queue` selects the worker: `calls` (waits on a network) or
    `metrics` (computes). `scope` is the selection, `scope_hash` its hash: the same rater, scope and endpoint
    are the same run, which resumes; a run never changes its endpoint. `questions` maps the rater's answers to
    question ids, fixed at the start. `reused` counts the scope's calls that other runs of the rater had
    finished before. `error` is why a run failed as a whole. A paused run has a `pause_reason`, and the user
    who paused it, if any; `at_cap`: it waits for a higher cap. `unserved_since`: since then no worker has its
    key. The caps limit the usage of its own calls: requests sent, input and output tokens, money in the
    endpoint's currency; null for no limit. `use_cache` lets a call use the reply to an equal request of
    another run. Somebody waits for the replies of an `urgent` run: its calls come before those of other
    runs at the endpoint. `mode` is direct calls or batches of the provider (`Batch`), and no part of the
    rater's identity. Once it has ended, `values` and `missing` count the answers of its calls (null before),
    and `missing_reason` is the commonest reason of missing values. If calls follow from replies to others,
    `expected` is their final number, and `values` and `missing` count written and failed texts.
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
    urgent = models.BooleanField(default=False, db_default=False)
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
        """Name in files and logs: its rater's name, or its own title."""
        return self.rater.name if self.rater else self.title

    @property
    def heading(self) -> str:
        """Name on pages: its rater's short name, or its own title."""
        return self.rater.title if self.rater else self.title

    @property
    def identity(self) -> Mapping[str, Any]:
        """Full identity of the rater or writer."""
        spec: Mapping[str, Any] = self.rater.spec if self.rater else self.spec
        return spec

    @property
    def address(self) -> str:
        """URL of its server; '' if it sends no requests."""
        return str(self.identity.get("address", ""))

    @property
    def revision(self) -> str:
        """Served revision of its model, if its endpoint has one."""
        return str(self.identity.get("revision", ""))

    @property
    def moved(self) -> str:
        """Error message if its endpoint is another server now; '' if the endpoint may be used."""
        if self.endpoint is None:
            return ""
        now, own = self.endpoint.server, {"address": self.address, "revision": self.revision}
        if all(now.get(name, "") == value for name, value in own.items()):
            return ""
        return (
            f"The endpoint {self.endpoint.name} is {_server_text(now)} by now, and this run asked "
            f"{_server_text(own)}: a run never changes its server. Set the endpoint back, or start the judge "
            "anew."
        )

    @property
    def answerer(self) -> Any:
        """The rater whose answers it collects; only a writer's run has none. (Raters live one layer
        above.)
        """
        assert self.rater is not None, f"{self} has no rater"
        return self.rater

    @property
    def is_capped(self) -> bool:
        """Whether a cap limits its calls."""
        return any(cap is not None for cap in (self.cap_calls, self.cap_tokens, self.cap_cost))

    @property
    def is_empty(self) -> bool:
        """Whether the run is done and every answer is missing."""
        return self.state == Run.State.DONE and self.values == 0 and bool(self.missing)


def _server_text(server: Mapping[str, str]) -> str:
    revision = server.get("revision", "")
    return server.get("address", "") + (f", revision {revision}" if revision else "")


class Call(models.Model):
    """One request of a run: about an item, or about a continuation with all its turns, or a `part` of that.

    A call of a writer's run has neither rater nor continuation; its `part` identifies it to people, and the
    writer's package stores its purpose.

    Claimed with a lease (`lease_expires`, renewed by the heartbeat); its result is stored once, under the
    unique constraint: a rater has one call per continuation or item, part and sample, in whichever run, so
    nothing is paid for twice. An unparseable reply is a failed call with its raw text, never a label.
    `attempts` counts claims, `reasked` retries after an unparseable reply, `sent` requests sent, whatever
    their outcome, `asked` completions paid for: received ones, and the `lost` ones, whose worker was gone
    before their reply was stored (their tokens and cost are estimates).

    `error_kind` is a kind of `jobs.errors`. `request_hash` is the hash of the whole request with its endpoint
    and sample: a `cached` call used the reply of another call with the same hash, and `saved` is that call's
    cost. `reply_form` is the reply form of the request, `reasoning` the model's thinking if the server
    separates it, `logprobs` the probabilities of the reply's tokens if requested. `served_model` and
    `system_fingerprint` are the model and the build that the server says answered last ('': it says nothing);
    a provider may change them behind the name that is asked for. While in flight,
    `reserved_tokens` and `reserved_cost` are reserved from its run's caps. `batch` is its current (`batched`)
    or latest batch, null for direct calls.
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
    served_model = models.CharField(max_length=200, blank=True, default="", db_default="")
    system_fingerprint = models.CharField(max_length=200, blank=True, default="", db_default="")
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
            models.Index(
                fields=["run", "served_model", "system_fingerprint"], condition=SERVED, name="call_served"
            ),
            models.Index(fields=["request_hash"], condition=REUSABLE, name="call_reusable"),
            models.Index(
                fields=["run", "finished_at"], condition=Q(finished_at__isnull=False), name="call_finished"
            ),
        ]

    def __str__(self) -> str:
        return f"call {self.pk} of run {self.run_id}: {self.state}"

    @property
    def rated(self) -> int:
        """Id of the rated continuation; only a call of a writer's run has none."""
        assert self.continuation_id is not None, f"{self} is about no continuation"
        return self.continuation_id

    @property
    def form_text(self) -> str:
        """Reply form of its request, in words; '' for plain text."""
        return "" if self.reply_form == TEXT else FORMS.get(self.reply_form, "")

    @property
    def error_text(self) -> str:
        """Error kind in words."""
        return self.error_kind.replace("_", " ")

    @property
    def error_beside_kind(self) -> str:
        """Error text next to its kind, which already says that the reply was unreadable."""
        return self.error.removeprefix("unparseable: ") if self.error_kind else self.error


class OpenRequest(models.Model):
    """Requests of a leased call still without a reply, so that they count if its worker is lost.

    Written before a request is sent, and deleted with the call's result or when counted as lost. `requests`
    of this lease were sent (several until a form of structured output is accepted); `tokens_in` and
    `tokens_out` estimate the last one. After a call is deleted, the sweep deletes its row.
    """

    call = models.OneToOneField(
        Call, primary_key=True, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False
    )
    requests = models.PositiveIntegerField(default=1)
    tokens_in = models.PositiveIntegerField()
    tokens_out = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"open request of call {self.call_id}"
