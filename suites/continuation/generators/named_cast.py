"""Possible speakers under the names shown to models: unique, and without names of systems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotation.records import SELF, Continuation, Dialogue, Participant, Turn
from annotation.text.context import Names
from annotation.text.views import DEFAULT, View, one_line
from annotation.text.words import fold
from jobs.prompt import Unparseable
from judges.protocols.protocol import Case
from judges.protocols.quoting import Seen

STANCE = "stance"
PEOPLE = View(shows=(*DEFAULT, "participants.extra"))


@dataclass(frozen=True, slots=True)
class Member:
    """A possible speaker: the id, the name shown, and other names.

    `since` is the index of the first turn of an undeclared speaker, -1 for a declared participant.
    """

    id: str
    shown_name: str
    also: tuple[str, ...] = ()
    since: int = -1

    def called(self) -> tuple[frozenset[str], ...]:
        """Return the member's names, folded: as shown, the id, other names."""
        groups: tuple[Iterable[str], ...] = ((self.shown_name,), (self.id,), self.also)
        return tuple(frozenset(filter(None, (fold(one_line(name)) for name in names))) for names in groups)


@dataclass(frozen=True, slots=True)
class Cast:
    """All possible speakers of a dialogue whose own turns are by `system`."""

    members: tuple[Member, ...]
    system: str

    @classmethod
    def of(cls, dialogue: Dialogue) -> Cast:
        """Return the participants, then other speakers of the dialogue's turns in their order."""
        declared = {person.id for person in dialogue.participants}
        first = {turn.speaker: at for at, turn in reversed(list(enumerate(dialogue.turns)))}
        others = sorted(set(first) - declared, key=lambda speaker: first[speaker])
        people = (*dialogue.participants, *map(Participant, others))
        names = Names(people, View(systems=(dialogue.system,)).hide)
        members: list[Member] = []
        for person in people:
            shown_name = _unlike(names.of(person.id), {fold(member.shown_name) for member in members})
            also = tuple(name for name in (person.name, *person.aliases) if name.strip())
            since = -1 if person.id in declared else first[person.id]
            members.append(Member(person.id, shown_name, also, since))
        return cls(tuple(members), dialogue.system)

    @classmethod
    def from_json(cls, payload: dict[str, Any]) -> Cast:
        """Return a cast from the data of `as_json`."""
        members = (
            Member(pk, shown_name, tuple(also), since) for pk, shown_name, also, since in payload["members"]
        )
        return cls(tuple(members), payload["system"])

    def as_json(self) -> dict[str, Any]:
        """Return the cast as plain JSON."""
        members = [[member.id, member.shown_name, list(member.also), member.since] for member in self.members]
        return {"members": members, "system": self.system}

    def known_at(self, at: int) -> Cast:
        """Return the members known before the turn at an index, without those who first speak later."""
        return replace(self, members=tuple(member for member in self.members if member.since < at))

    def shown_names(self) -> list[str]:
        """Return the names shown."""
        return [member.shown_name for member in self.members]

    def name_of(self, speaker: str) -> str:
        """Return the name shown for a speaker."""
        return next((member.shown_name for member in self.members if member.id == speaker), one_line(speaker))

    def find(self, name: str) -> Member | None:
        """Return the member of a shown name, id, name or alias, after `fold`; None for nobody.

        Raises Unparseable where several members match.
        """
        folded_name = fold(one_line(name))
        for kind in range(3):
            matches = [
                member for member in self.members if folded_name and folded_name in member.called()[kind]
            ]
            if len(matches) > 1:
                raise Unparseable(
                    f"the speaker {name[:60]!r} may be {' or '.join(member.shown_name for member in matches)}"
                )
            if matches:
                return matches[0]
        return None

    def transcript(
        self, turns: Sequence[Turn], *, after: Sequence[Turn] = (), numbers: bool = False
    ) -> list[str]:
        """Return turns as lines to quote; `after` are the turns right before them."""
        seen = self._seen((*after, *turns))
        before = after[-1] if after else None
        lines: list[str] = []
        for number, turn in enumerate(turns, start=1):
            lines += seen.turn(turn, before, f"[{number}] " if numbers else "")
            before = turn
        return lines

    def spoken(self, text: str) -> list[str]:
        """Return a turn's text as lines to quote."""
        return self._seen(()).view.spoken(text).split("\n")

    def people(self, dialogue: Dialogue) -> list[str]:
        """Return a description of each member as lines: the name, then role, profile and stance."""
        participants = {person.id: person for person in dialogue.participants}
        return [line for member in self.members for line in self.person(member, participants.get(member.id))]

    def person(self, member: Member, participant: Participant | None) -> list[str]:
        """Return a description of one member as lines, the name first."""
        source = participant or Participant(member.id)
        profile = (*([f"role: {source.role}"] if source.role else []), *source.profile)
        stance = stance_of(participant)
        visible = Participant(
            member.id, member.shown_name, profile=profile, extra={STANCE: stance} if stance else {}
        )
        return self._seen((), (visible,)).people()

    def _seen(self, turns: tuple[Turn, ...], people: tuple[Participant, ...] = ()) -> Seen:
        people = people or tuple(Participant(member.id, member.shown_name) for member in self.members)
        dialogue = Dialogue(id="", turns=turns, participants=people, system=self.system)
        return Seen(Case(dialogue, Continuation(SELF, self.system, turns), view=PEOPLE))


def stance_of(person: Participant | None) -> str:
    """Return the stance in a participant's `extra`, '' for none."""
    stance = person.extra.get(STANCE) if person else None
    return stance.strip() if isinstance(stance, str) else ""


def _unlike(name: str, used_names: set[str]) -> str:
    """Return a unique name, numbered where it is taken."""
    number, unique = 1, name
    while fold(unique) in used_names:
        number += 1
        unique = f"{name} ({number})"
    return unique
