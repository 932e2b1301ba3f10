"""Words in any script, without a language model.

Scripts that put spaces between words give words: letters with their marks, digits, an apostrophe or hyphen
inside. Han, Hiragana, Thai, Lao, Khmer and Burmese, which put none, give one token a character (with its
marks); Katakana and Hangul give runs. An emoji with its modifiers is one token. Case is folded,
compatibility forms are unified (full-width letters, ligatures), and Arabic loses short vowels and tatweel.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import regex  # type: ignore[import-untyped]

# Texts in the one form in which they are compared.


def fold(text: str) -> str:
    """Return a text in NFKC, case-folded, with every run of white space as one space, stripped."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def spaced(text: str) -> str:
    """Return a text in NFKC with every run of white space as one space, stripped; its case stays."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


UNSPACED = r"\p{Han}\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
PICTURE = r"\p{Extended_Pictographic}[\p{EMod}\uFE0F]?"
_ARABIC_MARKS = regex.compile(r"[\u0610-\u061A\u0640\u064B-\u065F\u0670\u06D6-\u06DC\u06DF-\u06E8]")
_TOKEN = regex.compile(
    rf"""
      \p{{RI}}{{2}}  # flags
    | {PICTURE}(?:\u200D{PICTURE})*
    | \p{{Katakana}}[\p{{Katakana}}ー]*
    | [{UNSPACED}]\p{{M}}*
    | (?:(?![{UNSPACED}\p{{Katakana}}])[\p{{L}}\p{{N}}\p{{M}}_])+
      (?:['’\-](?:(?![{UNSPACED}\p{{Katakana}}])[\p{{L}}\p{{N}}\p{{M}}])+)*
    """,
    regex.VERBOSE,
)
_UNSPACED = regex.compile(rf"[{UNSPACED}\p{{Katakana}}]")


def folded(text: str) -> str:
    """Return a text in one form: compatibility-normalised, case-folded, Arabic without short vowels."""
    return _ARABIC_MARKS.sub("", unicodedata.normalize("NFKC", text).casefold())


@lru_cache(maxsize=65536)
def words(text: str) -> tuple[str, ...]:
    """Return the tokens of a text in their order, folded."""
    return tuple(_TOKEN.findall(folded(text)))


def is_unspaced(character: str) -> bool:
    """Whether a character belongs to a script that puts no spaces between words."""
    return bool(_UNSPACED.match(character))


# Texts found as whole words, in any script.
#
# Letters, digits, marks and `_` next to a text make it part of a longer word; apostrophes and hyphens do not.
# Scripts that put no spaces between words have no such bounds: there a text is found wherever it stands.

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
