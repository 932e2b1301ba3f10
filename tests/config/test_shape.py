"""The code keeps the size limits of the style guide."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("config", "jobs", "annotation", "judges", "suites", "calibration", "demo")


def python_files() -> list[Path]:
    return [
        path
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
        if "migrations" not in path.parts and path.read_text().strip()
    ]


def functions(path: Path) -> list[tuple[str, int]]:
    tree = ast.parse(path.read_text())
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [(node.name, (node.end_lineno or node.lineno) - node.lineno + 1) for node in nodes]


def test_no_file_is_over_800_lines() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in python_files()}
    assert {path: n for path, n in lengths.items() if n > 800} == {}


def test_no_function_is_over_100_lines() -> None:
    long = {
        f"{path.relative_to(ROOT)}:{name}": n
        for path in python_files()
        for name, n in functions(path)
        if n > 100
    }
    assert long == {}


def lines_of(folder: str, ending: str) -> dict[str, int]:
    files = sorted((ROOT / "static" / folder).rglob(ending))
    return {path.name: len(path.read_text().splitlines()) for path in files}


def test_style_sheets_stay_under_1650_formatted_lines() -> None:
    assert sum(lines_of("css", "*.css").values()) <= 1650


def test_a_script_stays_under_400_formatted_lines() -> None:
    assert {name: n for name, n in lines_of("js", "*.js").items() if n >= 400} == {}


def test_nothing_is_fetched_from_elsewhere() -> None:
    pages = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "static").rglob("*.js")]
    for path in pages:
        text = path.read_text()
        assert "//cdn" not in text, path
        assert "https://" not in text.replace("https://www.w3.org", ""), path
