"""A report as JSON: everything, unrounded."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from calibration.models import Report
from calibration.reports import caveats, lede
from calibration.reports.how_asked import how_asked
from calibration.reports.snapshot import is_readable, snapshot_of
from calibration.reports.view import looks, openings_of


def write(report: Report) -> str:
    """Return the report's result with its hash, its answers in words and the looks at test.

    One of an older format comes as it was kept, without answers, caveats and looks.
    """
    kept = report.result | {
        "inputs_hash": report.inputs_hash,
        "computed_at": report.created_at.isoformat(),
    }
    return json.dumps(kept | _told(report), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _told(report: Report) -> dict[str, Any]:
    if not is_readable(report):
        return {}
    result = snapshot_of(report)
    said = [
        {
            "by": str(look.by) if look.by else None,
            "at": look.at.isoformat(),
            "purpose": look.purpose,
            "judges": look.judges,
        }
        for look in looks(report)
    ]
    opened = [
        {
            "judge": one.opening.rater.name,
            "fingerprint": one.opening.rater.fingerprint,
            "family": one.opening.family,
            "number": one.number,
            "by": str(one.opening.by) if one.opening.by else None,
            "at": one.opening.at.isoformat(),
            "reason": one.opening.reason,
        }
        for one in openings_of(report)
    ]
    return {
        "looks_at_test": said,
        "test_opened_for": opened,
        "answers": [asdict(answer) for answer in lede.lede(result)],
        "caveats": caveats.caveats(result),
        "how_asked": how_asked(result),
    }
