"""The parser for all incoming JSON, from browsers and programs; used by pages and the API.

Accepted values can be computed with, stored by PostgreSQL and sent back. Refused are invalid JSON (including
NaN and infinities), more than LIMIT bytes, nesting deeper than DEPTH levels, integers of more than DIGITS
digits and numbers too large for a float. NUL characters and lone surrogates are removed from strings: no
keyboard produces them, and an annotator's note must not be lost because of one.
"""

from __future__ import annotations

import json
import math
from typing import Any

LIMIT = 4 * 2**20
DEPTH = 32
DIGITS = 40
"""Most digits of an integer: more than any field takes, and far below a float's limit."""


class BadJSON(ValueError):
    """A body was refused; the message is the reason, in one sentence."""


class TooLarge(BadJSON):
    """The body has more than LIMIT bytes."""


def parse(body: bytes) -> Any:
    """Return the value of a JSON text in UTF-8; raise BadJSON if it is not JSON or exceeds a limit."""
    if len(body) > LIMIT:
        raise TooLarge(f"The request is larger than {LIMIT >> 20} MiB.")
    try:
        value = json.loads(body, parse_constant=_refused, parse_int=_integer, parse_float=_finite)
    except BadJSON:
        raise
    except (ValueError, RecursionError) as error:
        raise BadJSON("The request is not valid JSON.") from error
    return _checked(value, 0)


def storable(text: str) -> str:
    """Return a string without NUL characters, and with a question mark for each lone surrogate."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def _checked(value: Any, depth: int) -> Any:
    """Return a value with storable strings; raise BadJSON if it is nested too deeply."""
    if isinstance(value, str):
        return storable(value)
    if not isinstance(value, dict | list):
        return value
    if depth >= DEPTH:
        raise BadJSON(f"The request is nested more than {DEPTH} levels deep.")
    if isinstance(value, list):
        return [_checked(part, depth + 1) for part in value]
    return {storable(key): _checked(part, depth + 1) for key, part in value.items()}


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > DIGITS:
        raise BadJSON(f"The request has a number of more than {DIGITS} digits.")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise BadJSON("The request has a number that is too large.")
    return number


def _refused(name: str) -> Any:
    raise BadJSON(f"The request is not valid JSON: {name} is not a JSON value.")
