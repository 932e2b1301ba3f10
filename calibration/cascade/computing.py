"""From a query to a Cascade report: its tables, in the order of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.corpora import openings, splits
from annotation.errors import SplitRefused
from annotation.models import Rater, Split, TestLook
from annotation.records import Dialogue
from annotation.scenario_editing.answer_keys import scenarios
from annotation.scenarios.agents import AGENTS
from annotation.text.display import number
from calibration.cascade import (
    by_system,
    competence_tables,
    conduct_tables,
    figures,
    parts,
    people,
    sentences,
)
from calibration.cascade.badge import badges
from calibration.cascade.competence_tables import Reliability, pass_difference
from calibration.cascade.competence_tables import reliability as computed
from calibration.cascade.conduct_tables import NAMED, UNRATED, is_calibrated, judged
from calibration.cascade.parts import WAITS, Context, Rows, copies, label
from calibration.cascade.query import CONDITION, CascadeQuery, part_of
from calibration.cascade.reading import Decided, Group, Material, baselines, material, of_part, raters_named
from calibration.cascade.tables import Cell, Line, Table
from calibration.errors import CascadeRefused
from calibration.statistics import Result

# The three scores side by side, and reliability: no cell joins two of them, and no row is their mean.

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


ORACLE = "oracle"
TABLES: tuple[Callable[[parts.Context], Table], ...] = (
    headline,
    competence_tables.competence,
    *conduct_tables.TABLES,
    reliability,
    *competence_tables.TABLES,
    *sentences.TABLES,
)
"""The tables, in the order of the page. None has a number that mixes the three scores."""


@dataclass(frozen=True)
class Row:
    """A system under a condition, or a baseline, with its decisions."""

    system: str
    decisions: list[Decided]
    condition: str = ""
    is_baseline: bool = False
    is_fake: bool = False

    @property
    def name(self) -> str:
        """The system, with its condition in brackets where rows tell conditions apart."""
        return f"{self.system} ({self.condition})" if self.condition else self.system


@dataclass(frozen=True)
class CascadeReport:
    """A report: its tables, what it rests on in sentences, and the guardrails that stand with it.

    ``oracle`` is the oracle's competence at all scored points: anything but 1 is a fault of the set.
    ``systems`` are the figures system by system (`by_system`).
    """

    query: CascadeQuery
    part: str
    split: Split | None
    looks: tuple[TestLook, ...]
    rows: tuple[Row, ...]
    best: Row
    tables: tuple[Table, ...]
    facts: tuple[str, ...]
    guardrails: tuple[str, ...]
    oracle: Result
    systems: tuple[dict[str, Any], ...] = ()


def compute(*, query: CascadeQuery, by: User | None) -> CascadeReport:
    """Return the report of a query. A split is fixed by it, as by every look at labels.

    Raises CascadeRefused, in one line, where there is none, and for a test part that was not opened.
    """
    split, part = part_of(query)
    if split is not None:
        splits.fix(split=split, by=by)
    clusters = None if split is None else splits.clusters(split=split, part=part)
    judges = raters_named(query.corpus, query.judges)
    if split is not None and part == "test" and (closed := openings.unopened(split, judges)):
        raise CascadeRefused(f"test was not opened for {closed[0].name}: open it, and say what for")
    found = material(
        query.corpus,
        clusters,
        by_condition=CONDITION in query.by,
        judges=judges,
        settings=query.settings,
        scenario_part=part,
    )
    if not found.scenarios:
        raise CascadeRefused(f"the corpus {query.corpus.name} has no scenarios in the {part} part")
    return _report(query, found, part, split, judges)


@transaction.atomic
def compute_on_test(*, query: CascadeQuery, by: User | None, purpose: str) -> CascadeReport:
    """Log a look at test and return the report there; where it cannot be made, there was no look."""
    open_test(query=query, by=by, purpose=purpose)
    return compute(query=replace(query, part="test"), by=by)


@transaction.atomic
def open_test(*, query: CascadeQuery, by: User | None, purpose: str) -> TestLook:
    """Log a look at test, with who and for what. Its report can then be computed.

    Raises CascadeRefused without a purpose, or where the corpus has no split.
    """
    split = splits.lock_of(query.corpus)
    if split is None:
        raise CascadeRefused(f"the corpus {query.corpus.name} has no split, so there is no test part to open")
    try:
        judges = raters_named(query.corpus, query.judges)
        return splits.open_test(split=split, by=by, purpose=purpose, raters=judges)
    except SplitRefused as error:
        raise CascadeRefused(str(error)) from error


def _report(
    query: CascadeQuery, found: Material, part: str, split: Split | None, judges: Sequence[Rater]
) -> CascadeReport:
    learn_from = _dev(query, split, part)
    modes = set(found.modes.values())
    mode = modes.pop() if len(modes) == 1 else "explicit"
    played = baselines(found, learn_from, mode, query.settings)
    oracle = played.pop(ORACLE)
    families = figures.Families.of(oracle)
    rows = [_row(group, made, found) for group, made in found.groups.items() if made]
    others = [Row(AGENTS[key].key, made, is_baseline=True) for key, made in played.items()]
    best = _best(others, families, query)
    items = [one.item for row in rows for one in row.decisions if one.item is not None]
    context = parts.Context(
        query,
        families,
        tuple(rows),
        tuple(others),
        best,
        judges=tuple(judge.name for judge in judges),
        badges=badges(query.corpus, judges),
        people=people.read(found.scenarios, items, query.plan),
        probed=Counter(one.scenario for one in figures.probed(oracle)),
    )
    looks = split.looks.select_related("by") if split is not None and part == "test" else ()
    return CascadeReport(
        query,
        part,
        split,
        tuple(looks),
        tuple(rows),
        best,
        tuple(table for make in TABLES if (table := make(context)).lines),
        tuple(sentences.facts(context, found, part, learnt_on_dev=learn_from is not None)),
        tuple(sentences.guardrails(context, found)),
        figures.mean("competence", oracle, figures.competence, families, query.plan),
        by_system.systems(context),
    )


def _dev(query: CascadeQuery, split: Split | None, part: str) -> list[Dialogue] | None:
    """Return the dev part's scenarios, from which baselines learn when test is shown; None elsewhere."""
    if split is None or part != "test":
        return None
    clusters = splits.clusters(split=split, part="dev")
    return list(scenarios(row for row in of_part(query.corpus) if row.cluster in clusters).values())


def _row(group: Group, made: list[Decided], found: Material) -> Row:
    system, condition = group
    return Row(system, made, condition, is_fake=group in found.fakes)


def _best(others: Sequence[Row], families: figures.Families, query: CascadeQuery) -> Row:
    """Return the baseline with the highest mean competence over probed decisions, the first of equals."""

    def height(row: Row) -> float:
        result = figures.mean(
            "competence", figures.probed(row.decisions), figures.competence, families, query.plan
        )
        return -1.0 if result.value is None else result.value

    return max(others, key=height)
