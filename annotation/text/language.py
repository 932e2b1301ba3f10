"""The language of a text as browsers and screen readers take it."""

from __future__ import annotations

import re

_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,4}")


def language_tag(language: str) -> str:
    """Return a value for `lang`: the tag (BCP 47), or '' (unknown) where a dialogue's language is none."""
    return language.replace("_", "-") if _TAG.fullmatch(language) else ""
