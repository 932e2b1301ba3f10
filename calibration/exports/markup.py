"""Text that Markdown prints as it is."""

from __future__ import annotations

import re

from annotation.text.cleaning import one_line

MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&!])")


def plain(text: str) -> str:
    """Return a text on one line that is no markup in Markdown, of a table's cell too."""
    return MARKUP.sub(r"\\\1", one_line(text))
