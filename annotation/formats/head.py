"""How a file begins: enough to tell its format."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

SIZE = 2**16
KEY = re.compile(r'"((?:[^"\\]|\\.){1,80})"\s*:')
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Head:
    """The first bytes of a file, at most `SIZE`; `columns` are a file's own names by Concord's."""

    content: bytes
    columns: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def text(self) -> str:
        """The beginning as text, without space before it; what cut a character in two is left out."""
        return self.content[:SIZE].removeprefix(BOM).decode(errors="ignore").lstrip()

    @property
    def is_zip(self) -> bool:
        """Whether it begins as a zip archive does."""
        return self.content.startswith(b"PK\x03\x04")

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of the object that the first line is; of all objects, where it is not one whole line."""
        if not self.text.startswith(("{", "[")):
            return frozenset()
        try:
            first = json.loads(self.text.splitlines()[0])
        except (ValueError, RecursionError):
            first = None
        return frozenset(first) if isinstance(first, dict) else frozenset(KEY.findall(self.text))

    @cached_property
    def inner(self) -> frozenset[str]:
        """The keys of all objects, at any depth: what tells a file whose outer keys are ids."""
        return frozenset(KEY.findall(self.text)) if self.text.startswith(("{", "[")) else frozenset()

    @cached_property
    def header(self) -> frozenset[str]:
        """The names of the columns of a table, in lower case and by Concord's names; empty for JSON."""
        lines = self.text.splitlines()
        if not lines or lines[0].startswith(("{", "[")) or self.is_zip or "\0" in self.text:
            return frozenset()
        try:
            names = next(csv.reader([lines[0]], delimiter=delimiter(lines[0])), [])
        except csv.Error:
            return frozenset()
        return frozenset(renamed(names, self.columns)) if len(names) > 1 else frozenset()


def delimiter(line: str) -> str:
    """Return what separates the columns in the first line of a table: a comma, tab or semicolon."""
    return max(",\t;", key=line.count)


def renamed(names: list[str], columns: Mapping[str, str]) -> list[str]:
    """Return a table's column names in lower case, by Concord's names where `columns` maps them.

    A column that bears a name which another column is mapped to is not meant: its name becomes empty.
    """
    mapped = {theirs.strip().lower(): ours for ours, theirs in columns.items()}
    plain = [name.strip().lower() for name in names]
    return [mapped.get(name, "" if name in columns else name) for name in plain]
