"""Texts found as whole words, in any script.

Letters, digits, marks and `_` next to a text make it part of a longer word; apostrophes and hyphens do not.
Scripts that put no spaces between words have no such bounds: there a text is found wherever it stands.
"""

from __future__ import annotations

import regex  # type: ignore[import-untyped]

from annotation.text.tokens import UNSPACED

_SPACED = rf"[[\p{{L}}\p{{N}}\p{{M}}_]--[{UNSPACED}\p{{Katakana}}ー]]"
_RUN = r"[\p{Katakana}ー]"
_KINDS = tuple(regex.compile(kind, regex.V1) for kind in (_SPACED, _RUN))


def whole(text: str, pattern: str | None = None) -> str:
    """Return a pattern (flag V1) for a text where it is no part of a longer word.

    `pattern` replaces what is matched between the bounds, which the text's first and last characters decide.
    """
    return before(text) + (regex.escape(text) if pattern is None else pattern) + after(text)


def before(text: str) -> str:
    """Return the bound before a text."""
    kind = _kind(text[:1])
    return rf"(?<!{kind})" if kind else ""


def after(text: str) -> str:
    """Return the bound after a text; a mark that follows is part of its last character."""
    kind = _kind(text[-1:])
    return rf"(?!{kind}|\p{{M}})" if kind else r"(?!\p{M})"


def _kind(character: str) -> str:
    return next((kind.pattern for kind in _KINDS if kind.match(character)), "")
