"""Texts in the one form in which they are compared."""

from __future__ import annotations

import unicodedata


def fold(text: str) -> str:
    """Return a text in NFKC, case-folded, with every run of white space as one space, stripped."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def spaced(text: str) -> str:
    """Return a text in NFKC with every run of white space as one space, stripped; its case stays."""
    return " ".join(unicodedata.normalize("NFKC", text).split())
