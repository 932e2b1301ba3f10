"""Placing staged labels: on their items, for their questions, by their raters; what does not fit is refused.

Every step is one statement over the whole file. A refusal names the first line that it concerns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import connection

from annotation.formats import ImportProblem
from annotation.importing import sql
from annotation.importing.copying import copy_rows, fresh_table
from annotation.importing.file_raters import create_raters, find_raters
from annotation.importing.questions import Asked, Resolver, asked_questions
from annotation.importing.result import ImportResult
from annotation.models import Corpus, Import, Question
from annotation.schemes.base import Value


def place_labels(
    *, corpus: Corpus, imported: Import, given: tuple[str, ...], fresh: bool, result: ImportResult
) -> None:
    """Turn the staged labels into labels of the corpus; those that are there already stay as they are.

    `given` are the schemes named with the import; a `fresh` corpus is one that this import makes.
    """
    known = {"corpus": corpus.pk, "imported": imported.pk}
    _refuse_unplaced(known)
    resolver = Resolver(corpus, given, fresh)
    questions = resolver.resolve(asked_questions())
    _store_questions(questions)
    find_raters(corpus)
    fresh_table("import_placed", sql.PLACED_COLUMNS)
    _run(sql.PLACE, known)
    _run("ANALYZE import_placed", {})
    _refuse_off_scale({question.pk: question for question in questions.values()})
    result.unchanged = _run(sql.DROP_UNCHANGED, known)
    _refuse_repeated()
    _refuse_conflicts()
    create_raters(corpus)
    result.labels = _run(sql.INSERT, known)
    result.missing = _number("SELECT count(*) FROM import_placed WHERE missing <> ''")
    result.notes += resolver.notes


def _run(statement: str, values: Mapping[str, Any]) -> int:
    """Run a statement and return how many rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return int(cursor.rowcount)


def _row(statement: str, values: Mapping[str, Any] | None = None) -> tuple[Any, ...] | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row: tuple[Any, ...] | None = cursor.fetchone()
        return row


def _number(statement: str) -> int:
    row = _row(statement)
    return int(row[0]) if row else 0


def _store_questions(questions: Mapping[Asked, Question]) -> None:
    fresh_table(
        "import_question", '(kind text, key text, scheme text, id bigint, words boolean, "values" jsonb)'
    )
    rows = (
        (one.kind, one.key, one.scheme, question.pk, question.level in ("nominal", "text"), question.values)
        for one, question in questions.items()
    )
    copy_rows(
        "import_question",
        ("kind", "key", "scheme", "id", "words", "values"),
        ("text", "text", "text", "int8", "bool", "jsonb"),
        rows,
    )


def _refuse_unplaced(known: Mapping[str, Any]) -> None:
    row = _row(sql.UNPLACED, known)
    if row is None:
        return
    line, field, dialogue, continuation, position, has_dialogue, has_continuation, has_turn = row
    if not has_dialogue:
        reason = f"there is no dialogue {dialogue!r} in the corpus"
    elif not has_continuation:
        reason = f"the dialogue {dialogue!r} has no continuation {continuation!r}"
    elif not has_turn:
        reason = f"there is no turn {position} in the continuation {continuation!r} of {dialogue!r}"
    else:
        reason = f"turn {position} of {continuation!r} in {dialogue!r} is given: it is context and not rated"
    key = "turn" if has_continuation else "continuation" if has_dialogue else "dialogue"
    raise ImportProblem(reason, field=_sibling(field, key), line=line)


def _sibling(field: str, key: str) -> str:
    """Return the path of a field beside a label's value; a ratings file has one field for the whole place."""
    return field.removesuffix("value") + key if field.startswith("labels") else "item"


def _refuse_off_scale(questions: Mapping[int, Question]) -> None:
    row = _row(sql.OFF_SCALE)
    if row is None:
        return
    line, field, number, text, question_id = row
    question = questions[question_id]
    shown = repr(text) if number is None else f"{number:g}"
    raise ImportProblem(
        f"{shown} is not on the scale of {question.key} in {question.version.scheme.key}: {_scale(question)}",
        field=field,
        line=line,
    )


def _scale(question: Question) -> str:
    values: list[Value] = question.values
    if values:
        return ", ".join(f"{value}" for value in values)
    return "any text" if question.level in ("nominal", "text") else "any number"


def _refuse_repeated() -> None:
    if row := _row(sql.REPEATED):
        first, line, field = row
        where = "" if first is None or first == line else f", first on line {first}"
        raise ImportProblem(
            f"this rater answers this question about this item twice with the same sample{where}",
            field=field,
            line=line,
        )


def _refuse_conflicts() -> None:
    if row := _row(sql.CONFLICTS):
        line, field, rater, before, missing = row
        shown = "no answer" if missing else before
        raise ImportProblem(
            f"the corpus has another answer of {rater!r} there already: {shown}", field=field, line=line
        )
