"""Tables of competence: the mean, where decisions fail, restraint, and accuracy against the key."""

from __future__ import annotations

from collections.abc import Callable

from annotation.scenarios.records import FORM, NONE, PROBES, STAGES
from calibration.cascade import figures
from calibration.cascade.decided import Decided
from calibration.cascade.parts import NOT_ASKED, WAITS, Column, Context, Rows, label
from calibration.cascade.restraint import PANEL, panel, panel_difference, unread
from calibration.cascade.tables import Cell, Line, Table

CHANCE = "Chance (random) and majority stand beside every accuracy."


def _all(row: Rows) -> list[Decided]:
    return row.decisions


def _probed(row: Rows) -> list[Decided]:
    return figures.probed(row.decisions)


def competence(context: Context) -> Table:
    """Score 1: mean competence over probed decisions, over all scored points, beside the best baseline."""

    def cells(row: Rows) -> tuple[Cell, ...]:
        probed = _probed(row)
        beyond: Cell = "–"
        if not row.is_baseline:
            beyond = context.beyond(probed, _probed(context.best), figures.competence)
        return (
            context.mean("competence_probed", probed, figures.competence, WAITS),
            context.mean("competence_all", row.decisions, figures.competence, WAITS),
            beyond,
            sum(one.result.competence is None for one in probed),
        )

    return Table(
        "competence",
        "Score 1: competence",
        ("At probes", "At all scored points", f"At probes, minus {context.best.name}", "Waiting for a judge"),
        context.lines(cells),
        ("Competence is the product of the stages from ATTEND to GROUND, 0 after the first hard failure.",),
    )


def probes(context: Context) -> Table:
    """Competence by kind of probe: at probes, at their controls, and the one minus the other."""
    lines: list[Line] = []
    for row in context.all():
        for kind in PROBES:
            at, control = of_kind(row, kind, False), of_kind(row, kind, True)
            if not at and not control:
                continue
            beyond: tuple[Cell, ...] = ("–", "–")
            if not row.is_baseline:
                beyond = tuple(
                    context.beyond(own, of_kind(context.best, kind, side), figures.competence)
                    for own, side in ((at, False), (control, True))
                )
            cells = (
                context.mean("competence", at, figures.competence, "no such probe"),
                context.mean("competence", control, figures.competence, "no such control"),
                context.beyond(at, control, figures.competence),
                *beyond,
            )
            lines.append(Line(f"{label(row)}: {kind.replace('_', ' ')}", cells, row.is_baseline))
    best = context.best.name
    return Table(
        "probes",
        "Probes and their controls",
        ("Probe", "Control", "Probe minus control", f"Probe, minus {best}", f"Control, minus {best}"),
        tuple(lines),
        ("Who always speaks, or never does, is right at one of the two alone.",),
    )


def of_kind(row: Rows, kind: str, control: bool) -> list[Decided]:
    """Return a row's decisions at the probes of a kind, or at their controls."""
    return [one for one in row.decisions if (kind, control) in one.probes]


def stages(context: Context) -> Table:
    """P(score above the threshold | applicable, not void) at each stage, over probed decisions."""
    settings = context.query.settings
    columns = [
        Column(stage.upper(), _probed, figures.stage_passed(stage, settings), "no decision was scored here")
        for stage in STAGES
    ]
    heads = tuple(one.head for one in columns)
    return Table("stages", "Passed, of those scored at the stage", heads, context.means(columns))


def funnel(context: Context) -> Table:
    """How many probed decisions reach each stage."""

    def cells(row: Rows) -> tuple[Cell, ...]:
        return tuple(figures.funnel(_probed(row), context.query.settings).values())

    heads = tuple(stage.upper() for stage in STAGES)
    return Table("funnel", "Funnel: probed decisions that reach a stage", heads, context.lines(cells))


def failed(context: Context) -> Table:
    """The shares of where probed decisions failed first."""
    places = (NONE, FORM, *STAGES)

    def cells(row: Rows) -> tuple[Cell, ...]:
        probed = _probed(row)
        return (
            *(context.mean(place, probed, figures.failed_at(place), WAITS) for place in places),
            figures.failures(probed)[""],
        )

    heads = ("Nowhere", "Form", *(stage.upper() for stage in STAGES), "Not decided")
    return Table("failed_at", "Where probed decisions fail first", heads, context.lines(cells))


def failed_by_probe(context: Context) -> Table:
    """How many decisions of each kind of probe failed first at which stage."""
    places = (NONE, FORM, *STAGES, "")
    lines = []
    for row in context.all():
        for kind in PROBES:
            at = of_kind(row, kind, False)
            if at:
                counted = figures.failures(at)
                cells: tuple[Cell, ...] = tuple(counted[place] for place in places)
                lines.append(Line(f"{label(row)}: {kind.replace('_', ' ')}", cells, row.is_baseline))
    heads = ("Nowhere", "Form", *(stage.upper() for stage in STAGES), "Not decided")
    title = "Where the decisions of each probe fail first"
    return Table("failed_by_probe", title, heads, tuple(lines), ("Controls are left out.",))


def restraint(context: Context) -> Table:
    """The restraint panel, of all rows and all baselines."""
    plan, families = context.query.plan, context.families
    lines = []
    for row in (*context.rows, *context.baselines):
        found = panel(row.decisions, families, plan)
        cells: tuple[Cell, ...] = (*found.values(), unread(row.decisions))
        lines.append(Line(label(row), cells, row.is_baseline))
        if not row.is_baseline:
            beyond = panel_difference(row.decisions, context.best.decisions, families, plan)
            lines.append(Line(context.less(row), (*beyond.values(), "–")))
    return Table(
        "restraint",
        "Restraint: staying out, and joining in where one must",
        (*(title for title, *_ in PANEL.values()), "Unreadable"),
        tuple(lines),
        ("An unreadable reply is no right silence: it is left out here and counted by itself.",),
    )


def accuracy(context: Context) -> Table:
    """Whether attention, act and addressees are those of the key, beside all baselines: silence counts."""
    heads = {"attend": "Attends rightly", "speak": "Acts rightly", "addressed": "Addressees rightly"}
    columns = [Column(head, _all, figures.is_right(name), NOT_ASKED) for name, head in heads.items()]
    return Table(
        "accuracy",
        "Against the key, at all scored points",
        tuple(heads.values()),
        context.means(columns, context.baselines),
        ("A right silence is a right answer.", CHANCE),
    )


TABLES: tuple[Callable[[Context], Table], ...] = (
    probes,
    stages,
    funnel,
    failed,
    failed_by_probe,
    restraint,
    accuracy,
)
"""What stands below the three scores, in the order of the page."""
