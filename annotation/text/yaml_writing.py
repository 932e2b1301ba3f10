"""Plain data as YAML that people read and edit: what is written is read again as the same texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

_ODD = re.compile("[\r\x85\u2028\u2029\ufeff]")


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, and no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write everything out."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    if _ODD.search(text) or "\n " in f"\n{text}":
        style = '"'  # what YAML takes for a line break, or for indentation, is written as an escape
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def dump(value: Mapping[str, Any]) -> str:
    """Return a mapping as YAML, its names in their order."""
    return yaml.dump(dict(value), Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=110)
