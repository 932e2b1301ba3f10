"""Each rater of a question: its ratings, agreement with the rest, and consistency of repeated answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from annotation.text.display import number
from calibration.ratings.ratings import SubjectData
from calibration.reports.charts import Chart, Point
from calibration.reports.figures import QuestionFigures, crowd, figures, label, leading_question, worded
from calibration.reports.results import Figure, QuestionRaters, RaterLine, RepeatLine, recorded
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import (
    Bare,
    CsvLine,
    PageParams,
    Row,
    Section,
    Switch,
    Table,
    View,
    as_printed,
    question_key,
    table_key,
    tabulate,
)
from calibration.reports.wording import Crowd, counted, join_names
from calibration.statistics import Plan, Record, Result, ratings_from_records
from calibration.statistics.analysis import BY_F
from calibration.statistics.core.engine import InReports
from calibration.statistics.core.ratings import Floats, RatingError, Ratings
from calibration.statistics.rater_panel import AGREES, ASIDE, RATES, rater_panel
from calibration.statistics.repeats import PASSES, SAME, How, repeats_of, right_answers
from calibration.studies.inputs import Inputs

# Computation per rater of a question: one row each, and the consistency of repeated answers.


def raters_of(inputs: Inputs, pooled: Iterable[SubjectData] = ()) -> tuple[QuestionRaters, ...]:
    """Return the raters of every question that can be read as ratings; for pooled tags without repeats."""
    again = dict(zip((data.subject.question.ref for data in inputs.subjects), inputs.again, strict=True))
    all_questions = [
        _of_question(data, inputs, again.get(data.subject.question.ref))
        for data in (*inputs.subjects, *pooled)
    ]
    return tuple(question for question in all_questions if question is not None)


def _of_question(data: SubjectData, inputs: Inputs, again: Sequence[Record] | None) -> QuestionRaters | None:
    plan, policy = inputs.definition.plan, inputs.definition.samples
    try:
        ratings = data.ratings(policy if policy != "separate" else None)
        repeats = _repeats(data, ratings, again, plan) if again is not None else ()
    except RatingError:
        return None  # the question itself gives the reason
    columns = [
        column
        for column, (name, kind) in enumerate(zip(ratings.raters, ratings.kinds, strict=True))
        if kind not in ASIDE and name not in data.off_scale
    ]
    panel = rater_panel(ratings, columns, plan)
    simulated = {info.name for info in data.raters if info.simulated}
    rows = (recorded(RaterLine, row, name=row.rater, simulated=row.rater in simulated) for row in panel.rows)
    return recorded(QuestionRaters, panel, ref=data.subject.question.ref, rows=tuple(rows), repeats=repeats)


def _repeats(
    data: SubjectData, ratings: Ratings, again: Sequence[Record], plan: Plan
) -> tuple[RepeatLine, ...]:
    """Return the raters who answered items several times: by samples, then on two occasions."""
    several = frozenset(record.rater for record in data.records if record.sample > 0)
    by_sample = [record for record in data.records if record.rater in several]
    repeat_lines: list[RepeatLine] = []
    sources: list[tuple[How, Sequence[Record]]] = [("samples", by_sample), ("again", again)]
    for how, records in sources:
        by_rater: dict[str, list[Record]] = {}
        for record in records:
            by_rater.setdefault(record.rater, []).append(record)
        for rater, mine in by_rater.items():
            if not mine[0].identified or mine[0].kind in ASIDE:
                continue
            answers = _answers(data, mine)
            reference = _reference(ratings, rater, answers) if how == "samples" else None
            repeat = repeats_of(answers, rater, how, reference=reference, plan=plan)
            repeat_lines.append(recorded(RepeatLine, repeat, name=repeat.rater))
    return tuple(repeat_lines)


def _answers(data: SubjectData, records: Sequence[Record]) -> Ratings:
    """Return a rater's answers, one column per answer; off the scale, by the values that occur."""
    question = data.subject.question
    off = records[0].rater in data.off_scale
    return ratings_from_records(
        records,
        level=question.measured,
        values=None if off else question.values or None,
        positive=1 if question.positive is None else question.positive,
        samples="separate",
    )


def _reference(ratings: Ratings, rater: str, answers: Ratings) -> Floats | None:
    """Return the right answers to the items that a rater answered several times."""
    right = right_answers(ratings, rater)
    if right is None:
        return None
    at: Mapping[str, float] = dict(zip(ratings.items, right.tolist(), strict=True))
    return np.array([at.get(item, np.nan) for item in answers.items])


# Intraclass correlations with intervals from the F distribution, beside those from resampling.

ASSUMES = (
    "F intervals assume that items are independent and their effects normal (McGraw and Wong 1996). Turns of "
    "one dialogue are alike, so for turns these intervals are too narrow. Use them where there are too few "
    "dialogues to resample. They need complete ratings."
)


def intraclass_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return the table of all questions with intraclass correlations, if any."""
    names = list(dict.fromkeys(e.name for question in result.questions for e in question.f_intervals))
    if not names:
        return []
    rows = [row for title, question in label(figures(result)) for row in _rows(title, question, names)]
    columns = [(name, worded(name.removesuffix(BY_F)).heading) for name in names]
    title = "Intraclass correlations with F intervals"
    return [View(tabulate("intraclass", title, columns, rows), (ASSUMES,))]


def _rows(title: str, question: QuestionFigures, names: list[str]) -> list[Row]:
    rows: list[Row] = []
    for raters in dict.fromkeys(e.raters for e in question.data.f_intervals):
        by_name = {e.name: e for e in question.data.f_intervals if e.raters == raters}
        cells: list[Figure | None] = [by_name.get(name) for name in names]
        with_value = [cell for cell in cells if cell]
        rows.append(
            Row(
                title,
                _raters_of_intraclass(raters, question),
                max(cell.n_items for cell in with_value),
                max(cell.n_clusters for cell in with_value),
                cells,
                first=not rows,
            )
        )
    return rows


def _raters_of_intraclass(raters: tuple[str, ...], question: QuestionFigures) -> str:
    """Return `3 people`, or the names if raters of several kinds are combined."""
    by_raters = {entry.raters: entry for entry in question.data.f_intervals}
    return (
        question.counted_in(by_raters[raters]) if set(raters) <= set(question.people) else join_names(raters)
    )


def intraclass_lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield every intraclass correlation with its F interval."""
    for question in result.questions:
        for entry in question.f_intervals:
            yield CsvLine(question.ref, question.title, entry.name, entry)


INTRACLASS = Section("intraclass", "paper-tables", intraclass_views, intraclass_lines)


# Text under the tables of raters: the meaning of the figures, and raters who are not compared.

MEANS = (
    "“The rest” of a rater are the other {many} (without any, the other raters), on the items that both "
    "rated. Less the rest: below 0, the rater rates lower than the rest."
)
SEVERITY = (
    "Severity: below 0, the rater is severe (rates lower than the average {one}); above 0, lenient. It fits "
    "value = item + rater by least squares, so harder items do not count against a rater, and assumes the "
    "same shift on every item. Misfit: about 1 where a rater is as predictable as the others, above 1 where "
    "it is less so (mean square of the residuals, divided by that of all raters)."
)
SPREAD = (
    "Spread: standard deviation divided by that of the rest; below 1, the rater keeps to the middle of the "
    "scale. Ends: share of ratings at either end of the scale, less that of the rest. Limits: 95% of single "
    "differences from the rest lie between them, if differences are normal."
)
FEW = 10
"""Number of dialogues below which resampling says little about the error of a figure."""
ALPHA = "α gained: α with the rater, less α without the rater, on the same resamples."
REPEATED = (
    "The same answer is not always the right answer: a rater can repeat its mistakes. pass^k: the chance "
    "that all k answers are so. Right is what the answer key says, else what most people say."
)


def meaning(questions: Iterable[QuestionRaters], people: Crowd) -> tuple[str, ...]:
    """Explain the figures of some questions, each sentence once."""
    questions = list(questions)
    rows = [row for raters in questions for row in raters.rows]
    figure_names = {figure.name for row in rows for figure in row.figures}
    sentences = [MEANS.format(many=people.many)] if "rater_difference" in figure_names else []
    sentences += [SEVERITY.format(one=people.one)] if "rater_severity" in figure_names else []
    sentences += [SPREAD] if "rater_spread" in figure_names else []
    sentences += [ALPHA] if "rater_alpha_gain" in figure_names else []
    return (*sentences, REPEATED) if any(raters.repeats for raters in questions) else tuple(sentences)


def notes(raters: QuestionRaters, people: Crowd) -> tuple[str, ...]:
    """Return notes on the limits of comparing a question's raters."""
    sentences = _group_remarks(raters, people)
    sentences += _remark_over_pairs(raters, people)
    few = sum(figure.n_clusters < FEW for row in raters.rows for figure in row.figures[:1])
    if few:
        their = "the intervals of this rater are" if few == 1 else "their intervals are"
        sentences.append(
            f"{counted(few, 'rater')} answered in fewer than {FEW} dialogues: {their} far too narrow."
        )
    if raters.unidentified and raters.rows:
        has = "has" if raters.unidentified == 1 else "have"
        sentences.append(
            f"{counted(raters.unidentified, 'anonymous slot')} {has} no row, because a slot may be a "
            f"different {people.one} on every item."
        )
    return tuple(sentences)


def _group_remarks(raters: QuestionRaters, people: Crowd) -> list[str]:
    """Name the raters who cannot be compared, or only through judges."""
    if raters.groups:
        sizes = [len(group) for group in raters.groups]
        alone = [group[0] for group in raters.groups if len(group) == 1]
        joined = [group for group in raters.groups if len(group) > 1]
        groups_text = "; ".join(join_names(group) for group in joined[:3]) + (
            " and others" if len(joined) > 3 else ""
        )
        text = f"The raters form {len(sizes)} groups that share no item with each other"
        text += f" ({groups_text})" if groups_text else ""
        text += (
            f"; {join_names(alone)} {'shares' if len(alone) == 1 else 'share'} no item with anybody"
            if alone
            else ""
        )
        return [f"{text}. Compare severities only within a group: each group has its own zero."]
    if raters.through_judges:
        return [
            f"Not all {people.many} are connected by items they share, so their severities are compared "
            "through judges. This assumes that the judges rate all items by the same standard."
        ]
    return []


def _remark_over_pairs(raters: QuestionRaters, people: Crowd) -> list[str]:
    over = raters.over
    if over is None or not over.ok or over.low is None:
        return []
    name = worded(over.name.removeprefix("over_raters_")).name
    ends = f"{number(over.low, 2)} to {number(over.high, 2)}"
    return [
        f"{name} is {number(over.value, 3)} on average over pairs of {people.many}; with other "
        f"{people.many} on the same items it could be {ends}."
    ]


def unknown(titled: Sequence[tuple[str, Any, QuestionRaters]]) -> tuple[str, ...]:
    """Return one sentence per reason with the questions for which no rater is described."""
    by_reason: dict[str, list[str]] = {}
    for title, _, raters in titled:
        if raters.reason and not raters.rows:
            by_reason.setdefault(raters.reason, []).append(title)
    return tuple(
        f"There are no figures per rater on {join_names(titles)}: {reason}."
        for reason, titles in by_reason.items()
    )


KEY = "raters"
MANY = 14
"""Maximum number of rows of a table shown in full; of a longer table the ENDS at either end are shown, and
the rest is folded.
"""
ENDS = 5
PAGE = 30
"""Number of two-line rows that fit on a printed page."""
MOST_DRAWN = 40
FEWEST_DRAWN = 3
KINDS = {"human": "person", "": "rater"}


MOST_VALUES = 12
"""Number of different values up to which the page shows how often each rater gave each."""


@dataclass(frozen=True)
class Frequency(Bare):
    """How often a rater gave a value, in percent."""

    percent: ClassVar[bool] = True


@dataclass(frozen=True)
class Fine(Figure):
    """A figure that may be small, such as the share of turns with a rare tag, with a fine interval."""

    end_digits: ClassVar[int] = 3


Titled = tuple[str, QuestionFigures, QuestionRaters]


def views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return the tables of every question for files, of the selected question for the page."""
    titled = _titled(result)
    described = [question for question in titled if question[2].rows or question[2].repeats]
    if not described:
        reasons = unknown(titled)
        return [View(Table(KEY, "Raters, one by one", []), reasons)] if reasons else []
    if params is not None:
        return _page(described, unknown(titled), params)
    rater_views = [
        View(table, notes(question[2], question[1].crowd) if place == 0 else ())
        for question in described
        for place, table in enumerate(page for table in _tables(question) for page in _pages(table))
    ]
    meanings = meaning((question[2] for question in described), crowd(question[1] for question in described))
    last = rater_views[-1]
    return [*rater_views[:-1], replace(last, remarks=(*last.remarks, *unknown(titled), *meanings))]


def _page(titled: Sequence[Titled], undescribed: tuple[str, ...], params: PageParams) -> list[View]:
    """Return the tables of the selected question, else of the leading question, long ones folded."""
    by_ref = {question[1].data.ref: question for question in titled}
    first = leading_question([question[1] for question in titled])
    selected = params.get(KEY, "") if params.get(KEY) in by_ref else first.data.ref if first else ""
    question = by_ref[selected]
    switches = tuple(Switch(title, {KEY: ref}, ref == selected) for ref, (title, _, _) in by_ref.items())
    without_figures = View(Table("", f"Raters, one by one: {question[0]}", []))
    page_views = [_folded(table) for table in _tables(question)] or [without_figures]
    remarks = (*notes(question[2], question[1].crowd), *meaning([question[2]], question[1].crowd))
    page_views[0] = replace(page_views[0], switches=switches if len(switches) > 1 else ())
    page_views[-1] = replace(
        page_views[-1], folded=(*page_views[-1].folded, *_use(question[2])), remarks=(*remarks, *undescribed)
    )
    return page_views


def _use(raters: QuestionRaters) -> list[Table]:
    """Return the table of how often each rater gave each value, unless there are many values."""
    values = list(dict.fromkeys(value for row in raters.rows for value in row.shares))
    rows = [_row(line, [_frequency(line, value) for value in values]) for line in raters.rows if line.shares]
    title = "How often each value was given"
    columns = [(value, value) for value in values]
    return [Table("", title, columns, rows, first="Rater")] if rows and len(values) <= MOST_VALUES else []


def _frequency(line: RaterLine, value: str) -> Frequency:
    like = line.figures[0]
    share = line.shares.get(value, 0.0)
    return Frequency("share", value=share, n_items=like.n_items, n_clusters=like.n_clusters)


def _titled(result: Snapshot) -> list[Titled]:
    by_ref = {raters.ref: raters for raters in result.raters}
    questions = label(figures(result))
    return [(title, q, by_ref[q.data.ref]) for title, q in questions if q.data.ref in by_ref]


def _tables(titled: Titled) -> list[Table]:
    """Return a question's tables with rows: ratings, agreement, repeated answers, and pass^k."""
    title, question, raters = titled

    def key(variant: str) -> str:
        return table_key(KEY, question_key(question.data.ref), variant)

    rates = RATES | ({"rater_mean": InReports("", "Share")} if question.data.level == "binary" else {})
    with_rest = InReports("", f"{worded(raters.statistic).symbol or 'Agreement'} with the rest")
    agrees = AGREES | {"rater_with_rest": with_rest}
    rater_tables = [
        _table(key("rate"), f"How raters rate: {title}", rates, _sorted(raters.rows, "rater_severity")),
        _table(
            key("agree"),
            f"How raters agree with the rest: {title}",
            agrees,
            _sorted(raters.rows, "rater_with_rest"),
        ),
    ]
    for how, words in (("samples", "over samples"), ("again", "over two occasions")):
        lines = [line for line in raters.repeats if line.how == how]
        columns = {f"{how}_{name}": columns_heading for name, columns_heading in SAME.items()}
        rater_tables.append(
            _table(key(how), f"How consistently raters answer, {words}: {title}", columns, lines)
        )
    for start, outcome in PASSES.items():
        lines = [line for line in raters.repeats if any(f.name.startswith(start) for f in line.figures)]
        ks = sorted({int(f.name.removeprefix(start)) for n in lines for f in n.figures if start in f.name})
        columns = {f"{start}{k}": InReports("", f"k = {k}") for k in ks}
        rater_tables.append(
            _table(key(start.strip("_")), f"Repeated answers, {outcome}: {title}", columns, lines)
        )
    return [table for table in rater_tables if table.rows]


def _table(
    key: str,
    title: str,
    columns: Mapping[str, InReports],
    lines: Sequence[RaterLine] | Sequence[RepeatLine],
) -> Table:
    """Return a table of the lines with one of the figures, and of the columns that some line fills."""
    used = [name for name in columns if any(line.figure(name) for line in lines)]
    rows = [
        _row(line, [_figure(line.figure(name), line.name) for name in used])
        for line in lines
        if any(line.figure(name) for name in used)
    ]
    return tabulate(key, title, [(name, columns[name].heading) for name in used], rows, first="Rater")


def _row(line: RaterLine | RepeatLine, cells: list[Figure | None]) -> Row:
    first = next(cell for cell in cells if cell)
    return Row(line.name, _describe_rater(line), first.n_items, first.n_clusters, cells, first=True)


def _describe_rater(line: RaterLine | RepeatLine) -> str:
    if isinstance(line, RepeatLine):
        times = f"{line.n_answers} samples" if line.how == "samples" else "two occasions"
        return f"{KINDS.get(line.kind, line.kind)}, {times}"
    kind = _kind(line)
    return f"{kind}, group {line.group}" if line.group > 1 else kind


def _kind(line: RaterLine) -> str:
    return "simulated" if line.simulated else KINDS.get(line.kind, line.kind)


def _figure(result: Result | None, rater: str) -> Figure | None:
    return result if result is None else as_printed(Figure.of(result, raters=[rater], question=""), Fine)


def _sorted(rows: Iterable[RaterLine], name: str) -> list[RaterLine]:
    """Sort people first, then the others, each by ascending figure; those without it last."""

    def place(row: RaterLine) -> tuple[bool, bool, float]:
        figure = row.figure(name)
        value = figure.value if figure is not None else None
        return row.kind != "human", value is None, value or 0.0

    return sorted(rows, key=place)


def _folded(table: Table) -> View:
    """Split a long table into its ends, with the judges, and the people between them, who are folded."""
    people = [row for row in table.rows if row.compared.startswith(("person", "simulated", "rater"))]
    if len(people) <= MANY:
        return View(table)
    between = people[ENDS:-ENDS]
    hidden = {id(row) for row in between}
    ends = [row for row in table.rows if id(row) not in hidden]
    title = f"The {len(between)} between them"
    return View(replace(table, rows=ends), folded=(replace(table, key="", title=title, rows=between),))


def _pages(table: Table) -> list[Table]:
    """Split a table into parts that fit on a printed page, numbered in their titles."""
    parts = [table.rows[start : start + PAGE] for start in range(0, len(table.rows), PAGE)]
    if len(parts) == 1:
        return [table]
    return [
        replace(
            table,
            key=f"{table.key}-{place}",
            title=f"{table.title} ({place} of {len(parts)})",
            rows=rows,
        )
        for place, rows in enumerate(parts, 1)
    ]


def severity(result: Snapshot) -> list[Chart]:
    """Return the chart of each rater's severity on the leading question, lowest first."""
    with_severity = [
        question
        for question in _titled(result)
        if any(row.figure("rater_severity") for row in question[2].rows)
    ]
    first = leading_question([question[1] for question in with_severity])
    for title, question, raters in with_severity:
        if first is None or question is not first:
            continue
        severities = [
            (row, figure) for row in raters.rows if (figure := row.figure("rater_severity")) and figure.ok
        ]
        severities.sort(key=lambda pair: pair[1].value or 0.0)
        if len(severities) < FEWEST_DRAWN:
            return []
        caption = ""
        if len(severities) > MOST_DRAWN:
            half = MOST_DRAWN // 2
            caption = f"The {half} lowest and the {half} highest of {len(severities):,} raters."
            severities = severities[: MOST_DRAWN // 2] + severities[-MOST_DRAWN // 2 :]
        points = tuple(
            Point(row.name, _kind(row), f.value, f.low, f.high, f.n_items, f.n_clusters, "")
            for row, f in severities
        )
        level = f"{result.definition.plan.level:.0%} interval"
        axis = f"Lower (severe) or higher (lenient), items held equal, {level}"
        return [Chart("severity", f"Who rates lower or higher: {title}", axis, points, caption=caption)]
    return []


def lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield every figure of each rater, named as in the JSON, then the mean over raters."""
    for title, question, raters in _titled(result):
        ref = question.data.ref
        figures_by_rater = [(line.name, line.figures) for line in raters.rows]
        figures_by_rater += [(line.name, line.figures) for line in raters.repeats]
        for name, results in figures_by_rater:
            for figure in results:
                yield CsvLine(ref, title, figure.name, Figure.of(figure, raters=[name], question=title))
        if raters.over is not None:
            names = [row.name for row in raters.rows if row.kind == "human"]
            yield CsvLine(ref, title, raters.over.name, Figure.of(raters.over, raters=names, question=title))


def page_tables(result: Snapshot) -> list[Table]:
    """Return the tables of every question, long ones in one piece."""
    return [table for titled in _titled(result) for table in _tables(titled)]


RATERS = Section(KEY, "rater-by-rater", views, lines, severity, page_tables=page_tables)
