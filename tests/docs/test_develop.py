"""The pages for developers mention only existing files, functions and models."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [DOCS / "develop.md", *sorted((DOCS / "develop").glob("*.md"))]
ROOMS = "annotation|judges|calibration|suites|jobs|config|demo|benchmarks|tests|templates|static|docs"
NAMED = re.compile(rf"`((?:{ROOMS})/[\w./-]*)(?::(\w+))?`")
MADE_UP = re.compile(r"^File `([^`]+)`", re.MULTILINE)


def named(page: Path) -> list[tuple[str, str]]:
    """Return each path that a page names, with the function or class named with it."""
    text = page.read_text(encoding="utf-8")
    made_up = set(MADE_UP.findall(text))
    return [(path, name) for path, name in NAMED.findall(text) if path not in made_up]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    assert named(page)
    assert [path for path, _ in named(page) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_function_and_class_is_in_its_file(page: Path) -> None:
    missing = []
    for path, name in named(page):
        defines = re.compile(rf"^(?:(?:async )?def|class) {name}\b", re.MULTILINE)
        if name and not defines.search((ROOT / path).read_text(encoding="utf-8")):
            missing.append(f"{path}:{name}")
    assert missing == []


def test_every_marker_of_the_tests_is_explained() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    markers = re.findall(r'^  "(\w+): ', project, re.MULTILINE)
    page = (DOCS / "develop.md").read_text(encoding="utf-8")
    assert markers
    assert [marker for marker in markers if f"| `{marker}` |" not in page] == []


def test_every_room_is_on_the_page() -> None:
    page = (DOCS / "develop.md").read_text(encoding="utf-8")
    usual = {"models", "pages", "api", "management", "migrations", "templatetags"}
    rooms = {
        file.parent.relative_to(ROOT).as_posix()
        for floor in ("annotation", "judges", "suites", "calibration", "jobs", "config")
        for file in (ROOT / floor).glob("*/__init__.py")
        if file.parent.name not in usual
    }
    assert sorted(room for room in rooms if f"`{room}/`" not in page) == []
