"""Models and builds that served calls, as the servers' replies name them, and their comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Count, QuerySet

from jobs.models.run import SERVED, Call, Run

MOST_NAMES = 3
"""Most models and builds that a sentence names."""


@dataclass(frozen=True)
class ServedModel:
    """A model and its build by the `model` and `system_fingerprint` of replies, and the number of replies.

    Either is '' where the server does not say it.
    """

    model: str
    system_fingerprint: str
    calls: int

    @property
    def name(self) -> str:
        """Model, with the build where the server says it."""
        build = self.system_fingerprint and f"build {self.system_fingerprint}"
        return f"{self.model} ({build})" if self.model and build else self.model or build

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def served_models(calls: QuerySet[Call]) -> list[ServedModel]:
    """Return the models and builds of these calls' replies, the most frequent first; empty if unknown."""
    names = ("served_model", "system_fingerprint")
    rows = calls.filter(SERVED).order_by().values_list(*names).annotate(n=Count("*"))
    return [ServedModel(*row) for row in sorted(rows, key=lambda row: (-row[2], *row[:2]))]


def served_differently(run: Run) -> str:
    """Return the models and builds that served a run, in words; '' if just the model it asked for."""
    served = served_models(run.calls.all())
    if [row.name for row in served] == [run.identity.get("model")]:
        return ""
    return in_words(served)


def in_words(served: Sequence[ServedModel]) -> str:
    """Name the most frequent models and builds, with their shares where there are several."""
    if len(served) == 1:
        return served[0].name
    total = sum(row.calls for row in served)
    names = [f"{row.name} in {row.calls:,} of {total:,} replies" for row in served[:MOST_NAMES]]
    others = len(served) - MOST_NAMES
    if others > 0:
        names.append(f"{others:,} other{'s' if others > 1 else ''}")
    return ", ".join(names)


def served_change(before: Sequence[ServedModel], now: Sequence[ServedModel]) -> str:
    """Say that other models or builds serve now than before; '' if they are the same, or unknown for one."""
    if not before or not now or {row.name for row in before} == {row.name for row in now}:
        return ""
    return f"Served as {in_words(before)} before, and as {in_words(now)} now."
