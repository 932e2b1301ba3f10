"""Biases of each judge in a report: checks with people as control, their tests, and what is clear of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.kinds import KINDS
from annotation.text.display import number, percent
from calibration.ratings.ratings import SubjectData
from calibration.ratings.votes import Compared
from calibration.reports.figures import HUMAN, JUDGE, crowd, figures
from calibration.reports.results import BiasRow, Figure, JudgeBiases, QuestionRaters, RaterVerdict
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import (
    CsvLine,
    PageParams,
    Percent,
    PValue,
    Row,
    Section,
    View,
    as_printed,
    filled,
    headed,
    question_key,
    select_question,
    table_key,
    tabulate,
)
from calibration.reports.wording import PER_DOUBLING, Crowd, crowd_of, interval, length_effect, signed
from calibration.statistics import Ratings, Result
from calibration.statistics.analysis import mean_of
from calibration.statistics.core.engine import UNEQUAL
from calibration.statistics.core.ratings import Floats, RatingError
from calibration.statistics.describe import as_numbers
from calibration.statistics.judge_biases import (
    family_preference,
    first_excess,
    is_clear,
    judge_severity,
    length_slope,
    p_values,
)
from calibration.statistics.preferences import position_bias
from calibration.statistics.rater_panel import SEVERITY
from calibration.studies.inputs import Inputs, JudgeFacts

# Checks of the judges of a study, with the tests of all checks of one judge corrected together.

KEY = "biases"
CHECKS: dict[str, tuple[str, str]] = {
    "position": ("Position: wins of the first shown, less half", "Position: same answer in both orders"),
    "length": ("Length", ""),
    "family": ("Own family, less others", ""),
    "severity": ("Severity: judge less {people}, same items", ""),
    "rewording": ("Rewording: same answer", ""),
}
"""Title of each check's effect and of the figure beside it, in display order; `{people}` names the crowd."""
POINTS = {True: "probability", False: "points"}
WEIGHTED = {
    "severity": "Severity is then the weighted mean of judge less {people}: the additive model, and with it "
    "the severities of single raters, has no weighted form.",
    "position": "The share of equal answers in both orders has no weighted form.",
}
"""What is left out of a check of items drawn with unequal probabilities."""
NOT_REWORDED = "not checked: run the check of rewordings on the judge’s draft in the workbench"


@dataclass(frozen=True)
class _Question:
    """A question's answers in progress: ratings, their values as numbers, its rater lines, its people."""

    data: SubjectData
    ratings: Ratings
    block: Floats
    lines: QuestionRaters | None
    people: tuple[int, ...]
    crowd: Crowd

    @property
    def title(self) -> str:
        return self.data.subject.question.title

    def figure(self, result: Result, rater: str) -> Figure:
        reason = result.reason.replace("people's", self.crowd.own).replace("people", self.crowd.many)
        return Figure.of(result, raters=(rater, self.crowd.many), question=self.title, reason=reason)


def biases_of(inputs: Inputs, raters: Sequence[QuestionRaters]) -> tuple[JudgeBiases, ...]:
    """Check the judges of every question that people answered; categories have no order, so no effects."""
    lines = {question.ref: question for question in raters}
    by_question = [
        JudgeBiases(info.ref, info.title, info.item_kind, tuple(rows))
        for data in inputs.subjects
        for info in [data.subject.question]
        if (rows := _of_question(data, lines.get(info.ref), inputs))
    ]
    for compared in inputs.compared:
        info = compared.question
        if rows := _of_votes(compared, inputs):
            by_question.append(JudgeBiases(info.ref, info.title, info.item_kind, tuple(rows)))
    return _tested(by_question, inputs.definition.plan.level)


def _of_question(data: SubjectData, lines: QuestionRaters | None, inputs: Inputs) -> list[BiasRow]:
    policy = inputs.definition.samples
    try:
        ratings = data.ratings(policy if policy != "separate" else None)
    except RatingError:
        return []  # the question itself gives the reason
    block, people = as_numbers(ratings), ratings.of_kind(HUMAN)
    if block is None or not people or ratings.problem:
        return []
    question = _Question(data, ratings, block, lines, tuple(people), crowd_of(data.raters))
    return [
        row
        for column in ratings.of_kind(JUDGE)
        if ratings.raters[column] not in data.off_scale
        for row in _checks(question, column, inputs)
    ]


def _checks(question: _Question, column: int, inputs: Inputs) -> Iterator[BiasRow]:
    """Yield the checks of one judge on one question."""
    ratings, plan, block = question.ratings, inputs.definition.plan, question.block
    name, judge = ratings.raters[column], block[:, column]
    people = block[:, list(question.people)]
    binary, mean = ratings.level == "binary", mean_of(people)
    facts = inputs.judges.get(name, JudgeFacts())
    weights = ratings.weights if ratings.is_unequal else None
    characters = np.array([inputs.lengths.get(item, (np.nan, 0))[0] for item in ratings.items], np.float64)
    slope = length_slope(judge, people, characters, ratings.clusters, plan, weights)
    yield BiasRow(name, "length", PER_DOUBLING[binary], question.figure(slope, name))
    if facts.systems:
        systems = {record.item: record.system for record in question.data.records}
        own = np.array([systems.get(item, "") in facts.systems for item in ratings.items], np.bool_)
        preference = family_preference(judge, mean, own, ratings.clusters, plan, weights)
        yield BiasRow(name, "family", POINTS[binary], question.figure(preference, name))
    yield _severity(question, name, judge, mean, inputs)
    yield _rewording(question, name, facts)


def _severity(question: _Question, name: str, judge: Floats, mean: Floats, inputs: Inputs) -> BiasRow:
    """Return the judge's severity: of the additive model where raters have names, else the mean gap.

    Of items drawn with unequal probabilities it is the weighted gap: the model has no weighted form. The
    control are the lowest and the highest severity among people.
    """
    rows = question.lines.rows if question.lines else ()
    by_name = {row.name: row.figure(SEVERITY) for row in rows}
    result = by_name.get(name)
    if result is None or not result.ok:
        weights = question.ratings.weights if question.ratings.is_unequal else None
        result = judge_severity(judge, mean, question.ratings.clusters, inputs.definition.plan, weights)
    own = [
        (figure.value, row.name, figure)
        for row in rows
        if row.kind == HUMAN and (figure := by_name[row.name]) is not None and figure.value is not None
    ]
    ends = (min(own), max(own)) if len(own) > 1 else ()
    controls = tuple(Figure.of(figure, raters=(rater,), question=question.title) for _, rater, figure in ends)
    effect = question.figure(result, name)
    return BiasRow(name, "severity", POINTS[question.ratings.level == "binary"], effect, people=controls)


def _rewording(question: _Question, name: str, facts: JudgeFacts) -> BiasRow:
    """Return the lowest share of same answers among the changed texts that the workbench tried."""
    own = [result for title, result in facts.rewordings if title == question.title]
    values = [result for result in own if result.value is not None]
    if values:
        result = min(values, key=lambda result: result.value or 0.0)
        method = f"lowest of {len(own)} changed texts, on the dialogues of the workbench; {result.method}"
        result = replace(result, name="same_reworded", method=method)
    else:
        result = Result("same_reworded", status="insufficient", reason=NOT_REWORDED)
    return BiasRow(name, "rewording", "share", question.figure(result, name))


def _of_votes(compared: Compared, inputs: Inputs) -> list[BiasRow]:
    """Return the check of position of every judge of pairs, with people as control.

    Where people's pairs were drawn with unequal probabilities, a rater who answered no others is weighted.
    """
    plan, votes, title = inputs.definition.plan, compared.votes, compared.question.title
    weights = compared.design.weights if compared.design.is_unequal else {}
    people = [vote for vote in votes if vote.kind == HUMAN]
    control = first_excess(people, plan, weights or None)
    controls = (Figure.of(control, raters=("people",), question=title),) if people else ()
    rows = []
    for name in dict.fromkeys(vote.rater for vote in votes if vote.kind == JUDGE):
        own = [vote for vote in votes if vote.rater == name]
        is_weighted = bool(weights) and all(vote.item in weights for vote in own)
        effect = first_excess(own, plan, weights if is_weighted else None)
        bias = position_bias(own, name, plan)
        if effect.n_items == 0 and bias is None:
            continue  # rankings: nothing is shown first of two
        same = bias.swaps["consistent"] if bias and bias.swaps and not is_weighted else None
        beside = Figure.of(same, raters=(name,), question=title) if same else None
        about = Figure.of(effect, raters=(name,), question=title)
        rows.append(BiasRow(name, "position", "share", about, beside=beside, people=controls))
    return rows


TESTED = ("position", "length", "family", "severity")
"""Checks whose effect is 0 without a bias."""


def _tested(questions: Sequence[JudgeBiases], level: float) -> tuple[JudgeBiases, ...]:
    """Return the rows with p-values, corrected over all checks of a judge, and sentences on clear effects."""
    tested: dict[tuple[int, int], BiasRow] = {}
    by_judge: dict[str, list[tuple[int, int]]] = {}
    for at, question in enumerate(questions):
        for place, row in enumerate(question.rows):
            if row.check in TESTED:
                by_judge.setdefault(row.rater, []).append((at, place))
    for places in by_judge.values():
        rows = [questions[at].rows[place] for at, place in places]
        for key, row, (p, holm) in zip(places, rows, p_values([r.effect for r in rows], level), strict=True):
            sentence = ""
            if is_clear(row.effect, holm, level):
                sentence = _sentence(row, questions[key[0]].item_kind, level)
            stored_p, stored_holm = (
                Figure.of(test, raters=row.effect.raters, question=row.effect.question) for test in (p, holm)
            )
            tested[key] = replace(row, p=stored_p, p_holm=stored_holm, sentence=sentence)
    return tuple(
        replace(q, rows=tuple(tested.get((at, place), row) for place, row in enumerate(q.rows)))
        for at, q in enumerate(questions)
    )


def _sentence(row: BiasRow, item_kind: str, level: float) -> str:
    """State a clear effect with its interval and n."""
    effect = row.effect
    value, unit = effect.point, "" if row.unit.startswith("probability") else " points"
    ends = f"{level:.0%} interval {interval(effect)}"
    on = f"{effect.n_items:,} {KINDS[item_kind].plural}"
    people = effect.raters[-1]
    size = f"{number(abs(value), 2)}{unit}"
    if row.check == "position":
        side = "first" if value > 0 else "second"
        share = percent(abs(value))
        return f"It prefers the response shown {side}: {share} of wins beyond half ({ends}; {on})."
    if row.check == "length":
        return f"It {length_effect(value, row.unit, people)} ({ends}; {on})."
    if row.check == "family":
        way = "higher" if value > 0 else "lower"
        return f"It puts systems of its own family {size} {way} than others, beside {people} ({ends}; {on})."
    way = "more lenient" if value > 0 else "more severe"
    return f"It is {way} than {people} by {size} ({ends}; {on}){_range(row)}."


def _range(row: BiasRow) -> str:
    """Return whether the judge lies within the range of people's own severity, if that is known."""
    if len(row.people) < 2:
        return ""
    low, high = row.people[0].point, row.people[1].point
    place = "within" if low <= row.effect.point <= high else "outside"
    return f", {place} the range of single {row.effect.raters[-1]}, {signed(low)} to {signed(high)}"


def with_reasons(verdicts: Sequence[RaterVerdict], biases: Sequence[JudgeBiases]) -> tuple[RaterVerdict, ...]:
    """Return the verdicts with the clear biases of each judge on the question among their reasons."""
    clear: dict[tuple[str, str], list[str]] = {}
    for question in biases:
        for row in question.rows:
            if row.sentence:
                clear.setdefault((question.ref, row.rater), []).append(row.sentence)
    return tuple(
        replace(verdict, reasons=(*verdict.reasons, *clear.get((verdict.ref, verdict.rater), ())))
        for verdict in verdicts
    )


# Biases as pages and files show them.

COLUMNS = (
    ("effect", "Effect"),
    ("people", "{People}"),
    ("lowest", "Lowest {person}"),
    ("highest", "Highest {person}"),
    ("p", "p"),
    ("p_holm", "p, Holm"),
)


def bias_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return one table per question, one row per judge and check; on the page only the selected question."""
    selected, switches = select_question(headed(result, result.biases), KEY, params)
    words, views = crowd(figures(result)), []
    for title, question in selected:
        rows = [line for row in question.rows for line in _lines_of(row, words)]
        columns, rows = filled([(name, _worded(head, words)) for name, head in COLUMNS], _headed_once(rows))
        key = table_key(KEY, question_key(question.ref))
        table = tabulate(key, f"Biases of each judge: {title}", columns, rows, first="Judge", second="Check")
        is_open = params is not None and any(row.effect.reason == NOT_REWORDED for row in question.rows)
        template = "calibration/_bias_links.html" if is_open else ""
        views.append(View(table, tuple(_remarks(result, question, words)), switches, template))
    return views


def _worded(text: str, words: Crowd) -> str:
    return text.format(people=words.many, People=words.many.capitalize(), person=words.one)


def _headed_once(rows: Sequence[Row]) -> list[Row]:
    names = [row.question for row in rows]
    return [replace(row, first=not at or names[at - 1] != row.question) for at, row in enumerate(rows)]


def _lines_of(row: BiasRow, words: Crowd) -> Iterator[Row]:
    """Yield the line of a check's effect, and that of the figure beside it."""
    title, beside = (_worded(text, words) for text in CHECKS[row.check])
    title = f"{title}: {row.unit}" if row.check in ("length", "family") else title
    people = row.people[0] if row.check == "position" and row.people else None
    ends = list(row.people) if row.check == "severity" and row.people else [None, None]
    p = [as_printed(test, PValue) if test is not None and test.ok else None for test in (row.p, row.p_holm)]
    cells = [_printed(row.check, row.effect), people and _printed(row.check, people), *ends, *p]
    yield Row(row.rater, title, row.effect.n_items, row.effect.n_clusters, cells)
    if row.beside is not None:
        cells = [_printed(row.check, row.beside), *[None] * (len(COLUMNS) - 1)]
        yield Row(row.rater, beside, row.beside.n_items, row.beside.n_clusters, cells)


def _printed(check: str, figure: Figure) -> Figure:
    return as_printed(figure, Percent) if check in ("position", "rewording") else figure


def _remarks(result: Snapshot, question: JudgeBiases, words: Crowd) -> Iterator[str]:
    """Yield the clear effects, then the meaning of each check present."""
    claims = [f"{row.rater}: {row.sentence}" for row in question.rows if row.sentence]
    yield from claims
    level = result.definition.plan.level
    if not claims:
        yield f"No bias is clear: no interval excludes 0 after Holm’s correction at {1 - level:.2g}."
    meanings: Mapping[str, str] = {
        "position": "Position: a tie counts half. Pairs answered in both orders count; without such pairs, "
        "both orders weigh the same, which is right where the order was drawn at random.",
        "length": "Length: regression of the judge’s answer on the logarithm of the characters and on the "
        f"{words.own} mean, whose noise is removed: above 0 the judge favours long texts more than "
        f"{words.many} do.",
        "family": f"Own family: judge less {words.many} over systems of the judge’s model family, less the "
        "same over other systems.",
        "severity": "Severity: above 0 the judge is more lenient. With named raters it is the additive "
        f"effect of rater and item, with the {words.own} mean at 0.",
        "rewording": "Rewording: the share of items with the same answer under the changed text that "
        "changes most, from the workbench.",
    }
    present = {row.check for row in question.rows}
    if any(UNEQUAL in figure.flags for row in question.rows for figure in (row.effect, *row.people)):
        yield (
            "Items were drawn with unequal probabilities: effects are weighted by 1 / probability and are "
            "estimates for all items."
        )
        yield from (_worded(text, words) for check, text in WEIGHTED.items() if check in present)
    yield from (meanings[check] for check in CHECKS if check in present)
    yield (
        "p: of no effect, from the interval; Holm’s correction is over all checks of a judge in this report, "
        "on all questions."
    )


def bias_lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield each check's effect, its p-values, the figure beside it and people's own."""
    for question in result.biases:
        for row in question.rows:
            figures: list[tuple[str, Figure | None]] = [
                ("effect", row.effect),
                ("p", row.p),
                ("p_holm", row.p_holm),
                (row.beside.name if row.beside else "", row.beside),
                *((f"people_{at}" if at else "people", figure) for at, figure in enumerate(row.people)),
            ]
            for name, figure in figures:
                if figure is not None:
                    yield CsvLine(question.ref, question.title, f"bias_{row.check}_{name}", figure)


BIASES = Section(KEY, "biased", bias_views, bias_lines)
