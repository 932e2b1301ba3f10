"""The forms that a report of preferences is downloaded in, in one table."""

from __future__ import annotations

from typing import Any

from calibration.preferences import charts
from calibration.preferences.computing import Report
from calibration.preferences.renderings.as_csv import write as write_csv
from calibration.preferences.renderings.as_json import write as write_json
from calibration.preferences.renderings.as_latex import write as write_latex
from calibration.preferences.renderings.as_text import markdown as write_markdown
from calibration.rendering import Rendering as Rendering

RENDERINGS: dict[str, Rendering[Report, Any]] = {
    form.key: form
    for form in (
        Rendering("csv", "CSV", "csv", "text/csv; charset=utf-8", write_csv),
        Rendering("md", "Markdown", "md", "text/markdown; charset=utf-8", write_markdown),
        Rendering("latex", "LaTeX", "tex", "application/x-latex; charset=utf-8", write_latex),
        Rendering("json", "JSON", "json", "application/json", write_json),
        Rendering("svg", "Chart as SVG", "svg", "image/svg+xml", charts.svg),
        Rendering("png", "Chart as PNG", "png", "image/png", charts.png),
    )
}
