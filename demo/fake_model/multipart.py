"""A form with a file in it (multipart/form-data), as it is uploaded; pure."""

from __future__ import annotations

import re
from typing import Any

_BOUNDARY = re.compile(r'boundary="?([^";,]+)"?', re.I)
_NAME = re.compile(rb'\bname="([^"]*)"', re.I)


def fields(body: bytes, content_type: str) -> dict[str, Any] | None:
    """Return the fields of a form by name: texts, and the bytes of `file`; None for what is no form."""
    found = _BOUNDARY.search(content_type)
    if found is None:
        return None
    told: dict[str, Any] = {}
    for part in body.split(b"--" + found[1].encode())[1:-1]:
        head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        name = _NAME.search(head)
        if name is not None:
            value = content.removesuffix(b"\r\n")
            told[name[1].decode("utf-8", "replace")] = (
                value if name[1] == b"file" else value.decode("utf-8", "replace")
            )
    return told
