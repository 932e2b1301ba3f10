"""Replacement names for the people of a script: creation, validation and lookup of name maps."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from annotation.records import Dialogue, Participant
from annotation.script_records import ANONYMISED, SWAPPED, NameMap, Script
from annotation.text.draws import in_drawn_order, u
from annotation.text.words import fold, words
from annotation.text.words import words as tokens
from suites.long_dialogue.scripts.replacing import (
    plural_ending,
    speakers_of,
    texts_of,
)
from suites.long_dialogue.scripts.sessions import script_of

# Generic names by apparent gender, and words in names that identify nobody: an editable list.

Gender = Literal["female", "male", "neutral"]
Kind = Literal["female", "male", "neutral", "surname"]

GENDERS = {
    **dict.fromkeys(("female", "f", "woman", "girl", "she", "she/her"), "female"),
    **dict.fromkeys(("male", "m", "man", "boy", "he", "he/him"), "male"),
    **dict.fromkeys(("neutral", "n", "nonbinary", "non-binary", "they", "they/them"), "neutral"),
}
"""Spellings of declared genders."""
_FIELDS = ("gender", "sex", "pronouns")
_FILE = Path(__file__).with_name("generic_names.toml")


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    """Return the list as parsed from its file."""
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


@lru_cache
def listed_words(name: Literal["titles", "particles", "roles", "ordinary"]) -> frozenset[str]:
    """Return one of the lists of words, in lower case."""
    return frozenset(table()["words"][name].split())


def generic(kind: Kind) -> list[str]:
    """Return all names of a kind: those listed, then those composed of a start and an end."""
    base_names = table()[kind].split()
    ends = table()["ends"][kind].split()
    composed = [start + end for start in table()["starts"].split() for end in ends]
    return list(dict.fromkeys([*base_names, *composed]))


class Pool:
    """Generic names in a seeded order, each used once; listed names before composed ones."""

    def __init__(self, seed: int, used: Collection[str]) -> None:
        """Exclude the names in `used`, which are folded."""
        self.seed = seed
        self.used = set(used)

    def take(self, kind: Kind) -> str:
        """Return the next name of a kind; raise ValueError if none is left."""
        for name in self._order(kind):
            if self.used.isdisjoint((fold(name), fold(name + plural_ending(name)))):
                self.used.add(fold(name))
                return name
        raise ValueError(f"There are no more generic names ({kind}) that the script does not use.")

    def _order(self, kind: Kind) -> list[str]:
        return _ordered_names(self.seed, kind)


def gender_of(participant: Participant) -> Gender:
    """Return the gender that a participant's extra or profile declares, `neutral` without a declaration.

    A profile declares it as a line of its own (`female`), or as `gender: female`.
    """
    declared = [str(participant.extra[field]) for field in _FIELDS if participant.extra.get(field)]
    for line in (*declared, *_declared(participant.profile)):
        if (gender := GENDERS.get(fold(line))) is not None:
            return gender  # type: ignore[return-value]
    return "neutral"


def _declared(profile: Iterable[str]) -> Iterable[str]:
    for line in profile:
        field, colon, value = fold(line).rstrip(".").partition(":")
        if colon and field.strip() in _FIELDS:
            yield value.strip()
        elif not colon:
            yield field


@lru_cache(maxsize=32)
def _ordered_names(seed: int, kind: Kind) -> list[str]:
    listed_names = set(table()[kind].split())
    ordered = in_drawn_order(generic(kind), seed, f"names {kind}")
    return sorted(ordered, key=lambda name: name not in listed_names)


# Problems of a name map, as sentences for its author.


def checked(names: NameMap, dialogue: Dialogue | None = None) -> NameMap:
    """Return a valid name map; raise ValueError with all its problems."""
    if wrong := problems(names, dialogue):
        raise ValueError(" ".join(wrong))
    return names


def problems(names: NameMap, dialogue: Dialogue | None = None) -> list[str]:
    """Return the problems of a name map; with a script, also new names that it already contains."""
    wrong = [*_lengths(names), *_twice(names), *_map_check_messages(names)]
    if names.kind == SWAPPED:
        wrong += _open_swaps(names)
    if names.kind == ANONYMISED:
        wrong += _people(names)
        wrong += _in_use(names, dialogue) if dialogue else ()
    return wrong


def _lengths(names: NameMap) -> Iterator[str]:
    for old, new in names.pairs:
        if not old.strip() or not new.strip():
            yield f"{old!r} to {new!r}: a name is empty."
        elif len(old.split()) != len(new.split()):
            yield f"{old!r} has {len(old.split())} words, {new!r} has {len(new.split())}."


def _twice(names: NameMap) -> Iterator[str]:
    olds: dict[str, str] = {}
    news: dict[str, str] = {}
    for old, new in names.pairs:
        if fold(old) in olds:
            yield f"{old!r} is mapped twice."
        elif fold(new) in news:
            yield f"{news[fold(new)]!r} and {old!r} both become {new!r}."
        olds[fold(old)] = news[fold(new)] = old
        if fold(old) == fold(new):
            yield f"{old!r} becomes itself."


def _map_check_messages(names: NameMap) -> Iterator[str]:
    mapped = {old for old, _ in names.pairs}
    for spelling in names.kept:
        if spelling in mapped:
            yield f"{spelling!r} is both mapped and kept."


def _open_swaps(names: NameMap) -> Iterator[str]:
    """Yield problems of a swap whose new name nobody gives up, so that two people would share it."""
    olds = {fold(old) for old, _ in names.pairs}
    for old, new in names.pairs:
        if fold(new) not in olds:
            yield f"{old!r} becomes {new!r}, which itself is not swapped."


def _people(names: NameMap) -> Iterator[str]:
    """Yield problems of new names that are mapped themselves: they belong to another person."""
    olds = {fold(old) for old, _ in names.pairs}
    for old, new in names.pairs:
        if fold(new) in olds and fold(old) != fold(new):
            yield f"{old!r} becomes {new!r}, which is the name of another person."


def _in_use(names: NameMap, dialogue: Dialogue) -> Iterator[str]:
    """Yield problems of new names that the script contains: they would be ambiguous and irreversible."""
    texts = {" ".join(words(text)) for text in texts_of(dialogue)}
    spoken = {word for text in texts for word in text.split()}
    for old, new in names.pairs:
        sought = " ".join(words(new))
        if set(sought.split()) <= spoken and any(f" {sought} " in f" {text} " for text in texts):
            yield f"{old!r} becomes {new!r}, which stands in the script already."


# Creation of name maps: generic names for everybody, or swapped names of the main cast.
#
# A person's full name, nicknames and surname map together: each word of a name has one new word, so people
# with the same surname share the new one, and every spelling keeps its number of words.

Names = Mapping[str, Sequence[str]]
_NONE: Mapping[str, Sequence[str]] = {}


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in a script: the id, the full name, and other spellings."""

    id: str
    name: str
    aliases: tuple[str, ...]
    gender: Gender = "neutral"

    @property
    def parts(self) -> tuple[str, ...]:
        """Words of the full name that identify somebody: not `Mrs.`, `the` or `von`."""
        return tuple(word for word in self.name.split() if not _stays(word))

    @property
    def spellings(self) -> tuple[str, ...]:
        """All spellings, distinct except for case: full name, aliases, then the words of the full name."""
        spelled = {fold(text): text for text in reversed((self.name, *self.aliases, *self.parts))}
        return tuple(dict.fromkeys(spelled[fold(text)] for text in (self.name, *self.aliases, *self.parts)))

    @property
    def has_name(self) -> bool:
        """Whether it has a name at all: `Waiter` and `Woman 2` have none."""
        return any(not (_bare(part) in listed_words("roles") or _bare(part).isdigit()) for part in self.parts)


def people_of(
    dialogue: Dialogue, *, genders: Mapping[str, Gender] | None = None, aliases: Names | None = None
) -> tuple[Person, ...]:
    """Return the people of a script: participants, then others named by id, without collective names.

    `genders`, by id, override the participants' declarations; `aliases`, by id, add to them.
    """
    collective = {fold(name) for name in script_of(dialogue).collective}
    participants = {participant.id: participant for participant in dialogue.participants}
    people = []
    for speaker in speakers_of(dialogue):
        participant = participants.get(speaker, Participant(speaker))
        name = participant.name or speaker
        if fold(speaker) in collective or fold(name) in collective:
            continue
        spelled = (*participant.aliases, *(aliases or _NONE).get(speaker, ()))
        gender = (genders or {}).get(speaker) or gender_of(participant)
        people.append(Person(speaker, name, tuple(filter(str.strip, spelled)), gender))
    return tuple(people)


def anonymised(
    dialogue: Dialogue,
    seed: int,
    *,
    genders: Mapping[str, Gender] | None = None,
    aliases: Names | None = None,
    unchanged: Iterable[str] = (),
) -> NameMap:
    """Return a map from everybody to a generic name of the same declared gender that is not in the script.

    People named by a role (`Waiter`) keep it. `unchanged` are declared spellings that stay; names that are
    also words (`Will`) stay in lower case. Raises ValueError if a check fails.
    """
    people = [person for person in people_of(dialogue, genders=genders, aliases=aliases) if person.has_name]
    naming = _Naming(Pool(seed, _words_of(dialogue, people)))
    pairs = {fold(old): (old, new) for person in people for old, new in naming.pairs(person)}
    names = NameMap(
        ANONYMISED,
        _version(dialogue, ANONYMISED),
        tuple(pairs.values()),
        _unchanged([old for old, _ in pairs.values()], unchanged),
    )
    return checked(names, dialogue)


def swapped(
    dialogue: Dialogue,
    cast: Sequence[str],
    seed: int,
    *,
    aliases: Names | None = None,
    unchanged: Iterable[str] = (),
) -> NameMap:
    """Return a map that gives everybody of the main cast, given by id, the names of another of them.

    Partners are drawn among people with equally many spellings of each number of words. A surname that both
    share stays. Raises ValueError without such a derangement.
    """
    people = {person.id: person for person in people_of(dialogue, aliases=aliases)}
    if missing := [person_id for person_id in cast if person_id not in people]:
        raise ValueError(f"Not in the script: {', '.join(missing)}.")
    pairs = _derangement([people[person_id] for person_id in dict.fromkeys(cast)], seed)
    names = NameMap(
        SWAPPED, _version(dialogue, SWAPPED), pairs, _unchanged([old for old, _ in pairs], unchanged)
    )
    return checked(names, dialogue)


class _Naming:
    """Replaces the words of names, always the same word by the same new one."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.new_words: dict[str, str] = {}

    def pairs(self, person: Person) -> Iterator[tuple[str, str]]:
        """Yield each spelling of a person with its replacement."""
        for index, part in enumerate(person.parts):
            self._name(part, self._kind(person, index))
        for alias in person.aliases:
            if len(alias.split()) == 1:
                self._name(alias, person.gender)
        for spelling in person.spellings:
            new = " ".join(self._words(spelling, person.gender))
            if fold(new) != fold(spelling):
                yield spelling, new

    def _name(self, word: str, kind: Kind) -> None:
        if fold(word) not in self.new_words:
            self.new_words[fold(word)] = self.pool.take(kind)

    def _kind(self, person: Person, index: int) -> Kind:
        """Return a word's kind: the last of several, or a single one after a title, is a surname."""
        last = index == len(person.parts) - 1
        titled = len(person.parts) == 1 and len(person.name.split()) > 1
        return "surname" if last and (titled or len(person.parts) > 1) else person.gender

    def _words(self, spelling: str, gender: Gender) -> Iterator[str]:
        """Yield a spelling's new words; a word without a mapping of its own is replaced here only."""
        alone = len(spelling.split()) == 1
        for word in spelling.split():
            if (new := self.new_words.get(fold(word))) is not None:
                yield new
            else:
                yield word if _stays(word) and not alone else self.pool.take(gender)


def _derangement(people: Sequence[Person], seed: int) -> tuple[tuple[str, str], ...]:
    """Return the spellings of all people with those of their partners, in a seeded order."""
    options = {
        person.id: sorted(
            (other for other in people if other.id != person.id and _matched(person, other)),
            key=lambda other, person=person: u(seed, "swap", person.id, other.id),  # type: ignore[misc]
        )
        for person in people
    }
    if len(people) < 2:
        raise ValueError("Names are swapped among two people or more.")
    for person in people:
        if not options[person.id]:
            raise ValueError(_no_counterpart(person))
    solution = _search(people, options, {}, set())
    if solution is None:
        raise ValueError(
            "The cast has no swap in which nobody keeps a name and no two names become the same. People with "
            "equally many names of each number of words can be swapped; declare aliases to make them so."
        )
    return tuple((old, new) for old, new in solution.values() if fold(old) != fold(new))


def _search(
    remaining: Sequence[Person],
    options: Mapping[str, Sequence[Person]],
    pairs: dict[str, tuple[str, str]],
    used: Collection[str],
) -> dict[str, tuple[str, str]] | None:
    """Extend the pairs to all remaining people; None if impossible."""
    if not remaining:
        return pairs
    for other in options[remaining[0].id]:
        if other.id in used:
            continue
        more = pairs | {fold(old): (old, new) for old, new in _matched(remaining[0], other) or ()}
        news = [fold(new) for _, new in more.values()]
        clash = any(fold(pairs[old][1]) != fold(more[old][1]) for old in pairs)
        if clash or len(set(news)) < len(news):
            continue
        if (solution := _search(remaining[1:], options, more, {*used, other.id})) is not None:
            return solution
    return None


def _matched(person: Person, other: Person) -> list[tuple[str, str]] | None:
    """Return one person's spellings with the other's of as many words, in order; None if counts differ."""
    olds, news = _by_length(person), _by_length(other)
    if {n: len(texts) for n, texts in olds.items()} != {n: len(texts) for n, texts in news.items()}:
        return None
    return [pair for n, texts in olds.items() for pair in zip(texts, news[n], strict=True)]


def _by_length(person: Person) -> dict[int, list[str]]:
    spelled: dict[int, list[str]] = {}
    for text in person.spellings:
        spelled.setdefault(len(text.split()), []).append(text)
    return spelled


def _no_counterpart(person: Person) -> str:
    counts = ", ".join(f"{len(texts)} of {n}" for n, texts in sorted(_by_length(person).items()))
    return (
        f"Nobody else of the cast has as many names as {person.name} by number of words ({counts}: "
        f"{', '.join(person.spellings)}). Declare aliases that make it so."
    )


def _words_of(dialogue: Dialogue, people: Iterable[Person]) -> set[str]:
    """Return every word of a script, and of its people's names, folded; none of them can be a new name."""
    texts = (*texts_of(dialogue), *(text for person in people for text in person.spellings))
    met = {word for text in texts for word in tokens(text)}
    return met | {part for word in met for part in word.replace("’", "'").replace("-", "'").split("'")}


def _unchanged(olds: Iterable[str], declared: Iterable[str]) -> tuple[str, ...]:
    """Return the spellings that stay: declared ones, and names that are also words, in lower case."""
    small = [old.lower() for old in olds if fold(old) in listed_words("ordinary") and old != old.lower()]
    return tuple(dict.fromkeys([*declared, *small]))


def _version(dialogue: Dialogue, kind: str) -> int:
    """Return the number of the next map of a kind."""
    return 1 + max((names.version for names in script_of(dialogue).names if names.kind == kind), default=0)


def _stays(word: str) -> bool:
    """Whether a word of a name identifies nobody: a title, or a lower-case particle."""
    return _bare(word) in listed_words("titles") or word in listed_words("particles")


def _bare(word: str) -> str:
    return fold(word).strip(".,'’")


def names_of(script: Script, names: str) -> NameMap | None:
    """Return a script's name map by its name in conditions; None for `original`.

    `anonymised` is the newest of that kind, `anonymised:2` the second version. Raises ValueError for an
    unknown map.
    """
    kind, _, version = names.partition(":")
    if kind == "original":
        return None
    versions = [
        name_map
        for name_map in script.names
        if name_map.kind == kind and version in ("", str(name_map.version))
    ]
    if not versions:
        raise ValueError(f"The script has no names {names!r}.")
    return max(versions, key=lambda name_map: name_map.version)
