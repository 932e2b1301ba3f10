"""Outputs side by side: continuations of one context, their metric values, and files."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, starmap, takewhile
from operator import attrgetter
from typing import Any, NamedTuple

from django.db.models import Case, CharField, TextField, Value, When

from annotation.kinds import KINDS
from annotation.models import Continuation, Label, Turn
from annotation.models.corpora import Dialogue
from annotation.models.turn_numbers import of_continuations
from annotation.records import HUMAN, SELF
from annotation.text.display import number
from calibration.comparisons.metric_causes import Line, Telling, metric_labels
from calibration.comparisons.profiles import Column as MetricColumn
from calibration.comparisons.profiles import by_aspect, heading
from calibration.comparisons.responses import SideBySideRowSerializer, SideBySideSerializer
from calibration.errors import CompareRefused
from calibration.renderings import Rendering, json_text, records_csv
from calibration.reports.kinds import ReportKind
from config.files import row_id
from judges.metrics import METRICS, Aspect
from judges.runs.material import load

# Continuations of a dialogue that share a context: the turns before those that continue it.

Utterances = tuple[tuple[str, str], ...]


class _Row(NamedTuple):
    """A turn; speaker and text are read only for turns that nobody rates."""

    continuation: int
    position: int
    at: int | None
    given: bool
    is_context: bool
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A turn that continues a context: the first of a rollout, or one of a static continuation.

    `position` is its index within the continuation, `at` the number of turns of the history before it.
    `given` are the turns between the two that its system did not produce, as speaker and text: they are
    context. `name` is the continuation's key, with the index where it continues this context more than once.
    """

    continuation: Continuation
    position: int
    at: int
    given: Utterances = ()
    name: str = ""

    @property
    def is_human(self) -> bool:
        """Whether people wrote it."""
        return self.continuation.system.name.casefold() == HUMAN

    @property
    def is_rollout(self) -> bool:
        """Whether it begins a whole continuation, which has metrics of its own."""
        return self.continuation.mode == Continuation.Mode.ROLLOUT and not self.continuation.is_self

    def is_called(self, name: str) -> bool:
        """Whether a name refers to it: its own name or that of its continuation."""
        return name in (self.name, self.continuation.key)


@dataclass(frozen=True, slots=True)
class Context:
    """Two or more answers to the same turns, systems by name and people last."""

    at: int
    given: Utterances
    answers: tuple[Answer, ...]

    @property
    def n_given(self) -> int:
        """Number of turns between the history and the answers."""
        return len(self.given)

    @property
    def names(self) -> list[str]:
        """Names of the answers."""
        return [answer.name for answer in self.answers]


def contexts(dialogue: Dialogue) -> list[Context]:
    """Return the contexts that two or more turns continue, in four queries.

    Shortest contexts come first, at equal length those with most answers. The dialogue's own turn is among
    the answers wherever another one continues the history before it.
    """
    parts = {part.pk: part for part in dialogue.continuations.select_related("system")}
    own = next((part for part in parts.values() if part.is_self), None)
    length = Turn.objects.filter(continuation=own).count() if own else 0
    answers = list(_answers(parts, _rows(dialogue), length))
    if own is not None:
        answers += _own_turns(
            own, {answer.at for answer in answers if not answer.given and answer.at < length}
        )
    groups: dict[tuple[int, Utterances], list[Answer]] = defaultdict(list)
    for answer in answers:
        groups[answer.at, answer.given].append(answer)
    shared = [
        Context(at, turns_before, _with_names(group))
        for (at, turns_before), group in groups.items()
        if len(group) > 1
    ]
    return sorted(shared, key=lambda context: (context.at, -len(context.answers), context.given))


def _rows(dialogue: Dialogue) -> list[_Row]:
    is_context = When(item__isnull=True, then=Value(True))
    texts = (
        Case(When(item__isnull=True, then=name), default=Value(""), output_field=kind())
        for name, kind in (("speaker", CharField), ("text", TextField))
    )
    rows = (
        Turn.objects.filter(continuation__dialogue=dialogue)
        .exclude(continuation__key=SELF)
        .order_by("continuation", "position")
        .values_list(
            "continuation", "position", "at", "given", Case(is_context, default=Value(False)), *texts
        )
    )
    return [_Row(*row) for row in rows]


def _answers(parts: dict[int, Continuation], rows: Iterable[_Row], length: int) -> Iterable[Answer]:
    for pk, group in groupby(rows, key=attrgetter("continuation")):
        turns = list(group)
        if parts[pk].mode == Continuation.Mode.STATIC:
            yield from _static(parts[pk], turns, length)
        else:
            before = list(takewhile(attrgetter("is_context"), turns))
            if len(before) < len(turns):
                yield Answer(parts[pk], len(before), length, _utterances(before))


def _static(part: Continuation, turns: Sequence[_Row], length: int) -> Iterable[Answer]:
    for place, turn in enumerate(turns):
        if turn.is_context:
            continue
        first = place
        while first and turns[first - 1].given and turns[first - 1].at == turn.at:
            first -= 1
        yield Answer(part, turn.position, min(turn.at or 0, length), _utterances(turns[first:place]))


def _utterances(rows: Iterable[_Row]) -> Utterances:
    return tuple((row.speaker, row.text) for row in rows)


def _own_turns(own: Continuation, points: Collection[int]) -> list[Answer]:
    """Return the ratable own turns of the dialogue at the given points."""
    rows = Turn.objects.filter(continuation=own, position__in=points, item__isnull=False)
    return [Answer(own, at, at) for at in rows.order_by("position").values_list("position", flat=True)]


def _with_names(group: Sequence[Answer]) -> tuple[Answer, ...]:
    keys = [answer.continuation.key for answer in group]
    renamed = [
        replace(answer, name=key if keys.count(key) == 1 else f"{key}/{answer.position}")
        for answer, key in zip(group, keys, strict=True)
    ]
    return tuple(sorted(renamed, key=_order))


def _order(answer: Answer) -> tuple[bool, bool, str, str, int]:
    part = answer.continuation
    return answer.is_human, part.is_self, part.system.name, part.key, answer.position


# Selection of a dialogue's context and continuations to compare: those requested, or the defaults.

MOST = 12
"""Maximum number of columns in one table."""
USUAL = 6
"""Number of columns when none are named."""
MOST_NAMES = 12


@dataclass(frozen=True, slots=True)
class ComparisonQuery:
    """Query of the outputs to compare; omitted fields get defaults.

    `at` is the number of turns before, `continuations` are names, `against` is the continuation to compare
    with, `metric` a metric's name or rater id.
    """

    at: int | None = None
    continuations: tuple[str, ...] = ()
    against: str = ""
    metric: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """A context, the answers shown as columns, and the index of the column that others are compared with."""

    context: Context
    answers: tuple[Answer, ...]
    against: int


def choose(dialogue: str, candidates: Sequence[Context], query: ComparisonQuery) -> Choice:
    """Select the context and the answers to compare; raise CompareRefused if there are none.

    A continuation named alone stands first, with the usual others beside it. Others are compared with the
    first column unless another is named.
    """
    if not candidates:
        raise CompareRefused(
            f"no two continuations of {dialogue} share a context: import another system's, or another trial"
        )
    names = tuple(dict.fromkeys(query.continuations))
    context = _select_context(dialogue, candidates, query.at, names)
    answers = _columns(context, names)
    if len(answers) > MOST:
        raise CompareRefused(f"{len(answers)} continuations are too many for one table: name {MOST} at most")
    place = next((at for at, answer in enumerate(answers) if answer.is_called(query.against)), None)
    if query.against and place is None:
        columns = _join_names([answer.name for answer in answers])
        raise CompareRefused(f"{query.against} is not among the continuations compared: {columns}")
    return Choice(context, answers, place or 0)


def _select_context(
    dialogue: str, candidates: Sequence[Context], at: int | None, names: Sequence[str]
) -> Context:
    """Return the matching context with most answers, the first among equals."""
    at_point = [context for context in candidates if at is None or context.at == at]
    if not at_point:
        points = _join_names(
            [str(context) for context in dict.fromkeys(context.at for context in candidates)]
        )
        raise CompareRefused(
            f"no two continuations of {dialogue} share the context of {at} turn{'s' * (at != 1)}; "
            f"they do after this many turns: {points}"
        )
    matching = [context for context in at_point if all(_holds(context, name) for name in names)]
    if not matching:
        raise CompareRefused(_not_shared(dialogue, at_point, at, names))
    return max(matching, key=lambda context: len(context.answers))


def _not_shared(dialogue: str, candidates: Sequence[Context], at: int | None, names: Sequence[str]) -> str:
    unknown = [name for name in names if not any(_holds(context, name) for context in candidates)]
    where = "" if at is None else f" after {at} turn{'s' * (at != 1)}"
    if unknown:
        valid_names = _join_names(
            list(dict.fromkeys(answer.name for context in candidates for answer in context.answers))
        )
        alone = f"{unknown[0]} shares no context with another continuation of {dialogue}{where}"
        return f"{alone}; these do: {valid_names}"
    return f"{_join_names(list(names))} share no context of {dialogue}{where}: other turns come before each"


def _holds(context: Context, name: str) -> bool:
    return any(answer.is_called(name) for answer in context.answers)


def _columns(context: Context, names: Sequence[str]) -> tuple[Answer, ...]:
    """Return the named answers; if fewer than two, add the usual ones beside them.

    The dialogue's own turn is left out if another continuation is people's: it may be the same turn.
    """
    selected = dict.fromkeys(answer for name in names for answer in context.answers if answer.is_called(name))
    if len(selected) > 1:
        return tuple(selected)
    rest = [answer for answer in context.answers if answer not in selected]
    people = [answer for answer in rest if answer.is_human]
    systems = [answer for answer in rest if not answer.is_human]
    room = USUAL - len(selected)
    first = [*systems[: room - len(people[:1])], *people[:1]]
    more = [answer for answer in people[1:] if not answer.continuation.is_self]
    return (*selected, *first, *more[: room - len(first)])


def _join_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


# Continuations of one context side by side: their metric values, the differences, and the causes.
#
# No column is the standard. Values are of single turns or conversations, so nothing has an interval here: the
# profile has the means.

NOT_SCORED = "this metric was not run on it"
NO_CONVERSATION = "its turns are answers to fixed points, not one conversation"
MOST_LINES = 200
"""Maximum number of turns shown of a context (the last ones) and of a continuation (the first ones)."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A metric's value in one column, or the reason why it is missing, with its causes.

    `difference` is the value minus that of the column compared with: None in that column, for categories, and
    where either value is missing. `leads` are the turns that the causes refer to: number and anchor.
    """

    column: str
    value: float | str | None
    missing: str = ""
    causes: tuple[str, ...] = ()
    leads: tuple[tuple[int, str], ...] = ()
    difference: float | None = None

    @property
    def turns(self) -> list[int]:
        """Numbers of the turns that the causes refer to."""
        return [number for number, _ in self.leads]


@dataclass(frozen=True, slots=True)
class Row:
    """A metric's rater with its cells, in the order of the columns."""

    metric: MetricColumn
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """Metrics of one aspect on one kind of item."""

    kind: str
    aspect: Aspect
    rows: tuple[Row, ...]

    @property
    def title(self) -> str:
        """Heading of the section."""
        return heading(self.kind, self.aspect)


@dataclass(frozen=True, slots=True)
class Column:
    """A continuation: its turn that continues the context, and the following turns of a rollout.

    `n_rest` counts all following turns, `rest` has the first MOST_LINES. `anchor` is the turn's anchor on the
    page of the continuation's own values. `scored` says whether any metric has a label here.
    """

    answer: Answer
    line: Line
    rest: tuple[Line, ...]
    n_rest: int
    scored: bool

    @property
    def lines(self) -> tuple[Line, ...]:
        """Turns that are shown."""
        return (self.line, *self.rest)

    @property
    def n_lines(self) -> int:
        """Number of all turns from its own on."""
        return 1 + self.n_rest

    @property
    def condition(self) -> str:
        """Condition in words, with its trial if there are several; empty if unknown."""
        part = self.answer.continuation
        details = [f"{key} {value}".replace("_", " ") for key, value in part.condition.items()]
        return " · ".join([*details, *([f"trial {part.trial}"] if part.trial else [])])


@dataclass(frozen=True)
class Comparison:
    """Everything on one page: the context, the columns, and the rows in their sections.

    `context` has the last MOST_LINES turns of `n_context`. `contexts` are all contexts of the dialogue, and
    `metrics` the names of all metrics that scored a column, by the rater's id.
    """

    dialogue: Dialogue
    choice: Choice
    contexts: tuple[Context, ...]
    context: tuple[Line, ...]
    n_context: int
    columns: tuple[Column, ...]
    sections: tuple[Section, ...]
    metrics: Mapping[int, str]

    @property
    def against(self) -> Column:
        """Column that others are compared with."""
        return self.columns[self.choice.against]

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows, in the order of the sections."""
        return tuple(row for section in self.sections for row in section.rows)

    @property
    def anchors(self) -> frozenset[str]:
        """Anchors of the context's turns, which all columns share."""
        return frozenset(line.anchor for line in self.context)


def compare(dialogue: Dialogue, query: ComparisonQuery) -> Comparison:
    """Compare continuations of a dialogue side by side; raise CompareRefused if none share a context.

    The number of queries grows neither with columns nor with labels.
    """
    all_contexts = contexts(dialogue)
    choice = choose(dialogue.key, all_contexts, query)
    answers = choice.answers
    ids = list(dict.fromkeys(answer.continuation.pk for answer in answers))
    material, numbers = load(ids), of_continuations(ids)
    tellings = {pk: Telling(material[pk], numbers[pk]) for pk in ids}
    labels = _by_place(metric_labels(ids))
    raters = _raters(answers, labels)
    metrics = {metric.id: metric.name for metric in raters}
    selected = [metric for metric in raters if _is_selected(metric, query.metric, metrics)]
    rows = [_row(metric, choice, labels, tellings) for metric in selected]
    context = _context(answers[0], tellings[answers[0].continuation.pk])
    return Comparison(
        dialogue=dialogue,
        choice=choice,
        contexts=tuple(all_contexts),
        context=tuple(context[-MOST_LINES:]),
        n_context=len(context),
        columns=tuple(_column(answer, tellings[answer.continuation.pk], labels) for answer in answers),
        sections=tuple(starmap(Section, by_aspect(rows, lambda row: row.metric.metric))),
        metrics=metrics,
    )


Labels = dict[tuple[int, int | None], dict[int, Label]]
Tellings = Mapping[int, Telling]


def _by_place(labels: Iterable[Label]) -> Labels:
    """Return the latest labels by continuation and turn index (None: the whole), then by rater."""
    labels_by_place: Labels = {}
    for label in labels:
        position = None if label.item.turn is None else label.item.turn.position
        labels_by_place.setdefault((label.item.continuation_id, position), {})[label.rater_id] = label
    return labels_by_place


def _labels_at(answer: Answer, kind: str, labels: Labels) -> Mapping[int, Label]:
    """Return the labels of a column: of its turn, or of the whole rollout that it begins."""
    if KINDS[kind].has_turn:
        return labels.get((answer.continuation.pk, answer.position), {})
    return labels.get((answer.continuation.pk, None), {}) if answer.is_rollout else {}


def _raters(answers: Sequence[Answer], labels: Labels) -> list[MetricColumn]:
    """Return the metrics with a label in some column, in the order of the table of metrics."""
    columns = {
        rater: MetricColumn.of(label.rater)
        for answer in answers
        for kind in KINDS
        for rater, label in _labels_at(answer, kind, labels).items()
        if METRICS[label.rater.spec["metric"]].kind == kind
    }
    return sorted(columns.values(), key=attrgetter("order"))


def _is_selected(metric: MetricColumn, metric_name: str, metrics: Mapping[int, str]) -> bool:
    """Whether a metric is selected; raise CompareRefused if no metric has that name."""
    if not metric_name:
        return True
    matching = [pk for pk, name in metrics.items() if name == metric_name or pk == row_id(metric_name)]
    if not matching:
        scored_names = f"these did: {', '.join(metrics.values())}" if metrics else "no metric did"
        raise CompareRefused(f"no metric {metric_name} scored these continuations; {scored_names}")
    return metric.id in matching


def _context(answer: Answer, telling: Telling) -> list[Line]:
    """Return the lines before an answer: the history up to its point, then the turns given before it."""
    position = telling.offset + answer.position
    return [*telling.lines[: answer.at], *telling.lines[position - len(answer.given) : position]]


def _column(answer: Answer, telling: Telling, labels: Labels) -> Column:
    position = telling.offset + answer.position
    rest = telling.lines[position + 1 :] if answer.is_rollout else []
    scored = any(_labels_at(answer, kind, labels) for kind in KINDS)
    return Column(answer, telling.lines[position], tuple(rest[:MOST_LINES]), len(rest), scored)


def _row(metric: MetricColumn, choice: Choice, labels: Labels, tellings: Tellings) -> Row:
    cells = [_cell(metric, answer, labels, tellings[answer.continuation.pk]) for answer in choice.answers]
    base = cells[choice.against].value
    return Row(
        metric, tuple(_with_difference(cell, base, at == choice.against) for at, cell in enumerate(cells))
    )


def _cell(metric: MetricColumn, answer: Answer, labels: Labels, telling: Telling) -> Cell:
    label = _labels_at(answer, metric.metric.kind, labels).get(metric.id)
    if label is None:
        about_dialogue = not KINDS[metric.metric.kind].has_turn
        reason = NO_CONVERSATION if about_dialogue and not answer.is_rollout else NOT_SCORED
        return Cell(answer.name, None, reason)
    value = telling.value(label)
    return Cell(answer.name, value.value, value.missing, value.causes, value.leads)


def _with_difference(cell: Cell, base: float | str | None, is_base: bool) -> Cell:
    if is_base or not isinstance(cell.value, float) or not isinstance(base, float):
        return cell
    return replace(cell, difference=cell.value - base)


# A comparison as JSON and as CSV.

FIELDS = (
    "dialogue", "at", "metric", "items", "aspect", "direction", "continuation", "system", "condition",
    "fake_model", "trial", "turn", "value", "missing", "difference", "against", "causes",
)  # fmt: skip
PLUS = "+"


def as_json(comparison: Comparison) -> dict[str, Any]:
    """Return everything: the context, the columns, and one row per metric."""
    rows = SideBySideRowSerializer(comparison.rows, many=True).data
    return SideBySideSerializer(comparison).data | {"rows": rows}


def as_csv(comparison: Comparison) -> str:
    """Return one line per metric and continuation; text is guarded against spreadsheet formulas."""
    return records_csv(
        FIELDS,
        (
            _csv_line(comparison, row, column, cell)
            for row in comparison.rows
            for column, cell in zip(comparison.columns, row.cells, strict=True)
        ),
    )


def _csv_line(comparison: Comparison, row: Row, column: Column, cell: Cell) -> dict[str, Any]:
    part, metric = column.answer.continuation, row.metric.metric
    return {
        "dialogue": comparison.dialogue.key,
        "at": comparison.choice.context.at,
        "metric": row.metric.name,
        "items": metric.kind,
        "aspect": str(metric.aspect),
        "direction": metric.direction,
        "continuation": part.key,
        "system": part.system.name,
        "condition": json.dumps(part.condition, ensure_ascii=False, sort_keys=True) if part.condition else "",
        "fake_model": int(part.fake_model),
        "trial": part.trial,
        "turn": column.answer.position if metric.kind == "turn" else None,
        "value": cell.value,
        "missing": cell.missing,
        "difference": cell.difference,
        "against": comparison.against.answer.name,
        "causes": " · ".join(cell.causes),
    }


def signed(value: float) -> str:
    """Format a difference with its sign and three decimals; a difference shown as zero gets no sign."""
    text = number(value, 3)
    return f"{PLUS}{text}" if value > 0 and float(f"{value:.3f}") else text


FILES: dict[str, Rendering[Comparison, str]] = {
    file.key: file
    for file in (
        Rendering("csv", "CSV", "csv", "text/csv; charset=utf-8", as_csv),
        Rendering(
            "json",
            "JSON",
            "json",
            "application/json; charset=utf-8",
            lambda comparison: json_text(as_json(comparison), indent=1),
        ),
    )
}

SIDE_BY_SIDE = ReportKind(
    "compare",
    "Continuations side by side",
    lambda params, dialogue, campaign: (dialogue, ComparisonQuery(**params)),
    lambda query, by, again=False: compare(*query),
    FILES,
    file_detail=lambda comparison, form: f"-{comparison.choice.context.at}",
)
