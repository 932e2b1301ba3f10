"""Sentences of personas: gendered words are replaced, and contradictions are found by rules.

Both are for English. ComperDial did this by hand (appendix A.3); the word table and the rules are Concord's.
A rule flags for people who decide; it never changes a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from annotation.text.words import fold

# Gendered words, each with the word that takes its place.

_MEN = {
    "alder": "council member",
    "anchor": "anchor",
    "business": "businessperson",
    "camera": "camera operator",
    "chair": "chairperson",
    "congress": "member of congress",
    "council": "council member",
    "crafts": "craftsperson",
    "delivery": "delivery worker",
    "fire": "firefighter",
    "fore": "supervisor",
    "handy": "handyperson",
    "mail": "mail carrier",
    "police": "police officer",
    "post": "mail carrier",
    "repair": "repairer",
    "sales": "salesperson",
    "service": "service member",
    "spokes": "spokesperson",
    "sports": "athlete",
    "weather": "weather forecaster",
}
"""By the beginning of a word that ends in -man or -woman."""
_WORDS = {
    "actress": "actor",
    "authoress": "author",
    "ballerina": "ballet dancer",
    "barmaid": "bartender",
    "barman": "bartender",
    "cleaning lady": "cleaner",
    "comedienne": "comedian",
    "cowboy": "cowhand",
    "cowgirl": "cowhand",
    "headmaster": "head teacher",
    "headmistress": "head teacher",
    "heiress": "heir",
    "heroine": "hero",
    "hostess": "host",
    "househusband": "homemaker",
    "housewife": "homemaker",
    "landlady": "landlord",
    "male nurse": "nurse",
    "masseur": "massage therapist",
    "masseuse": "massage therapist",
    "poetess": "poet",
    "seamstress": "tailor",
    "stewardess": "flight attendant",
    "usherette": "usher",
    "waiter": "server",
    "waitress": "server",
}
_PLURALS = {
    "businessperson": "businesspeople",
    "chairperson": "chairpeople",
    "craftsperson": "craftspeople",
    "handyperson": "handypeople",
    "hero": "heroes",
    "member of congress": "members of congress",
    "salesperson": "salespeople",
    "spokesperson": "spokespeople",
}
WITHOUT_ALTERNATIVE = (
    "duchess",
    "duke",
    "emperor",
    "empress",
    "king",
    "monk",
    "nun",
    "prince",
    "princess",
    "queen",
)
"""Gendered words without an alternative."""


def _plural(word: str) -> str:
    if word in _PLURALS:
        return _PLURALS[word]
    if word.endswith("wife"):
        return f"{word[:-2]}ves"
    if word.endswith("ady"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith("ss") else f"{word}s"


def _replacements() -> Iterator[tuple[str, str]]:
    for start, word in _MEN.items():
        for joint in ("", " ", "-"):
            for singular, plural in (("man", "men"), ("woman", "women"), ("lady", "ladies")):
                yield f"{start}{joint}{singular}", word
                yield f"{start}{joint}{plural}", _plural(word)
    for gendered, word in _WORDS.items():
        yield gendered, word
        yield "barmen" if gendered == "barman" else _plural(gendered), _plural(word)


REPLACEMENTS = dict(_replacements())
"""Gendered words and phrases in lower case, each with its alternative."""
_PATTERN = re.compile(
    rf"\b(?:(an?)(\s+))?({'|'.join(sorted(map(re.escape, REPLACEMENTS), key=len, reverse=True))})\b", re.I
)
_FIRST_WORDS = frozenset(re.split("[ -]", phrase)[0] for phrase in REPLACEMENTS)
_WORD = re.compile(r"\w+")
_KEPT_PATTERN = re.compile(rf"\b(?:{'|'.join(WITHOUT_ALTERNATIVE)})\b", re.I)
_SILENT_H = ("heir",)


@dataclass(frozen=True, slots=True)
class Filtered:
    """A text without gendered words: the replaced ones with their alternatives, and the ones that stay."""

    text: str
    replaced: tuple[tuple[str, str], ...]
    remaining: tuple[str, ...]


def filter_gendered(text: str) -> Filtered:
    """Replace gendered words by the table, with the article before them; words without one stay."""
    replaced: list[tuple[str, str]] = []

    def replace(match: re.Match[str]) -> str:
        article, space, gendered = match.groups()
        word = REPLACEMENTS[gendered.lower()]
        replaced.append((gendered, word))
        vowel = word[0] in "aeiou" or word in _SILENT_H
        word = word[0].upper() + word[1:] if gendered[0].isupper() else word
        if not article:
            return word
        new_article = "an" if vowel else "a"
        return (new_article.capitalize() if article[0].isupper() else new_article) + space + word

    has_candidate = not _FIRST_WORDS.isdisjoint(_WORD.findall(text.lower()))
    filtered = _PATTERN.sub(replace, text) if has_candidate else text
    return Filtered(filtered, tuple(replaced), tuple(_KEPT_PATTERN.findall(filtered)))


# Numbers as digits or as words, up to 199.

_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_NUMBERS = {word: value for value, word in enumerate(_SMALL)} | {
    word: 10 * value for value, word in enumerate(_TENS, start=2)
}
NUMBER = (
    rf"(?:\d{{1,3}}|(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_SMALL[1:10])}))?|{'|'.join(_SMALL[:0:-1])})"
)


def number_of(text: str) -> int:
    """Return the value of a number in digits or English words, as NUMBER matches it."""
    return int(text) if text.isdigit() else sum(_NUMBERS[part] for part in re.split("[- ]", text.lower()))


# Rules: what two sentences, or a sentence and the age, cannot both say.


@dataclass(frozen=True, slots=True)
class Flag:
    """A possible contradiction: the rule's key, the positions of the sentences, and a sentence for people."""

    rule: str
    sentences: tuple[int, ...]
    message: str


Rule = Callable[[Sequence[str], int], Iterator[Flag]]
YOUNGEST_WORKER = 14
"""Age before which nobody works: years of work above age - 14 are flagged."""

_WORK = re.compile(
    r"\b(?:work(?:ed|ing|er)?|job|career|employ(?:ed|ee|er)?|experience|profession|business|teach(?:ing)?|taught|"
    r"served|serving|trade|practi[cs](?:ed|ing)|(?:have|['’]ve) been an?)\b",
    re.I,
)
_YEARS = re.compile(rf"\b({NUMBER})\+?\s+years\b(?!\s+old)", re.I)


def work_years(sentences: Sequence[str], age: int) -> Iterator[Flag]:
    """Flag more years of work than an age allows: years > age - 14."""
    for place, sentence in enumerate(sentences):
        if not _WORK.search(sentence):
            continue
        for match in _YEARS.finditer(sentence):
            years = number_of(match[1])
            if years > age - YOUNGEST_WORKER:
                yield Flag(
                    "work_years", (place,), f"{years} years of work do not fit the age of {age}: “{sentence}”"
                )


_MARITAL = {
    "married": re.compile(
        r"\bI(?:['’]m| am)(?: happily| newly| recently| already)? married\b|\bI(?:['’]ve| have)? "
        r"(?:just |recently )?(?:got(?:ten)? )?married\b(?! to be)|(?<!if )\bmy (?:husband|wife|spouse)\b",
        re.I,
    ),
    "single": re.compile(
        r"\bI(?:['’]m| am)(?: still| happily)? (?:single|unmarried|not married)\b|"
        r"\bnever (?:been )?married\b",
        re.I,
    ),
    "divorced": re.compile(r"\bdivorced\b|\bmy ex[- ]?(?:husband|wife|spouse)\b", re.I),
    "widowed": re.compile(r"\bwidow(?:ed|er)?\b|\bmy late (?:husband|wife|spouse)\b", re.I),
    "engaged": re.compile(
        r"\bmy fianc[ée]{1,2}\b|\bengaged to be married\b|\bI(?:['’]m| am) engaged\b", re.I
    ),
}


def marital_states(sentences: Sequence[str], age: int) -> Iterator[Flag]:
    """Flag two marital states."""
    places: dict[str, int] = {}
    for place, sentence in enumerate(sentences):
        for state, pattern in _MARITAL.items():
            if pattern.search(sentence):
                places.setdefault(state, place)
    if len(places) > 1:
        names = list(places)
        yield Flag(
            "marital_states",
            tuple(sorted(set(places.values()))),
            f"Both {' and '.join(names)}: {_quoted(sentences, places.values())}",
        )


_TOWN = r"([A-Z][\w'’.-]*(?: (?:de |del |la |am |on |upon )?[A-Z][\w'’.-]*){0,3})"
_HOME = re.compile(
    r"(?i:\b(?:I(?:['’]m| am)(?: originally)? from|I come from|grew up in|raised in|I was born in|"
    rf"my home ?town is)) {_TOWN}"
)


def home_towns(sentences: Sequence[str], age: int) -> Iterator[Flag]:
    """Flag two home towns: where somebody is from, was born or grew up."""
    towns: dict[str, tuple[str, int]] = {}
    for place, sentence in enumerate(sentences):
        for match in _HOME.finditer(sentence):
            town = match[1].rstrip(".")
            towns.setdefault(fold(town), (town, place))
    if len(towns) > 1:
        names, places = zip(*towns.values(), strict=True)
        yield Flag(
            "home_towns",
            tuple(sorted(set(places))),
            f"Both from {' and from '.join(names)}: {_quoted(sentences, places)}",
        )


_AGE = re.compile(
    rf"\bI(?:['’]m| am)\s+({NUMBER})(?:\s+years? old\b|(?=\s*[.,;!]|\s*$|\s+(?:and|but)\b))|"
    rf"\b(?:I(?:['’]m| am)|as) an?\s+({NUMBER})[- ]years?[- ]old\b",
    re.I,
)
_TEN_WORDS = {f"{word[:-1]}ies": 10 * value for value, word in enumerate(_TENS, start=2)}
_DECADE = re.compile(
    rf"\bI(?:['’]m| am)(?: still| now| already)? in my (?:early |mid[- ]?|late )?({'|'.join(_TEN_WORDS)})\b",
    re.I,
)
_PAST_AGE = re.compile(rf"\b(?:when|since|until|before) I (?:was|turned) ({NUMBER})\b", re.I)


def other_ages(sentences: Sequence[str], age: int) -> Iterator[Flag]:
    """Flag an age that is not the persona's, or a past that it has not reached."""
    for place, sentence in enumerate(sentences):
        ages = [number_of(match[1] or match[2]) for match in _AGE.finditer(sentence)]
        wrong = [f"{other}" for other in ages if other != age]
        decades = [_TEN_WORDS[match[1].lower()] for match in _DECADE.finditer(sentence)]
        wrong += [f"{start}s" for start in decades if not start <= age < start + 10]
        past = [number_of(match[1]) for match in _PAST_AGE.finditer(sentence)]
        wrong += [f"{other} in the past" for other in past if other > age]
        if wrong:
            yield Flag("other_age", (place,), f"{wrong[0]} is not the age of {age}: “{sentence}”")


def stated_age(sentences: Sequence[str]) -> int | None:
    """Return the first age that sentences state of the person, None without one."""
    matches = (match for sentence in sentences for match in _AGE.finditer(sentence))
    match = next(matches, None)
    return None if match is None else number_of(match[1] or match[2])


def _quoted(sentences: Sequence[str], places: Iterable[int]) -> str:
    return ", ".join(f"“{sentences[place]}”" for place in sorted(set(places)))


RULES: dict[str, Rule] = {
    "work_years": work_years,
    "marital_states": marital_states,
    "home_towns": home_towns,
    "other_age": other_ages,
}
"""Rules by key."""
RULE_TITLES = {
    "work_years": "more years of work than the age allows",
    "marital_states": "two marital states",
    "home_towns": "two home towns",
    "other_age": "another age",
}


def contradictions(sentences: Sequence[str], age: int) -> tuple[Flag, ...]:
    """Return the possible contradictions of a persona of an age, in the order of the rules."""
    return tuple(flag for rule in RULES.values() for flag in rule(sentences, age))
