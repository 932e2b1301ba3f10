"""From a query to an Answers report: the figures of its rows, and the tables of its layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.contrib.auth.models import User
from django.db import transaction

from annotation.corpora import openings, splits
from annotation.errors import SplitRefused
from annotation.models import Rater, Split, TestLook
from calibration.answers import question_sets
from calibration.answers.agreement import Agreement, agreements
from calibration.answers.beside_oracle import beside_oracle, oracle_table
from calibration.answers.figures import Answers, RowFigures, row_figures
from calibration.answers.groups import CONDITION, SCRIPT, SYSTEM, groups, known
from calibration.answers.layouts import table3, table4
from calibration.answers.names import NamesRow, names_rows
from calibration.answers.query import REPORT, TABLE2, TABLE3, TABLE4, AnswersQuery, part_of
from calibration.answers.reading import judge_named, rows
from calibration.answers.report_tables import agreement_table, report_tables
from calibration.answers.rows import MODEL, NAMES, SET, AnswerRow
from calibration.answers.sheet import Sheet
from calibration.answers.tables import Table
from calibration.errors import AnswersRefused
from calibration.reports.wording import counted

ALWAYS_KNOWN = (MODEL, NAMES, SET)
"""Settings that every answer has, whether its condition names them or not."""


@dataclass(frozen=True)
class AnswersReport:
    """A report: its rows with their figures, the tables of its layout, and what it rests on in sentences."""

    query: AnswersQuery
    part: str
    split: Split | None
    looks: tuple[TestLook, ...]
    answers: Answers
    rows: tuple[RowFigures, ...]
    names: tuple[NamesRow, ...]
    agreements: tuple[Agreement, ...]
    tables: tuple[Table, ...]
    facts: tuple[str, ...]


def compute(*, query: AnswersQuery, by: User | None) -> AnswersReport:
    """Return the report of a query. A split is fixed by it, as by every look at labels.

    Raises AnswersRefused, in one line, where there is none, and for a test part that was not opened.
    """
    split, part = part_of(query)
    if split is not None:
        splits.fix(split=split, by=by)
    clusters = None if split is None else splits.clusters(split=split, part=part)
    judge = judge_named(query.corpus, query.judge)
    named = [judge] if isinstance(judge, Rater) else []
    if split is not None and part == "test" and (closed := openings.unopened(split, named)):
        raise AnswersRefused(f"test was not opened for {closed[0].name}: open it, and say what for")
    found = rows(query.corpus, clusters, judge, query.sets, part)
    if not found:
        raise AnswersRefused(_nothing(query, part))
    _check(query, found)
    agreed = agreements(query.corpus, clusters, query.plan, part)
    return _report(query, found, part, split, agreed)


@transaction.atomic
def compute_on_test(*, query: AnswersQuery, by: User | None, purpose: str) -> AnswersReport:
    """Log a look at test and return the report there; where it cannot be made, there was no look."""
    open_test(query=query, by=by, purpose=purpose)
    return compute(query=replace(query, part="test"), by=by)


@transaction.atomic
def open_test(*, query: AnswersQuery, by: User | None, purpose: str) -> TestLook:
    """Log a look at test, with who and for what. Its report can then be computed.

    Raises AnswersRefused without a purpose, or where the corpus has no split.
    """
    split = splits.lock_of(query.corpus)
    if split is None:
        raise AnswersRefused(f"the corpus {query.corpus.name} has no split, so there is no test part to open")
    try:
        judge = judge_named(query.corpus, query.judge)
        raters = [judge] if isinstance(judge, Rater) else []
        return splits.open_test(split=split, by=by, purpose=purpose, raters=raters)
    except SplitRefused as error:
        raise AnswersRefused(str(error)) from error


def _nothing(query: AnswersQuery, part: str) -> str:
    where = f"the corpus {query.corpus.name}" + ("" if part == "all" else f", in the {part} part,")
    sets = f" of the question sets {', '.join(query.sets)}" if query.sets else ""
    return f"{where} has no answers to questions{sets} yet: run a simulation"


def _check(query: AnswersQuery, found: Sequence[AnswerRow]) -> None:
    """Refuse rows by a setting that no condition has."""
    settings = [*dict.fromkeys((*ALWAYS_KNOWN, *known(found)))]
    for key in query.by:
        if key not in (SYSTEM, CONDITION, SCRIPT, *settings):
            there = ", ".join((SYSTEM, CONDITION, SCRIPT, *settings))
            raise AnswersRefused(f"by: no answer has a setting {key!r}; there are {there}")


def _report(
    query: AnswersQuery,
    found: Sequence[AnswerRow],
    part: str,
    split: Split | None,
    agreed: tuple[Agreement, ...],
) -> AnswersReport:
    answers = Answers(Sheet(found, query.plan))
    made = row_figures(answers, groups(found, query.by), query.rule)
    held = tuple(names_rows(answers, query.by, query.rule))
    looks = split.looks.select_related("by") if split is not None and part == "test" else ()
    return AnswersReport(
        query,
        part,
        split,
        tuple(looks),
        answers,
        made,
        held,
        agreed,
        tuple(_tables(query, answers, made, held, agreed)),
        tuple(_facts(query, found, answers, part)),
    )


def _tables(
    query: AnswersQuery,
    answers: Answers,
    made: Sequence[RowFigures],
    held: Sequence[NamesRow],
    agreed: Sequence[Agreement],
) -> Iterator[Table]:
    if query.layout == REPORT:
        first, *others = report_tables(made, held)
        yield first
        if oracles := beside_oracle(answers, query.rule):
            yield oracle_table(oracles)
        yield from others
        if agreed:
            yield agreement_table(agreed)
        return
    table = {
        TABLE2: lambda: question_sets.table2(query.corpus, _sets(answers.sheet.rows)),
        TABLE3: lambda: table3(answers, query.rule),
        TABLE4: lambda: table4(answers, query.rule),
    }[query.layout]()
    if not table.lines:
        missing = {
            TABLE2: "none of the question sets of these answers is known any more",
            TABLE4: "table 4 needs answers under more than one kind of names",
        }
        raise AnswersRefused(missing.get(query.layout, "there is nothing to lay out"))
    yield table


def _sets(found: Sequence[AnswerRow]) -> list[str]:
    return sorted({row.question_set for row in found if row.question_set})


def _facts(query: AnswersQuery, found: Sequence[AnswerRow], answers: Answers, part: str) -> Iterator[str]:
    """Yield what a report rests on, in sentences."""
    scripts = {row.place.script for row in found}
    units = counted(answers.sheet.n_units, "session or season", "sessions or seasons")
    where = "" if part == "all" else f", the {part} part"
    yield (
        f"{counted(len(found), 'answer')} over {counted(len(scripts), 'script')} and {units}{where}; "
        "intervals are over these, drawn within scripts."
    )
    if sets := _sets(found):
        yield f"Question {'sets' if len(sets) > 1 else 'set'}: {', '.join(sets)}.{_policies(query, sets)}"
    words = {"strict": "a letter as it was asked for", "lenient": "an option's text as well as a letter"}
    yield f"Right is scored by the {query.rule} rule: {words[query.rule]} counts."
    decided = query.judge or "nobody"
    if any(row.by_judge or (row.strict is None and not row.is_failed) for row in found):
        yield f"What no rule decides is decided by {decided}: choose a judge, or people, who answered."
    if any(row.place.fake_model for row in found):
        yield (
            "Answers of a fake model, or with its vectors, are among these: its figures prove the machine, "
            "and nothing else."
        )


def _policies(query: AnswersQuery, sets: Sequence[str]) -> str:
    """Return how a question before its evidence is counted, where the sets say so."""
    policies = question_sets.policies(query.corpus, sets)
    if not policies:
        return ""
    return f" A question before its evidence: policy {' and '.join(policies)}."
