"""Verdicts on disagreements between a judge and people, and items sent to adjudication."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.corpora import comparisons
from annotation.models import Question
from annotation.models.corpora import ITEM_PARTS, Item
from annotation.text.references import key_of_item
from annotation.text.table_cells import guarded
from calibration.errors import WorkbenchRefused
from calibration.models import ForAdjudication, Mark
from calibration.workbench.sheets import Judged, items_of
from config.models import Event
from judges.models import Bench

LONGEST = 5_000
Verdict = Mark.Verdict


@transaction.atomic
def mark(
    *,
    by: User | None,
    bench: Bench,
    judged: Judged,
    item: Item,
    question: Question,
    verdict: str,
    note: str = "",
) -> Mark:
    """Record who is wrong about a question on an item of a bench; earlier marks stay readable.

    `withdrawn` withdraws the current mark. Raises WorkbenchRefused for an item or question not on the bench,
    an unknown verdict, a note that is too long, and if there is no mark to withdraw.
    """
    Bench.objects.select_for_update().get(pk=bench.pk)
    if verdict not in Verdict.values:
        raise WorkbenchRefused(f"There is no verdict {verdict!r}; there are {', '.join(Verdict.values)}.")
    if len(note) > LONGEST:
        raise WorkbenchRefused(f"A note has at most {LONGEST:,} characters, not {len(note):,}.")
    if question.pk not in bench.questions.values() or item.pk not in items_of(bench):
        raise WorkbenchRefused("This bench has no such question about such an item.")
    before = current_marks(bench).get((item.pk, question.pk, judged.key))
    if verdict == Verdict.WITHDRAWN and before is None:
        raise WorkbenchRefused("There is no mark that could be withdrawn.")
    if before is not None and (before.verdict, before.note) == (verdict, note):
        return before
    new_mark = Mark.objects.create(
        bench=bench,
        item=item,
        question=question,
        judged=judged.key,
        judged_name=judged.name[:200],
        verdict=verdict,
        note=note,
        created_by=by,
    )
    _log(by, "mark disagreement", bench.name, mark=new_mark.pk, verdict=verdict)
    return new_mark


def current_marks(bench: Bench) -> dict[tuple[int, int, str], Mark]:
    """Return the current marks of a bench, by item, question and judge."""
    rows = Mark.objects.filter(bench=bench).select_related("created_by").order_by("pk")
    latest = {(row.item_id, row.question_id, row.judged): row for row in rows}
    return {place: row for place, row in latest.items() if row.verdict != Verdict.WITHDRAWN}


def counts(bench: Bench) -> dict[str, int]:
    """Return the number of current marks per verdict."""
    by_verdict = dict.fromkeys([value for value in Verdict.values if value != Verdict.WITHDRAWN], 0)
    for row in current_marks(bench).values():
        by_verdict[row.verdict] += 1
    return by_verdict


@transaction.atomic
def send_to_adjudication(*, by: User | None, mark: Mark) -> ForAdjudication:
    """Add a mark's item and question to the adjudication list; an entry that waits there stays.

    Raises WorkbenchRefused unless the mark is current and says that the people are wrong.
    """
    now = current_marks(mark.bench).get((mark.item_id, mark.question_id, mark.judged))
    if now is None or now.pk != mark.pk or mark.verdict != Verdict.PEOPLE_WRONG:
        raise WorkbenchRefused("Only what is marked “people wrong” goes to adjudication.")
    row, is_new = ForAdjudication.objects.get_or_create(
        item=mark.item,
        question=mark.question,
        withdrawn_at=None,
        settled_at=None,
        defaults={
            "reason": mark.note or f"marked “people wrong” beside {mark.judged_name}",
            "mark": mark,
            "created_by": by,
        },
    )
    if is_new:
        _log(by, "send to adjudication", mark.bench.name, item=mark.item_id, question=mark.question_id)
    return row


@transaction.atomic
def withdraw(*, by: User | None, row: ForAdjudication) -> ForAdjudication:
    """Remove an entry from the adjudication list; repeating it changes nothing."""
    row = ForAdjudication.objects.select_for_update().get(pk=row.pk)
    if row.withdrawn_at is None and row.settled_at is None:
        row.withdrawn_at = timezone.now()
        row.save(update_fields=["withdrawn_at"])
        _log(by, "withdraw from adjudication", f"item {row.item_id}", question=row.question_id)
    return row


def waiting() -> QuerySet[ForAdjudication]:
    """Return the entries waiting for adjudication, latest first."""
    related = (
        "item__corpus",
        "item__turn",
        "item__continuation__dialogue__corpus",
        "question__version__scheme",
    )
    rows = ForAdjudication.objects.filter(withdrawn_at=None, settled_at=None)
    return rows.select_related(*related, "created_by", "mark").order_by("-pk")


def _log(by: User | None, verb: str, subject: str, **detail: object) -> None:
    Event.objects.create(by=by, verb=verb, subject=subject, detail=detail)


# Export of a bench's marks: CSV (safe to open in a spreadsheet) and JSON.

COLUMNS = ("item", "question", "judge", "verdict", "note", "by", "at")
FORMS = {"csv": "text/csv", "json": "application/json"}


def marks_as_json(bench: Bench) -> list[dict[str, Any]]:
    """Return the current marks of a bench as JSON data, latest first."""
    marks = sorted(current_marks(bench).values(), key=lambda mark: -mark.pk)
    keys = item_keys([mark.item_id for mark in marks])
    with_questions = Mark.objects.select_related("question__version__scheme").in_bulk(
        [mark.pk for mark in marks]
    )
    return [
        {
            "id": mark.pk,
            "item": keys[mark.item_id],
            "question": _ref(with_questions[mark.pk]),
            "judge": mark.judged_name,
            "judged": mark.judged,
            "verdict": mark.verdict,
            "note": mark.note,
            "by": mark.created_by.get_username() if mark.created_by else "",
            "at": mark.created_at.isoformat(),
        }
        for mark in marks
    ]


def item_keys(items: list[int]) -> dict[int, str]:
    """Return item keys by id."""
    parts = {
        name: ITEM_PARTS[name] for name in ("dialogue_key", "continuation_key", "position", "record_key")
    }
    rows = Item.objects.filter(pk__in=items).annotate(**parts).values_list("pk", "kind", *parts)
    by_item = {
        pk: key_of_item(dialogue, own, position, kind, record)
        for pk, kind, dialogue, own, position, record in rows
    }
    return by_item | comparisons.keys_of(items)


def render_marks(bench: Bench, form: str) -> str:
    """Return the marks in a format of `FORMS`."""
    rows = marks_as_json(bench)
    if form == "json":
        return json.dumps({"bench": bench.name, "marks": rows}, ensure_ascii=False, indent=2) + "\n"
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([guarded(str(row[name])) for name in COLUMNS] for row in rows)
    return out.getvalue()


def _ref(mark: Mark) -> str:
    version = mark.question.version
    return f"{version.scheme.key}@{version.version}/{mark.question.key}"
