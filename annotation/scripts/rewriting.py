"""A script with other names: everything of it that a prompt can show (`dialsim.md`, section 5).

Ids stay: they are how turns, sessions and styles speak of people, and what walks draw from. A person without
a name is shown by the id, and therefore gets the new name as its name. What no prompt shows stays as well:
continuations, labels, and the raw texts of turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from annotation.records import Agenda, Dialogue, Participant, Turn
from annotation.scripts.records import Fact, NameMap, Question, Script, Session
from annotation.scripts.replacing import replacer

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
    """Return every text of a script that a prompt can show, and the ids of those without a name."""
    read: list[str] = []

    def kept(text: str) -> str:
        read.append(text)
        return text

    rewritten(dialogue, kept)
    return tuple(read)


def speakers_of(dialogue: Dialogue) -> tuple[str, ...]:
    """Return the ids of participants, then those of others who speak, are spoken to or are present."""
    script = dialogue.script
    ids = [participant.id for participant in dialogue.participants]
    ids += [who for turn in dialogue.turns for who in _named_by(turn)]
    ids += [who for session in (script.sessions if script else ()) for who in session.present]
    return tuple(dict.fromkeys(ids))


def _named_by(turn: Turn) -> Iterator[str]:
    yield turn.speaker
    yield from turn.addressees
    yield from turn.audience or ()


def _participants(dialogue: Dialogue, change: Change) -> tuple[Participant, ...]:
    """Return the participants, and those who are none where their ids are changed names."""
    there = {participant.id for participant in dialogue.participants}
    others = (Participant(who) for who in speakers_of(dialogue) if who not in there)
    changed = [_participant(participant, change) for participant in dialogue.participants]
    changed += [made for made in (_participant(other, change) for other in others) if made.name]
    return tuple(changed)


def _participant(participant: Participant, change: Change) -> Participant:
    shown = participant.name or participant.id
    name = change(shown)
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
    """Return JSON with its texts changed, and its keys as they are."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _values(part, change) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_values(part, change) for part in value)
    return value
