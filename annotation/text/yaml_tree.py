"""YAML as plain data with line numbers, within limits: no aliases, no tags, no duplicate keys."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

# Plain data as YAML that people read and edit: written texts are read back unchanged.

_ODD = re.compile("[\r\x85\u2028\u2029\ufeff]")


class _Dumper(yaml.SafeDumper):
    """Writes multi-line texts as blocks, and no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write everything out."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    if _ODD.search(text) or "\n " in f"\n{text}":
        style = '"'  # text that YAML takes for a line break, or for indentation, is escaped
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def dump(value: Mapping[str, Any]) -> str:
    """Return a mapping as YAML, with its keys in order."""
    return yaml.dump(dict(value), Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=110)


MOST_BYTES = 2**20
MOST_NODES = 50_000
DEEPEST = 12
_PLAIN = {"tag:yaml.org,2002:null", "tag:yaml.org,2002:bool", "tag:yaml.org,2002:int"}
_FLOAT = "tag:yaml.org,2002:float"
_DECIMAL = re.compile(r"[-+]?(?:[0-9]{1,40}\.[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,4})?", re.ASCII)
Path = tuple[str | int, ...]


class BadFile(ValueError):
    """An unreadable file: one line with its place."""


@dataclass(slots=True)
class Tree:
    """Value of a YAML text, with the line (from 1) on which each part of it begins."""

    value: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    core: bool = False

    def line(self, *path: str | int) -> int:
        """Return the line of a part, or of its nearest enclosing part where it is absent."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


class _Loader(yaml.CSafeLoader):
    """YAML's own safe loader; values are built here instead."""


def parse(text: str, first_line: int = 1, core: bool = False) -> Tree:
    """Parse a YAML text into a tree; raise BadFile where it is invalid or exceeds a limit.

    With `core`, 0.5 is a number, and yes, no, on and off are texts, as in YAML 1.2; else fractions stay texts
    as they were written, and yes is true.
    """
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise BadFile(f"line 1: the file has more than {MOST_BYTES >> 20} MiB")
    try:
        _look(text, first_line)
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = first_line + (mark.line if mark else 0)
        raise BadFile(f"line {line}: not valid YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        message = str(error).splitlines()[0]
        raise BadFile(f"line {first_line}: not valid YAML: {message}") from None
    except RecursionError:
        raise BadFile(f"line {first_line}: nested too deeply") from None
    tree = Tree(core=core)
    if node is not None:
        tree.value = _value(node, (), tree, first_line)
    return tree


def _look(text: str, first_line: int) -> None:
    """Check all events before values are built; refuse any that could expand or be ambiguous."""
    depth = 0
    for number, event in enumerate(yaml.parse(text, Loader=_Loader)):
        line = first_line + (event.start_mark.line if event.start_mark else 0)
        if number > MOST_NODES:
            raise BadFile(f"line {line}: the file has more than {MOST_NODES:,} parts")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise BadFile(f"line {line}: anchors and aliases (& and *) are not read")
        if tag := getattr(event, "tag", None):
            raise BadFile(f"line {line}: the tag {str(tag)[:60]!r} is not read")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            raise BadFile(f"line {line}: nested more than {DEEPEST} levels deep")


def _value(node: yaml.Node, path: Path, tree: Tree, first_line: int) -> Any:
    tree.lines[path] = first_line + node.start_mark.line
    if isinstance(node, yaml.SequenceNode):
        return [_value(child, (*path, index), tree, first_line) for index, child in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        mapping: dict[str, Any] = {}
        for key, value in node.value:
            line = first_line + key.start_mark.line
            if not isinstance(key, yaml.ScalarNode):
                raise BadFile(f"line {line}: a name must be a text")
            if key.value in mapping:
                raise BadFile(f"line {line}: {key.value[:60]!r} is there twice")
            mapping[key.value] = _value(value, (*path, key.value), tree, first_line)
        return mapping
    assert isinstance(node, yaml.ScalarNode)
    if tree.core and node.tag == _FLOAT and (number := _fraction(node.value)) is not None:
        return number
    if tree.core and node.tag.endswith("bool") and node.value.lower() not in ("true", "false"):
        return node.value
    return _scalar(node, tree.lines[path])


def _fraction(text: str) -> float | None:
    """Parse a decimal number; None for other YAML numbers, such as 1:30.5 or .inf."""
    return float(text) if _DECIMAL.fullmatch(text) and math.isfinite(float(text)) else None


def _scalar(node: yaml.ScalarNode, line: int) -> Any:
    """Return null, true, false, a whole number, or the text itself: dates and fractions stay texts."""
    if node.tag not in _PLAIN:
        return node.value
    if node.tag.endswith("int") and not (node.value.isascii() and node.value.lstrip("-").isdecimal()):
        return node.value
    if len(node.value) > 40:
        raise BadFile(f"line {line}: a number of {len(node.value)} digits")
    if node.tag.endswith("null"):
        return None
    return node.value.lower() in ("true", "yes", "on") if node.tag.endswith("bool") else int(node.value)
