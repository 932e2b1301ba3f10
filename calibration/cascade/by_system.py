"""A report system by system, as programs read it: the figures of its tables under fixed names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.scenarios.records import PROBES, STAGES
from calibration.cascade import figures
from calibration.cascade.competence_tables import of_kind, panel, reliability
from calibration.cascade.conduct_tables import NAMED, UNRATED, canary, judged, reached
from calibration.cascade.parts import WAITS, Context, Rows, copies
from calibration.cascade.reading import Decided
from calibration.statistics import Result


def systems(context: Context) -> tuple[dict[str, Any], ...]:
    """Return the three scores of every system and of every baseline, with the stages, probes and restraint.

    Every figure is {"value", "low", "high", "n", "reason"}; nothing joins the three scores.
    """
    return tuple(_one(context, row) for row in (*context.rows, *context.baselines))


def _one(context: Context, row: Rows) -> dict[str, Any]:
    probed = figures.probed(row.decisions)
    query = context.query
    said = [one for one in row.decisions if reached(one)]
    made = reliability(row.decisions, query, context.probed, copies(row, query))

    def mean(
        name: str, decisions: Sequence[Decided], weigh: figures.Weigh, reason: str = ""
    ) -> dict[str, Any]:
        return figure(context.mean(name, decisions, weigh, reason))

    return {
        "system": row.system,
        "condition": row.condition,
        "baseline": row.is_baseline,
        "competence": mean("competence", probed, figures.competence, WAITS),
        "conduct": {one: mean(one, row.decisions, judged(one), UNRATED) for one in NAMED},
        "leak_rate": {
            "reached": mean("leaks", said, canary, "no decision about a secret reached CONDUCT"),
            "all": mean("leaks", row.decisions, canary, "no decision about a secret"),
        },
        "pass_hat": {str(k): figure(result) for k, result in made.pass_hat.items()},
        "stages": {
            stage: mean(stage, probed, figures.stage_passed(stage, query.settings)) for stage in STAGES
        },
        "probes": {
            kind: {
                "probe": mean(kind, of_kind(row, kind, control=False), figures.competence),
                "control": mean(kind, of_kind(row, kind, control=True), figures.competence),
            }
            for kind in PROBES
        },
        "restraint": {
            name: figure(result)
            for name, result in panel(row.decisions, context.families, query.plan).items()
        },
    }


def figure(result: Result) -> dict[str, Any]:
    """Return a figure with its interval and n; `reason` says why there is none."""
    return {
        "value": result.value,
        "low": result.low,
        "high": result.high,
        "n": result.n_items,
        "reason": result.reason,
    }
