"""A report as one self-contained page: styles and charts inside, nothing loaded from elsewhere."""

from __future__ import annotations

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from calibration.models import Report
from calibration.reports.view import view_of


def write(report: Report) -> str:
    """Return the report's page as a file that opens anywhere."""
    styles = (settings.BASE_DIR / "static" / "css" / "concord.css").read_text(encoding="utf-8")
    context = view_of(report) | {"study": report.study, "styles": mark_safe(styles), "alone": True}
    return render_to_string("calibration/report_file.html", context)
