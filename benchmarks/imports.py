"""Import graph of each app's files and rooms: cycles, arrows and floors.

An import counts whatever file its statement names, at any depth; imports for type checkers only are left out.
`from a import b` means the file `a/b.py` where it exists, else `a/__init__.py`. A circle is a group of files
each of which reaches every other. A room is a direct child of a folder, a file or a folder. An arrow is a
pair of rooms of which the first imports the second. Floors are the rooms on the longest path down, with a
circle of rooms counted as one.

    python -m benchmarks imports [--root FOLDER]
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from pathlib import Path

from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).resolve().parents[1]
APPS = ("config", "jobs", "annotation", "judges", "suites", "calibration", "demo")
FOLDERS = (
    *("annotation", "judges", "suites", "calibration"),
    *("judges.metrics", "calibration.statistics", "jobs"),
)
Graph = dict[str, set[str]]


def imports(app: str, root: Path = ROOT, *, deferred: bool = True) -> Graph:
    """Return each module's imports from its own app; `deferred` adds imports inside functions."""
    files = {
        _module(path, root): path
        for path in sorted((root / app).rglob("*.py"))
        if "migrations" not in path.parts
    }
    return {
        name: {m for node in _statements(path, deferred) for m in _named(node, name, path, files)} - {name}
        for name, path in files.items()
    }


def _module(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _statements(path: Path, deferred: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the import statements of a file that run."""
    todo: list[ast.AST] = [ast.parse(path.read_text())]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += node.orelse
        elif deferred or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            todo += ast.iter_child_nodes(node)


def _named(
    node: ast.Import | ast.ImportFrom, importer: str, path: Path, files: dict[str, Path]
) -> Iterator[str]:
    """Yield the modules that a statement names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in files)
        return
    base = node.module or ""
    if node.level:
        package = importer.split(".") if path.name == "__init__.py" else importer.split(".")[:-1]
        base = ".".join([*package[: len(package) - node.level + 1], *([base] if base else [])])
    for alias in node.names:
        name = f"{base}.{alias.name}"
        yield from (known for known in (name if name in files else base,) if known in files)


def circles(graph: Graph) -> list[list[str]]:
    """Return the groups of two or more nodes that reach each other."""
    groups: dict[int, list[str]] = {}
    for name, number in _components(graph).items():
        groups.setdefault(number, []).append(name)
    return sorted(sorted(group) for group in groups.values() if len(group) > 1)


def rooms(graph: Graph, folder: str) -> Graph:
    """Return the graph of a folder's direct children, its own `__init__` included."""
    inside = f"{folder}."
    room = {
        name: name[len(inside) :].split(".")[0] or "__init__"
        for name in graph
        if name == folder or name.startswith(inside)
    }
    found: Graph = {one: set() for one in room.values()}
    for name, known in graph.items():
        if name in room:
            found[room[name]] |= {room[other] for other in known if other in room} - {room[name]}
    return found


def floors(graph: Graph) -> int:
    """Return the number of nodes on the longest path down, each circle counted as one."""
    group = _components(graph)
    below: dict[int, set[int]] = {}
    for name, known in graph.items():
        below.setdefault(group[name], set()).update(group[one] for one in known if group[one] != group[name])
    deep: dict[int, int] = {}

    def depth(one: int) -> int:
        if one not in deep:
            deep[one] = 1 + max((depth(other) for other in below[one]), default=0)
        return deep[one]

    return max((depth(one) for one in below), default=0)


def _components(graph: Graph) -> dict[str, int]:
    names = list(graph)
    place = {name: i for i, name in enumerate(names)}
    pairs = [(place[a], place[b]) for a, known in graph.items() for b in known]
    table = csr_array(
        ([1] * len(pairs), ([a for a, _ in pairs], [b for _, b in pairs])), shape=(len(names), len(names))
    )
    _, numbers = connected_components(table, connection="strong")
    return dict(zip(names, numbers.tolist(), strict=True))


def run(argv: list[str]) -> dict[str, object]:
    """Print one line per folder and return the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks imports")
    parser.add_argument("--root", type=Path, default=ROOT)
    root = parser.parse_args(argv).root
    graphs = {app: imports(app, root) for app in APPS if (root / app).is_dir()}
    loops = {app: circles(graph) for app, graph in graphs.items()}
    at_once = sum(len(circles(imports(app, root, deferred=False))) for app in graphs)
    shape: dict[str, dict[str, int]] = {}
    for folder in FOLDERS:
        graph = rooms(graphs.get(folder.split(".")[0], {}), folder)
        arrows = sum(map(len, graph.values()))
        shape[folder] = {"rooms": len(graph), "arrows": arrows, "floors": floors(graph)}
        print(f"{folder:24} {len(graph):4} rooms {arrows:4} arrows {shape[folder]['floors']:3} floors")
    for group in (group for groups in loops.values() for group in groups):
        print(f"circle: {', '.join(group)}")
    total = sum(map(len, loops.values()))
    return {
        "headline": {"name": "circles of files", "value": total, "goal": 0, "better": "lower"},
        "circles": loops,
        "circles_at_module_level": at_once,
        "folders": shape,
    }
