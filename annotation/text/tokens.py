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
