"""The three scores side by side, and reliability: no cell joins two of them, and no row is their mean."""

from __future__ import annotations

from annotation.text.numbers import number
from calibration.cascade import figures
from calibration.cascade.conduct_tables import NAMED, UNRATED, is_calibrated, judged
from calibration.cascade.parts import WAITS, Context, Rows, copies, label
from calibration.cascade.reliability import Reliability, pass_difference
from calibration.cascade.reliability import reliability as computed
from calibration.cascade.tables import Cell, Line, Table

AVERAGED = (
    "The three are never averaged: an agent that is good at one and bad at another is not fair at both."
)


def headline(context: Context) -> Table:
    """The three scores; conduct stands here only on dimensions on which its judges are calibrated."""
    shown = [one for one in NAMED if is_calibrated(context, one)]
    most = max(context.query.k)
    why = "not calibrated" if context.judges else "nobody judged it"

    def cells(row: Rows) -> tuple[Cell, ...]:
        conduct: tuple[Cell, ...] = tuple(
            context.mean(f"conduct_{one}", row.decisions, judged(one), UNRATED) for one in shown
        )
        made = computed(row.decisions, context.query, context.probed, copies(row, context.query))
        known = [k for k in made.pass_hat if k <= most]
        tried: tuple[Cell, ...] = (f"k = {max(known)}", made.pass_hat[max(known)]) if known else ("–", "–")
        return (
            context.mean("competence_probed", figures.probed(row.decisions), figures.competence, WAITS),
            *(conduct or (why,)),
            *tried,
        )

    heads = ("Competence", *(f"Conduct: {one}" for one in shown or ["all"]), "Trials", "Reliability: pass^k")
    return Table("headline", "The three scores", heads, context.lines(cells), (AVERAGED,))


def reliability(context: Context) -> Table:
    """Score 3: pass^k over scenarios, with pass@k beside it, and the bounds of what is undecided."""
    query = context.query
    found = [
        (row, computed(row.decisions, query, context.probed, copies(row, query))) for row in context.all()
    ]
    best = found[-1][1]
    ks = sorted({k for row, made in found if not row.is_baseline for k in made.pass_hat}) or [1]
    lines = []
    for row, made in found:
        hat: list[Cell] = [made.pass_hat.get(k, "–") for k in ks]
        at: list[Cell] = [made.pass_at.get(k, "–") for k in ks]
        trials = "the same each time" if copies(row, query) > 1 else made.fewest
        cells = (len(made.trials), trials, made.undecided, *hat, *at)
        lines.append(Line(label(row), cells, row.is_baseline))
        if not row.is_baseline:
            beyond: list[Cell] = [pass_difference(made, best, k, context.families, query.plan) for k in ks]
            lines.append(Line(context.less(row), ("–", "–", "–", *beyond, *("–" for _ in ks))))
    heads = ("Scenarios", "Fewest trials", "Undecided trials")
    return Table(
        "reliability",
        "Score 3: reliability",
        (*heads, *(f"pass^{k}" for k in ks), *(f"pass@{k}" for k in ks)),
        tuple(lines),
        (
            "pass^k is the chance that k independent trials of a scenario all succeed; pass@k that one of "
            "them does, which says nothing about what can be relied on.",
            *(sentence for row, made in found for sentence in _bounds(row, made)),
        ),
    )


def _bounds(row: Rows, made: Reliability) -> list[str]:
    return [
        f"{label(row)}: pass^{k} lies between {number(made.low[k])} and {number(made.high[k])}, as the "
        f"{made.undecided} undecided trials fail or succeed."
        for k in made.low
    ]
