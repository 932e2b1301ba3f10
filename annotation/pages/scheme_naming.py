"""What the scheme editor fills in where a researcher leaves it empty: keys, groups and hot keys."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from string import ascii_lowercase

WORDS_OF_A_KEY = 4
LONGEST = 40


def key_from(text: str, otherwise: str, taken: Collection[str]) -> str:
    """Return a key made from a text's first words, or from `otherwise` where it has no Latin letters.

    Keys that are `taken` are told apart by a number.
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", re.sub(r"['’]", "", plain))
    while words and not words[0][0].isalpha():
        words.pop(0)
    words = words[:WORDS_OF_A_KEY]
    while len(words) > 1 and len("_".join(words)) > LONGEST:
        words.pop()
    key = "_".join(words)[:LONGEST] or otherwise
    number = 2
    while (found := key if number == 2 and key not in taken else f"{key}_{number}") in taken:
        number += 1
    return found


def shortcut_from(texts: Iterable[str], taken: Collection[str]) -> str:
    """Return the first letter of the texts, else of the alphabet, that is free; '' where none is."""
    letters = (letter for text in (*texts, ascii_lowercase) for letter in text.lower())
    return next((letter for letter in letters if letter in ascii_lowercase and letter not in taken), "")
