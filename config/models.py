"""The audit log: actions that must be traceable, with their users.

It is here, below all other packages, because all of them write to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db import OperationalError, connection, models, transaction
from psycopg.errors import LockNotAvailable

# Tables of increments: triggers add rows, readers sum them, and workers compact them from time to time.
#
# So a total with many concurrent writers is exact in every transaction's view, and no writer waits for
# another.

CROWDED = 8
"""Number of rows of one key above which they are compacted."""
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
    """A table of increments: its keys, the summed columns, and the columns aggregated by maximum."""

    table: str
    keys: tuple[str, ...]
    sums: tuple[str, ...]
    greatest: tuple[str, ...] = ()

    def compact(self) -> None:
        """Merge the rows of keys with many rows; sums stay the same.

        It yields to transactions that lock the related rows, such as a deletion, and runs again later.
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
    """A logged action: a deletion, an opening of test, a change of a campaign's state."""

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
    """Stored response to a request with an `Idempotency-Key` (`config.idempotency`).

    `name` is a hash of route and key, `request` a hash of the content. `status` is null while the request is
    running, which is visible to nobody else: it is one transaction.
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
