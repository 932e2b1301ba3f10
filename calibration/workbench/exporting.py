"""The marks of a bench as files: CSV that no spreadsheet evaluates, and JSON."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from annotation.corpora import comparisons
from annotation.models import Item
from annotation.models.corpora import ITEM_PARTS
from annotation.text.csv_cells import guarded
from annotation.text.item_keys import key_of_item
from calibration.models import Mark
from calibration.workbench.marks import standing
from judges.models import Bench

COLUMNS = ("item", "question", "judge", "verdict", "note", "by", "at")
FORMS = {"csv": "text/csv", "json": "application/json"}


def listed(bench: Bench) -> list[dict[str, Any]]:
    """Return the marks of a bench that stand, latest first, as plain data."""
    marks = sorted(standing(bench).values(), key=lambda mark: -mark.pk)
    keys = item_keys([mark.item_id for mark in marks])
    found = Mark.objects.select_related("question__version__scheme").in_bulk([mark.pk for mark in marks])
    return [
        {
            "id": mark.pk,
            "item": keys[mark.item_id],
            "question": _ref(found[mark.pk]),
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
    """Return the keys of items by their ids."""
    parts = {
        name: ITEM_PARTS[name] for name in ("dialogue_key", "continuation_key", "position", "record_key")
    }
    rows = Item.objects.filter(pk__in=items).annotate(**parts).values_list("pk", "kind", *parts)
    found = {
        pk: key_of_item(dialogue, own, position, kind, record)
        for pk, kind, dialogue, own, position, record in rows
    }
    return found | comparisons.keys_of(items)


def written(bench: Bench, form: str) -> str:
    """Return the marks in a form of `FORMS`."""
    rows = listed(bench)
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
