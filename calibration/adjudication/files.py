"""Rounds as files: the queue and the decisions written, and decisions that were made elsewhere read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.corpora import splits
from annotation.text.table_cells import guarded, unguarded
from annotation.work.labels import called
from calibration.adjudication import deciding, holding, reading
from calibration.adjudication.material import locked_clusters
from calibration.adjudication.reading import RELATED, cases, state_of
from calibration.errors import AdjudicationRefused, CalibrationError
from calibration.models import AdjudicationCase, AdjudicationDecision, AdjudicationRound
from config import request_json
from config.models import Event

FORMS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}
WHAT = ("queue", "decisions")
LARGEST_FILE = 20 * 2**20
CANNOT = ("1", "true", "yes", deciding.CANNOT)


def written(found: AdjudicationRound, what: str, form: str) -> Iterator[str]:
    """Yield the queue or the decisions of a round as lines of CSV (texts guarded) or JSONL."""
    rows = queue(found) if what == "queue" else decisions(found)
    if form == "jsonl":
        return (json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    return _csv(rows, QUEUE_COLUMNS if what == "queue" else DECISION_COLUMNS)


QUEUE_COLUMNS = ("case", "item", "question", "picked", "state", "draw", "answers")
DECISION_COLUMNS = (
    "item", "question", "value", "missing", "reason", "adjudicator", "decided_at", "state",
    "withdrawn_because", "picked", "case", "label", "round",
)  # fmt: skip


def queue(found: AdjudicationRound) -> Iterator[dict[str, Any]]:
    """Yield the cases of a round in their order, each with the answers under the names that it shows."""
    locked = locked_clusters(found.corpus)
    for case in cases(found).select_related(*RELATED, "draw").iterator(chunk_size=500):
        if splits.of_item(case.item) in locked:
            answers: list[dict[str, Any]] = []
        else:
            answers = [one.as_dict() for one in reading.said_about(found, case)]
        yield {
            "case": case.pk,
            "item": reading.key_of(case),
            "question": case.question.key,
            "picked": case.picked,
            "state": state_of(case),
            "draw": case.draw.number,
            "answers": answers,
        }


def decisions(found: AdjudicationRound) -> Iterator[dict[str, Any]]:
    """Yield the decisions of a round, withdrawn ones among them, in the order of their cases.

    Those about a test part that nobody has opened are left out.
    """
    related = (*(f"case__{name}" for name in RELATED), "label", "adjudicator")
    rows = found.decisions.filter(state__in=["decided", "withdrawn"], label__isnull=False)
    rows = rows.exclude(splits.within(locked_clusters(found.corpus), "case__item__"))
    for one in rows.select_related(*related).order_by("case__position", "decided_at").iterator(500):
        label = one.label
        assert label is not None  # it is filtered by
        yield {
            "item": reading.key_of(one.case),
            "question": one.case.question.key,
            "value": label.value,
            "missing": label.missing,
            "reason": label.explanation,
            "adjudicator": called(one.adjudicator_id, found.corpus_id),
            "decided_at": one.decided_at.isoformat() if one.decided_at else "",
            "state": one.state,
            "withdrawn_because": one.note if one.state == one.State.WITHDRAWN else "",
            "picked": one.case.picked,
            "case": one.case_id,
            "label": label.pk,
            "round": found.name,
        }


def _csv(rows: Iterable[Mapping[str, Any]], columns: tuple[str, ...]) -> Iterator[str]:
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\n")
    for cells in (columns, *([_cell(row[name]) for name in columns] for row in rows)):
        writer.writerow(cells)
        yield line.getvalue()
        line.seek(0)
        line.truncate()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return f"{value:.15g}" if isinstance(value, float) else guarded(str(value))


@transaction.atomic
def import_decisions(*, by: User, found: AdjudicationRound, content: bytes, name: str) -> int:
    """Record decisions that were made elsewhere, as `by`'s own; return how many are new. All or nothing.

    `name` ends in .csv or .jsonl. A line names `item` and `question` of a case and has a `value`, or
    `missing` where it cannot be decided, and always a `reason`. A line that says what stands already changes
    nothing. Raises AdjudicationRefused with the number of the first line that is wrong.
    """
    holding.one_at_a_time(by)
    holding.must_be_open(by, found)
    if len(content) > LARGEST_FILE:
        raise AdjudicationRefused(f"The file is larger than {LARGEST_FILE >> 20} MiB: import it in parts.")
    known = {(reading.key_of(case), case.question.key): case for case in cases(found)}
    before = _standing(found, by)
    for number, row in _lines(content, name):
        try:
            _import_line(by, found, known, row)
        except CalibrationError as error:
            raise AdjudicationRefused(f"Line {number}: {error}") from error
    new = len(_standing(found, by) - before)
    detail = {"file": name[:200], "decisions": new}
    Event.objects.create(by=by, verb="adjudication: import decisions", subject=found.name, detail=detail)
    return new


def _standing(found: AdjudicationRound, by: User) -> set[int]:
    rows = found.decisions.filter(adjudicator=by, state=AdjudicationDecision.State.DECIDED)
    return {label for label in rows.values_list("label", flat=True) if label is not None}


def _import_line(
    by: User,
    found: AdjudicationRound,
    known: Mapping[tuple[str, str], AdjudicationCase],
    row: Mapping[str, Any],
) -> None:
    item, question = str(row.get("item") or ""), str(row.get("question") or "")
    case = known.get((item, question))
    if case is None:
        raise AdjudicationRefused(f"the round has no case on question {question!r} of item {item!r}")
    missing = str(row.get("missing") or "").strip().lower()
    if missing not in ("", "0", "false", "no", *CANNOT):
        raise AdjudicationRefused(f"missing says “{deciding.CANNOT}”, or nothing, not {missing!r}")
    value = row.get("value")
    if isinstance(value, str) and case.question.level not in ("nominal", "text"):
        value = number_of(value)
    decision = holding.hold(by, found, case)
    deciding.decide(
        by=by,
        decision=decision,
        answer=value,
        cannot=missing in CANNOT,
        reason=str(row.get("reason") or ""),
    )


def number_of(text: str) -> float | str:
    """Return the number that a text is, else the text itself, which is refused where numbers are asked."""
    try:
        return float(text)
    except ValueError:
        return text


def _lines(content: bytes, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield each line with its number in the file, from 1."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise AdjudicationRefused(f"Line {line}: the file is not UTF-8.") from error
    if name.lower().endswith(".jsonl"):
        yield from _jsonl(text)
    elif name.lower().endswith(".csv"):
        yield from _read_csv(text)
    else:
        raise AdjudicationRefused("Give a file that ends in .csv or .jsonl.")


def _jsonl(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = request_json.parse(line.encode())
        except request_json.BadJSON as error:
            raise AdjudicationRefused(f"Line {number}: this is not a JSON object.") from error
        if not isinstance(row, dict):
            raise AdjudicationRefused(f"Line {number}: this is not a JSON object.")
        yield number, row


def _read_csv(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        if lacking := [
            name for name in ("item", "question", "reason") if name not in (reader.fieldnames or ())
        ]:
            raise AdjudicationRefused(f"Line 1: there is no column {lacking[0]!r}.")
        for row in reader:
            yield (
                reader.line_num,
                {key: unguarded(cell) for key, cell in row.items() if key and isinstance(cell, str)},
            )
    except csv.Error as error:
        raise AdjudicationRefused(f"Line {reader.line_num}: {error}.") from error
