"""E-mail addresses: what can be written to, and how two of them are compared. Pure: no framework."""

from __future__ import annotations

import re

LONGEST = 254
PATTERN = re.compile(
    r"[a-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@"
    r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])"
)
"""One plain address: no name before it, no quotes, no blanks, nothing that could begin another header."""


def normal(address: str) -> str:
    """Return an address as it is stored: without blanks around it, in lower case."""
    return address.strip().lower()


def fault(address: str) -> str:
    """Return in one line why nothing can be sent to an address (see `normal`), empty where it can."""
    if not address:
        return "Give an e-mail address."
    if len(address) > LONGEST:
        return f"An e-mail address has at most {LONGEST} characters."
    if not PATTERN.fullmatch(address) or ".." in address or address[0] == "." or ".@" in address:
        return f"“{shown(address)}” is no e-mail address."
    return ""


def shown(text: str) -> str:
    """Return a text for a message: short, and on one line."""
    return "".join(c if c.isprintable() else "�" for c in text)[:80]
