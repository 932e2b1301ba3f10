"""How many calls of a run are in which state and what they took, kept by triggers."""

from __future__ import annotations

from django.db import models


class CallCount(models.Model):
    """A part of what the calls of a run in one state and of one error kind come to; the sum over such rows
    is exact.

    Whatever inserts, changes or deletes calls adds a row with its difference in the same transaction
    (triggers on `jobs_call`); `jobs.call_counts.compact` puts rows together now and then. `troubled` counts
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
