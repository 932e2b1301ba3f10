"""The language of a text as browsers and screen readers take it."""

from __future__ import annotations

import re
import unicodedata

# Which way a text runs, by most of its letters: a greeting in another script does not turn a whole turn.

RIGHT_TO_LEFT = frozenset({"R", "AL"})


def direction(text: str) -> str:
    """Return `ltr` or `rtl`, whichever has more letters; `auto` (the browser's rule) where neither has."""
    if text.isascii():
        return "ltr"
    kinds = [unicodedata.bidirectional(character) for character in text]
    right, left = sum(kind in RIGHT_TO_LEFT for kind in kinds), kinds.count("L")
    if right == left:
        return "auto"
    return "rtl" if right > left else "ltr"


_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,4}")


def language_tag(language: str) -> str:
    """Return a value for `lang`: the tag (BCP 47), or '' (unknown) where a dialogue's language is none."""
    return language.replace("_", "-") if _TAG.fullmatch(language) else ""


NAMES = {
    "ar": "Arabic",
    "bn": "Bengali",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "sw": "Swahili",
    "ta": "Tamil",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "ur": "Urdu",
    "vi": "Vietnamese",
    "zh": "Chinese",
}
"""The languages that are called by their names; all others are called by their tags."""


def language_name(language: str) -> str:
    """Return the English name of a language by the first part of its tag, the tag where it has none here."""
    return NAMES.get(language, f"“{language}”")
