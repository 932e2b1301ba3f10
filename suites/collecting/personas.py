"""Personas: drawn from an inventory by a seed, reviewed by people, and grouped into dialogues.

A persona is a personal block (name, age, family) and two heads with a tail for each of up to eight slots:
ComperDial, section 3.1 and appendix A.3. Every draw is `u(seed, "persona", number, step)`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from annotation.text.draws import in_drawn_order, u
from annotation.text.views import one_line
from annotation.text.words import fold
from suites.collecting.inventories import SLOTS, Head, Inventory
from suites.collecting.persona_text import Flag, contradictions, filter_gendered
from suites.reviews import Review

PLACEHOLDER = "<n>"
SMALL_NUMBERS = (2, 3, 4)
"""Numbers that stand for `<n>` in a family sentence."""
MOST_SENTENCES, LONGEST_SENTENCE = 50, 500
"""Maximum number of a persona's sentences, and of the characters of one."""


class NoPersona(ValueError):
    """An inventory from which no persona can be drawn; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Persona:
    """A persona. `number` counts from 1 within its draw, `heads` are positions in the inventory.

    `gender` conditions the name and is never part of the text. `sentences` are the name, the age and the
    family, then each head with its tails. `replaced` are gendered words with their alternatives, `remaining`
    those that have none. `flags` are possible contradictions.
    """

    number: int
    heads: tuple[int, int]
    age: int
    gender: str
    name: str
    family: str
    sentences: tuple[str, ...]
    replaced: tuple[tuple[str, str], ...]
    remaining: tuple[str, ...]
    flags: tuple[Flag, ...]


# Drawing.


def draw(inventory: Inventory, seed: int, count: int, first_number: int = 1) -> list[Persona]:
    """Draw `count` personas, numbered from `first_number` on. Raises NoPersona.

    The same inventory, seed and number always give the same persona, however many are drawn.
    """
    fits = _fitting_heads(inventory)
    if not fits:
        raise NoPersona("No two heads that are not negative share an age and a gender.")
    numbers = range(first_number, first_number + count)
    return [_draw_one(inventory, fits, seed, number) for number in numbers]


def _draw_one(inventory: Inventory, fits: Mapping[int, Sequence[int]], seed: int, number: int) -> Persona:
    """Draw the persona of a number.

    Two heads that are not negative; an age uniform in the intersection of their ranges; a gender uniform
    among those that both allow; a name uniform in the list of the gender's largest generation that is not
    above the age; a family sentence uniform among those for the age. A second head with no age or gender in
    common is drawn again, so it is uniform among the heads that fit.
    """

    def choose(values: Sequence[Any], step: str) -> Any:
        return values[min(int(u(seed, "persona", number, step) * len(values)), len(values) - 1)]

    first = choose(list(fits), "first head")
    second = choose(fits[first], "second head")
    heads = inventory.heads[first], inventory.heads[second]
    start_age, end_age = _ages(*heads)
    age = choose(range(start_age, end_age + 1), "age")
    gender = choose(_genders(*heads), "gender")
    names = inventory.names_for(gender, age)
    families = inventory.families_for(age)
    if not names:
        raise NoPersona(f"There are no names for age {age} and gender {gender}.")
    if not families:
        raise NoPersona(f"There is no family sentence for age {age}.")
    name = choose(names, "name")
    small_number = choose(SMALL_NUMBERS, "family number")
    family = choose(families, "family").text.replace(PLACEHOLDER, str(small_number))
    texts = [family]
    for place, head in enumerate(heads):
        tails = [choose(head.tails[slot], f"{place} {slot}") for slot in SLOTS if head.tails.get(slot)]
        texts += [head.text, *tails]
    filtered = [filter_gendered(sentence(text)) for text in texts]
    sentences = (f"My name is {name}.", f"I'm {age} years old.", *(row.text for row in filtered))
    return Persona(
        number=number,
        heads=(first, second),
        age=age,
        gender=gender,
        name=name,
        family=family,
        sentences=sentences,
        replaced=tuple(pair for row in filtered for pair in row.replaced),
        remaining=tuple(word for row in filtered for word in row.remaining),
        flags=contradictions(sentences, age),
    )


def sentence(text: str) -> str:
    """Return a text as a sentence: its first letter is a capital, and it ends with a mark."""
    text = re.sub(r"\bi\b(?=[ '’])", "I", text)
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "…", "”", '"')) else f"{text}."


def _fitting_heads(inventory: Inventory) -> dict[int, list[int]]:
    """Return the heads that are not negative, each with the other ones that fit it, if there are any."""
    usable = [place for place, head in enumerate(inventory.heads) if not head.negative]
    fits = {
        place: [
            other
            for other in usable
            if other != place and _fit(inventory.heads[place], inventory.heads[other])
        ]
        for place in usable
    }
    return {place: others for place, others in fits.items() if others}


def _fit(head: Head, other: Head) -> bool:
    start_age, end_age = _ages(head, other)
    return start_age <= end_age and bool(_genders(head, other))


def _ages(head: Head, other: Head) -> tuple[int, int]:
    return max(head.start_age, other.start_age), min(head.end_age, other.end_age)


def _genders(head: Head, other: Head) -> list[str]:
    return [gender for gender in head.genders if gender in other.genders]


# Reviews: two people, or an adjudication, decide on a persona.

CONSISTENT, CORRECTED, NEGATIVE, NEGATIVE_HEAD = "consistent", "corrected_text", "negative", "negative_head"
FIRST, SECOND, BOTH = "first", "second", "both"
REVIEWERS = 2
"""Number of people who must agree without an adjudication."""

Decision = Literal["accepted", "corrected", "rejected", "undecided"]
DECISIONS: tuple[Decision, ...] = ("accepted", "corrected", "rejected", "undecided")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of the reviews of a persona.

    `sentences` are the corrected ones. `negative_heads` are 0, 1 or both: they are flagged, and later draws
    skip them. `reason` says why a persona is rejected or undecided.
    """

    decision: Decision
    sentences: tuple[str, ...] = ()
    negative_heads: tuple[int, ...] = ()
    reason: str = ""


def outcome(reviews: Sequence[Review]) -> Outcome:
    """Return the outcome of a persona's reviews.

    The last adjudicated review overrides all others; otherwise two people are needed, and all must agree.
    A negative persona is rejected. An inconsistent one takes the corrected text of those who wrote one, if
    they wrote the same, and is rejected where nobody did.
    """
    answered = [
        review
        for review in reviews
        if review.answers.get(CONSISTENT) is not None and review.answers.get(NEGATIVE) is not None
    ]
    decisive = [review for review in answered if review.adjudicated][-1:] or answered
    if not decisive:
        return Outcome("undecided", reason="nobody has reviewed it")
    if not decisive[0].adjudicated and len({review.rater for review in decisive}) < REVIEWERS:
        return Outcome("undecided", reason="one person has reviewed it, and two are needed")
    for key, title in ((NEGATIVE, "negative"), (CONSISTENT, "consistent")):
        if len({review.answers[key] for review in decisive}) > 1:
            return Outcome("undecided", reason=f"the reviewers differ in whether it is {title}")
    if decisive[0].answers[NEGATIVE] == 1:
        return _negative(decisive)
    if decisive[0].answers[CONSISTENT] == 1:
        return Outcome("accepted")
    texts = [review.answers.get(CORRECTED) or "" for review in decisive]
    corrected = {fold(text): text for text in texts if text.strip()}
    if len(corrected) > 1:
        return Outcome("undecided", reason="the reviewers corrected it in different ways")
    if not corrected:
        return Outcome("rejected", reason="it contradicts itself, and nobody corrected it")
    sentences = sentences_of(next(iter(corrected.values())))
    if len(sentences) > MOST_SENTENCES or max(map(len, sentences)) > LONGEST_SENTENCE:
        return Outcome("undecided", reason="the corrected text is too long")
    return Outcome("corrected", sentences=sentences)


def _negative(reviews: Sequence[Review]) -> Outcome:
    meanings = {FIRST: {0}, SECOND: {1}, BOTH: {0, 1}}
    heads = set.intersection(
        *(meanings.get(review.answers.get(NEGATIVE_HEAD, BOTH), {0, 1}) for review in reviews)
    )
    if not heads:
        return Outcome("undecided", reason="the reviewers differ in which of the two heads is negative")
    return Outcome("rejected", negative_heads=tuple(sorted(heads)), reason="it makes a negative impression")


_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+")


def sentences_of(text: str) -> tuple[str, ...]:
    """Return the sentences of a text: its lines, or, where it is one line, its parts that end with a mark."""
    lines = [one_line(line) for line in text.replace("\r\n", "\n").split("\n")]
    lines = [line for line in lines if line]
    return tuple(_SENTENCE_ENDS.split(lines[0])) if len(lines) == 1 else tuple(lines)


# Dialogues: groups of personas, each persona used in a given number of them.

MOST_USES = 20


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of personas by number, and those who are in fewer dialogues than the others."""

    groups: tuple[tuple[int, ...], ...]
    rest: tuple[int, ...]


def group(numbers: Sequence[int], participants: int, uses: int, seed: int) -> Groups:
    """Group personas into dialogues of `participants`; each is in at most one group in each of `uses` rounds.

    The order of each round is drawn by the seed. Personas who have not met come first: a group takes the
    next persona in order who has met nobody in it, and any next one only where all have. What does not fill
    a group at the end of a round is in `rest`.
    """
    met: dict[int, set[int]] = {number: set() for number in numbers}
    groups: list[tuple[int, ...]] = []
    rest: list[int] = []
    for round_number in range(uses):
        purpose = f"persona dialogues {round_number}"
        waiting = [int(key) for key in in_drawn_order(map(str, numbers), seed, purpose)]
        while len(waiting) >= participants:
            members = [waiting.pop(0)]
            while len(members) < participants:
                strangers = (number for number in waiting if not met[number] & set(members))
                member = next(strangers, waiting[0])
                waiting.remove(member)
                members.append(member)
            for member in members:
                met[member] |= set(members) - {member}
            groups.append(tuple(members))
        rest += waiting
    return Groups(tuple(groups), tuple(sorted(set(rest))))
