"""Continuations of one context side by side: what metrics say of each, how far they differ, and why.

No column is the standard. Values are of single turns or conversations, so nothing has an interval here: the
profile has the means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation.kinds import KINDS
from annotation.models import Dialogue, Label
from annotation.models.turn_numbers import of_continuations
from calibration.errors import CompareRefused
from calibration.profiles.causes import Line, Telling, metric_labels
from calibration.profiles.contexts import Answer, Choice, Context, Wanted, choose, contexts
from calibration.profiles.summary import Column as MetricColumn
from config.files import row_id
from judges.metrics import METRICS, Aspect, aspects
from judges.metrics.kit.base import PAPER
from judges.runs.material import load

NOT_SCORED = "this metric was not run on it"
NO_CONVERSATION = "its turns are answers to fixed points, not one conversation"
MOST_LINES = 200
"""Turns shown of a context (the last ones) and of a continuation (the first ones)."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A metric's value of one column, or why it has none, and what caused it.

    `difference` is the value less that of the column compared with: None in that column, for categories, and
    where either value is missing. `leads` are the turns that the causes speak of: number and anchor.
    """

    value: float | str | None
    missing: str = ""
    difference: float | None = None
    causes: tuple[str, ...] = ()
    leads: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A metric's rater with its cells, in the order of the columns."""

    metric: MetricColumn
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """The metrics of one aspect on one kind of item."""

    kind: str
    aspect: Aspect
    rows: tuple[Row, ...]

    @property
    def title(self) -> str:
        """The section's heading."""
        return f"{KINDS[self.kind].heading}: {self.aspect.heading.lower()}"


@dataclass(frozen=True, slots=True)
class Column:
    """A continuation: its turn that continues the context, and of a rollout the turns after it.

    `n_rest` counts all of those, `rest` has the first MOST_LINES. `anchor` is where the turn stands on the
    page of the continuation's own values. `scored` says whether any metric has a label here.
    """

    answer: Answer
    line: Line
    rest: tuple[Line, ...]
    n_rest: int
    scored: bool

    @property
    def condition(self) -> str:
        """Its condition in words, with its trial where there are several; empty where nothing is known."""
        part = self.answer.continuation
        told = [f"{key} {value}".replace("_", " ") for key, value in part.condition.items()]
        return " · ".join([*told, *([f"trial {part.trial}"] if part.trial else [])])


@dataclass(frozen=True)
class Comparison:
    """Everything of one page: the context, the columns, and the rows in their sections.

    `context` has the last MOST_LINES turns of `n_context`. `found` are all contexts of the dialogue, and
    `metrics` the names of all metrics that scored a column, by the rater's id.
    """

    dialogue: Dialogue
    chosen: Choice
    found: tuple[Context, ...]
    context: tuple[Line, ...]
    n_context: int
    columns: tuple[Column, ...]
    sections: tuple[Section, ...]
    metrics: Mapping[int, str]

    @property
    def against(self) -> Column:
        """The column that others are compared with."""
        return self.columns[self.chosen.against]

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows, in the order of the sections."""
        return tuple(row for section in self.sections for row in section.rows)

    @property
    def anchors(self) -> frozenset[str]:
        """The anchors of the context's turns, which all columns share."""
        return frozenset(line.anchor for line in self.context)


def compare(dialogue: Dialogue, wanted: Wanted) -> Comparison:
    """Put continuations of a dialogue side by side; raise CompareRefused where none share a context.

    The number of queries grows neither with columns nor with labels.
    """
    found = contexts(dialogue)
    chosen = choose(dialogue.key, found, wanted)
    answers = chosen.answers
    ids = list(dict.fromkeys(answer.continuation.pk for answer in answers))
    material, numbers = load(ids), of_continuations(ids)
    told = {pk: Telling(material[pk], numbers[pk]) for pk in ids}
    labels = _by_place(metric_labels(ids))
    raters = _raters(answers, labels, told)
    metrics = {metric.id: metric.name for metric in raters}
    shown = [metric for metric in raters if _meant(metric, wanted.metric, metrics)]
    context = _context(answers[0], told[answers[0].continuation.pk])
    return Comparison(
        dialogue=dialogue,
        chosen=chosen,
        found=tuple(found),
        context=tuple(context[-MOST_LINES:]),
        n_context=len(context),
        columns=tuple(_column(answer, told[answer.continuation.pk], labels) for answer in answers),
        sections=_sections([_row(metric, chosen, labels, told) for metric in shown]),
        metrics=metrics,
    )


Labels = dict[tuple[int, int | None], dict[int, Label]]
Told = Mapping[int, Telling]


def _by_place(labels: Iterable[Label]) -> Labels:
    """Return labels by continuation and turn index (None: the whole), then by rater; the latest of each."""
    found: Labels = {}
    for label in labels:
        position = None if label.item.turn is None else label.item.turn.position
        found.setdefault((label.item.continuation_id, position), {})[label.rater_id] = label
    return found


def _at(answer: Answer, kind: str, labels: Labels) -> Mapping[int, Label]:
    """Return the labels of a column: of its turn, or of the whole rollout that it begins."""
    if KINDS[kind].has_turn:
        return labels.get((answer.continuation.pk, answer.position), {})
    return labels.get((answer.continuation.pk, None), {}) if answer.is_rollout else {}


def _raters(answers: Sequence[Answer], labels: Labels, told: Told) -> list[MetricColumn]:
    """Return the metrics that said something of a column, in the order of the table of metrics."""
    found = {}
    for answer in answers:
        for kind in {metric.kind for metric in METRICS.values()}:
            for rater, label in _at(answer, kind, labels).items():
                metric = METRICS[label.rater.spec["metric"]]
                if metric.kind == kind:
                    variant = label.rater.spec.get("variant", PAPER)
                    found[rater] = MetricColumn(rater, label.rater.name, metric, variant)
    order = {key: place for place, key in enumerate(METRICS)}
    return sorted(found.values(), key=lambda one: (order[one.metric.key], one.name))


def _meant(metric: MetricColumn, wanted: str, metrics: Mapping[int, str]) -> bool:
    """Whether a metric is asked for; raise CompareRefused where there is no such one."""
    if not wanted:
        return True
    named = [pk for pk, name in metrics.items() if name == wanted or pk == row_id(wanted)]
    if not named:
        known = f"these did: {', '.join(metrics.values())}" if metrics else "no metric did"
        raise CompareRefused(f"no metric {wanted} scored these continuations; {known}")
    return metric.id in named


def _context(answer: Answer, told: Telling) -> list[Line]:
    """Return what precedes an answer: the history up to its point, then what was given right before it."""
    here = told.offset + answer.position
    return [*told.lines[: answer.at], *told.lines[here - len(answer.given) : here]]


def _column(answer: Answer, told: Telling, labels: Labels) -> Column:
    here = told.offset + answer.position
    rest = told.lines[here + 1 :] if answer.is_rollout else []
    scored = any(_at(answer, kind, labels) for kind in KINDS)
    return Column(answer, told.lines[here], tuple(rest[:MOST_LINES]), len(rest), scored)


def _row(metric: MetricColumn, chosen: Choice, labels: Labels, told: Told) -> Row:
    cells = [_cell(metric, answer, labels, told[answer.continuation.pk]) for answer in chosen.answers]
    base = cells[chosen.against].value
    return Row(metric, tuple(_less(cell, base, at == chosen.against) for at, cell in enumerate(cells)))


def _cell(metric: MetricColumn, answer: Answer, labels: Labels, told: Telling) -> Cell:
    label = _at(answer, metric.metric.kind, labels).get(metric.id)
    if label is None:
        whole = not KINDS[metric.metric.kind].has_turn
        return Cell(None, NO_CONVERSATION if whole and not answer.is_rollout else NOT_SCORED)
    value = told.value(label)
    return Cell(value.value, value.missing, None, value.causes, value.leads)


def _less(cell: Cell, base: float | str | None, is_base: bool) -> Cell:
    if is_base or not isinstance(cell.value, float) or not isinstance(base, float):
        return cell
    return Cell(cell.value, cell.missing, cell.value - base, cell.causes, cell.leads)


def _sections(rows: Sequence[Row]) -> tuple[Section, ...]:
    """Return rows by what they are about: turns before conversations, aspects in the papers' order."""
    found = []
    for kind in KINDS:
        for aspect in aspects():
            own = tuple(
                row for row in rows if (row.metric.metric.kind, row.metric.metric.aspect) == (kind, aspect)
            )
            if own:
                found.append(Section(kind, aspect, own))
    return tuple(found)
