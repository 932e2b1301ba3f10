"""Who is meant by a name: the people of a script by every name they go by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from annotation.records import Participant
from annotation.text.tokens import fold


def called(person: Participant) -> str:
    """Return the name by which somebody stands in facts: the name, else the id."""
    return person.name.strip() or person.id


class People:
    """The participants of a script, found by id, name or alias in any case."""

    def __init__(self, participants: Iterable[Participant]) -> None:
        names: dict[str, set[str]] = defaultdict(set)
        for person in participants:
            for name in (person.id, person.name, *person.aliases):
                if name.strip():
                    names[fold(name)].add(called(person))
        self._names = {name: next(iter(those)) for name, those in names.items() if len(those) == 1}

    def name(self, told: str) -> str | None:
        """Return the name in facts of whoever is called so; None for nobody, or for several people."""
        return self._names.get(fold(told))
