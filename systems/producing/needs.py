"""Productions that something needs: what came of them so far, and which are still to be begun."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from jobs.runs import OPEN
from systems.errors import SystemsError
from systems.models import Production
from systems.producing.plans import LONGEST_NAME, Plan, digest

Place = tuple[int, str]
"""The id of a dialogue, and the hash of a condition."""


class Stuck(SystemsError):
    """Something that a person has to look at; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Need:
    """A dialogue that something is written for, under a plan; what it is begun with is read when it is."""

    corpus: int
    dialogue: int
    plan: Plan

    @property
    def place(self) -> Place:
        """What its production is known by."""
        return self.dialogue, self.plan.digest


@dataclass(slots=True)
class Came:
    """What came of needs so far: results, and why others failed, by place; `missing` were never
    begun; `running` are the runs in which others are under way."""

    results: dict[Place, Any] = field(default_factory=dict)
    failed: dict[Place, str] = field(default_factory=dict)
    missing: list[Need] = field(default_factory=list)
    running: set[int] = field(default_factory=set)


def named_alone(plan: Plan, what: str) -> Plan:
    """Return a plan under the name of a writer that no other settings, model or parameters have."""
    mark = digest(plan.spec)[:8]
    return replace(plan, name=f"{what} {plan.endpoint.model}"[: LONGEST_NAME - 9] + f" {mark}")


def came(needs: Sequence[Need]) -> Came:
    """Return what came of the productions that are needed; raise Stuck where their run has ended before."""
    found = Came()
    if not needs:
        return found
    rows = Production.objects.filter(
        writer__name__in={one.plan.name for one in needs},
        writer__corpus__in={one.corpus for one in needs},
        dialogue__in={one.dialogue for one in needs},
        trial=0,
    )
    columns = (
        "dialogue_id",
        "condition_hash",
        "status",
        "result",
        "error",
        "run_id",
        "run__state",
        "run__error",
    )
    there = {(row["dialogue_id"], row["condition_hash"]): row for row in rows.values(*columns)}
    for need in needs:
        row = there.get(need.place)
        if row is None:
            found.missing.append(need)
        elif row["status"] == Production.Status.DONE:
            found.results[need.place] = row["result"]
        elif row["status"] == Production.Status.FAILED and row["run__state"] not in OPEN:
            found.failed[need.place] = row["error"]
        elif row["run__state"] in OPEN:
            found.running.add(row["run_id"])
        else:
            why = row["run__error"] or f"it is {row['run__state']}"
            raise Stuck(f"Run {row['run_id']} did not come to its end: {why[:300]} Try again what failed.")
    return found
