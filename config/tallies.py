"""Tables of differences: triggers add rows, readers sum them, workers put them together now and then.

So a number that many writers change is exact in every transaction's view and none of them waits for another.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import OperationalError, connection, transaction
from psycopg.errors import LockNotAvailable

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
