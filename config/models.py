"""The audit log: what was done by whom, for the acts that must be traceable.

It stands here, below all rooms, because all of them write to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db import OperationalError, connection, models, transaction
from psycopg.errors import LockNotAvailable

# Tables of differences: triggers add rows, readers sum them, workers put them together now and then.
#
# So a number that many writers change is exact in every transaction's view and none of them waits for
# another.

CROWDED = 8
"""Rows of one key that are put together once there are more."""
_COMPACT = """
WITH gone AS (
  DELETE FROM {table} WHERE id IN (
    SELECT id FROM {table} WHERE id IN (
      SELECT id FROM (SELECT id, count(*) OVER (PARTITION BY {keys}) AS many FROM {table}) AS parts
       WHERE many > %s)
       FOR UPDATE SKIP LOCKED) RETURNING *)
INSERT INTO {table} ({keys}, {columns}) SELECT {keys}, {values} FROM gone GROUP BY {keys}
"""


@dataclass(frozen=True)
class Tally:
    """A table of differences: its keys, the columns that are summed, those whose greatest value counts."""

    table: str
    keys: tuple[str, ...]
    sums: tuple[str, ...]
    greatest: tuple[str, ...] = ()

    def compact(self) -> None:
        """Put crowded rows together; what a sum says does not change.

        It gives way to whatever holds what the rows speak of, such as a deletion, and comes again.
        """
        values = [f"sum({name})" for name in self.sums] + [f"max({name})" for name in self.greatest]
        statement = _COMPACT.format(
            table=self.table,
            keys=", ".join(self.keys),
            columns=", ".join(self.sums + self.greatest),
            values=", ".join(values),
        )
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '100ms'")
                cursor.execute(statement, [CROWDED])
        except OperationalError as error:
            if not isinstance(error.__cause__, LockNotAvailable):
                raise


class Event(models.Model):
    """One logged act: a deletion, an opening of test, a change of a campaign's state."""

    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    at = models.DateTimeField(auto_now_add=True)
    verb = models.CharField(max_length=60)
    subject = models.CharField(max_length=300)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.verb} {self.subject}"


class KeptAnswer(models.Model):
    """What was answered to a request with an `Idempotency-Key`: `config.idempotency`.

    `name` is a hash of route and key, `request` one of what was sent. `status` is null while the request is
    being done, which nobody else sees: it is one transaction.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=64)
    request = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.TextField(blank=True, default="", db_default="")
    at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="answer_kept_once")]

    def __str__(self) -> str:
        return f"answer to {self.name[:8]}"
