"""Topics of a report's page, in the order of a reader's questions, and the verdicts above them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

from django.urls import reverse
from django.utils.http import urlencode

from annotation.text.display import number, percent
from calibration.reports.figures import (
    HUMAN,
    JUDGE,
    METRIC,
    PANEL,
    QuestionFigures,
    crowd,
    figures,
    in_order,
    label,
    leading_question,
    ok,
    worded,
)
from calibration.reports.names import Names
from calibration.reports.papers import paper_tables
from calibration.reports.results import Figure, RaterVerdict
from calibration.reports.sentences import preferred_systems
from calibration.reports.snapshot import Snapshot
from calibration.reports.systems import differs
from calibration.reports.tables import PEOPLE, Topic, VerdictRow, VerdictTable
from calibration.reports.wording import counted, interval, join_names, units

# Verdicts, one row per question and judge.

MOST_VERDICTS = 8
"""Largest number of verdicts shown at once; of more, only those on leading questions are."""


def verdict_table(result: Snapshot, names: Names, *, study: int | None, part: str) -> VerdictTable | None:
    """Return the verdicts with links to the pages of a study; without a study, with texts in their place."""
    if not result.verdicts:
        return None
    questions = figures(result)
    titles = {question.data.ref: title for title, question in label(questions)}
    leading = _leading_refs(questions)
    verdicts = sorted(result.verdicts, key=lambda verdict: verdict.ref not in leading)
    n_leading = sum(verdict.ref in leading for verdict in verdicts)
    rows = tuple(_verdict_row(verdict, titles.get(verdict.ref), names, study, part) for verdict in verdicts)
    n_shown = len(rows) if len(rows) <= MOST_VERDICTS else min(max(n_leading, 1), MOST_VERDICTS)
    judged = "judge" if all(verdict.kind in (JUDGE, PANEL) for verdict in verdicts) else "rater"
    people = crowd(questions).many.capitalize()
    return VerdictTable(f"Question and {judged}", ("Agreement", people, "Answered"), rows, n_shown)


def _leading_refs(questions: Sequence[QuestionFigures]) -> set[str]:
    """Return the questions that represent the others: all tags pooled, and the leading question."""
    refs = {question.data.ref for question in questions if question.data.pooled}
    leading = leading_question(questions)
    return refs | ({leading.data.ref} if leading else set())


def _verdict_row(
    verdict: RaterVerdict, title: str | None, names: Names, study: int | None, part: str
) -> VerdictRow:
    symbol = worded(verdict.statistic).symbol
    answered = percent(verdict.n_answered / verdict.n_items) if verdict.n_items else "–"
    return VerdictRow(
        title or verdict.title,
        " · ".join(filter(None, (names.short(verdict.rater), names.detail(verdict.rater)))),
        verdict.state,
        (_value(verdict.agreement, f"{symbol} "), _value(verdict.people), (answered, "")),
        verdict.sentence,
        verdict.next_step,
        _step_address(verdict, study, part),
    )


def _value(figure: Figure | None, symbol: str = "") -> tuple[str, str]:
    if figure is None or not figure.ok:
        return "–", ""
    return f"{symbol}{number(figure.point, 2)}", interval(figure) if figure.low is not None else ""


def _step_address(verdict: RaterVerdict, study: int | None, part: str) -> str:
    """Return the address where a verdict's next step is taken: a section, or a page of the study."""
    sections = {"unanswered": "#unanswered", "guidelines": "#humans-agree", "baselines": "#floor"}
    if verdict.step in sections:
        return sections[verdict.step]
    if study is None or verdict.step == "none":
        return ""
    params = {"part": part} if part == "test" else {}
    if verdict.step == "disagreements":
        params |= {"question": verdict.ref, "a": verdict.rater, "b": PEOPLE}
        return f"{reverse('report-items', args=[study])}?{urlencode(params)}"
    params |= {"goal": "width", "question": verdict.ref, "rater": verdict.rater}
    return f"{reverse('plan', args=[study])}?{urlencode(params)}"


# Topics and their main results.


@dataclass(frozen=True, slots=True)
class TopicHeading:
    """A topic's anchor, title, name in the list of contents, and main result (a few words or empty)."""

    key: Topic
    title: str
    short: str
    result: str


MainResult = Callable[[Snapshot, Sequence[QuestionFigures], Names], str]


def topic_headings(result: Snapshot, names: Names) -> dict[Topic, TopicHeading]:
    """Return the headings of all topics, in the order of the page."""
    questions = figures(result)
    people = crowd(questions).many
    n_judges = len({*in_order(questions, JUDGE), *in_order(questions, PANEL)})
    judge = "the judge" if n_judges == 1 else "each judge" if n_judges else "each metric"
    titles: dict[Topic, tuple[str, str, MainResult]] = {
        "preferred": ("Which system is preferred?", "Preferences", _preferred),
        "humans-agree": (f"How well do {people} agree?", people.capitalize(), _people),
        "judge-agrees": (f"How well does {judge} agree with {people}?", "Agreement", _judges),
        "failures": (f"Where does {judge} fail?", "Failures", _weakest),
        "biased": ("Is the judge biased?" if n_judges == 1 else "Is each judge biased?", "Biases", _biased),
        "by-system": (f"How would {people} rate each system?", "Systems", _systems),
        "better": ("Which judge is better?", "Judges compared", _better),
        "calibrated": ("Is the score calibrated?", "Calibration", _calibrated),
        "rater-by-rater": ("Raters one by one", "Raters", _raters),
        "by-level": ("Turns, dialogues and systems", "Levels", _levels),
        "paper-tables": ("Tables for a paper", "Tables", _tables),
        "method": ("How this was made", "Method", _method),
    }
    return {
        key: TopicHeading(key, title, short, main_result(result, questions, names))
        for key, (title, short, main_result) in titles.items()
    }


def _preferred(result: Snapshot, questions: Sequence[QuestionFigures], names: Names) -> str:
    systems, best = preferred_systems(result)
    if best is None:
        return ""
    return f"{join_names(systems)} {'wins' if len(systems) == 1 else 'win'} {percent(best.point)}"


def _people(result: Snapshot, questions: Sequence[QuestionFigures], names: Names) -> str:
    question = leading_question([q for q in questions if len(q.people) > 1])
    if question is None:
        return ""
    for statistic in ("krippendorff_alpha", question.headline):
        entry = question.among(statistic)
        if entry is not None and entry.ok:
            items = units(question.data.item_kind, entry.n_items, pooled=question.data.pooled)
            return _about(question, questions, f"{_figure(statistic, entry)} on {items}")
    return ""


def _judges(result: Snapshot, questions: Sequence[QuestionFigures], names: Names) -> str:
    question = leading_question([q for q in questions if q.people and (q.judging or q.names(METRIC))])
    if question is None:
        return ""
    statistic = question.headline
    entries = [(name, question.with_people(statistic, name)) for name in question.judging]
    if not any(ok(entry) for _, entry in entries):
        statistic = "spearman"
        raters = [*question.judging, *question.names(METRIC)]
        entries = [(name, question.with_mean(name)) for name in raters]
    values = [(name, entry) for name, entry in entries if entry is not None and entry.ok]
    if not values:
        return ""
    name, best = max(values, key=lambda pair: pair[1].point)
    text = f"{names.short(name)}, {_figure(statistic, best)}"
    return _about(question, questions, text if len(entries) == 1 else f"best: {text}")


def _weakest(result: Snapshot, questions: Sequence[QuestionFigures], names: Names) -> str:
    entries = [
        (title, judge, question.headline, entry)
        for title, question in label(questions)
        for judge in question.judging
        if not question.data.pooled and (entry := question.with_people(question.headline, judge)) and entry.ok
    ]
    if not entries:
        return ""
    title, judge, statistic, entry = min(entries, key=lambda row: row[3].point)
    by = [names.short(judge)] if len({row[1] for row in entries}) > 1 else []
    where = [title] if len({row[0] for row in entries}) > 1 else []
    lowest = ["lowest agreement"] if by or where else []
    return " · ".join([*lowest, *where, ", ".join([*by, _figure(statistic, entry)])])


def _biased(result: Snapshot, questions: Sequence[QuestionFigures], names: Names) -> str:
    rows = [row for question in result.biases for row in question.rows]
    n_clear = sum(bool(row.sentence) for row in rows)
    return f"{n_clear} clear" if n_clear else "none clear" if rows else ""


def _systems(result: Snapshot, questions: Sequence[QuestionFigures], names: Names) -> str:
    """Return how many pairs of systems differ by the first judge on the leading question."""
    refs = {table.ref for table in result.systems}
    question = leading_question([question for question in questions if question.data.ref in refs])
    if question is None:
        return ""
    table = next(table for table in result.systems if table.ref == question.data.ref)
    text = counted(len({row.system for row in table.rows}), "system")
    if table.pairs:
        n_clear = sum(differs(pair, result.definition.plan.level) for pair in table.pairs)
        text += f", {n_clear or 'no'} clear difference{'' if n_clear == 1 else 's'}"
    return _about(question, questions, text)


def _better(result: Snapshot, questions: Sequence[QuestionFigures], names: Names) -> str:
    """Return the difference of the first two judges compared on the leading question."""
    compared = {comparison.ref for comparison in result.compared if comparison.pairs}
    question = leading_question([question for question in questions if question.data.ref in compared])
    if question is None:
        return ""
    pairs = [
        pair
        for comparison in result.compared
        if comparison.ref == question.data.ref
        for pair in comparison.pairs
        if pair.difference.ok
    ]
    pair = next((pair for pair in pairs if pair.statistic == question.headline), pairs[0] if pairs else None)
    if pair is None:
        return ""
    low, high, symbol = pair.difference.low, pair.difference.high, worded(pair.statistic).symbol
    if low is None or high is None or low <= 0 <= high:
        first, second = names.short(pair.names[0]), names.short(pair.names[1])
        text = f"no clear difference between {first} and {second}"
    else:
        better = pair.names[0] if pair.difference.point > 0 else pair.names[1]
        text = f"{names.short(better)}, by {number(abs(pair.difference.point), 2)} in {symbol}"
    return _about(question, questions, text)


def _calibrated(result: Snapshot, questions: Sequence[QuestionFigures], names: Names) -> str:
    scores = result.scores
    if scores is None:
        return ""
    rated = [[row.rater for row in rows] for rows in (scores.marks, scores.probabilities, scores.maps)]
    raters = dict.fromkeys(chain.from_iterable(rated))
    return join_names([names.short(rater) for rater in raters], 3)


def _raters(result: Snapshot, questions: Sequence[QuestionFigures], names: Names) -> str:
    people = crowd(questions)
    n = {kind: len(in_order(questions, kind)) for kind in (HUMAN, JUDGE, PANEL, METRIC)}
    parts = [people.counted(n[HUMAN])] if n[HUMAN] else []
    parts += [counted(n[kind], kind) for kind in (JUDGE, PANEL, METRIC) if n[kind]]
    return ", ".join(parts)


def _levels(result: Snapshot, questions: Sequence[QuestionFigures], names: Names) -> str:
    tables = [table for table in result.levels if table.rows]
    if not tables:
        return ""
    table = tables[0]
    parts = [
        *([counted(table.n_turns, "turn")] if table.n_turns else []),
        counted(table.n_dialogues, "dialogue"),
        counted(table.n_systems, "system"),
    ]
    return ", ".join(parts)


def _tables(result: Snapshot, questions: Sequence[QuestionFigures], names: Names) -> str:
    published = dict.fromkeys(f"{paper.paper} {paper.number}" for paper in paper_tables(result))
    others = {
        "prevalence": bool(result.prevalence),
        "means over pairs": any("_mean_" in figure.name for q in result.questions for figure in q.gaps),
        "intraclass correlations": any(q.f_intervals for q in result.questions),
    }
    return ", ".join([*published, *(name for name, is_included in others.items() if is_included)])


def _method(result: Snapshot, questions: Sequence[QuestionFigures], names: Names) -> str:
    return f"{counted(result.counts.labels, 'label')}, seed {result.definition.plan.seed}"


def _figure(statistic: str, entry: Figure) -> str:
    symbol = worded(statistic).symbol
    return f"{symbol} {number(entry.point, 2)}"


def _about(question: QuestionFigures, questions: Sequence[QuestionFigures], text: str) -> str:
    """Name the question before a result if the report has several."""
    return f"{question.title} · {text}" if len(questions) > 1 else text
