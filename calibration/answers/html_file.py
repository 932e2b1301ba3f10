"""An Answers report as one self-contained page: styles and charts inside, nothing loaded from elsewhere."""

from __future__ import annotations

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from calibration.answers.computing import AnswersReport
from calibration.answers.view import view_of


def as_html(made: AnswersReport) -> str:
    """Return the report's page as a file that opens anywhere."""
    styles = (settings.BASE_DIR / "static" / "css" / "concord.css").read_text(encoding="utf-8")
    context = view_of(made) | {"styles": mark_safe(styles), "alone": True}
    return render_to_string("calibration/answers_file.html", context)
