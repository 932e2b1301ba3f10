"""Strict JSON: what is not JSON, not UTF-8, not finite or not storable is refused where it stands."""

from __future__ import annotations

import math
import re
from typing import Any

import orjson

from annotation.formats.problems import ImportProblem

MAX_DEPTH = 32
NAN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|\bNaN\b', re.DOTALL)
"""A text, or a NaN outside of texts."""
NOT_NUMBERS = ("NaN", "Infinity", "-Infinity", "inf", "-inf", "nan")


def decode(content: bytes) -> Any:
    """Return the value of a JSON text; NaN, infinities, lone surrogates and NUL characters are refused."""
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise _explained(content, error) from None
    if b"\\u0000" in content:
        plain(value, "", depth=200)
    return value


def decode_python(content: bytes) -> Any:
    """Return the value of JSON as Python's own `json` writes it: NaN, where a value is missing, is null.

    Everything else that is not JSON is refused as `decode` does.
    """
    if b"NaN" in content:
        content = NAN.sub(lambda match: b"null" if match[0] == b"NaN" else match[0], content)
    return decode(content)


def _explained(content: bytes, error: orjson.JSONDecodeError) -> ImportProblem:
    """Say what is wrong with a text, and on which line where it has several."""
    try:
        content.decode()
    except UnicodeDecodeError as undecodable:
        line = content.count(b"\n", 0, undecodable.start) + 1 if b"\n" in content else None
        return ImportProblem(f"is not UTF-8 at byte {undecodable.start}", line=line)
    line = error.lineno if b"\n" in content else None
    place = f" at character {error.colno}"
    rest = str(error.doc)[error.pos : error.pos + 10]
    if rest.startswith(NOT_NUMBERS) or error.msg.startswith("number is infinity"):
        reason = f"NaN and infinite numbers are not JSON{place}; write null with a reason instead"
        return ImportProblem(reason, line=line)
    return ImportProblem(f"is not valid JSON{place}: {error.msg}", line=line)


def plain(value: Any, path: str, *, depth: int = MAX_DEPTH) -> Any:
    """Return a free-form value that can be stored; refuse NUL characters and nesting below `depth` levels."""
    if depth < 0:
        raise ImportProblem("is nested too deeply", field=path)
    if isinstance(value, str):
        if "\0" in value:
            raise ImportProblem("holds a NUL character, which cannot be stored", field=path)
    elif isinstance(value, dict):
        for key, part in value.items():
            plain(key, path, depth=depth)
            plain(part, f"{path}.{key}" if path else key, depth=depth - 1)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            plain(part, f"{path}[{index}]", depth=depth - 1)
    return value


def is_number(value: Any) -> bool:
    """Whether a value is a finite number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def kind_of(value: Any) -> str:
    """Name a JSON value's type for a message."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
