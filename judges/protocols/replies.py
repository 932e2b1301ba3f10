"""Reading replies: scores on lines of their own, and JSON objects."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from judges.protocols.base import Unparseable

_FENCE = re.compile(r"^\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*$", re.DOTALL)
_MOST = 200_000


def scores(reply: str, names: Sequence[str], values: Sequence[int]) -> dict[str, int]:
    """Return the score of each name from lines such as `fluency - 4`, in any order and case.

    Raises Unparseable where a score is missing, given twice with different values, or not one of `values`.
    """
    found: dict[str, int] = {}
    for name in names:
        given = {match[1] for match in _score_lines(reply, name)}
        if not given:
            raise Unparseable(f"no score for {name}")
        if len(given) > 1:
            raise Unparseable(f"several scores for {name}: {', '.join(sorted(given))}")
        found[name] = on_scale(name, given.pop(), values)
    return found


def on_scale(name: str, text: str, values: Sequence[int]) -> int:
    """Return the score that a text says; raise Unparseable where it is not one of `values`."""
    try:
        number = float(text)
    except ValueError:
        raise Unparseable(f"{name}: {text[:40]!r} is no number") from None
    if number not in values:
        raise Unparseable(f"{name}: {text} is not on the scale {values[0]} to {values[-1]}")
    return int(number)


def _score_lines(reply: str, name: str) -> list[re.Match[str]]:
    """`name - 4`, `**Name:** 4`, `- name = 4/5`, `name: 4.5`."""
    pattern = (
        rf"^[\s\-*#>\d.)]*{re.escape(name)}[\s*_]*[-–—:=][\s*_]*(-?\d+(?:\.\d+)?)(?:\s*/\s*\d+)?[\s*_.]*$"
    )
    return list(re.finditer(pattern, reply[:_MOST], re.IGNORECASE | re.MULTILINE))


def json_object(reply: str) -> dict[str, Any]:
    """Return the reply's JSON object, with or without a code fence; raise Unparseable where it is none."""
    if len(reply) > _MOST:
        raise Unparseable(f"the reply has {len(reply)} characters; at most {_MOST} are read")
    fenced = _FENCE.match(reply)
    text = fenced[1] if fenced else reply
    try:
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_duplicates)
    except json.JSONDecodeError as error:
        raise Unparseable(f"no valid JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise Unparseable("no valid JSON: nested too deeply") from None
    if not isinstance(value, dict):
        raise Unparseable("the JSON is no object")
    return value


def whole_number(data: dict[str, Any], key: str, most: int) -> int:
    """Return an integer field from 0 to `most`; raise Unparseable where it is missing or anything else."""
    if key not in data:
        raise Unparseable(f"the field {key} is missing")
    value = data[key]
    if not isinstance(value, int) or isinstance(value, bool):
        raise Unparseable(f"{key}: {str(value)[:40]!r} is no whole number")
    if not 0 <= value <= most:
        raise Unparseable(f"{key}: {value} is not between 0 and {most}, the number of turns")
    return value


def _no_constant(text: str) -> None:
    raise Unparseable(f"no valid JSON: {text}")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise Unparseable(f"the field {key} is there twice")
    return dict(pairs)
