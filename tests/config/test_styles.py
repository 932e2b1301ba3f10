"""Our style sheets stay small: every selector is used, and what Tabler has is taken from it."""

from __future__ import annotations

import re
from pathlib import Path

from config.styles import standalone_styles

ROOT = Path(__file__).parents[2]
SHEETS = [ROOT / "static" / "css" / f"{name}.css" for name in ("tokens", "concord", "annotate")]
ROOMS = ("annotation", "calibration", "config", "jobs", "judges", "suites")
BY_NUMBER = {"s1", "s2", "s3", "s4", "s5", "s6"}
"""Classes of speakers, which templates write with the speaker's number."""


def test_every_class_and_id_of_the_sheets_is_used_by_a_template_or_a_script() -> None:
    sources = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "static" / "js").rglob("*.js")]
    sources += [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    words = set(re.findall(r"[\w-]+", text))
    names: set[str] = set()
    for sheet in SHEETS:
        rules = re.sub(r"/\*.*?\*/|\{[^{}]*\}", " ", sheet.read_text(encoding="utf-8"), flags=re.DOTALL)
        names |= set(re.findall(r"[.#](-?[a-zA-Z_][\w-]*)", rules))
    assert len(names) > 50
    assert sorted(names - words - BY_NUMBER) == []


def test_own_style_sheets_stay_small() -> None:
    lines = sum(len(sheet.read_text(encoding="utf-8").splitlines()) for sheet in SHEETS)
    assert lines < 900


def test_a_page_that_stands_by_itself_has_its_colours_and_hides_what_only_screen_readers_get() -> None:
    styles = standalone_styles()
    assert "--ink: light-dark(" in styles
    assert ".visually-hidden" in styles
    assert ".carousel" not in styles
    assert styles.count("{") == styles.count("}")
    assert len(styles.encode()) < 150_000
    assert "</style" not in styles
