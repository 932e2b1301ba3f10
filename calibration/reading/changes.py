"""What became of a scope's labels since a report or gold was made of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from annotation.models import Label
from calibration.reading.scope import Scope

MOST = 1000
"""Labels are counted up to here: that there are more is told, not how many."""


@dataclass(frozen=True, slots=True)
class Changes:
    """How many labels came since, and how many of before were revised or no longer count."""

    came: int
    changed: int

    def __bool__(self) -> bool:
        return bool(self.came or self.changed)

    def __str__(self) -> str:
        """Return `12 labels came and 1 changed or was voided`."""
        parts = []
        if self.came:
            parts.append(f"{_count(self.came)} label{'' if self.came == 1 else 's'} came")
        if self.changed:
            noun = "" if parts else f" label{'' if self.changed == 1 else 's'}"
            verb = "was" if self.changed == 1 else "were"
            parts.append(f"{_count(self.changed)}{noun} changed or {verb} voided")
        return " and ".join(parts)


def since(scope: Scope, moment: datetime, questions: Iterable[int] | None = None) -> Changes:
    """Return what became of the labels of a scope (or of some questions of it) after a moment.

    Both counts read an index by time, so they cost what has changed and not what there is.
    """
    found = scope.ever() if questions is None else scope.ever().filter(question__in=questions)
    new = Q(supersedes__isnull=True) | Q(supersedes__created_at__gt=moment)
    came = found.filter(new, created_at__gt=moment, superseded_at__isnull=True)
    changed = found.filter(superseded_at__gt=moment, created_at__lte=moment)
    return Changes(_capped(came), _capped(changed))


def _capped(found: QuerySet[Label]) -> int:
    return found.order_by().values("pk")[: MOST + 1].count()


def _count(number: int) -> str:
    return f"more than {MOST:,}" if number > MOST else f"{number:,}"
