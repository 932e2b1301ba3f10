"""The results of a campaign's annotators as CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from annotation.models import Campaign
from annotation.text.csv_cells import guarded
from calibration.checks import results

FORMS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


def told(campaign: Campaign) -> dict[str, Any]:
    """Return all results as plain data: `people`, and `consistency` by annotator and question."""
    return {
        "campaign": campaign.name,
        "people": [person.as_json() for person in results.people(campaign)],
        "consistency": [row.as_json() for row in results.consistency(campaign)],
    }


def written(campaign: Campaign, form: str) -> str:
    """Return the results as a file's text; as CSV, a line for each annotator."""
    found = told(campaign)
    if form == "json":
        return json.dumps(found, cls=DjangoJSONEncoder, ensure_ascii=False, indent=2) + "\n"
    text = io.StringIO()
    rows = found["people"]
    names = list(rows[0]) if rows else ["annotator"]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([_cell(row[name]) for name in names])
    return text.getvalue()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return guarded(value) if isinstance(value, str) else value
