"""Keys in what an endpoint sends: taken out before anything is cut, stored or shown. Pure.

A server may repeat the key that it was asked with, whole or in parts, in an error, a reply, or a bad header,
and escape it on the way (JSON, HTML and addresses, also several times over). Whatever is a part of the key of
at least PART characters goes.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

PART = 8
"""Characters of a key that go wherever they stand; a shorter key goes where it stands by itself."""
LEAST = 4
"""A shorter key is a placeholder."""
MARK = "[key]"
ROUNDS = 4
"""So many times over may it be escaped."""
_ESCAPED = re.compile(
    r"\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([^\w\s]))"  # JSON, also inside JSON
    r"|%(?:25)*([0-9a-fA-F]{2})"  # addresses
    r"|&(?:amp;)*(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,10});"  # HTML
)


def redact(text: str, key: str) -> str:
    """Return a text without the key and its parts, however they are escaped."""
    if not may_hold(text, key):
        return text
    plain, starts = _unescaped(text)
    pieces, at = [], 0
    for start, end in _spans(plain, key):
        pieces += [text[at : starts[start]], MARK]
        at = starts[end]
    return "".join([*pieces, text[at:]])


def decoded(body: bytes, key: str) -> Any:
    """Return what a JSON document holds, redacted; raise ValueError or RecursionError where it is none."""
    text = body.decode(json.detect_encoding(body), "surrogatepass")
    data = json.loads(text)
    return redacted(data, key) if may_hold(text, key) else data


def redacted(data: Any, key: str) -> Any:
    """Return decoded JSON with every text in it redacted, names of fields too."""
    if isinstance(data, str):
        return redact(data, key)
    if isinstance(data, list):
        return [redacted(value, key) for value in data]
    if isinstance(data, dict):
        return {redact(name, key): redacted(value, key) for name, value in data.items()}
    return data


def may_hold(text: str, key: str) -> bool:
    """Whether a text holds something of the key; quick, as nearly no text does."""
    if len(key) < LEAST:
        return False
    for _ in range(ROUNDS):
        if any(part in text for part in _parts(key)):
            return True
        plain = _ESCAPED.sub(_character, text)
        if plain == text:
            return False
        text = plain
    return any(part in text for part in _parts(key))


@lru_cache(maxsize=64)
def _parts(key: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key[at : at + PART] for at in range(max(1, len(key) - PART + 1))))


def _unescaped(text: str) -> tuple[str, Sequence[int]]:
    """Return a text with its escapes decoded, and where in it each character (and the end) began."""
    plain = text
    starts: Sequence[int] = range(len(text) + 1)
    for _ in range(ROUNDS):
        if _ESCAPED.search(plain) is None:
            break
        plain, inner = _unescaped_once(plain)
        starts = [starts[at] for at in inner]
    return plain, starts


def _unescaped_once(text: str) -> tuple[str, list[int]]:
    plain: list[str] = []
    starts: list[int] = []
    at = 0
    for found in _ESCAPED.finditer(text):
        plain.append(text[at : found.start()])
        starts += range(at, found.start())
        character = _character(found)
        plain.append(character)
        starts += [found.start()] * len(character)
        at = found.end()
    plain.append(text[at:])
    return "".join(plain), [*starts, *range(at, len(text) + 1)]


def _character(found: re.Match[str]) -> str:
    wide, narrow, itself, percent, entity = found.groups()
    if itself:
        return str(itself)
    if entity:
        return html.unescape(f"&{entity};") or found.group()
    return chr(int(wide or narrow or percent, 16))


def _spans(plain: str, key: str) -> list[tuple[int, int]]:
    """Return where the key and its parts stand, without overlaps and in order."""
    spans: list[tuple[int, int]] = []
    for part in _parts(key):
        at = plain.find(part)
        while at >= 0:
            end = at + len(part)
            if len(part) == PART or _alone(plain, at, end):
                spans.append((at, end))
            at = plain.find(part, at + 1)
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _alone(plain: str, start: int, end: int) -> bool:
    around = plain[max(0, start - 1) : start] + plain[end : end + 1]
    return not any(letter.isalnum() for letter in around)
