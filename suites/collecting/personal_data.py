"""Scan of turns for possible personal data: e-mail addresses, phone numbers, web addresses and names.

The scan flags for reviewers and decides nothing. It prefers few false flags to finding everything:

* an e-mail address has a domain with an ending of two letters or more; `ana (at) example.org` counts, too;
* a web address begins with a scheme or `www.`, or ends in one of a few common endings;
* a phone number begins with `+` or `00`, or is written as in some countries: an area code in brackets, a
  leading 0, the North American form, mobile numbers of China and India;
* a name is a capitalised word within a sentence, in Latin letters, that is not of the cast. Places and brands
  are flagged as names as well. Sentence beginnings, days, months, languages and words in capitals are not,
  nor is a word that the dialogue has in small letters elsewhere. Where many words within sentences are
  capitalised, as in German or in titles, no names are flagged.

Every pattern reads a text in linear time: its repetitions are bounded, or over classes that exclude each
other. Texts are compared in NFKC, so full-width letters and digits count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

EMAIL, PHONE, URL, NAME = "email", "phone", "url", "name"
KINDS = {EMAIL: "e-mail address", PHONE: "phone number", URL: "web address", NAME: "name"}
"""Kinds of flags, with their names on pages."""
LONGEST = 200
"""Maximum characters of a flagged text; longer ones are cut."""
MOST_CAPITALISED, LEAST_WORDS = 0.25, 20
"""Share of unknown capitalised words, of this many words within sentences, above which no name is flagged."""


@dataclass(frozen=True, slots=True)
class Flag:
    """Possible personal data in a turn: the turn's index in the scanned texts, the kind and the text."""

    turn: int
    kind: str
    text: str

    @property
    def title(self) -> str:
        """Name of the kind on pages."""
        return KINDS[self.kind]


def scan(texts: Sequence[str], cast: Iterable[str] = ()) -> list[Flag]:
    """Return the flags of the turns of a dialogue, in order, each text once per turn and kind.

    `cast` are the names, ids and aliases of its people, which are not flagged.
    """
    prepared = [_plain(text) for text in texts]
    flags: list[Flag] = []
    rest: list[str] = []
    for turn, text in enumerate(prepared):
        remaining = text
        for kind, find in ((EMAIL, _emails), (URL, _urls), (PHONE, _phones)):
            spans = list(find(remaining))
            flags += [Flag(turn, kind, remaining[start:end][:LONGEST]) for start, end in spans]
            remaining = _blank(remaining, spans)
        rest.append(remaining)
    flags += _names(rest, cast)
    return sorted(dict.fromkeys(flags), key=lambda flag: flag.turn)


def _plain(text: str) -> str:
    """Return a text in NFKC, with decimal digits of every script as ASCII digits."""
    text = unicodedata.normalize("NFKC", text)
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)


def _blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Replace spans, in order, by full stops, so that what follows begins a sentence."""
    pieces, last = [], 0
    for start, end in spans:
        pieces += [text[last:start], "." * (end - start)]
        last = end
    return "".join([*pieces, text[last:]])


# E-mail addresses: from an @ outwards, so that a long word without one costs nothing.

AT = re.compile(r"@| ?[(\[] ?at ?[)\]] ?", re.IGNORECASE)
LOCAL_END = re.compile(r"[A-Za-z0-9._%+\-]{1,64}\Z")
DOMAIN = re.compile(r"[A-Za-z0-9\-]{1,63}(?:\.[A-Za-z0-9\-]{1,63}){0,8}\.[A-Za-z]{2,24}(?![A-Za-z0-9\-])")
LOCAL_LENGTH = 64


def _emails(text: str) -> Iterator[tuple[int, int]]:
    last = 0
    for at in AT.finditer(text):
        local = LOCAL_END.search(text[max(last, at.start() - LOCAL_LENGTH) : at.start()])
        domain = DOMAIN.match(text, at.end())
        if local is None or domain is None or not any(char.isalnum() for char in local.group()):
            continue
        start, last = at.start() - len(local.group()), domain.end()
        yield start, last


# Web addresses.

SCHEME = re.compile(
    r"(?:https?|ftp)://[^\s<>\"'“”]{2,2000}|(?<![A-Za-z0-9_.@-])www\.[^\s<>\"'“”]{3,2000}", re.IGNORECASE
)
BARE = re.compile(
    r"(?<![A-Za-z0-9_.@-])[A-Za-z0-9][A-Za-z0-9\-]{0,62}(?:\.[A-Za-z0-9][A-Za-z0-9\-]{0,62}){0,4}"
    r"\.(?:com|org|net|edu|gov|info|io)(?![A-Za-z0-9_-])(?:/[^\s<>\"'“”]{0,2000})?"
)
TRAILING = ".,;:!?)]}…"


def _urls(text: str) -> Iterator[tuple[int, int]]:
    for pattern in (SCHEME, BARE):
        spans = []
        for match in pattern.finditer(text):
            spans.append((match.start(), match.start() + len(match.group().rstrip(TRAILING))))
        yield from spans
        text = _blank(text, spans)


# Phone numbers: a run of digits and separators, and then what the run looks like.

RUN = re.compile(r"(?<![A-Za-z0-9_.,/:#-])[+(]{0,2}\d(?:[ .()/-]{0,2}\d){6,18}(?![A-Za-z0-9_%°€$£])")
GROUPS = re.compile(r"\d+")
NORTH_AMERICAN = re.compile(r"(?:\+?1[ .-]?)?(?:\([2-9]\d\d\) ?|[2-9]\d\d[.-])\d{3}[ .-]\d{4}")
AREA_CODE = re.compile(r"\(\d{2,5}\)[ -]?\d{2,5}(?:[ -]?\d{2,5}){1,3}")
MOBILE = re.compile(r"1[3-9]\d[ -]?\d{4}[ -]?\d{4}|[6-9]\d{4}[ -]?\d{5}")
BOOK_NUMBER = re.compile(r"ISBN[-: 013]{0,10}\Z", re.IGNORECASE)
INTERNATIONAL_DIGITS, NATIONAL_DIGITS = range(8, 16), range(9, 13)


def _phones(text: str) -> Iterator[tuple[int, int]]:
    for match in RUN.finditer(text):
        if not BOOK_NUMBER.search(text[max(0, match.start() - 16) : match.start()]) and _is_phone(
            match.group()
        ):
            yield match.span()


def _is_phone(run: str) -> bool:
    groups = GROUPS.findall(run)
    digits = "".join(groups)
    if run[0] == "+" or digits.startswith("00"):
        return len(digits.removeprefix("00")) in INTERNATIONAL_DIGITS
    if NORTH_AMERICAN.fullmatch(run) or AREA_CODE.fullmatch(run) or MOBILE.fullmatch(run):
        return True
    national = digits.startswith("0") and len(digits) in NATIONAL_DIGITS and not run.startswith("0.")
    return national and (len(groups) == 1 or (len(groups[0]) > 1 and min(map(len, groups[1:])) > 1))


# Names: capitalised words within sentences.

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
PERSONAL = frozenset(
    {"i", "i'm", "i've", "i'd", "i'll", "ok", "okay", "god", "internet", "mr", "mrs", "ms", "dr"}
)
DAYS = frozenset(["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"])
MONTHS = frozenset(
    [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ]
)
FEASTS = frozenset(
    ["christmas", "easter", "halloween", "thanksgiving", "hanukkah", "ramadan", "diwali", "valentine"]
)
LANGUAGES = frozenset(
    [
        "english",
        "american",
        "british",
        "german",
        "french",
        "spanish",
        "italian",
        "chinese",
        "japanese",
        "korean",
        "russian",
        "portuguese",
        "dutch",
        "greek",
        "indian",
        "mexican",
        "irish",
        "scottish",
        "arabic",
        "hindi",
        "polish",
        "turkish",
        "swedish",
        "european",
        "african",
        "asian",
    ]
)
COMMON = PERSONAL | DAYS | MONTHS | FEASTS | LANGUAGES
"""Capitalised words that are no names, folded; plurals and possessives count, too."""


def _names(texts: Sequence[str], cast: Iterable[str]) -> list[Flag]:
    people = {word for name in cast for word in map(_folded, WORD.findall(_plain(name)))}
    tokens = [list(_tokens(text)) for text in texts]
    small = {_folded(word) for words in tokens for word, _, _ in words if word[0].islower()}
    within = [word for words in tokens for word, is_within, _ in words if is_within]
    unflagged = people | small | COMMON
    strangers = sum(_is_capitalised(word) and _folded(word) not in unflagged for word in within)
    if len(within) >= LEAST_WORDS and strangers > MOST_CAPITALISED * len(within):
        return []
    flags = []
    for turn, words in enumerate(tokens):
        name: list[str] = []
        for word, is_within, follows in [*words, ("", False, False)]:
            is_name = is_within and _is_capitalised(word) and not _is_known(word, unflagged)
            if name and not (is_name and follows):
                flags.append(Flag(turn, NAME, " ".join(name)[:LONGEST]))
                name = []
            if is_name:
                name.append(_without_possessive(word))
    return flags


def _tokens(text: str) -> Iterator[tuple[str, bool, bool]]:
    """Yield the words with whether each is within a sentence, and whether only a space precedes it."""
    last = 0
    for match in WORD.finditer(text):
        between = text[last : match.start()]
        is_within = last > 0 and (
            between == " " or all(char in " ,'’&/" or char.isdigit() for char in between)
        )
        yield match.group(), is_within, between == " "
        last = match.end()


@lru_cache(maxsize=20_000)
def _is_capitalised(word: str) -> bool:
    """Whether a word of two Latin letters or more begins with a capital and goes on in small letters."""
    if word.islower():
        return False
    letters = [char for char in word if char.isalpha()]
    is_latin = unicodedata.name(letters[0], "").startswith("LATIN")
    return len(letters) > 1 and letters[0].isupper() and any(char.islower() for char in letters) and is_latin


def _is_known(word: str, unflagged: Iterable[str]) -> bool:
    folded = _folded(word)
    return (
        folded in unflagged
        or folded.removesuffix("s") in unflagged
        or _folded(_without_possessive(word)) in unflagged
    )


def _without_possessive(word: str) -> str:
    return word[:-2] if word[-2:] in ("'s", "’s") else word


@lru_cache(maxsize=20_000)
def _folded(word: str) -> str:
    return word.casefold().replace("’", "'")
