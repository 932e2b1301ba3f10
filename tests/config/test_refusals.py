"""Every app has one family of refusals, documented in its module; pages and API routes catch the family."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil

import pytest

from config.settings import BASE_DIR

FAMILIES = {
    "annotation.errors": ("AnnotationError", "PeopleError"),
    "calibration.errors": ("CalibrationError",),
    "jobs.errors": ("JobError",),
    "judges.errors": ("JudgeError",),
}
PAGES = sorted(
    path
    for app in ("annotation", "judges", "jobs", "suites", "calibration", "demo")
    for path in (BASE_DIR / app).rglob("*.py")
    if {"pages", "api", "management"} & set(path.with_suffix("").parts)
)


@pytest.mark.parametrize("module", FAMILIES)
def test_the_family_is_drawn_where_it_is_defined(module: str) -> None:
    found = importlib.import_module(module)
    own = [name for name, kind in inspect.getmembers(found, inspect.isclass) if kind.__module__ == module]
    drawn = found.__doc__ or ""
    assert set(FAMILIES[module]) <= set(own)
    assert [name for name in own if name not in drawn] == []


@pytest.mark.parametrize("app", ["annotation", "calibration"])
def test_no_refusal_of_an_app_stands_outside_its_family(app: str) -> None:
    errors = importlib.import_module(f"{app}.errors")
    family = tuple(getattr(errors, name) for name in FAMILIES[f"{app}.errors"])
    apart = {"annotation.corpora.deletion.StillUsed", "annotation.corpora.import_file._NothingNew"}
    apart |= {"annotation.text.yaml_tree.BadFile"}  # readers of files say it as their own refusal
    apart |= {"annotation.campaigns.allocation.QueueError"}  # pure; the campaign says it as its own refusal
    apart |= {
        "suites.long_dialogue.scripts.reviewing.Unreadable"
    }  # not a refusal: an answer that becomes undecided
    apart |= {"annotation.corpora.import_file.ReaderFailed"}  # not a refusal: a fault of the reader's own
    apart |= {"calibration.workbench.search_job.Waiting"}  # not a refusal: answers are on their way
    strays = []
    for info in pkgutil.walk_packages([str(BASE_DIR / app)], f"{app}."):
        if ".statistics" in info.name or ".agree" in info.name or ".migrations" in info.name:
            continue  # rooms of files and arrays, which know no application
        for name, kind in inspect.getmembers(importlib.import_module(info.name), inspect.isclass):
            if kind.__module__ == info.name and issubclass(kind, Exception) and not issubclass(kind, family):
                strays.append(f"{info.name}.{name}")
    assert sorted(set(strays) - apart) == []


def test_pages_routes_and_commands_catch_no_list_of_refusals() -> None:
    refusals = {
        name
        for module in FAMILIES
        for name, kind in inspect.getmembers(importlib.import_module(module), inspect.isclass)
        if kind.__module__ == module
    }
    bases = {name for names in FAMILIES.values() for name in names}
    lists = []
    for path in PAGES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ExceptHandler) and isinstance(node.type, ast.Tuple):
                names = {ast.unparse(part).rpartition(".")[2] for part in node.type.elts}
                if names & refusals - bases:
                    lists.append(f"{path.relative_to(BASE_DIR)}:{node.lineno}")
    assert not lists
