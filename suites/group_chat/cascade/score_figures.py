"""Figures of a Cascade report, with intervals over families, and the rows and tables built from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from annotation.models import Corpus
from annotation.scenario_records import STAGES, CascadeSettings
from calibration.reports.kinds import CorpusQuery, Parameters
from calibration.statistics.core.engine import Result, finished
from calibration.statistics.core.ratings import Floats
from calibration.statistics.core.resampling import Plan, Resampling
from suites.group_chat.cascade.decisions import Decided
from suites.group_chat.cascade.people import Badge, People
from suites.group_chat.scenarios.agents import AGENTS
from suites.reports import Cell, Line, ReportRefused

# Query of a Cascade report, in the same words on the page, in the command and in the API.

SYSTEM, CONDITION = "system", "condition"
BY = (SYSTEM, CONDITION)
COMPETENCE, TURN_SCORE = "competence", "turn_score"
MOST_K = 64
USUAL_K = (1, 2, 4, 8)


@dataclass(frozen=True)
class CascadeQuery(CorpusQuery):
    """Query for a report on the decisions of a corpus.

    ``judges`` are the raters whose answers count beside the observed ones; ``by`` says whether a system has a
    row for each condition. ``k`` are the numbers of trials of pass^k. A trial succeeds where every probed
    decision has competence 1, or with ``success`` turn_score at least ``threshold``.
    """

    judges: tuple[str, ...] = ()
    by: tuple[str, ...] = BY
    k: tuple[int, ...] = USUAL_K
    success: str = COMPETENCE
    threshold: float = 1.0
    settings: CascadeSettings = field(default_factory=CascadeSettings)


def read(values: Mapping[str, Any], corpus: Corpus) -> CascadeQuery:
    """Return the query described by plain texts (from an address, a form or a command).

    Lists are separated by commas. Raises ReportRefused with a one-line message.
    """
    parameters = Parameters.of(values, ReportRefused)
    by = parameters.names("by") or BY
    if unknown := [entry for entry in by if entry not in BY]:
        raise ReportRefused(f"by: rows are by {' and '.join(BY)}, not by {unknown[0]!r}")
    success = parameters.text("success", COMPETENCE)
    if success not in (COMPETENCE, TURN_SCORE):
        raise ReportRefused(f"success is {COMPETENCE} or {TURN_SCORE}, not {success!r}")
    return CascadeQuery(
        corpus,
        judges=parameters.names("judge"),
        by=by,
        k=parameters.integers("k", MOST_K, least=1) or USUAL_K,
        success=success,
        threshold=parameters.number("threshold", 1, 0, 1),
        settings=_settings(parameters),
        part=parameters.part,
        plan=parameters.plan(),
        exclude=parameters.exclude(corpus),
    )


def _settings(parameters: Parameters) -> CascadeSettings:
    tau = parameters.number("tau", 0, 0, 1)
    thresholds = [parameters.number(f"tau_{stage}", tau, 0, 1) for stage in STAGES]
    attend, speak, address, ground, compose, conduct = thresholds
    return CascadeSettings((attend, speak, address, ground, compose, conduct), parameters.flag("jaccard"))


# Figures of a Cascade report, each with its interval over families.
#
# All figures are functions of sums over decisions, resampled by family with the same draws, so that
# differences between systems are paired. No figure mixes the three scores.

Weigh = Callable[[Decided], float | None]
"""A decision's contribution to a mean; None excludes the decision."""
FEW = "no such decision"


@dataclass(frozen=True)
class Families:
    """Codes of families, shared by all rows of a report so that all use the same resamples."""

    codes: dict[str, int]

    @classmethod
    def of(cls, decisions: Sequence[Decided]) -> Families:
        """Return the codes of the decisions' families."""
        return cls(
            {name: code for code, name in enumerate(sorted({decision.family for decision in decisions}))}
        )

    def summed(self, decisions: Sequence[Decided], rows: Floats, plan: Plan) -> tuple[Floats, Floats]:
        """Return the totals of rows (decisions x d) as 1 x d, and those of every resample of families."""
        return self.summed_by([decision.family for decision in decisions], rows, plan)

    def summed_by(self, names: Sequence[str], rows: Floats, plan: Plan) -> tuple[Floats, Floats]:
        """Return the same totals for rows with the given family names."""
        sums = np.zeros((len(self.codes), rows.shape[1]))
        np.add.at(sums, [self.codes[name] for name in names], rows)
        return sums.sum(axis=0)[None, :], _weights(len(self.codes), plan) @ sums


@lru_cache(maxsize=8)
def _weights(n: int, plan: Plan) -> Floats:
    """Return the draw counts of n families, resamples x n: the same for every figure of a report."""
    chunks = list(Resampling(plan, np.arange(n), n).chunks())
    return np.concatenate(chunks) if chunks else np.empty((0, n))


def family_mean(
    name: str, decisions: Sequence[Decided], weigh: Weigh, families: Families, plan: Plan, reason: str = FEW
) -> Result:
    """Return the mean contribution of the decisions that belong; undefined where none does."""
    return _ratio(name, decisions, _pairs(decisions, weigh), families, plan, reason)


def difference(
    name: str,
    decisions: Sequence[Decided],
    reference: Sequence[Decided],
    weigh: Weigh,
    families: Families,
    plan: Plan,
) -> Result:
    """Return the paired difference of means, decisions minus reference, on the same resamples of families."""
    first, second = _pairs(decisions, weigh), _pairs(reference, weigh)
    rows = np.zeros((len(decisions) + len(reference), 4))
    rows[: len(decisions), :2], rows[len(decisions) :, 2:] = first, second
    if not first[:, 0].any() or not second[:, 0].any():
        return Result(name, status="insufficient", reason=FEW)
    total, replicates = families.summed([*decisions, *reference], rows, plan)

    def compute(sums: Floats) -> Floats:
        return np.asarray(divided(sums[:, 1], sums[:, 0]) - divided(sums[:, 3], sums[:, 2]))

    counted = sum(bool(belongs) for belongs in first[:, 0])
    return finished(
        name,
        float(compute(total)[0]),
        compute(replicates),
        plan,
        n_items=counted,
        n_clusters=len(families.codes),
        method="difference of means on the same resamples",
    )


def _pairs(decisions: Sequence[Decided], weigh: Weigh) -> Floats:
    """Return (belongs, value) of each decision, n x 2."""
    rows = np.zeros((len(decisions), 2))
    for at, decision in enumerate(decisions):
        value = weigh(decision)
        if value is not None:
            rows[at] = 1.0, value
    return rows


def _ratio(
    name: str, decisions: Sequence[Decided], rows: Floats, families: Families, plan: Plan, reason: str
) -> Result:
    """Return sum of the second column / sum of the first."""
    if not rows[:, 0].any():
        return Result(name, status="insufficient", reason=reason)
    total, replicates = families.summed(decisions, rows, plan)
    present_families = {decision.family for decision, row in zip(decisions, rows, strict=True) if row[0]}
    return finished(
        name,
        float(total[0, 1] / total[0, 0]),
        divided(replicates[:, 1], replicates[:, 0]),
        plan,
        n_items=int(rows[:, 0].sum()),
        n_clusters=len(present_families),
        n_raters=1,
        method="mean over decisions",
    )


def divided(above: Floats, below: Floats) -> Floats:
    """Return the quotients, NaN where the denominator is 0."""
    return np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)


def probed(decisions: Sequence[Decided]) -> list[Decided]:
    """Return the decisions at points of at least one probe."""
    return [decision for decision in decisions if decision.is_probed]


def competence(decision: Decided) -> float | None:
    """Return a decision's competence, None while it waits for a judge."""
    return decision.result.competence


def stage_passed(stage: str, settings: CascadeSettings) -> Weigh:
    """Return 1 where a stage's score is above its threshold, 0 where not, None where it was not reached."""
    tau = settings.tau[STAGES.index(stage)]

    def weigh(decision: Decided) -> float | None:
        score = decision.result.stages[stage].score
        return None if score is None else float(score > tau)

    return weigh


def funnel(decisions: Sequence[Decided], settings: CascadeSettings) -> dict[str, int]:
    """Return the number of decisions that reach each stage.

    Decisions stop at a hard failure; unreadable replies are left out.
    """
    reached = dict.fromkeys(STAGES, 0)
    for decision in (decision for decision in decisions if decision.is_read):
        for stage, tau in zip(STAGES, settings.tau, strict=True):
            reached[stage] += 1
            score = decision.result.stages[stage].score
            if score is not None and score <= tau:
                break
    return reached


def failures(decisions: Sequence[Decided]) -> Counter[str]:
    """Return the number of decisions by first failed stage, `none`, or '' (waiting for a judge)."""
    return Counter(decision.result.failed_at or "" for decision in decisions)


def failed_at(stage: str) -> Weigh:
    """Return 1 where a decision failed first at a stage, 0 where it did not or still waits for a judge."""
    return lambda decision: float(decision.result.failed_at == stage)


def is_right(stage: str) -> Weigh:
    """Return 1 or 0 for whether a decision's act, attention or addressees agree with the key.

    `speak`: the key scores the act 1. `attend`: the stage's score. `addressed`: the declared addressees meet
    the key, whatever the act.
    """

    def speak(decision: Decided) -> float | None:
        return float(decision.key.speak.get(decision.act, 0.0) == 1) if decision.is_read else 0.0

    def attend(decision: Decided) -> float | None:
        return float(decision.attended or 0)

    def addressed(decision: Decided) -> float | None:
        return None if decision.addressed is None else float(decision.addressed)

    return {"speak": speak, "attend": attend, "addressed": addressed}[stage]


# Building blocks of the tables: rows, and lines of means beside the best baseline.

WAITS = "waits for a judge"
NOT_ASKED = "no key asks this, or nothing was declared"


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
        """The system, with its condition in brackets where rows differ by condition."""
        return f"{self.system} ({self.condition})" if self.condition else self.system


class Column(NamedTuple):
    """A column of means: its head, its decisions, their contributions, and the reason for a missing mean."""

    head: str
    select: Callable[[Row], Sequence[Decided]]
    weigh: Weigh
    reason: str = FEW


@dataclass(frozen=True)
class Context:
    """Data of the tables. ``best`` is the best baseline, which is in every table.

    ``probed`` is the number of probed points of each scenario, ``scenarios`` their ids in the corpus.
    """

    query: CascadeQuery
    families: Families
    rows: Sequence[Row]
    baselines: Sequence[Row]
    best: Row
    judges: tuple[str, ...] = ()
    badges: tuple[Badge, ...] = ()
    people: People = field(default_factory=People)
    probed: dict[int, int] = field(default_factory=dict)
    scenarios: dict[int, str] = field(default_factory=dict)

    def all(self) -> list[Row]:
        """Return the systems and then the best baseline."""
        return [*self.rows, self.best]

    def mean(self, name: str, decisions: Sequence[Decided], weigh: Weigh, reason: str = "") -> Result:
        """Return a mean with its interval over families."""
        plan = self.query.plan
        return family_mean(name, decisions, weigh, self.families, plan, reason or FEW)

    def lines(self, cells: Callable[[Row], tuple[Cell, ...]]) -> tuple[Line, ...]:
        """Return a line for each row."""
        return tuple(Line(label(row), cells(row), row.is_baseline) for row in self.all())

    def means(self, columns: Sequence[Column], baselines: Sequence[Row] = ()) -> tuple[Line, ...]:
        """Return a line of means for each system, followed by the paired difference from the best baseline.

        Then come the ``baselines``, or only the best one.
        """
        lines: list[Line] = []
        for row in (*self.rows, *(baselines or [self.best])):
            cells = tuple(
                self.mean(column.head, column.select(row), column.weigh, column.reason) for column in columns
            )
            lines.append(Line(label(row), cells, row.is_baseline))
            if not row.is_baseline:
                beyond = tuple(
                    self.beyond(column.select(row), column.select(self.best), column.weigh)
                    for column in columns
                )
                lines.append(Line(self.less(row), beyond))
        return tuple(lines)

    def beyond(self, decisions: Sequence[Decided], reference: Sequence[Decided], weigh: Weigh) -> Result:
        """Return the paired difference of two means."""
        return difference("difference", decisions, reference, weigh, self.families, self.query.plan)

    def less(self, row: Row) -> str:
        """Return the label of a row's differences from the best baseline."""
        return f"{label(row)}, minus {self.best.name}"


def label(row: Row) -> str:
    """Return the label of a row, which marks baselines and fake models."""
    if row.is_baseline:
        return f"baseline: {row.name}"
    return f"{row.name} (fake model)" if row.is_fake else row.name


def copies(row: Row, query: CascadeQuery) -> int:
    """Return the weight of a row's trials: the largest k for a baseline without chance, else 1."""
    fixed = row.is_baseline and not AGENTS[row.name].varies
    return max(query.k) if fixed else 1
