"""The forms a report is downloaded in, one file each, in one table."""

from __future__ import annotations

from calibration.models import Report
from calibration.rendering import Rendering as Rendering
from calibration.reports.renderings.as_csv import write as write_csv
from calibration.reports.renderings.as_html import write as write_html
from calibration.reports.renderings.as_json import write as write_json
from calibration.reports.renderings.as_latex import write as write_latex
from calibration.reports.renderings.as_markdown import write as write_markdown

RENDERINGS: dict[str, Rendering[Report, str]] = {
    form.key: form
    for form in (
        Rendering("json", "JSON", "json", "application/json", write_json),
        Rendering("csv", "CSV", "csv", "text/csv; charset=utf-8", write_csv),
        Rendering("md", "Markdown", "md", "text/markdown; charset=utf-8", write_markdown),
        Rendering("latex", "LaTeX", "tex", "application/x-latex; charset=utf-8", write_latex),
        Rendering("html", "Web page", "html", "text/html; charset=utf-8", write_html),
    )
}
