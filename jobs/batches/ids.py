"""What the provider calls its batches and files; pure."""

from __future__ import annotations

import re

_ID = re.compile(r"[\w.:=+-]{1,200}", re.ASCII)


def is_id(text: str) -> bool:
    """Whether a text may be an id: it stands in addresses, so it holds no slash and no blank."""
    return bool(_ID.fullmatch(text)) and not set(text) <= {"."}
