"""How far a draft is, what it has cost and what went wrong, for its page, the API and the command."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from jobs.models import Call, Run
from jobs.progress import Progress, progress
from judges.drafts.actions import run_of
from judges.models import Draft


@dataclass(frozen=True)
class Tried:
    """A draft's run, None before it was tried; `failures` counts its failed calls by what went wrong."""

    draft: Draft
    run: Run | None
    progress: Progress | None
    failures: tuple[tuple[str, int], ...] = ()

    @property
    def active(self) -> bool:
        """Whether more may come."""
        return self.progress is not None and self.progress.active

    def as_json(self) -> dict[str, Any] | None:
        """Return plain data; None before it was tried."""
        if self.run is None or self.progress is None:
            return None
        kept = ("state", "total", "done", "failed", "pending", "leased", "cancelled", "flagged")
        state = self.progress.as_json()
        more = ("tokens_in", "tokens_out", "cost", "currency", "error", "values", "missing")
        rest = {name: state[name] for name in (*kept, *more)}
        return {"run": self.run.pk, **rest, "failures": dict(self.failures)}


def tried(draft: Draft) -> Tried:
    """Return how far a draft is."""
    run = run_of(draft)
    if run is None:
        return Tried(draft, None, None)
    errors = run.calls.filter(state=Call.State.FAILED).values_list("error", flat=True)
    kinds = Counter(kind_of_failure(error) for error in errors)
    return Tried(draft, run, progress(run), tuple(kinds.most_common()))


def kind_of_failure(error: str) -> str:
    """Return what went wrong in a few words: the beginning of the error, up to its first colon."""
    return error.partition(":")[0].strip()[:80] or "no reason given"
