"""A report as JSON: everything, unrounded."""

from __future__ import annotations

import json
from dataclasses import asdict

from calibration.models import Report
from calibration.reports import caveats, lede
from calibration.reports.view import looks


def write(report: Report) -> str:
    """Return the report's result with its hash, its answers in words and the looks at test."""
    said = [
        {"by": str(look.by) if look.by else None, "at": look.at.isoformat(), "purpose": look.purpose}
        for look in looks(report)
    ]
    content = report.result | {
        "inputs_hash": report.inputs_hash,
        "computed_at": report.created_at.isoformat(),
        "looks_at_test": said,
        "answers": [asdict(answer) for answer in lede.lede(report.result)],
        "caveats": caveats.caveats(report.result),
    }
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
