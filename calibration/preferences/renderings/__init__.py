"""The forms that a report of preferences is downloaded in, in one table."""

from __future__ import annotations

from typing import Any

from calibration.preferences import charts
from calibration.preferences.computing import Report
from calibration.preferences.renderings import as_csv, as_json, as_latex, as_text
from calibration.rendering import Rendering

RENDERINGS: dict[str, Rendering[Report, Any]] = {
    form.key: form
    for form in (
        Rendering("csv", "CSV", "csv", "text/csv; charset=utf-8", as_csv.write),
        Rendering("md", "Markdown", "md", "text/markdown; charset=utf-8", as_text.markdown),
        Rendering("latex", "LaTeX", "tex", "application/x-latex; charset=utf-8", as_latex.write),
        Rendering("json", "JSON", "json", "application/json", as_json.write),
        Rendering("svg", "Chart as SVG", "svg", "image/svg+xml", charts.svg),
        Rendering("png", "Chart as PNG", "png", "image/png", charts.png),
    )
}

__all__ = ["RENDERINGS", "Rendering"]
