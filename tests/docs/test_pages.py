"""The pages of docs/ are listed, and link to each other."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from django.core.management import get_commands
from django.urls import resolve

from config.declared_input import declared_input
from config.management.commands import api

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def anchors(page: Path) -> list[str]:
    """Return the names under which a page's headings can be linked to."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if link.startswith(("http:", "https:", "mailto:")):
            continue
        path, _, part = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.is_file() or (part and part not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_picture_is_on_a_page() -> None:
    links = {
        (page.parent / link).resolve()
        for page in PAGES
        for link in LINK.findall(page.read_text(encoding="utf-8"))
    }
    assert [picture.name for picture in sorted(DOCS.rglob("*.png")) if picture not in links] == []


def test_the_index_lists_every_page() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    indexed = {page.parent for page in DOCS.rglob("index.md")}
    own = [
        page for page in DOCS.rglob("*.md") if page.name == "index.md" or page.parent not in indexed - {DOCS}
    ]
    pages = {page.relative_to(DOCS).as_posix() for page in own} - {"index.md"}
    assert [page for page in sorted(pages) if f"({page})" not in index] == []


def test_every_command_is_on_a_page() -> None:
    commands = [
        file.stem
        for floor in ("annotation", "judges", "suites", "calibration", "jobs", "config", "demo")
        for file in (ROOT / floor).rglob("management/commands/[!_]*.py")
    ]
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [name for name in sorted(commands) if not re.search(rf"manage\.py {name}\b", text)] == []


def test_every_command_on_a_page_exists() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert set(re.findall(r"manage\.py ([a-z_]+)", text)) - {"help"} <= set(get_commands())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_call_of_the_api_on_a_page_has_its_route_and_its_fields(page: Path) -> None:
    wrong = []
    for line in re.findall(r"manage\.py api ([A-Z]+ [^\n`]+)", page.read_text(encoding="utf-8")):
        if "METHOD" in line or "…" in line or "..." in line:
            continue
        method, path, *words = shlex.split(line, comments=True)
        match = resolve(api._full_path(path.partition("?")[0]))
        if "--help" in words:
            continue
        declared = declared_input(match.func, method, f"/{match.route}")
        fields = (declared.body or {}).get("properties") or (declared.components or {}).get(
            str((declared.body or {}).get("$ref")).rpartition("/")[2], {}
        ).get("properties", {})
        names = {
            re.split(":?=", word)[0] for word in words if "=" in word and not word.startswith(("-", "@"))
        }
        unknown = names - set(declared.parameters) - set(fields)
        if method not in api._methods(match.func) or unknown:
            wrong.append((line, sorted(unknown)))
    assert wrong == []
