"""The Answers report: figures of its rows and tables of its layout, from a query."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User

from annotation.models import Rater, Split, TestLook
from annotation.script_records import NAMES as KINDS
from calibration.reports import kinds
from calibration.reports.kinds import log_look
from calibration.reports.wording import counted
from suites.long_dialogue.answers import answers as reading
from suites.long_dialogue.answers.answers import Agreement, agreements, judge_named, rows
from suites.long_dialogue.answers.figures import (
    CHANCE,
    COMPARED,
    Answers,
    Figure,
    NamesRow,
    RowFigures,
    Sheet,
    names_rows,
    row_figures,
    undefined,
)
from suites.long_dialogue.answers.rows import (
    CONDITION,
    FACTORS,
    MODEL,
    NAMES,
    REPORT,
    RETRIEVED,
    SCRIPT,
    SET,
    SYSTEM,
    TABLE2,
    TABLE3,
    TABLE4,
    AnswerRow,
    AnswersQuery,
    Factor,
    groups,
    setting_names,
)
from suites.long_dialogue.answers.tables import (
    Range,
    beside_oracle,
    oracle_table,
    table3,
    table4,
)
from suites.long_dialogue.answers.verdicts import RowVerdict, row_verdicts
from suites.long_dialogue.answers.verdicts import table as verdict_table
from suites.reports import Cell, Line, ReportPart, ReportRefused, Table, report_part

# From a query to an Answers report: figures of its rows, and tables of its layout.

# Tables of the default layout: accuracy, missing answers, abstention, retrieval, names, factors.

WIDE = 6
"""A factor with more values than this has one line per value."""
NOT_ASKED = "nothing of the kind was asked"
MEANS = (
    "Accuracy is the mean over trials of the share of right answers, sd its standard deviation over trials; "
    "intervals resample sessions, all questions and trials of a session together."
)


def accuracy(rows: Sequence[RowFigures]) -> Table:
    """Accuracy, with both rules, the gap to the oracle, and the memory-free baseline."""
    is_same = all(_n_answers(row.on_shared) == _n_answers(row.accuracy) for row in rows)
    heads = (
        "Accuracy",
        *([] if is_same else ["On shared questions"]),
        "Strict",
        "Lenient",
        "Below the oracle",
        "Always (E)",
        "Asked",
        "Trials",
    )
    lines = [
        Line(
            row.label,
            (
                row.accuracy,
                *([] if is_same else [row.on_shared]),
                row.strict,
                row.lenient,
                row.gap,
                row.shares["always_e"],
                row.counts.asked,
                row.counts.trials,
            ),
        )
        for row in rows
    ]
    notes = (
        MEANS,
        *([] if is_same else [_comparison_note(rows)]),
        f"Guessing among five letters is right by {CHANCE:.2f}; always (E) is what choosing (E) throughout "
        "would reach on the questions that were asked.",
        "Below the oracle: paired over the questions that the oracle of the same model was asked too.",
    )
    return Table("accuracy", "Accuracy", heads, tuple(lines), notes)


def _n_answers(figure: Figure) -> int:
    """Number of answers behind a figure, including those with unknown correctness."""
    return (figure.result.n_items or 0) + figure.result.n_missing


def _comparison_note(rows: Sequence[RowFigures]) -> str:
    """Return a note on the figure by which to compare rows with different questions."""
    n_asked, n_shared = (
        sum(_n_answers(row.accuracy) for row in rows),
        sum(_n_answers(row.on_shared) for row in rows),
    )
    if not n_shared:
        return "No question was asked in every row, in the same trial: the rows are not to be compared."
    return (
        "The rows were not asked the same questions in the same trials. Compare them by the accuracy on "
        f"shared questions, those asked in every row: {n_asked - n_shared:,} of {n_asked:,} answers are "
        "left out of it. All else is over each row's own questions."
    )


def outcomes(rows: Sequence[RowFigures]) -> Table:
    """Outcomes of the answers, and bounds of the accuracy given the missing ones."""
    count_names = ("ambiguous", "none", "late", "undecided", "by_judge", "failed", "waiting")
    heads = ("Ambiguous", "No letter", "Late", "Undecided", "By a judge", "Failed", "Waiting", "Bounds")
    lines = [
        Line(
            row.label,
            (*(row.counts.as_dict()[name] for name in count_names), Range(row.low.value, row.high.value)),
        )
        for row in rows
    ]
    notes = (
        "Ambiguous, without a letter, late and undecided answers are wrong. Failed and waiting ones are "
        "missing: the bounds are the accuracy if all of them were wrong, and if all were right.",
    )
    return Table("outcomes", "What became of the answers", heads, tuple(lines), notes)


def abstention(rows: Sequence[RowFigures]) -> Table:
    """How often, and how accurately, an agent abstains."""
    heads = ("Share of (E)", "Precision", "Recall")
    lines = [
        Line(row.label, tuple(row.abstention[name] for name in ("share", "precision", "recall")))
        for row in rows
    ]
    notes = (
        "Precision: of choices (E), how many have the key (E). Recall: of the keys (E), how many chose it.",
    )
    return Table("abstention", "Saying that it cannot be known", heads, tuple(lines), notes)


def retrieval(rows: Sequence[RowFigures]) -> Table:
    """Extent of the evidence in the prompt, and the accuracy for each extent."""
    heads = tuple(
        f"{state.capitalize()}: {measure}" for state in RETRIEVED for measure in ("share", "accuracy")
    )
    lines = [
        Line(
            row.label,
            tuple(row.retrieval[state][measure] for state in RETRIEVED for measure in ("share", "accuracy")),
        )
        for row in rows
    ]
    notes = (
        "Of the answerable questions. Sufficient: one session where one suffices, all where all "
        "are needed; partly: some of them; none: not one.",
    )
    return Table("retrieval", "Evidence in the prompt", heads, tuple(lines), notes)


def shares(rows: Sequence[RowFigures]) -> Table:
    """Achieved shares of classes and sources."""
    heads = ("Unanswerable wanted", "Unanswerable asked", "Quiz asked", "Classes still owed")
    lines = [
        Line(
            row.label,
            (
                row.shares["unanswerable_wanted"],
                row.shares["unanswerable"],
                row.shares["quiz"],
                row.counts.owed,
            ),
        )
        for row in rows
    ]
    return Table(
        "shares",
        "What was asked",
        heads,
        tuple(lines),
        ("A class that a session cannot ask is owed, and asked later; what is owed at the end never was.",),
    )


def names(rows: Sequence[NamesRow]) -> Table:
    """Effect of names on the accuracy."""
    kinds = [kind for kind in KINDS if any(kind in row.accuracy for row in rows)]
    pairs = [pair for pair in COMPARED if any(pair in row.differences for row in rows)]
    none = undefined("accuracy", NOT_ASKED)
    lines = [
        Line(
            row.label,
            (
                *(row.accuracy.get(kind, none) for kind in kinds),
                *(row.differences.get(pair, none) for pair in pairs),
            ),
        )
        for row in rows
    ]
    heads = (*(kind.capitalize() for kind in kinds), *(f"{first} less {second}" for first, second in pairs))
    notes = (
        "Differences are paired: over the questions that were asked under both names in the same trial.",
    )
    return Table("names", "Names", heads, tuple(lines), notes)


def by_factor(rows: Sequence[RowFigures], factor: Factor) -> Table:
    """Accuracy by the values of a factor: a column per value, or a line per value if there are many."""
    values = factor.sorted([value for row in rows for value in row.by[factor.key]])
    none = undefined("accuracy", NOT_ASKED)

    def cell(row: RowFigures, value: str) -> Cell:
        return row.by[factor.key].get(value, none)

    notes = (factor.note,) if factor.note else ()
    title = f"Accuracy by: {factor.title.lower()}"
    if len(values) > WIDE:
        lines = [Line(value, tuple(cell(row, value) for row in rows)) for value in values]
        heads = tuple(row.label for row in rows)
    else:
        lines = [Line(row.label, tuple(cell(row, value) for value in values)) for row in rows]
        heads = tuple(values)
    if not values:
        lines = []
    return Table(f"by_{factor.key}", title, heads, tuple(lines), notes)


TABLES: tuple[Callable[[Sequence[RowFigures]], Table], ...] = (
    accuracy,
    outcomes,
    abstention,
    retrieval,
    shares,
)


def report_tables(rows: Sequence[RowFigures], name_rows: Sequence[NamesRow]) -> list[Table]:
    """Return the tables of the report, without empty ones."""
    tables = [make(rows) for make in TABLES]
    tables += [names(name_rows)] if name_rows else []
    tables += [by_factor(rows, factor) for factor in FACTORS.values()]
    return [table for table in tables if table.lines]


def agreement_table(rows: Sequence[Agreement]) -> Table:
    """Agreement of judges of free answers with people."""
    lines = [
        Line(row.judge, (Figure(row.kappa), Figure(row.equal), row.people), title=row.title) for row in rows
    ]
    notes = (
        "Cohen's kappa over the answers that both the judge and people rated; of several people most of them "
        "count. A study of the question `right` compares them in full.",
    )
    heads = ("Kappa with people", "Share of equal answers", "People")
    return Table("agreement", "Judges and people on what is right", heads, tuple(lines), notes)


ALWAYS_KNOWN = (MODEL, NAMES, SET)
"""Settings that every answer has, whether its condition names them or not."""


@dataclass(frozen=True)
class AnswersReport:
    """A report: its rows with their figures, the tables of its layout, and its basis in sentences.

    Only the layout `report` has verdicts.
    """

    query: AnswersQuery
    part: str
    split: Split | None
    looks: tuple[TestLook, ...]
    answers: Answers
    rows: tuple[RowFigures, ...]
    verdicts: tuple[RowVerdict, ...]
    names: tuple[NamesRow, ...]
    agreements: tuple[Agreement, ...]
    tables: tuple[Table, ...]
    facts: tuple[str, ...]
    excluded: dict[str, Any] | None


def compute(*, query: AnswersQuery, by: User | None) -> AnswersReport:
    """Return the report of a query. The first report freezes a split, as does any other look at labels.

    Raises ReportRefused, in one line, without answers, and for a test part that was not opened.
    """
    part = report_part(query, by, lambda: _raters(query))
    judge = next(iter(part.judges), query.judge or None)
    excluded = query.scope.excluded
    answer_rows = rows(query.corpus, part.clusters, judge, query.sets, part.name, excluded)
    if not answer_rows:
        raise ReportRefused(_nothing(query, part.name))
    _check(query, answer_rows)
    agreed = agreements(query.corpus, part.clusters, query.plan, part.name, excluded)
    return _report(query, answer_rows, part, agreed)


def compute_on_test(*, query: AnswersQuery, by: User | None, purpose: str) -> AnswersReport:
    """Log a look at test and return the report there; a report that fails leaves no look."""
    return kinds.compute_on_test(compute, open_test, query=query, by=by, purpose=purpose)


def open_test(*, query: AnswersQuery, by: User | None, purpose: str) -> TestLook:
    """Log a look at test, with the user and purpose. Its report can then be computed."""
    return log_look(query=query, raters=lambda: _raters(query), by=by, purpose=purpose, refusal=ReportRefused)


def _raters(query: AnswersQuery) -> list[Rater]:
    judge = judge_named(query.corpus, query.judge)
    return [judge] if isinstance(judge, Rater) else []


def _nothing(query: AnswersQuery, part: str) -> str:
    where = f"the corpus {query.corpus.name}" + ("" if part == "all" else f", in the {part} part,")
    sets = f" of the question sets {', '.join(query.sets)}" if query.sets else ""
    return f"{where} has no answers to questions{sets} yet: run a simulation"


def _check(query: AnswersQuery, answer_rows: Sequence[AnswerRow]) -> None:
    """Raise ReportRefused for rows by a setting that no condition has."""
    settings = [*dict.fromkeys((*ALWAYS_KNOWN, *setting_names(answer_rows)))]
    for key in query.by:
        if key not in (SYSTEM, CONDITION, SCRIPT, *settings):
            available = ", ".join((SYSTEM, CONDITION, SCRIPT, *settings))
            raise ReportRefused(f"by: no answer has a setting {key!r}; there are {available}")


def _report(
    query: AnswersQuery,
    answer_rows: Sequence[AnswerRow],
    part: ReportPart,
    agreed: tuple[Agreement, ...],
) -> AnswersReport:
    answers = Answers(Sheet(answer_rows, query.plan))
    figure_rows = row_figures(answers, groups(answer_rows, query.by), query.rule)
    name_rows = tuple(names_rows(answers, query.by, query.rule))
    verdicts = row_verdicts(answers, figure_rows, query.rule) if query.layout == REPORT else ()
    return AnswersReport(
        query,
        part.name,
        part.split,
        part.looks,
        answers,
        figure_rows,
        verdicts,
        name_rows,
        agreed,
        tuple(_tables(query, answers, figure_rows, verdicts, name_rows, agreed)),
        tuple(_facts(query, answer_rows, answers, part.name)),
        query.left_out(),
    )


def _tables(
    query: AnswersQuery,
    answers: Answers,
    figure_rows: Sequence[RowFigures],
    verdicts: Sequence[RowVerdict],
    name_rows: Sequence[NamesRow],
    agreed: Sequence[Agreement],
) -> Iterator[Table]:
    if query.layout == REPORT:
        yield verdict_table(verdicts)
        first, *others = report_tables(figure_rows, name_rows)
        yield first
        if oracles := beside_oracle(answers, query.rule):
            yield oracle_table(oracles)
        yield from others
        if agreed:
            yield agreement_table(agreed)
        return
    table = {
        TABLE2: lambda: reading.table2(query.corpus, _sets(answers.sheet.rows), query.scope.excluded),
        TABLE3: lambda: table3(answers, query.rule),
        TABLE4: lambda: table4(answers, query.rule),
    }[query.layout]()
    if not table.lines:
        missing = {
            TABLE2: "none of the question sets of these answers is known any more",
            TABLE4: "table 4 needs answers under more than one kind of names",
        }
        raise ReportRefused(missing.get(query.layout, "there is nothing to lay out"))
    yield table


def _sets(answer_rows: Sequence[AnswerRow]) -> list[str]:
    return sorted({row.question_set for row in answer_rows if row.question_set})


def _facts(
    query: AnswersQuery, answer_rows: Sequence[AnswerRow], answers: Answers, part: str
) -> Iterator[str]:
    """Yield sentences on the basis of a report."""
    if excluded := query.left_out():
        yield excluded["sentence"]
    scripts = {row.place.script for row in answer_rows}
    units = counted(answers.sheet.n_units, "session or season", "sessions or seasons")
    where = "" if part == "all" else f", the {part} part"
    yield (
        f"{counted(len(answer_rows), 'answer')} over {counted(len(scripts), 'script')} and {units}{where}; "
        "intervals are over these, drawn within scripts."
    )
    if sets := _sets(answer_rows):
        yield f"Question {'sets' if len(sets) > 1 else 'set'}: {', '.join(sets)}.{_policies(query, sets)}"
    words = {"strict": "a letter as it was asked for", "lenient": "an option's text as well as a letter"}
    yield f"Right is scored by the {query.rule} rule: {words[query.rule]} counts."
    judge = judge_named(query.corpus, query.judge)
    decided = judge.title if isinstance(judge, Rater) else judge or "nobody"
    if any(row.by_judge or (row.strict is None and not row.is_failed) for row in answer_rows):
        yield f"Answers that no rule decides are decided by {decided}: choose a judge or people who answered."
    if any(row.place.fake_model for row in answer_rows):
        yield (
            "Some of these answers come from a fake model or use its embeddings: figures with them are for "
            "trying out Concord, not results."
        )


def _policies(query: AnswersQuery, sets: Sequence[str]) -> str:
    """Return a sentence on the policy for questions before their evidence, if the sets record one."""
    policies = reading.policies(query.corpus, sets)
    if not policies:
        return ""
    return f" A question before its evidence: policy {' and '.join(policies)}."
