"""Other names for the people of a script: making the maps, checking them, and applying them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from annotation.records import Dialogue, Participant
from annotation.scripts.generic_names import Gender, Kind, Pool, gender_of, words
from annotation.scripts.map_checks import checked, problems
from annotation.scripts.records import ANONYMISED, SWAPPED, NameMap, Script
from annotation.scripts.replacing import inverse, renamed
from annotation.scripts.rewriting import mapped, mapped_question, speakers_of, texts_of
from annotation.scripts.sessions import script_of
from annotation.text.draws import u
from annotation.text.tokens import fold
from annotation.text.tokens import words as tokens

# Making name maps: generic names for everybody, or the names of the main cast swapped (`dialsim.md`, 5).
#
# A person's full name, nicknames and surname map together: each word of a name has one new word, so whoever
# shares a surname shares the new one, and every spelling keeps its number of words.

Names = Mapping[str, Sequence[str]]
_NONE: Mapping[str, Sequence[str]] = {}


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in a script: the id, what it is called in full, and its other spellings."""

    id: str
    name: str
    aliases: tuple[str, ...]
    gender: Gender = "neutral"

    @property
    def parts(self) -> tuple[str, ...]:
        """The words of the full name that name somebody: not `Mrs.`, `the` or `von`."""
        return tuple(word for word in self.name.split() if not _stays(word))

    @property
    def spellings(self) -> tuple[str, ...]:
        """All spellings, each once whatever its case: full name, aliases, then the full name's words."""
        spelled = {fold(text): text for text in reversed((self.name, *self.aliases, *self.parts))}
        return tuple(dict.fromkeys(spelled[fold(text)] for text in (self.name, *self.aliases, *self.parts)))

    @property
    def has_name(self) -> bool:
        """Whether it has a name at all: `Waiter` and `Woman 2` have none."""
        return any(not (_bare(part) in words("roles") or _bare(part).isdigit()) for part in self.parts)


def people_of(
    dialogue: Dialogue, *, genders: Mapping[str, Gender] | None = None, aliases: Names | None = None
) -> tuple[Person, ...]:
    """Return the people of a script: participants, then others who are named by id; collective names not.

    `genders` and `aliases`, by id, go before and beside what participants declare.
    """
    collective = {fold(name) for name in script_of(dialogue).collective}
    there = {participant.id: participant for participant in dialogue.participants}
    people = []
    for who in speakers_of(dialogue):
        participant = there.get(who, Participant(who))
        name = participant.name or who
        if fold(who) in collective or fold(name) in collective:
            continue
        spelled = (*participant.aliases, *(aliases or _NONE).get(who, ()))
        gender = (genders or {}).get(who) or gender_of(participant)
        people.append(Person(who, name, tuple(filter(str.strip, spelled)), gender))
    return tuple(people)


def anonymised(
    dialogue: Dialogue,
    seed: int,
    *,
    genders: Mapping[str, Gender] | None = None,
    aliases: Names | None = None,
    kept: Iterable[str] = (),
) -> NameMap:
    """Return a map that gives everybody a generic name of the same declared gender, which the script lacks.

    People who are called by a role (`Waiter`) keep it. `kept` are declared spellings that stay; names that
    are words as well (`Will`) stay in small letters. Raises ValueError where a check fails.
    """
    people = [person for person in people_of(dialogue, genders=genders, aliases=aliases) if person.has_name]
    naming = _Naming(Pool(seed, _words_of(dialogue, people)))
    pairs = {fold(old): (old, new) for person in people for old, new in naming.pairs(person)}
    names = NameMap(
        ANONYMISED,
        _version(dialogue, ANONYMISED),
        tuple(pairs.values()),
        _kept([old for old, _ in pairs.values()], kept),
    )
    return checked(names, dialogue)


def swapped(
    dialogue: Dialogue,
    cast: Sequence[str],
    seed: int,
    *,
    aliases: Names | None = None,
    kept: Iterable[str] = (),
) -> NameMap:
    """Return a map under which everybody of the main cast, given by id, is called as another of them.

    Whose names take whose place is drawn among those with equally many spellings of each number of words.
    A surname that both share stays. Raises ValueError where there is no such derangement.
    """
    people = {person.id: person for person in people_of(dialogue, aliases=aliases)}
    if missing := [who for who in cast if who not in people]:
        raise ValueError(f"Not in the script: {', '.join(missing)}.")
    pairs = _derangement([people[who] for who in dict.fromkeys(cast)], seed)
    names = NameMap(SWAPPED, _version(dialogue, SWAPPED), pairs, _kept([old for old, _ in pairs], kept))
    return checked(names, dialogue)


class _Naming:
    """Gives new words to the words of names, the same new one wherever a word comes back."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.known: dict[str, str] = {}

    def pairs(self, person: Person) -> Iterator[tuple[str, str]]:
        """Yield each spelling of a person with its new one."""
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
        if fold(word) not in self.known:
            self.known[fold(word)] = self.pool.take(kind)

    def _kind(self, person: Person, index: int) -> Kind:
        """Return what a word of a full name is: the last of several, or one after a title, is a surname."""
        last = index == len(person.parts) - 1
        titled = len(person.parts) == 1 and len(person.name.split()) > 1
        return "surname" if last and (titled or len(person.parts) > 1) else person.gender

    def _words(self, spelling: str, gender: Gender) -> Iterator[str]:
        """Yield a spelling's new words; what is no name of its own has a new word in this spelling alone."""
        alone = len(spelling.split()) == 1
        for word in spelling.split():
            if (new := self.known.get(fold(word))) is not None:
                yield new
            else:
                yield word if _stays(word) and not alone else self.pool.take(gender)


def _derangement(people: Sequence[Person], seed: int) -> tuple[tuple[str, str], ...]:
    """Return the spellings of all with those of whom they are swapped with, in an order of a seed."""
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
    chosen = _search(people, options, {}, set())
    if chosen is None:
        raise ValueError(
            "The cast has no swap in which nobody keeps a name and no two names become the same. People with "
            "equally many names of each number of words can be swapped; declare aliases to make them so."
        )
    return tuple((old, new) for old, new in chosen.values() if fold(old) != fold(new))


def _search(
    left: Sequence[Person],
    options: Mapping[str, Sequence[Person]],
    pairs: dict[str, tuple[str, str]],
    used: Collection[str],
) -> dict[str, tuple[str, str]] | None:
    """Return pairs for all who are left, on top of those there are; None where there are none."""
    if not left:
        return pairs
    for other in options[left[0].id]:
        if other.id in used:
            continue
        more = pairs | {fold(old): (old, new) for old, new in _matched(left[0], other) or ()}
        news = [fold(new) for _, new in more.values()]
        clash = any(fold(pairs[old][1]) != fold(more[old][1]) for old in pairs)
        if clash or len(set(news)) < len(news):
            continue
        if (whole := _search(left[1:], options, more, {*used, other.id})) is not None:
            return whole
    return None


def _matched(person: Person, other: Person) -> list[tuple[str, str]] | None:
    """Return one's spellings with the other's of as many words, in their order; None where these differ."""
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
    """Return every word of a script, and of its people's names, folded: none of them is a new name."""
    texts = (*texts_of(dialogue), *(text for person in people for text in person.spellings))
    met = {word for text in texts for word in tokens(text)}
    return met | {part for word in met for part in word.replace("’", "'").replace("-", "'").split("'")}


def _kept(olds: Iterable[str], declared: Iterable[str]) -> tuple[str, ...]:
    """Return what stays: what is declared, and in small letters the names that are words as well."""
    small = [old.lower() for old in olds if fold(old) in words("ordinary") and old != old.lower()]
    return tuple(dict.fromkeys([*declared, *small]))


def _version(dialogue: Dialogue, kind: str) -> int:
    """Return the number of the next map of a kind."""
    return 1 + max((names.version for names in script_of(dialogue).names if names.kind == kind), default=0)


def _stays(word: str) -> bool:
    """Whether a word of a name names nobody: a title, or a particle in small letters."""
    return _bare(word) in words("titles") or word in words("particles")


def _bare(word: str) -> str:
    return fold(word).strip(".,'’")


__all__ = [
    "NameMap",
    "Person",
    "anonymised",
    "checked",
    "inverse",
    "mapped",
    "mapped_question",
    "names_of",
    "people_of",
    "problems",
    "renamed",
    "swapped",
    "texts_of",
]


def names_of(script: Script, names: str) -> NameMap | None:
    """Return a script's name map by what a condition calls it; None for `original`.

    `anonymised` is the newest of that kind, `anonymised:2` the second version. Raises ValueError where
    there is no such map.
    """
    kind, _, version = names.partition(":")
    if kind == "original":
        return None
    there = [one for one in script.names if one.kind == kind and version in ("", str(one.version))]
    if not there:
        raise ValueError(f"The script has no names {names!r}.")
    return max(there, key=lambda one: one.version)
