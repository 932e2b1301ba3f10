"""The forms a report is downloaded in, one file each, in one table."""

from __future__ import annotations

from calibration.models import Report
from calibration.rendering import Rendering
from calibration.reports.renderings import as_csv, as_html, as_json, as_latex, as_markdown

RENDERINGS: dict[str, Rendering[Report, str]] = {
    form.key: form
    for form in (
        Rendering("json", "JSON", "json", "application/json", as_json.write),
        Rendering("csv", "CSV", "csv", "text/csv; charset=utf-8", as_csv.write),
        Rendering("md", "Markdown", "md", "text/markdown; charset=utf-8", as_markdown.write),
        Rendering("latex", "LaTeX", "tex", "application/x-latex; charset=utf-8", as_latex.write),
        Rendering("html", "Web page", "html", "text/html; charset=utf-8", as_html.write),
    )
}

__all__ = ["RENDERINGS", "Rendering"]
