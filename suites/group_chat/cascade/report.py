"""The Cascade report: from a query to its tables, in page order, with their sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from django.contrib.auth.models import User

from annotation.corpora import splits
from annotation.models import Split, TestLook
from annotation.records import Dialogue
from annotation.scenario_records import PROBES, STAGES, VISIBLE
from annotation.text.display import number
from calibration.reports import kinds
from calibration.reports.kinds import log_look
from calibration.reports.wording import counted
from calibration.statistics.core.engine import Result
from suites.group_chat.answer_keys import scenarios
from suites.group_chat.cascade import people, score_figures, score_tables
from suites.group_chat.cascade.decisions import (
    Decided,
    Group,
    Material,
    baselines,
    material,
    of_part,
    raters_named,
)
from suites.group_chat.cascade.people import NOT_CALIBRATED, badges
from suites.group_chat.cascade.score_figures import (
    CONDITION,
    NOT_ASKED,
    WAITS,
    CascadeQuery,
    Context,
    Row,
    copies,
    label,
)
from suites.group_chat.cascade.score_tables import (
    DIMENSIONS_BUT_LEAK,
    UNRATED,
    Reliability,
    canary,
    judge_score,
    of_kind,
    panel,
    pass_difference,
    reached,
    reliability,
)
from suites.group_chat.cascade.verdicts import RowVerdict, row_verdicts
from suites.group_chat.cascade.verdicts import table as verdict_table
from suites.group_chat.scenarios.agents import AGENTS
from suites.reports import Cell, Line, ReportPart, ReportRefused, Table, interval, report_part

# Figures of a report by system, for programs, under fixed names.


def figures_by_system(context: Context) -> tuple[dict[str, Any], ...]:
    """Return the three scores of every system and baseline, with the stages, probes and restraint.

    Every figure is {"value", "low", "high", "n", "reason"}; the three scores are never combined.
    """
    return tuple(_system_figures(context, row) for row in (*context.rows, *context.baselines))


def _system_figures(context: Context, row: Row) -> dict[str, Any]:
    probed = score_figures.probed(row.decisions)
    query = context.query
    reached_decisions = [decision for decision in row.decisions if reached(decision)]
    scores = reliability(row.decisions, query, context.probed, copies(row, query))

    def mean(
        name: str, decisions: Sequence[Decided], weigh: score_figures.Weigh, reason: str = ""
    ) -> dict[str, Any]:
        return figure(context.mean(name, decisions, weigh, reason))

    return {
        "system": row.system,
        "condition": row.condition,
        "baseline": row.is_baseline,
        "competence": mean("competence", probed, score_figures.competence, WAITS),
        "conduct": {
            dimension: mean(dimension, row.decisions, judge_score(dimension), UNRATED)
            for dimension in DIMENSIONS_BUT_LEAK
        },
        "leak_rate": {
            "reached": mean("leaks", reached_decisions, canary, "no decision about a secret reached CONDUCT"),
            "all": mean("leaks", row.decisions, canary, "no decision about a secret"),
        },
        "pass_hat": {str(k): figure(result) for k, result in scores.pass_hat.items()},
        "stages": {
            stage: mean(stage, probed, score_figures.stage_passed(stage, query.settings)) for stage in STAGES
        },
        "probes": {
            kind: {
                "probe": mean(kind, of_kind(row, kind, control=False), score_figures.competence),
                "control": mean(kind, of_kind(row, kind, control=True), score_figures.competence),
            }
            for kind in PROBES
        },
        "restraint": {
            name: figure(result)
            for name, result in panel(row.decisions, context.families, query.plan).items()
        },
    }


def figure(result: Result) -> dict[str, Any]:
    """Return a figure with its interval and n; `reason` explains a missing value."""
    return {
        "value": result.value,
        "low": result.low,
        "high": result.high,
        "n": result.n_items,
        "reason": result.reason,
    }


# Sentences of a Cascade report about its basis and its limits.

# Tables of people's answers in the agent's place: the human ceiling, and keys for adjudication.

MAJORITY, CHANCE = "majority", "random"
TITLES = {
    "attend": "Is it for the agent",
    "speak": "What to do",
    "addressed": "Whom the message is for",
    "target": "Whom to speak to",
}


def people_table(context: Context) -> Table:
    """Return the human ceiling: how often people meet the keys, beside majority and chance."""
    baselines = {row.name: row.decisions for row in context.baselines}

    def cells(question: str) -> tuple[Cell, ...]:
        others: list[Cell] = ["–", "–"]
        if question in ("attend", "speak", "addressed"):
            weigh = score_figures.is_right(question)
            others = [
                context.mean(question, baselines.get(name, []), weigh, NOT_ASKED)
                for name in (MAJORITY, CHANCE)
            ]
        return (context.people.agreement[question], *others)

    lines = tuple(Line(TITLES[question], cells(question)) for question in context.people.agreement)
    return Table(
        "people",
        f"People in the agent's place ({context.people.raters}), against the key",
        ("People", "Majority baseline", "Chance"),
        lines,
        ("What people reach is the ceiling: where they miss it together, look at the key.",) if lines else (),
    )


def contradicted(context: Context) -> Table:
    """Return the keys that most of at least three people contradict, for adjudication."""
    lines = tuple(
        Line(
            f"{entry.scenario}, turn {entry.point}: {entry.question}",
            (entry.key, entry.answer, f"{entry.n_answer} of {entry.n_people}"),
        )
        for entry in context.people.contradicted
    )
    return Table(
        "contradicted",
        "Keys that most people contradict",
        ("The key says", "Most of those who differ say", "People"),
        lines,
        ("Decide on these with people before the set is used: a corrected key is another rater.",),
    )


SENTENCE_TABLES: tuple[Callable[[Context], Table], ...] = (people_table, contradicted)


def report_facts(context: Context, source: Material, part: str, *, learnt_on_dev: bool) -> Iterator[str]:
    """Yield the facts about a report's data, in sentences."""
    if excluded := context.query.left_out():
        yield excluded["sentence"]
    scenarios = list(source.scenarios.values())
    families = {scenario.cluster for scenario in scenarios}
    yield (
        f"{counted(len(scenarios), 'scenario')} of {counted(len(families), 'family', 'families')}"
        f"{'' if part == 'all' else f', the {part} part'}; intervals are over families."
    )
    trials = [len({decision.trial for decision in row.decisions}) for row in context.rows]
    if trials:
        yield (
            f"Trials of each system: {min(trials)} to {max(trials)}."
            if min(trials) < max(trials)
            else (f"Trials of each system: {trials[0]}.")
        )
    else:
        yield "No system has decided at the points of these scenarios yet: the baselines stand alone."
    people_table = fmean(len(scenario.participants) - 1 for scenario in scenarios)
    yield f"On average {number(people_table, 1)} people beside the agent."
    yield (
        "Baselines that learn from keys learnt from the dev part."
        if learnt_on_dev
        else "Baselines that learn from keys learnt from all families but the scored one."
    )
    for judge in context.judges:
        own = [badge for badge in context.badges if badge.judge.title == judge]
        if doubtful := [badge.dimension for badge in own if badge.stands]:
            yield (
                f"{NOT_CALIBRATED.capitalize()}: {judge} on {', '.join(doubtful)}. Its numbers of conduct "
                "are no result before a study compares them with people."
            )
    if not context.judges:
        yield "No judge is named: what needs one is missing, and conduct rests on canaries and rules."


def report_guardrails(context: Context, source: Material) -> Iterator[str]:
    """Yield the limits that are printed with every report."""
    yield "Synthetic talk: these are scripted scenarios, written for the purpose, and not people's own chats."
    natural = context.people.natural
    yield (
        "Naturalness: nobody has rated yet whether these scripts could be real chats."
        if natural.value is None
        else f"Naturalness: people rate these scripts at {number(natural.value)} of 5 "
        f"({interval(natural) or 'no interval'}), over {natural.n_items:,} scripts."
    )
    yield "The rubrics follow norms of English-speaking chats; other groups may find other conduct right."
    yield "Scores by a judge depend on that judge: read them with its agreement with people."
    yield "The three scores are never averaged: each fails in its own way."
    yield "Reliability is pass^k; pass@k, in grey, does not measure it."
    visible = sum(
        scenario.scenario.addressees == VISIBLE for scenario in source.scenarios.values() if scenario.scenario
    )
    if visible:
        yield (
            f"Addressees shown: in {visible:,} of {len(source.scenarios):,} scenarios the channel marks to "
            "whom a message is addressed, so ATTEND and ADDRESS can be read off the mark."
        )
    single_keyed = sum(
        len(scenario.scenario.keyed_by) < 2 for scenario in source.scenarios.values() if scenario.scenario
    )
    if single_keyed:
        of = f"{single_keyed:,} of {len(source.scenarios):,}"
        yield f"Author's key: in {of} scenarios fewer than two people agreed the keys."
    if context.people.contradicted:
        yield f"Most people contradict {len(context.people.contradicted):,} keys: decide on them first."
    if any(decision.mode == "implicit" for row in context.rows for decision in row.decisions):
        yield (
            "In implicit mode whoever is named in a message counts as its target, also where a name is only "
            "a topic: this rule errs there."
        )


# From a query to a Cascade report: its tables, in the order of the page.

# Reliability: pass^k over scenarios.


def reliability_table(context: Context) -> Table:
    """Return score 3: pass^k over scenarios, with pass@k, and bounds for undecided trials."""
    query = context.query
    scored_rows = [
        (row, reliability(row.decisions, query, context.probed, copies(row, query))) for row in context.all()
    ]
    best = scored_rows[-1][1]
    ks = sorted({k for row, scores in scored_rows if not row.is_baseline for k in scores.pass_hat}) or [1]
    lines = []
    for row, scores in scored_rows:
        hat: list[Cell] = [scores.pass_hat.get(k, "–") for k in ks]
        at: list[Cell] = [scores.pass_at.get(k, "–") for k in ks]
        trials = "the same each time" if copies(row, query) > 1 else scores.fewest
        cells = (len(scores.trials), trials, scores.undecided, *hat, *at)
        lines.append(Line(label(row), cells, row.is_baseline))
        if not row.is_baseline:
            beyond: list[Cell] = [pass_difference(scores, best, k, context.families, query.plan) for k in ks]
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
            *(sentence for row, scores in scored_rows for sentence in _bounds(row, scores)),
        ),
    )


def _bounds(row: Row, scores: Reliability) -> list[str]:
    return [
        f"{label(row)}: pass^{k} lies between {number(scores.low[k])} and {number(scores.high[k])}, as the "
        f"{scores.undecided} undecided trials fail or succeed."
        for k in scores.low
    ]


ORACLE = "oracle"
TABLES: tuple[Callable[[score_figures.Context], Table], ...] = (
    score_tables.competence,
    *score_tables.CONDUCT_TABLES,
    reliability_table,
    *score_tables.COMPETENCE_TABLES,
    *SENTENCE_TABLES,
)
"""Tables below the verdicts, in page order. None has a number that mixes the three scores."""


@dataclass(frozen=True)
class CascadeReport:
    """A report: its tables, the sentences about its data, and the guardrails shown with it.

    ``oracle`` is the oracle's competence at all scored points: a value other than 1 is an error in the set.
    ``verdicts`` are those of the systems, then the best baseline; ``systems`` are the figures by system
    (`figures_by_system`).
    """

    query: CascadeQuery
    part: str
    split: Split | None
    looks: tuple[TestLook, ...]
    rows: tuple[Row, ...]
    best: Row
    verdicts: tuple[RowVerdict, ...]
    tables: tuple[Table, ...]
    facts: tuple[str, ...]
    guardrails: tuple[str, ...]
    oracle: Result
    systems: tuple[dict[str, Any], ...] = ()
    excluded: dict[str, Any] | None = None


def compute(*, query: CascadeQuery, by: User | None) -> CascadeReport:
    """Return the report of a query, which fixes a split, as does every look at labels.

    Raises ReportRefused, with a one-line message, where there is no report, and for an unopened test part.
    """
    part = report_part(query, by, lambda: raters_named(query.corpus, query.judges))
    source = material(
        query.corpus,
        part.clusters,
        by_condition=CONDITION in query.by,
        judges=part.judges,
        settings=query.settings,
        scenario_part=part.name,
        excluded=frozenset(query.scope.excluded),
    )
    if not source.scenarios:
        raise ReportRefused(f"the corpus {query.corpus.name} has no scenarios in the {part.name} part")
    return _report(query, source, part)


def compute_on_test(*, query: CascadeQuery, by: User | None, purpose: str) -> CascadeReport:
    """Log a look at test and return its report; if the report fails, no look is logged."""
    return kinds.compute_on_test(compute, open_test, query=query, by=by, purpose=purpose)


def open_test(*, query: CascadeQuery, by: User | None, purpose: str) -> TestLook:
    """Log a look at test, with the user and the purpose; its report can then be computed."""
    return log_look(
        query=query,
        raters=lambda: raters_named(query.corpus, query.judges),
        by=by,
        purpose=purpose,
        refusal=ReportRefused,
    )


def _report(query: CascadeQuery, source: Material, part: ReportPart) -> CascadeReport:
    learn_from = _dev(query, part)
    modes = set(source.modes.values())
    mode = modes.pop() if len(modes) == 1 else "explicit"
    played = baselines(source, learn_from, mode, query.settings)
    oracle = played.pop(ORACLE)
    families = score_figures.Families.of(oracle)
    rows = [_row(group, decisions, source) for group, decisions in source.groups.items() if decisions]
    others = [Row(AGENTS[key].key, decisions, is_baseline=True) for key, decisions in played.items()]
    best = _best(others, families, query)
    items = [decision.item for row in rows for decision in row.decisions if decision.item is not None]
    context = score_figures.Context(
        query,
        families,
        tuple(rows),
        tuple(others),
        best,
        judges=tuple(judge.title for judge in part.judges),
        badges=badges(query.corpus, part.judges),
        people=people.read(source.scenarios, items, query.plan),
        probed=Counter(decision.scenario for decision in score_figures.probed(oracle)),
        scenarios={pk: scenario.id for pk, scenario in source.scenarios.items()},
    )
    verdicts = row_verdicts(context)
    tables = [verdict_table(verdicts, context.judges), *(make(context) for make in TABLES)]
    return CascadeReport(
        query,
        part.name,
        part.split,
        part.looks,
        tuple(rows),
        best,
        verdicts,
        tuple(table for table in tables if table.lines),
        tuple(report_facts(context, source, part.name, learnt_on_dev=learn_from is not None)),
        tuple(report_guardrails(context, source)),
        score_figures.family_mean("competence", oracle, score_figures.competence, families, query.plan),
        figures_by_system(context),
        query.left_out(),
    )


def _dev(query: CascadeQuery, part: ReportPart) -> list[Dialogue] | None:
    """Return dev's scenarios, from which baselines learn for a report on test; None for other reports."""
    if part.split is None or part.name != "test":
        return None
    clusters = splits.clusters(split=part.split, part="dev")
    excluded = frozenset(query.scope.excluded)
    rows = (row for row in of_part(query.corpus) if row.cluster in clusters and row.pk not in excluded)
    return list(scenarios(rows).values())


def _row(group: Group, decisions: list[Decided], source: Material) -> Row:
    system, condition = group
    return Row(system, decisions, condition, is_fake=group in source.fakes)


def _best(others: Sequence[Row], families: score_figures.Families, query: CascadeQuery) -> Row:
    """Return the baseline with the highest mean competence over probed decisions, the first of equals."""

    def height(row: Row) -> float:
        result = score_figures.family_mean(
            "competence", score_figures.probed(row.decisions), score_figures.competence, families, query.plan
        )
        return -1.0 if result.value is None else result.value

    return max(others, key=height)
