"""Replacement of names in texts, all at once and as whole words.

Because a text is read once, no replacement is replaced again: two names can be swapped. Text around a name
stays (`Ana's`, `Ana-like`), a plural becomes that of the new name, and each word keeps its case: as the map
writes it, in capitals, in lower case, or with a capital first letter.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import regex  # type: ignore[import-untyped]

from annotation.records import Agenda, Dialogue, Participant, Turn
from annotation.script_records import Fact, NameMap, Question, Script, Session
from annotation.text.words import after, before

_GAPS = regex.compile(r"(\s+)")
_LATIN = regex.compile(r"\p{Latin}")
_HISSES = ("s", "x", "z", "ch", "sh")


@dataclass(frozen=True, slots=True)
class _Entry:
    """A spelling to search for; `targets` are the words that replace its own, None if it is kept."""

    words: tuple[str, ...]
    targets: tuple[str, ...] | None

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def inflected(self) -> bool:
        """Whether any case and the plural match; not for a single letter."""
        return self.targets is not None and len(self.text) > 1

    @property
    def has_plural(self) -> bool:
        """Whether it can have an English plural: it ends in a Latin letter."""
        return self.inflected and bool(_LATIN.match(self.text[-1]))


class Replacer:
    """The replacements of one name map, ready for any number of texts.

    Longer spellings take precedence over shorter ones, and kept ones over mapped ones of the same length.
    Names of a single letter are replaced only in their own case, so that `a` stays an article.
    """

    def __init__(self, names: NameMap) -> None:
        entries = sorted(_entries(names), key=lambda entry: (-len(entry.text), entry.targets is not None))
        self._entries = tuple(entries)
        self._pattern = regex.compile(_alternatives(self._entries), regex.V1) if entries else None
        self._words = tuple({entry.words[0].casefold() for entry in entries})

    def __call__(self, text: str) -> str:
        """Return a text with all names replaced."""
        folded = text.casefold()
        if self._pattern is None or not any(word in folded for word in self._words):
            return text  # most turns contain no name, and the pattern is far slower than this
        replaced: str = self._pattern.sub(self._replaced, text)
        return replaced

    def _replaced(self, match: regex.Match[str]) -> str:
        index = int(match.lastgroup[1:])
        entry = self._entries[index]
        matched_text: str = match.group()
        if entry.targets is None:
            return matched_text
        plural: str = (match.group(f"p{index}") if entry.has_plural else "") or ""
        single = matched_text[: len(matched_text) - len(plural)]
        if plural and not _is_plural(single, plural, entry.text):
            return matched_text
        parts = _GAPS.split(single)
        for index, (source, target) in enumerate(zip(entry.words, entry.targets, strict=True)):
            parts[2 * index] = _cased(parts[2 * index], source, target)
        suffix = plural_ending(entry.targets[-1]) if plural else ""
        return "".join(parts) + (suffix.upper() if plural.isupper() else suffix)


@lru_cache(maxsize=64)
def replacer(names: NameMap) -> Replacer:
    """Return the cached replacements of a name map."""
    return Replacer(names)


def renamed(text: str, names: NameMap) -> str:
    """Return a text with the names of a map."""
    return replacer(names)(text)


def inverse(names: NameMap) -> NameMap:
    """Return the reverse map; kept spellings are kept there too."""
    return NameMap(names.kind, names.version, tuple((new, old) for old, new in names.pairs), names.kept)


def plural_ending(name: str) -> str:
    """Return the English ending of a name's plural: the Anas, the Lopezes."""
    return "es" if name.casefold().endswith(_HISSES) else "s"


def _entries(names: NameMap) -> Iterator[_Entry]:
    """Yield each spelling once, in composed and decomposed form where these differ."""
    for spelling, target in (*((unchanged, None) for unchanged in names.kept), *names.pairs):
        targets = None if target is None else tuple(target.split())
        for form in sorted({unicodedata.normalize(form, spelling) for form in ("NFC", "NFD")}):
            if words := tuple(form.split()):
                yield _Entry(words, targets)


def _alternatives(entries: tuple[_Entry, ...]) -> str:
    """Return one pattern for all spellings; the last group of a match, which is empty, identifies it."""
    return "|".join(f"{_alternative(entry, index)}(?P<n{index}>)" for index, entry in enumerate(entries))


def _alternative(entry: _Entry, index: int) -> str:
    body = r"\s+".join(map(regex.escape, entry.words))
    if not entry.inflected:
        return before(entry.text) + body + after(entry.text)
    plural = f"(?P<p{index}>{plural_ending(entry.text)})?" if entry.has_plural else ""
    return f"{before(entry.text)}(?i:{body}{plural}){after(entry.text)}"


def _is_plural(single: str, suffix: str, source: str) -> bool:
    """Whether an ending forms a plural: after a name as written or in capitals, never in lower case."""
    if single.islower() and not source.islower():
        return False
    return suffix.islower() or (suffix.isupper() and single.isupper())


def _cased(word: str, source: str, target: str) -> str:
    """Return a word's target in the word's case, where that differs from the map's own."""
    if word == source:
        return target
    if word.isupper():
        return target.upper()
    if word.islower():
        return target.lower()
    return target[:1].upper() + target[1:]


# A script with other names, in everything that a prompt can show.
#
# Ids stay: turns, sessions and styles refer to people by id, and draws depend on them. A person without a
# name is shown by the id, and therefore gets the new name as its name. Data that no prompt shows stay as
# well: continuations, labels, and the raw texts of turns.

Change = Callable[[str], str]


def mapped(dialogue: Dialogue, names: NameMap | None) -> Dialogue:
    """Return a script under a name map; None, or a map without pairs, leaves it as it is."""
    return rewritten(dialogue, replacer(names)) if names and names.pairs else dialogue


def mapped_question(question: Question, names: NameMap | None) -> Question:
    """Return a question under a name map: text, choices, answers and styles. Styles stay by speaker's id."""
    return rewritten_question(question, replacer(names)) if names and names.pairs else question


def rewritten(dialogue: Dialogue, change: Change) -> Dialogue:
    """Return a script with every text that a prompt can show changed."""
    return replace(
        dialogue,
        turns=tuple(replace(turn, text=change(turn.text)) for turn in dialogue.turns),
        participants=_participants(dialogue, change),
        summary=change(dialogue.summary),
        metadata=_values(dialogue.metadata, change),
        agenda=_agenda(dialogue.agenda, change),
        script=dialogue.script and _script(dialogue.script, change),
        facts=tuple(_fact(fact, change) for fact in dialogue.facts),
        questions=tuple(rewritten_question(question, change) for question in dialogue.questions),
    )


def rewritten_question(question: Question, change: Change) -> Question:
    """Return a question with every text that a prompt can show changed."""
    return replace(
        question,
        text=change(question.text),
        choices=tuple(map(change, question.choices)),
        answer=change(question.answer),
        answers=tuple(map(change, question.answers)),
        styles={speaker: change(text) for speaker, text in question.styles.items()},
    )


def texts_of(dialogue: Dialogue) -> tuple[str, ...]:
    """Return every text of a script that a prompt can show, and the ids of people without a name."""
    read: list[str] = []

    def record(text: str) -> str:
        read.append(text)
        return text

    rewritten(dialogue, record)
    return tuple(read)


def speakers_of(dialogue: Dialogue) -> tuple[str, ...]:
    """Return the ids of participants, then those of others who speak, are spoken to or are present."""
    script = dialogue.script
    ids = [participant.id for participant in dialogue.participants]
    ids += [speaker for turn in dialogue.turns for speaker in _named_by(turn)]
    ids += [speaker for session in (script.sessions if script else ()) for speaker in session.present]
    return tuple(dict.fromkeys(ids))


def _named_by(turn: Turn) -> Iterator[str]:
    yield turn.speaker
    yield from turn.addressees
    yield from turn.audience or ()


def _participants(dialogue: Dialogue, change: Change) -> tuple[Participant, ...]:
    """Return the participants, plus other speakers whose ids are changed names."""
    participant_ids = {participant.id for participant in dialogue.participants}
    others = (Participant(speaker) for speaker in speakers_of(dialogue) if speaker not in participant_ids)
    changed = [_participant(participant, change) for participant in dialogue.participants]
    changed += [person for person in (_participant(other, change) for other in others) if person.name]
    return tuple(changed)


def _participant(participant: Participant, change: Change) -> Participant:
    display_name = participant.name or participant.id
    name = change(display_name)
    return replace(
        participant,
        name=name if name != participant.id else "",
        role=change(participant.role),
        profile=tuple(map(change, participant.profile)),
        aliases=tuple(map(change, participant.aliases)),
        extra=_values(participant.extra, change),
    )


def _agenda(agenda: Agenda | None, change: Change) -> Agenda | None:
    if agenda is None:
        return None
    return replace(agenda, items={key: change(text) for key, text in agenda.items.items()})


def _script(script: Script, change: Change) -> Script:
    return replace(script, sessions=tuple(_session(session, change) for session in script.sessions))


def _session(session: Session, change: Change) -> Session:
    return replace(
        session,
        place=change(session.place),
        episode=change(session.episode),
        scene=change(session.scene),
    )


def _fact(fact: Fact, change: Change) -> Fact:
    return replace(fact, head=change(fact.head), tail=change(fact.tail))


def _values(value: Any, change: Change) -> Any:
    """Return JSON with its texts changed; its keys stay."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _values(part, change) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_values(part, change) for part in value)
    return value
