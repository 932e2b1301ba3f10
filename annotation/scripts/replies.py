"""Reading what a model replies to a question about a script (`dialsim.md`, section 8).

A reply to a question with options (A) to (E) is read for a letter, any other reply for a text: whether it
is one of the right answers, and whether it says that its writer does not know.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import regex  # type: ignore[import-untyped]

from annotation.scripts.records import LETTERS, UNKNOWN
from annotation.text.tokens import fold, whole

Verdict = Literal["right", "wrong", "undecided"]

UNKNOWN_TEXT = "I don't know"
"""The text of option (E)."""
AMBIGUOUS, NONE, LATE, TEXT, FAILED = "ambiguous", "none", "late", "text", "failed"
"""Outcomes that are no letter: several letters; nothing that can be read; slower than the limit; a free
reply that names no option; a call that brought no reply."""

UNKNOWING = (
    "i don't know",
    "i dont know",
    "i do not know",
    "i don't remember",
    "i do not remember",
    "i can't remember",
    "i cannot remember",
    "i don't recall",
    "i do not recall",
    "i can't recall",
    "i cannot recall",
    "i can't say",
    "i cannot say",
    "i can't tell",
    "i cannot tell",
    "i couldn't say",
    "i couldn't tell you",
    "i have no idea",
    "i've no idea",
    "i haven't got a clue",
    "i have no clue",
    "i'm not sure",
    "i am not sure",
)
"""What says at the start of a sentence that its writer does not know."""
UNKNOWING_ALONE = (
    "don't know",
    "dont know",
    "do not know",
    "dunno",
    "i dunno",
    "no idea",
    "no clue",
    "not sure",
    "unknown",
    "can't say",
    "cannot say",
    "can't tell",
    "cannot tell",
    "not enough information",
)
"""What says so where it is the whole reply."""
HEDGES = (
    "but",
    "maybe",
    "perhaps",
    "possibly",
    "probably",
    "might",
    "i think",
    "i guess",
    "i believe",
    "i'd say",
    "i would say",
    "if i had to",
    "my guess",
)
"""What leaves open whether a reply that says so answers all the same."""

_EMPHASIS = regex.compile(r"[*_`]+")
_BRACKETED = regex.compile(r"\(([A-E])\)")
_LEADING = regex.compile(r"^[ \t]*([A-E])(?:[):]|\.(?!\p{L}\b))", regex.MULTILINE)
_ONE = regex.compile(r"\s*([A-Ea-e])\s*")
_ARTICLES = frozenset(("a", "an", "the"))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a reply says: a letter A to E, or a word for why there is none.

    `lenient` letters were read off an option's text; they are right in the lenient score alone.
    """

    value: str
    lenient: bool = False

    @property
    def letter(self) -> str | None:
        """The letter, None where there is none."""
        return self.value if self.value in LETTERS else None


def read_template(reply: str, choices: Sequence[str]) -> Outcome:
    """Return what a reply to options (A) to (E) says; `choices` are the texts of A to D as shown.

    A letter is a capital in brackets anywhere, a capital with `)`, `.` or `:` at the start of a line, or a
    reply that is nothing but one letter. Marks of emphasis (`**C**`) are no part of a reply.
    """
    letters = _letters(_EMPHASIS.sub("", unicodedata.normalize("NFKC", reply)))
    if len(letters) > 1:
        return Outcome(AMBIGUOUS)
    if letters:
        return Outcome(letters.pop())
    named = named_options(reply, choices)
    return Outcome(named.pop(), lenient=True) if len(named) == 1 else Outcome(NONE)


def read_natural(reply: str, choices: Sequence[str]) -> Outcome:
    """Return which option a free reply is, by its text alone; `text` where it is none of them.

    A reply that is more than an option's text is `lenient`, where it names exactly one.
    """
    if not reply.strip():
        return Outcome(NONE)
    if says_unknown(reply):
        return Outcome(UNKNOWN)
    equal = {letter for letter, text in zip(LETTERS, choices, strict=False) if bare(text) == bare(reply)}
    if len(equal) == 1:
        return Outcome(equal.pop())
    named = named_options(reply, choices)
    return Outcome(named.pop(), lenient=True) if len(named) == 1 else Outcome(TEXT)


def read_free(reply: str, answers: Iterable[str], key: str) -> Verdict:
    """Return whether a free reply is right, as far as that can be seen without a judge.

    `answers` are all texts that are right of what was asked; with the key (E) a reply is right where it says
    that it does not know, and `answers` are what it must not say. `undecided` waits for a judge. A reply
    that says that it does not know although the answer can be known is wrong, and so is an empty one.
    """
    if not reply.strip():
        return "wrong"
    equal = bare(reply) in {bare(answer) for answer in answers}
    if equal:
        return "wrong" if key == UNKNOWN else "right"
    if says_unknown(reply):
        return "right" if key == UNKNOWN else "wrong"
    return "undecided"


def says_unknown(reply: str) -> bool:
    """Whether a reply plainly says that its writer does not know, and hedges no answer."""
    text = "\n".join(map(_plain, reply.splitlines()))
    if bare(reply) in UNKNOWING_ALONE:
        return True
    return bool(_phrases(UNKNOWING, starts=True).search(text)) and not _phrases(HEDGES).search(text)


def bare(text: str) -> str:
    """Return a text as it is compared with an answer: folded, without articles and final punctuation."""
    plain = _plain(text)
    end = len(plain)
    while end and unicodedata.category(plain[end - 1])[0] in "PZ":
        end -= 1
    words = plain[:end].split()
    return " ".join(word for word in words if word not in _ARTICLES) or " ".join(words) or plain


def named_options(reply: str, choices: Sequence[str]) -> set[str]:
    """Return the letters of the options whose text stands in a reply as whole words, (E) among them.

    What stands there as part of a longer option's text is that option alone: `Ben Stone` is not `Ben`.
    """
    options: dict[str, set[str]] = {}
    for letter, text in zip(LETTERS, (*choices[:4], UNKNOWN_TEXT), strict=False):
        if plain := _plain(text):
            options.setdefault(plain, set()).add(letter)
    texts = sorted(options, key=len, reverse=True)
    if not texts:
        return set()
    pattern = regex.compile("|".join(map(whole, texts)), regex.V1)
    return set().union(*(options[match.group()] for match in pattern.finditer(_plain(reply))))


def _letters(reply: str) -> set[str]:
    if single := _ONE.fullmatch(reply):
        return {single.group(1).upper()}
    return {match.group(1) for pattern in (_BRACKETED, _LEADING) for match in pattern.finditer(reply)}


def _plain(text: str) -> str:
    return fold(text).replace("’", "'")


@lru_cache
def _phrases(phrases: tuple[str, ...], starts: bool = False) -> regex.Pattern[str]:
    """Return a pattern for any of the phrases as whole words, `starts` where a sentence or part starts."""
    either = "|".join(map(whole, phrases))
    return regex.compile(rf"(?:\A|[.!?…,;:\n])\s*(?:{either})" if starts else either, regex.V1)
