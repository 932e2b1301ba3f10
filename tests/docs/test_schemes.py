"""The page on schemes matches the code."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from annotation.api.urls import urlpatterns
from annotation.schemes.definitions import LEVELS, QuestionDefinition, SchemeDefinition
from annotation.schemes.files import read
from annotation.schemes.rules import PAGE_KEYS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "schemes.md").read_text(encoding="utf-8")


def rows(head: str) -> list[list[str]]:
    """The cells of the table that begins with a head, without its head."""
    table = PAGE.split(f"\n| {head} |", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table.splitlines()[2:]]


def names(cells: list[list[str]], column: int = 0) -> set[str]:
    return {name for row in cells for name in re.findall(r"`([^`]+)`", row[column])}


def test_its_example_can_be_asked() -> None:
    scheme = read(PAGE.split('```yaml title="politeness.yaml"\n', 1)[1].split("```", 1)[0])
    assert {question.level for question in scheme.questions} >= {
        "ordinal",
        "nominal",
        "ratio",
        "binary",
        "text",
    }
    assert scheme.question("insults").minimum == 0
    assert scheme.question("sarcasm").is_tag


def test_it_names_every_field_level_and_key_of_the_page() -> None:
    own = {one.name for one in fields(SchemeDefinition)} - {"version"}
    assert names(rows("of the scheme")) == own | {"scheme"}
    assert names(rows("of a question")) == {one.name for one in fields(QuestionDefinition)}
    assert names(rows("`level` | `values`")) == set(LEVELS)
    told = next(row[1] for row in rows("of a question") if row[0] == "`shortcut`")
    assert set(re.findall(r"`([^`]+)`", told)[-1].split()) == PAGE_KEYS.keys()


def test_it_names_every_route() -> None:
    told = {name.partition("?")[0] for name in names(rows("you want to"), column=1) if " " in name}
    routes = {
        f"{method} {re.sub(r'<str:key>', 'KEY', re.sub(r'<int:number>', '2', str(one.pattern)))}"
        for one in urlpatterns
        if str(one.pattern).startswith("schemes/") and one.name != "api-scheme-preview"  # for a page alone
        for method in one.callback.cls().allowed_methods
        if method != "OPTIONS"
    }
    assert told == routes
