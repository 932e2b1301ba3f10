"""Every statistic is available to users: on a page, through the API or by command."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings

pytestmark = pytest.mark.exhaustive

ROOMS = ("config", "jobs", "annotation", "judges", "suites", "calibration")
DOORS = ("calibration.pages.", "calibration.api.", "calibration.management.commands.")
STATISTICS = "calibration.statistics"


@cache
def _modules() -> dict[str, Path]:
    """Return every module of the product by its dotted name."""
    base = Path(settings.BASE_DIR)
    found = {}
    for room in ROOMS:
        for path in (base / room).rglob("*.py"):
            parts = path.relative_to(base).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def _imports(module: str) -> tuple[tuple[str, str, str], ...]:
    """Return (from, name, called here) of every import in a module, within functions too."""
    tree = ast.parse(_modules()[module].read_text(encoding="utf-8"))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found += [(node.module, alias.name, alias.asname or alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(alias.name, "", alias.name) for alias in node.names]
    return tuple(found)


def _behind(source: str, name: str) -> str:
    """Return the module that a name is imported from; one that a package passes on, from where it has it.

    What the package of statistics passes on counts only for who asks for it: else everything there would be
    reached by whoever imports anything of it.
    """
    if f"{source}.{name}" in _modules():
        return f"{source}.{name}"
    if source in _modules() and _modules()[source].name == "__init__.py":
        for origin, original, here in _imports(source):
            if here == name:
                return _behind(origin, original)
    return source


def _next(module: str) -> Iterator[str]:
    for source, name, _ in _imports(module):
        target = _behind(source, name)
        if target in _modules():
            yield target


def _reached(doors: tuple[str, ...]) -> set[str]:
    todo = [module for module in _modules() if module.startswith(doors)]
    found: set[str] = set()
    while todo:
        module = todo.pop()
        if module in found:
            continue
        found.add(module)
        if module != STATISTICS:
            todo += _next(module)
    return found


def _statistics() -> set[str]:
    return {
        name
        for name, path in _modules().items()
        if name.startswith(f"{STATISTICS}.") and path.name != "__init__.py"
    }


def test_every_module_of_statistics_is_reached_from_a_page_the_api_or_a_command() -> None:
    assert len(_statistics()) > 30
    assert sorted(_statistics() - _reached(DOORS)) == []


def test_a_module_that_a_package_passes_on_is_not_reached_by_who_imports_something_else_of_it() -> None:
    assert _behind(STATISTICS, "Ratings") == "calibration.statistics.core.ratings"
    assert _behind(STATISTICS, "Record") == "calibration.statistics.core.ratings"
    assert "calibration.statistics.analysis" not in _reached(("annotation.api.",))
