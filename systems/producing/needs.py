"""Productions that something needs: what came of them so far, and which are still to be begun."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
    return replace(plan, name=f"{what} {plan.endpoint.answering_model}"[: LONGEST_NAME - 9] + f" {mark}")


_COLUMNS = (
    "dialogue_id",
    "condition_hash",
    "status",
    "result",
    "error",
    "run_id",
    "run__state",
    "run__error",
)


def came(needs: Sequence[Need], own: Collection[int] | None = None) -> Came:
    """Return what came of the productions that are needed; raise Stuck where their run has ended before.

    `own` are the runs that were begun for this: what failed, or was left, in another run counts as missing,
    since a new run takes it over. None: in whatever run.
    """
    state = Came()
    if not needs:
        return state
    rows = Production.objects.filter(
        writer__name__in={need.plan.name for need in needs},
        writer__corpus__in={need.corpus for need in needs},
        dialogue__in={need.dialogue for need in needs},
        trial=0,
    )
    there = {(row["dialogue_id"], row["condition_hash"]): row for row in rows.values(*_COLUMNS)}
    for need in needs:
        _sort(need, there.get(need.place), state, own)
    return state


def _sort(need: Need, row: Mapping[str, Any] | None, state: Came, own: Collection[int] | None) -> None:
    """Note what came of one need."""
    if row is None:
        state.missing.append(need)
    elif row["status"] == Production.Status.DONE:
        state.results[need.place] = row["result"]
    elif row["run__state"] in OPEN:
        state.running.add(row["run_id"])
    elif own is not None and row["run_id"] not in own:
        state.missing.append(need)
    elif row["status"] == Production.Status.FAILED:
        state.failed[need.place] = row["error"]
    else:
        why = row["run__error"] or f"it is {row['run__state']}"
        raise Stuck(f"Run {row['run_id']} did not come to its end: {why[:300]} Try again what failed.")
