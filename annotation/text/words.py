"""Words of a text in any script, and the people named in it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import regex  # type: ignore[import-untyped]

from annotation.records import Participant

# Tokenisation in any script, without a language model.
#
# Scripts that put spaces between words yield words: letters with their marks, digits, an apostrophe or hyphen
# inside. Han, Hiragana, Thai, Lao, Khmer and Burmese, which use no spaces, yield one token a character (with
# its marks); Katakana and Hangul yield runs. An emoji with its modifiers is one token. Case is folded,
# compatibility forms are unified (full-width letters, ligatures), and Arabic loses short vowels and tatweel.

# Normal form of texts for comparison.


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
    """Return the tokens of a text in order, folded."""
    return tuple(_TOKEN.findall(folded(text)))


def is_unspaced(character: str) -> bool:
    """Whether a character belongs to a script that puts no spaces between words."""
    return bool(_UNSPACED.match(character))


# Whole-word search, in any script.
#
# Letters, digits, marks and `_` next to a text make it part of a longer word; apostrophes and hyphens do not.
# Scripts without spaces between words have no such boundaries: there a text matches wherever it occurs.

_SPACED = rf"[[\p{{L}}\p{{N}}\p{{M}}_]--[{UNSPACED}\p{{Katakana}}ー]]"
_RUN = r"[\p{Katakana}ー]"
_KINDS = tuple(regex.compile(kind, regex.V1) for kind in (_SPACED, _RUN))


def whole_word(text: str, pattern: str | None = None) -> str:
    """Return a pattern (flag V1) for a text that is not part of a longer word.

    `pattern` replaces the pattern between the boundaries, which the text's first and last characters
    determine.
    """
    return before(text) + (regex.escape(text) if pattern is None else pattern) + after(text)


def before(text: str) -> str:
    """Return the boundary before a text."""
    kind = _kind(text[:1])
    return rf"(?<!{kind})" if kind else ""


def after(text: str) -> str:
    """Return the boundary after a text; a following mark is part of its last character."""
    kind = _kind(text[-1:])
    return rf"(?!{kind}|\p{{M}})" if kind else r"(?!\p{M})"


def _kind(character: str) -> str:
    return next((kind.pattern for kind in _KINDS if kind.match(character)), "")


# People named in a text: by @handle, by name or by alias; whole names, in any script.

MARKS = ("@", "#")
Name = tuple[str, str, bool]


def mentioned(text: str, people: Iterable[Participant]) -> set[str]:
    """Return the ids of the people named in a text.

    `@` or `#` before an id, a name (spaces may be left out) or an alias always counts; without it, a whole
    name or alias does. Of overlapping names only the longest counts: `Ann Marie` does not name Ann. In Han,
    kana and Thai a name needs no space around it.
    """
    return people_named(text, names(people))


def people_named(text: str, known_names: Iterable[Name]) -> set[str]:
    """Return the ids of the people named in a text, from the names that `names` returned."""
    text = folded(text)
    people: set[str] = set()
    taken_spans: list[tuple[int, int]] = []
    for name, person, plain in known_names:
        for start in _places(text, name):
            span = (start, start + len(name))
            if any(start < end and first < span[1] for first, end in taken_spans if (first, end) != span):
                continue
            if _counts(text, *span, plain=plain):
                people.add(person)
                taken_spans.append(span)
    return people


def names(people: Iterable[Participant]) -> list[Name]:
    """Return (folded name, id, whether it counts without a mark), the longest names first."""
    plain_names: dict[tuple[str, str], bool] = {}
    for person in people:
        plain = [name for name in (person.name or person.id, *person.aliases) if name.strip()]
        for name in plain:
            plain_names[folded(name.strip()), person.id] = True
        for name in (person.id, *("".join(name.split()) for name in plain)):
            plain_names.setdefault((folded(name.strip()), person.id), False)
    ordered = sorted(plain_names.items(), key=lambda entry: (-len(entry[0][0]), entry[0]))
    return [(name, person, plain) for (name, person), plain in ordered if name]


def _places(text: str, name: str) -> Iterable[int]:
    start = text.find(name)
    while start >= 0:
        yield start
        start = text.find(name, start + 1)


def _counts(text: str, start: int, end: int, *, plain: bool) -> bool:
    """Whether a name at this place is complete: marked, or plain and not continued."""
    if end < len(text) and _continues(text[end], text[end - 1]):
        return False
    if text[end : end + 1] == "@" and end + 1 < len(text) and _is_word(text[end + 1]):
        return False  # the beginning of a mail address
    before = text[start - 1] if start else ""
    if before in MARKS and before:
        return start < 2 or not _is_word(text[start - 2])
    return plain and not (before and _continues(before, text[start]))


def _continues(neighbour: str, edge: str) -> bool:
    """Whether a neighbouring character would make a name part of a longer word."""
    return _is_word(neighbour) and not is_unspaced(neighbour) and not is_unspaced(edge)


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum() or unicodedata.category(character).startswith("M")


def reference_mentioned(text: str, name: str) -> bool:
    """Whether MPCEval's published code regards a text as naming a speaker.

    `@` or `#` and a variant of the name occur as a substring, or a variant occurs without a word character, @
    or # beside it; variants are the name, the name without spaces, and its words of 2 or more characters.
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    name = unicodedata.normalize("NFKC", name).strip().casefold()
    variants = {name, "".join(name.split()), *(word for word in name.split() if len(word) >= 2)} - {""}
    for variant in variants:
        if f"@{variant}" in text or f"#{variant}" in text:
            return True
        if re.search(rf"(?<![\w@#]){re.escape(variant)}(?![\w@#])", text):
            return True
    return False
