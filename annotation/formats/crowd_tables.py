"""Tables of crowd platforms and survey programs: their rows, prepared, and what their columns are.

`prepared` brings such a table into rows that a mapping reads: one row a person and item, without rejected
work. `mapping_of` then says what its columns are. Both are used for every table, whatever reads it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotation.formats import surveys
from annotation.formats.crowd_columns import (
    COMMENT_NAME,
    ITEM,
    PART,
    RESPONDENT,
    CrowdForm,
    Rows,
    dialogue_columns,
    is_answer,
    items_of,
    label_column,
    leave_out,
    names_of,
    plain_html,
    question_of,
    text_of_cell,
)
from annotation.formats.mapping import TURN_ITEM, Column, Scale
from annotation.formats.mapping import Mapping as ColumnMapping
from annotation.formats.scales import guess_scale
from annotation.formats.source import ImportProblem
from annotation.formats.table_file import Row, TableFile

MOST_ROWS = 200_000
"""Maximum number of rows of such a table."""


def form_of(columns: Iterable[str]) -> CrowdForm | None:
    """Return the form of a table with these columns, None for a table of no platform."""
    names = frozenset(name.strip().lower() for name in columns)
    return next((form for form in FORMS if form.has_columns(names)), None)


def prepared(table: TableFile) -> TableFile:
    """Return a platform's table with prepared rows, any other table unchanged."""
    form = form_of(table.columns)
    if form is None or table.is_json or {ITEM, RESPONDENT} & set(table.columns):
        return table
    rows: Rows = []
    for line, row in table.read_rows():
        rows.append((line, row))
        if len(rows) > MOST_ROWS:
            raise ImportProblem(f"has more than {MOST_ROWS:,} rows: too many for {form.title}")
    rows = form.prepare(rows, table)
    columns = dict.fromkeys(name for _, row in rows for name in row)
    return replace(table, columns=tuple(columns) or table.columns, read_rows=lambda: iter(rows))


def mapping_of(
    columns: Sequence[str], rows: Rows, wordings: Mapping[str, str] | None = None
) -> ColumnMapping | None:
    """Return the mapping of a prepared table, by its rows; None for a table of no platform."""
    form = form_of(columns)
    if form is None:
        return None
    mapped_columns = form.columns(columns, rows, wordings or {})
    if not any(column.role in ("label", "key") for column in mapped_columns):
        return None
    if any(column.role == "utterance" for column in mapped_columns):
        mapped_columns = [
            replace(column, item=TURN_ITEM) if column.role in ("label", "key") else column
            for column in mapped_columns
        ]
    order = {name: number for number, name in enumerate(columns)}
    mapped_columns.sort(key=lambda column: order[column.name])
    return ColumnMapping(tuple(mapped_columns), _scales(mapped_columns, rows))


def _scales(columns: Sequence[Column], rows: Rows) -> dict[str, Scale]:
    """Return the scale of each question, by all its answers."""
    answers: dict[str, Counter[str]] = {}
    for column in columns:
        if column.role in ("label", "key"):
            counts = answers.setdefault(column.question, Counter())
            counts.update(text for _, row in rows if (text := text_of_cell(row.get(column.name))))
    guesses = {question: guess_scale(counts) for question, counts in answers.items()}
    return {
        question: replace(guess.scale, codes={**dict.fromkeys(guess.missing, ""), **guess.scale.codes})
        for question, guess in guesses.items()
        if guess.look != "empty"
    }


# Amazon Mechanical Turk: a batch's results.
#
# Input.NAME is what was shown, Answer.NAME what was answered. Forms of Amazon's own elements put all answers
# into Answer.taskAnswers, as JSON; buttons have a column each with true or false. Input.x1, Input.x2 with
# Answer.y1, Answer.y2 are several items in one task. Rejected assignments are left out.

TASK_ANSWERS = "Answer.taskAnswers"
NUMBERED = re.compile(r"(?P<before>\D*?)(?P<mark>[_.-]?)(?P<number>\d{1,3})(?P<after>\D*)")
SET = "|"
GENERIC_STEMS = frozenset(["answer.q", "answer.question", "answer.answer"])


def _is_mturk(names: frozenset[str]) -> bool:
    return {"hitid", "workerid"} <= names and any(name.startswith("answer.") for name in names)


def _prepare_mturk(rows: Rows, table: TableFile) -> Rows:
    rows = leave_out(rows, table, "Rejected assignments", _is_rejected)
    rows = _unfolded(_joined_buttons([(line, _with_task_answers(row)) for line, row in rows]))
    names = [name for name in names_of(rows) if name.startswith("Input.")]
    items = items_of(names, rows, "HITId", "WorkerId")
    result = []
    for (line, row), item in zip(rows, items, strict=True):
        texts: Row = {name: plain_html(cell) for name in names if isinstance(cell := row.get(name), str)}
        result.append((line, row | texts | {ITEM: item}))
    return result


def _is_rejected(row: Row) -> bool:
    is_rejected = text_of_cell(row.get("AssignmentStatus")).lower() == "rejected"
    return is_rejected or bool(text_of_cell(row.get("RejectionTime")))


def _with_task_answers(row: Row) -> Row:
    """Return a row with the answers of Amazon's own form elements in columns of their own."""
    cell = row.get(TASK_ANSWERS)
    try:
        answers = json.loads(cell) if isinstance(cell, str) else None
    except (ValueError, RecursionError):
        answers = None
    answers = answers[0] if isinstance(answers, list) and answers else answers
    if not isinstance(answers, dict):
        return row
    own = {f"Answer.{name}": text for name, text in _form_answers(answers)}
    return {**{name: value for name, value in row.items() if name != TASK_ANSWERS}, **own}


def _form_answers(answers: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    for name, value in answers.items():
        if isinstance(value, dict) and value and all(isinstance(part, bool) for part in value.values()):
            options = [key for key, is_chosen in value.items() if is_chosen]
            if set(value) == {"on"}:
                yield f"{path}{name}", "true" if options else "false"
            else:
                yield f"{path}{name}", SET.join(options)
        elif isinstance(value, dict):
            label = value.get("label")
            if isinstance(label, str) and len(value) == 1:
                yield f"{path}{name}", label
            else:
                yield from _form_answers(value, f"{path}{name}.")
        elif value is not None:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield f"{path}{name}", text


def _joined_buttons(rows: Rows) -> Rows:
    """Join the true and false columns of a group of buttons, `Answer.polite.yes` and `Answer.polite.no`."""
    groups: dict[str, list[str]] = {}
    for name in names_of(rows):
        stem, dot, _ = name.rpartition(".")
        if name.startswith("Answer.") and dot and stem != "Answer":
            groups.setdefault(stem, []).append(name)
    buttons = {
        stem: names
        for stem, names in groups.items()
        if len(names) > 1
        and all(
            text_of_cell(row.get(name)).lower() in ("true", "false", "") for _, row in rows for name in names
        )
    }
    if not buttons:
        return rows
    joined = []
    for line, row in rows:
        own = {name: cell for name, cell in row.items() if name.rpartition(".")[0] not in buttons}
        for stem, names in buttons.items():
            options = [
                name[len(stem) + 1 :] for name in names if text_of_cell(row.get(name)).lower() == "true"
            ]
            own[stem] = SET.join(options)
        joined.append((line, own))
    return joined


def _unfolded(rows: Rows) -> Rows:
    """Split tasks with several items into a row for each: Input.reply1 with Answer.helpful1, and so on."""
    inputs = _families(name for name in names_of(rows) if name.startswith("Input."))
    answers = _families(name for name in names_of(rows) if name.startswith("Answer."))
    for numbers in sorted({numbers for _, numbers in inputs.values()}, key=len, reverse=True):
        own_inputs = {stem for stem, (_, own) in inputs.items() if own == numbers}
        own_answers = {stem for stem, (_, own) in answers.items() if own == numbers}
        if len(numbers) == 2:
            own_answers = {stem for stem in own_answers if stem.lower() not in GENERIC_STEMS}
        if len(numbers) > 1 and own_answers:
            parts = {stem: inputs[stem][0] for stem in own_inputs}
            parts |= {stem: answers[stem][0] for stem in own_answers}
            return [(line, part) for line, row in rows for part in _parts_of(row, parts, sorted(numbers))]
    return rows


def _families(names: Iterable[str]) -> dict[str, tuple[dict[int, str], frozenset[int]]]:
    """Return columns that differ by a number, by the rest of their names: `Answer.reply1_polite`."""
    families: dict[str, dict[int, str]] = {}
    for name in names:
        if match := NUMBERED.fullmatch(name):
            stem = match["before"] + (match["after"] if match["before"].endswith(".") else _joined(match))
            families.setdefault(stem.rstrip("_.-"), {})[int(match["number"])] = name
    return {stem: (own, frozenset(own)) for stem, own in families.items()}


def _joined(match: re.Match[str]) -> str:
    """Return the part behind the number of a name with an underscore before it, empty without one."""
    return f"_{match['after'].lstrip('_.-')}" if match["after"] else ""


def _parts_of(row: Row, parts: Mapping[str, Mapping[int, str]], numbers: Sequence[int]) -> Iterator[Row]:
    folded = {name for own in parts.values() for name in own.values()}
    shared = {name: cell for name, cell in row.items() if name not in folded}
    for number in numbers:
        own = {stem: row.get(names[number]) for stem, names in parts.items()}
        if any(text_of_cell(cell) for cell in own.values()):
            yield {**shared, **own, PART: str(number)}


def _mturk_columns(columns: Sequence[str], rows: Rows, wordings: Mapping[str, str]) -> list[Column]:
    inputs = [name for name in columns if name.startswith("Input.")]
    dialogue = dialogue_columns(inputs, rows, len("Input."))
    answers = [name for name in columns if name.startswith("Answer.") and name != TASK_ANSWERS]
    return [
        Column("WorkerId", "rater"),
        *_item_role(dialogue),
        *dialogue,
        *_answer_columns(answers, rows, len("Answer.")),
    ]


def _item_role(dialogue: Sequence[Column]) -> list[Column]:
    return [Column(ITEM, "dialogue" if dialogue else "item")]


def _answer_columns(names: Sequence[str], rows: Rows, prefix: int) -> list[Column]:
    labels = [label_column(name, name[prefix:]) for name in names if is_answer(name, name[prefix:], rows)]
    answers = {column.name for column in labels}
    comments = [name for name in names if COMMENT_NAME.search(name[prefix:]) and name not in answers]
    if len(comments) == 1:
        labels.append(Column(comments[0], "explanation"))
    return labels


# Toloka: assignments (INPUT:, OUTPUT:, GOLDEN:, ASSIGNMENT:), and aggregated answers (CONFIDENCE:).
#
# Rejected assignments are left out. GOLDEN: columns are the answer key, once for each item. Rows without a
# worker are aggregated answers, of one rater.

AGGREGATED = "aggregated"


def _is_toloka(names: frozenset[str]) -> bool:
    return any(name.startswith("output:") for name in names) and any(
        name.startswith(("input:", "assignment:")) for name in names
    )


def _prepare_toloka(rows: Rows, table: TableFile) -> Rows:
    rows = leave_out(
        rows,
        table,
        "Rejected assignments",
        lambda row: (
            text_of_cell(row.get("ASSIGNMENT:status")).upper() == "REJECTED"
            or text_of_cell(row.get("ACCEPT:verdict")) == "-"
        ),
    )
    names = [name for name in names_of(rows) if name.startswith("INPUT:")]
    items = items_of(names, rows, "ASSIGNMENT:task_id", "ASSIGNMENT:worker_id")
    rows = [(line, {**row, ITEM: item}) for (line, row), item in zip(rows, items, strict=True)]
    if "ASSIGNMENT:worker_id" not in table.columns:
        rows = _of_one_rater(rows, table)
    return _keys_once(rows, [name for name in names_of(rows) if name.startswith("GOLDEN:")], ITEM)


def _of_one_rater(rows: Rows, table: TableFile) -> Rows:
    """Return rows of aggregated answers with their one rater; the table's notes say so."""
    table.notes.append(
        "The table names no workers: its aggregated answers are those of one person, `aggregated`."
    )
    return [(line, {**row, RESPONDENT: AGGREGATED}) for line, row in rows]


def _keys_once(rows: Rows, names: Sequence[str], item: str) -> Rows:
    """Keep the answer key in the first row of each item alone: it is one answer."""
    seen: set[tuple[str, str]] = set()
    result = []
    for line, row in rows:
        own = dict(row)
        for name in names:
            about = (name, text_of_cell(row.get(item)))
            if about in seen:
                own[name] = None
            elif text_of_cell(row.get(name)):
                seen.add(about)
        result.append((line, own))
    return result


def _toloka_columns(columns: Sequence[str], rows: Rows, wordings: Mapping[str, str]) -> list[Column]:
    inputs = [name for name in columns if name.startswith("INPUT:")]
    outputs = [name for name in columns if name.startswith("OUTPUT:")]
    dialogue = dialogue_columns(inputs, rows, len("INPUT:"))
    keys = [
        Column(name, "key", question=question_of(name.removeprefix("GOLDEN:")), rater="GOLDEN")
        for name in columns
        if name.startswith("GOLDEN:") and any(text_of_cell(row.get(name)) for _, row in rows)
    ]
    rater = "ASSIGNMENT:worker_id" if "ASSIGNMENT:worker_id" in columns else RESPONDENT
    answers = _answer_columns(outputs, rows, len("OUTPUT:"))
    return [Column(rater, "rater"), *_item_role(dialogue), *dialogue, *answers, *keys]


# Appen, once Figure Eight and CrowdFlower: full reports (a row for each judgment) and aggregated ones.
#
# Answers are the columns that differ within a unit, or that have a key (`X_gold`) or a confidence
# (`X:confidence`). Tainted judgments are left out; keys are taken once for each unit.

APPEN_OWN = re.compile(r"_\w+|orig_\w+|.*[:_]confidence|.*:variance|.*_gold(?:_reason)?|.*:evidence")


def _is_appen(names: frozenset[str]) -> bool:
    return "_unit_id" in names and bool({"_worker_id", "_trusted_judgments"} & names)


def _prepare_appen(rows: Rows, table: TableFile) -> Rows:
    rows = leave_out(
        rows, table, "Tainted judgments", lambda row: text_of_cell(row.get("_tainted")).lower() == "true"
    )
    if "_worker_id" not in table.columns:
        rows = _of_one_rater(rows, table)
    return _keys_once(rows, [name for name in table.columns if name.endswith("_gold")], "_unit_id")


def _appen_columns(columns: Sequence[str], rows: Rows, wordings: Mapping[str, str]) -> list[Column]:
    plain = [name for name in columns if not APPEN_OWN.fullmatch(name) and name != RESPONDENT]
    answers = [
        name
        for name in plain
        if {f"{name}_gold", f"{name}:confidence", f"{name}_confidence"} & set(columns)
        or _differs_within(name, "_unit_id", rows)
    ]
    dialogue = dialogue_columns([name for name in plain if name not in answers], rows, 0)
    keys = [
        Column(f"{name}_gold", "key", question=question_of(name), rater="gold")
        for name in answers
        if any(text_of_cell(row.get(f"{name}_gold")) for _, row in rows)
    ]
    rater = "_worker_id" if "_worker_id" in columns else RESPONDENT
    item = Column("_unit_id", "dialogue" if dialogue else "item")
    return [Column(rater, "rater"), item, *dialogue, *_answer_columns(answers, rows, 0), *keys]


def _differs_within(name: str, item: str, rows: Rows) -> bool:
    """Whether a column has several values for one item."""
    first: dict[str, str] = {}
    cells = [(text_of_cell(row.get(item)), text_of_cell(row.get(name))) for _, row in rows]
    return any(first.setdefault(about, text) != text for about, text in cells)


# The forms, and their formats.


FORMS: tuple[CrowdForm, ...] = (
    CrowdForm(
        "mturk",
        "Mechanical Turk results",
        "The CSV of a batch: HITId, WorkerId, Input.* and Answer.* columns.",
        _is_mturk,
        _prepare_mturk,
        _mturk_columns,
    ),
    CrowdForm(
        "toloka",
        "Toloka assignments",
        "TSV with INPUT:, OUTPUT:, GOLDEN: and ASSIGNMENT: columns.",
        _is_toloka,
        _prepare_toloka,
        _toloka_columns,
    ),
    CrowdForm(
        "appen",
        "Appen (Figure Eight) reports",
        "Full or aggregated report: _unit_id, _worker_id, answers and their _gold columns.",
        _is_appen,
        _prepare_appen,
        _appen_columns,
    ),
    *surveys.FORMS,
)
