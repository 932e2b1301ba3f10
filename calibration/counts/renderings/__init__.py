"""The forms a table of counts is downloaded in, in one table."""

from __future__ import annotations

from typing import Any

from calibration.counts import charts
from calibration.counts.computing import Counts
from calibration.counts.renderings import as_csv, as_json, as_latex, as_markdown
from calibration.rendering import Rendering

RENDERINGS: dict[str, Rendering[Counts, Any]] = {
    form.key: form
    for form in (
        Rendering("csv", "CSV", "csv", "text/csv; charset=utf-8", as_csv.write),
        Rendering("md", "Markdown", "md", "text/markdown; charset=utf-8", as_markdown.write),
        Rendering("latex", "LaTeX", "tex", "application/x-latex; charset=utf-8", as_latex.write),
        Rendering("json", "JSON", "json", "application/json", as_json.write),
        Rendering("svg", "Chart as SVG", "svg", "image/svg+xml", charts.svg),
        Rendering("png", "Chart as PNG", "png", "image/png", charts.png),
    )
}

__all__ = ["RENDERINGS", "Rendering"]
