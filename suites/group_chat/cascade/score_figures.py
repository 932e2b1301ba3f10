"""Figures of a Cascade report, each with its interval over families, and the rows and tables made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from annotation.errors import SplitRefused
from annotation.models import Corpus, Split
from annotation.scenario_records import STAGES, CascadeSettings
from annotation.text.display import number
from calibration.errors import CascadeRefused
from calibration.ratings.scope import PARTS, scope_of, shown_part
from calibration.statistics.core.engine import Result, finished
from calibration.statistics.core.ratings import Floats
from calibration.statistics.core.resampling import Plan, Resampling
from suites.group_chat.cascade.decisions import Decided
from suites.group_chat.cascade.people import Badge, People
from suites.group_chat.scenarios.agents import AGENTS

# What a Cascade report is asked for, in the same words by page, command and API.

SYSTEM, CONDITION = "system", "condition"
BY = (SYSTEM, CONDITION)
COMPETENCE, TURN_SCORE = "competence", "turn_score"
MOST_K, MOST_RESAMPLES = 64, 20_000
USUAL_K = (1, 2, 4, 8)


@dataclass(frozen=True)
class CascadeQuery:
    """A question put to the decisions of a corpus.

    ``judges`` name the raters whose answers count beside what is observed; ``by`` says whether a system has a
    row for each condition. ``k`` are the numbers of trials of pass^k. A trial succeeds where every probed
    decision has competence 1, or with ``success`` turn_score at least ``threshold``.
    """

    corpus: Corpus
    judges: tuple[str, ...] = ()
    by: tuple[str, ...] = BY
    k: tuple[int, ...] = USUAL_K
    success: str = COMPETENCE
    threshold: float = 1.0
    settings: CascadeSettings = field(default_factory=CascadeSettings)
    part: str = ""
    plan: Plan = field(default_factory=Plan)


def read(values: Mapping[str, Any], corpus: Corpus) -> CascadeQuery:
    """Return the query that plain texts (of an address, a form, a command) ask for.

    Lists are separated by commas. Raises CascadeRefused with one clear line.
    """
    text = {key: str(value).strip() for key, value in values.items() if value is not None}
    by = _list(text.get("by", "")) or BY
    if unknown := [entry for entry in by if entry not in BY]:
        raise CascadeRefused(f"by: rows are by {' and '.join(BY)}, not by {unknown[0]!r}")
    success = text.get("success") or COMPETENCE
    if success not in (COMPETENCE, TURN_SCORE):
        raise CascadeRefused(f"success is {COMPETENCE} or {TURN_SCORE}, not {success!r}")
    part = text.get("part", "")
    if part not in PARTS:
        raise CascadeRefused(f"a part is dev, test, all or training, not {part!r}")
    k = tuple(sorted({_integer("k", entry, 1, MOST_K) for entry in _list(text.get("k", ""))})) or USUAL_K
    resamples = _integer("resamples", text.get("resamples") or "2000", 0, MOST_RESAMPLES)
    seed = _integer("seed", text.get("seed") or "0", 0, 2**31)
    return CascadeQuery(
        corpus,
        judges=_list(text.get("judge", "")),
        by=by,
        k=k,
        success=success,
        threshold=_share("threshold", text.get("threshold") or "1"),
        settings=_settings(text),
        part=part,
        plan=Plan(resamples, seed),
    )


def part_of(query: CascadeQuery) -> tuple[Split | None, str]:
    """Return the split that locks the corpus and the part to show: dev unless test or training is asked for.

    Raises CascadeRefused for test before it was opened, and for a part that there is not.
    """
    try:
        return shown_part(scope_of(query.corpus, None, query.part), query.part)
    except SplitRefused as error:
        raise CascadeRefused(str(error)) from error


def _settings(text: Mapping[str, str]) -> CascadeSettings:
    tau = _share("tau", text.get("tau") or "0")
    thresholds = [_share(f"tau_{stage}", text.get(f"tau_{stage}") or str(tau)) for stage in STAGES]
    attend, speak, address, ground, compose, conduct = thresholds
    jaccard = text.get("jaccard", "").lower() in ("1", "yes", "true", "on")
    return CascadeSettings((attend, speak, address, ground, compose, conduct), jaccard)


def _list(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _integer(name: str, text: str, least: int, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 12 and least <= int(text) <= most):
        raise CascadeRefused(f"{name}: a whole number from {least} to {most:,}, not {text!r}")
    return int(text)


def _share(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise CascadeRefused(f"{name}: a number from 0 to 1, not {text!r}")
    return value


# A report as tables of figures and words, which every form shows alike.

Cell: TypeAlias = "Result | str | int"
"""A figure with its interval, words, or a count."""


@dataclass(frozen=True)
class Line:
    """A row of a table: its name, its cells, and whether it is a baseline's, which stands in grey."""

    name: str
    cells: tuple[Cell, ...]
    is_baseline: bool = False


@dataclass(frozen=True)
class Table:
    """A table: its key in files, its title, the heads of its columns after the name, and notes below it."""

    key: str
    title: str
    heads: tuple[str, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = field(default=())


def cell_text(cell: Cell) -> str:
    """Return a cell as people read it: a value with its interval and n, or why there is none."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return f"{cell:,}"
    if cell.value is None:
        return number(None)
    return " ".join(part for part in (number(cell.value), interval(cell), f"n {cell.n_items:,}") if part)


def interval(result: Result) -> str:
    """Return an interval in brackets, '' where there is none."""
    if result.low is None or result.high is None:
        return ""
    return f"[{number(result.low)}, {number(result.high)}]"


def reasons(tables: Sequence[Table]) -> list[str]:
    """Return the reasons why figures are undefined, each once, in order."""
    unique = {
        f"{line.name}, {head}: {cell.reason}": None
        for table in tables
        for line in table.lines
        for head, cell in zip(table.heads, line.cells, strict=True)
        if isinstance(cell, Result) and cell.value is None
    }
    return list(unique)


def flags(tables: Sequence[Table]) -> list[str]:
    """Return the flags of all figures, each once, in order."""
    unique = {
        flag: None
        for table in tables
        for line in table.lines
        for cell in line.cells
        if isinstance(cell, Result)
        for flag in cell.flags
    }
    return list(unique)


# The figures of a Cascade report, each with its interval over families.
#
# All figures are functions of sums over decisions, resampled by family with the same draws, so that
# differences between systems are paired. `group_chat.md`, section 7. No figure mixes the three scores.

Weigh = Callable[[Decided], float | None]
"""What a decision adds to a mean; None where it does not belong."""
FEW = "no such decision"


@dataclass(frozen=True)
class Families:
    """The codes of families, shared by all rows of a report so that all see the same resamples."""

    codes: dict[str, int]

    @classmethod
    def of(cls, decisions: Sequence[Decided]) -> Families:
        """Return the codes of the families that decisions are of."""
        return cls(
            {name: code for code, name in enumerate(sorted({decision.family for decision in decisions}))}
        )

    def summed(self, decisions: Sequence[Decided], rows: Floats, plan: Plan) -> tuple[Floats, Floats]:
        """Return the totals of rows (decisions x d) as 1 x d, and those of every resample of families."""
        return self.summed_by([decision.family for decision in decisions], rows, plan)

    def summed_by(self, names: Sequence[str], rows: Floats, plan: Plan) -> tuple[Floats, Floats]:
        """Return the same of rows whose families are named."""
        sums = np.zeros((len(self.codes), rows.shape[1]))
        np.add.at(sums, [self.codes[name] for name in names], rows)
        return sums.sum(axis=0)[None, :], _weights(len(self.codes), plan) @ sums


@lru_cache(maxsize=8)
def _weights(n: int, plan: Plan) -> Floats:
    """Return how often each of n families is drawn, resamples x n: the same for every figure of a report."""
    chunks = list(Resampling(plan, np.arange(n), n).chunks())
    return np.concatenate(chunks) if chunks else np.empty((0, n))


def family_mean(
    name: str, decisions: Sequence[Decided], weigh: Weigh, families: Families, plan: Plan, reason: str = FEW
) -> Result:
    """Return the mean of what decisions add, over those that belong; undefined where none does."""
    return _ratio(name, decisions, _pairs(decisions, weigh), families, plan, reason)


def difference(
    name: str,
    decisions: Sequence[Decided],
    reference: Sequence[Decided],
    weigh: Weigh,
    families: Families,
    plan: Plan,
) -> Result:
    """Paired difference of two means, decisions minus reference, on the same resamples of families."""
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
    """Return quotients, NaN where nothing is below."""
    return np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)


def probed(decisions: Sequence[Decided]) -> list[Decided]:
    """Return the decisions at points of at least one probe."""
    return [decision for decision in decisions if decision.is_probed]


def competence(decision: Decided) -> float | None:
    """Return a decision's competence, None while a judge is waited for."""
    return decision.result.competence


def stage_passed(stage: str, settings: CascadeSettings) -> Weigh:
    """Return 1 where a stage's score is above its threshold, 0 where not, None where it was not reached."""
    tau = settings.tau[STAGES.index(stage)]

    def weigh(decision: Decided) -> float | None:
        score = decision.result.stages[stage].score
        return None if score is None else float(score > tau)

    return weigh


def funnel(decisions: Sequence[Decided], settings: CascadeSettings) -> dict[str, int]:
    """Return how many decisions reach each stage: nothing failed hard before it, and the reply was read."""
    reached = dict.fromkeys(STAGES, 0)
    for decision in (decision for decision in decisions if decision.is_read):
        for stage, tau in zip(STAGES, settings.tau, strict=True):
            reached[stage] += 1
            score = decision.result.stages[stage].score
            if score is not None and score <= tau:
                break
    return reached


def failures(decisions: Sequence[Decided]) -> Counter[str]:
    """Return how many decisions failed first at each stage, at `none`, or at '' (a judge is waited for)."""
    return Counter(decision.result.failed_at or "" for decision in decisions)


def failed_at(stage: str) -> Weigh:
    """Return 1 where a decision failed first at a stage, 0 where it did not or a judge is waited for."""
    return lambda decision: float(decision.result.failed_at == stage)


def is_right(stage: str) -> Weigh:
    """Return 1 or 0 for a decision whose act, attention or addressees are those of the key.

    `speak`: the act is one that the key scores 1. `attend`: the stage's score. `addressed`: the declared
    addressees meet the key, whatever the act.
    """

    def speak(decision: Decided) -> float | None:
        return float(decision.key.speak.get(decision.act, 0.0) == 1) if decision.is_read else 0.0

    def attend(decision: Decided) -> float | None:
        return float(decision.attended or 0)

    def addressed(decision: Decided) -> float | None:
        return None if decision.addressed is None else float(decision.addressed)

    return {"speak": speak, "attend": attend, "addressed": addressed}[stage]


# What the tables of a Cascade report are made of: its rows, and lines of means beside the best baseline.

WAITS = "waits for a judge"
NOT_ASKED = "no key asks this, or nothing was declared"


class Rows(Protocol):
    """A system under a condition, or a baseline, with its decisions."""

    @property
    def name(self) -> str: ...

    @property
    def system(self) -> str: ...

    @property
    def condition(self) -> str: ...

    @property
    def decisions(self) -> list[Decided]: ...

    @property
    def is_baseline(self) -> bool: ...

    @property
    def is_fake(self) -> bool: ...


class Column(NamedTuple):
    """A column of means: its head, which decisions it is over, what each adds, why there may be none."""

    head: str
    select: Callable[[Rows], Sequence[Decided]]
    weigh: Weigh
    reason: str = FEW


@dataclass(frozen=True)
class Context:
    """What the tables are made of. ``best`` is the best baseline, which stands in every table.

    ``probed`` is the number of probed points of each scenario.
    """

    query: CascadeQuery
    families: Families
    rows: Sequence[Rows]
    baselines: Sequence[Rows]
    best: Rows
    judges: tuple[str, ...] = ()
    badges: tuple[Badge, ...] = ()
    people: People = field(default_factory=People)
    probed: dict[int, int] = field(default_factory=dict)

    def all(self) -> list[Rows]:
        """Return the systems and then the best baseline."""
        return [*self.rows, self.best]

    def mean(self, name: str, decisions: Sequence[Decided], weigh: Weigh, reason: str = "") -> Result:
        """Return a mean with its interval over families."""
        plan = self.query.plan
        return family_mean(name, decisions, weigh, self.families, plan, reason or FEW)

    def lines(self, cells: Callable[[Rows], tuple[Cell, ...]]) -> tuple[Line, ...]:
        """Return a line for each row."""
        return tuple(Line(label(row), cells(row), row.is_baseline) for row in self.all())

    def means(self, columns: Sequence[Column], baselines: Sequence[Rows] = ()) -> tuple[Line, ...]:
        """Return a line of means for each system, under it the paired difference from the best baseline.

        Then come the ``baselines``, or the best alone.
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

    def less(self, row: Rows) -> str:
        """Return how the line of a row's differences from the best baseline is called."""
        return f"{label(row)}, minus {self.best.name}"


def label(row: Rows) -> str:
    """Return how a row is called: a baseline says that it is one."""
    if row.is_baseline:
        return f"baseline: {row.name}"
    return f"{row.name} (fake model)" if row.is_fake else row.name


def copies(row: Rows, query: CascadeQuery) -> int:
    """Return how often a row's trials count: those of an agent without chance as often as is asked for."""
    fixed = row.is_baseline and not AGENTS[row.name].varies
    return max(query.k) if fixed else 1
