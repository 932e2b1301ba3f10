"""Imports between files are acyclic, including imports inside functions."""

from pathlib import Path

import pytest

from benchmarks.imports import APPS, circles, floors, imports, rooms


@pytest.mark.parametrize("app", APPS)
def test_no_files_of_an_app_import_each_other_in_a_circle(app: str) -> None:
    assert circles(imports(app)) == []


def test_a_circle_is_seen_through_any_kind_of_import(tmp_path: Path) -> None:
    files = {
        "__init__": "",
        "one": "from app import two",
        "two": "def late():\n    from .three import x",
        "three": "import app.one",
        "four": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import app.five",
        "five": "import app.four",
    }
    (tmp_path / "app").mkdir()
    for name, text in files.items():
        (tmp_path / "app" / f"{name}.py").write_text(text)
    graph = imports("app", tmp_path)
    assert circles(graph) == [["app.one", "app.three", "app.two"]]
    assert circles(imports("app", tmp_path, deferred=False)) == []
    assert floors(rooms(graph, "app")) == 2
