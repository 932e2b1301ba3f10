"""Accessibility checks of pages: axe, and whether a phone has to scroll sideways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import PHONE, WIDE

AXE = Path(__file__).resolve().parents[2] / "node_modules" / "axe-core" / "axe.min.js"
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice", "experimental"]
AT_REST = """() => Promise.allSettled(
  document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished))"""
"""Waits until colours no longer change."""
RULES = f"() => axe.run(document, {{ runOnly: {LEVELS}, resultTypes: ['violations'] }})"

BEYOND = """() => {
  const isClipped = (part) => getComputedStyle(part).overflowX !== "visible";
  const clips = (part) => part && (isClipped(part) || clips(part.parentElement));
  return [...document.querySelectorAll("body *")]
    .filter((part) => part.getBoundingClientRect().right > document.documentElement.clientWidth)
    .filter((part) => !clips(part.parentElement))
    .slice(0, 3).map((part) => part.outerHTML.slice(0, 80)).join("; ");
}"""
"""First parts of a page that are wider than the screen."""


class Sound:
    """Checks pages one after the other and collects their faults."""

    def __init__(self) -> None:
        if not AXE.exists():
            pytest.skip("axe-core is not installed: make check, or npm ci, installs it")
        self.wrong: list[str] = []

    def look(self, name: str, page: Page) -> None:
        """Check the current page on a phone in dark mode, and on a wide screen in light mode."""
        for viewport, scheme in ((PHONE, "dark"), (WIDE, "light")):
            page.set_viewport_size(viewport)  # type: ignore[arg-type]
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            page.evaluate(AT_REST)
            wide = page.evaluate("document.documentElement.scrollWidth")
            if wide > viewport["width"]:
                self.wrong.append(f"{name}, {scheme}: {wide} px wide: {page.evaluate(BEYOND)}")
            self._axe(f"{name}, {scheme}", page)
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        page.emulate_media(color_scheme="dark")

    def _axe(self, name: str, page: Page) -> None:
        if not page.evaluate("Boolean(window.axe)"):
            page.evaluate(AXE.read_text(encoding="utf-8"))
        report: Any = page.evaluate(RULES)
        for rule in report["violations"]:
            where = "; ".join(" ".join(map(str, node["target"])) for node in rule["nodes"][:3])
            self.wrong.append(f"{name}: {rule['id']} ({len(rule['nodes'])}): {where}")
