"""The tables of the report's own layout: accuracy, what is missing, abstention, retrieval, names, factors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from annotation.scripts.records import NAMES as KINDS
from calibration.answers.agreement import Agreement
from calibration.answers.factors import FACTORS, Factor
from calibration.answers.figures import CHANCE, RowFigures
from calibration.answers.names import COMPARED, NamesRow
from calibration.answers.rows import RETRIEVED
from calibration.answers.sheet import Figure, undefined
from calibration.answers.tables import Cell, Line, Range, Table

WIDE = 6
"""A factor with more values than this has a line a value."""
NOT_ASKED = "nothing of the kind was asked"
MEANS = (
    "Accuracy is the mean over trials of the share of right answers, sd its standard deviation over trials; "
    "intervals resample sessions, all questions and trials of a session together."
)


def accuracy(rows: Sequence[RowFigures]) -> Table:
    """Accuracy beside the two rules, the oracle, and what needs no memory."""
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
    """How many answers a figure is of, those included of which it is not known whether they are right."""
    return (figure.result.n_items or 0) + figure.result.n_missing


def _comparison_note(rows: Sequence[RowFigures]) -> str:
    """Say by which figure rows that were not asked the same are compared."""
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
    """What became of the answers, and how far the missing ones could move the accuracy."""
    told = ("ambiguous", "none", "late", "undecided", "by_judge", "failed", "waiting")
    heads = ("Ambiguous", "No letter", "Late", "Undecided", "By a judge", "Failed", "Waiting", "Bounds")
    lines = [
        Line(
            row.label,
            (*(row.counts.as_dict()[name] for name in told), Range(row.low.value, row.high.value)),
        )
        for row in rows
    ]
    notes = (
        "Ambiguous, without a letter, late and undecided answers are wrong. Failed and waiting ones are "
        "missing: the bounds are the accuracy if all of them were wrong, and if all were right.",
    )
    return Table("outcomes", "What became of the answers", heads, tuple(lines), notes)


def abstention(rows: Sequence[RowFigures]) -> Table:
    """How often an agent says that it cannot know, and how well."""
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
    """How much of the evidence was in the prompt, and what it is worth."""
    heads = tuple(f"{state.capitalize()}: {what}" for state in RETRIEVED for what in ("share", "accuracy"))
    lines = [
        Line(
            row.label,
            tuple(row.retrieval[state][what] for state in RETRIEVED for what in ("share", "accuracy")),
        )
        for row in rows
    ]
    notes = (
        "Of the answerable questions. Sufficient: one session where one suffices, all where all "
        "are needed; partly: some of them; none: not one.",
    )
    return Table("retrieval", "Evidence in the prompt", heads, tuple(lines), notes)


def shares(rows: Sequence[RowFigures]) -> Table:
    """Which classes and sources were asked."""
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
    """What other names change."""
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
    heads = (*(kind.capitalize() for kind in kinds), *(f"{one} less {other}" for one, other in pairs))
    notes = (
        "Differences are paired: over the questions that were asked under both names in the same trial.",
    )
    return Table("names", "Names", heads, tuple(lines), notes)


def by_factor(rows: Sequence[RowFigures], factor: Factor) -> Table:
    """Accuracy by the values of a factor: a column a value, or a line a value where there are many."""
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
    return Table(f"by_{factor.key}", title, heads, tuple(lines), notes, folds=True)


TABLES: tuple[Callable[[Sequence[RowFigures]], Table], ...] = (
    accuracy,
    outcomes,
    abstention,
    retrieval,
    shares,
)


def report_tables(rows: Sequence[RowFigures], held: Sequence[NamesRow]) -> list[Table]:
    """Return the tables of the report, without those that have nothing in them."""
    made = [make(rows) for make in TABLES]
    made += [names(held)] if held else []
    made += [by_factor(rows, factor) for factor in FACTORS.values()]
    return [table for table in made if table.lines]


def agreement_table(rows: Sequence[Agreement]) -> Table:
    """How far judges of free answers agree with people."""
    lines = [Line(row.judge, (Figure(row.kappa), Figure(row.equal), row.people)) for row in rows]
    notes = (
        "Cohen's kappa over the answers that both the judge and people rated; of several people most of them "
        "count. A study of the question `right` compares them in full.",
    )
    heads = ("Kappa with people", "Share of equal answers", "People")
    return Table("agreement", "Judges and people on what is right", heads, tuple(lines), notes)
