"""When a question can be asked in a session, and who can ask it (`dialsim.md`, section 6, steps 1 to 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from annotation.scripts.sessions import Sessions

Point = Literal["own_turn", "any_turn"]
POINTS: tuple[Point, ...] = ("own_turn", "any_turn")

ABSENT, SILENT, ALONE, NO_POINT = "absent", "silent", "alone", "no_point"
REACH = 3
"""How many turns before and after the main character's last turn an asker may have."""


class AskingPoints:
    """Where in its sessions the main character of a script can be asked, and by whom.

    Only messages count, and of these only what the main character hears. Points are positions of the
    dialogue's own turns, in their order.
    """

    def __init__(self, sessions: Sessions, point: Point = "own_turn") -> None:
        self.sessions = sessions
        self.point = point
        self._collective = frozenset(sessions.script.collective)

    def why_not(self, number: int) -> str:
        """Return why nothing is asked in a session: `absent`, `silent`, `alone`, `no_point`, or ''."""
        if number not in self.sessions.heard:
            return ABSENT
        speakers = set(map(self._speaker, self.messages(number)))
        if self.sessions.main not in speakers:
            return SILENT
        if speakers == {self.sessions.main}:
            return ALONE
        return "" if self.points(number) else NO_POINT

    def messages(self, number: int) -> tuple[int, ...]:
        """Return the positions of a session's messages that the main character hears."""
        turns = self.sessions.dialogue.turns
        return tuple(place for place in self.sessions.heard_turns(number) if turns[place].act == "message")

    def points(self, number: int) -> tuple[int, ...]:
        """Return the positions of the turns right after which a question can be asked.

        `own_turn`: the main character's own turns, without the first if there are several. `any_turn`: all
        turns after its first one.
        """
        messages = self.messages(number)
        own = tuple(place for place in messages if self._speaker(place) == self.sessions.main)
        if self.point == "any_turn":
            return tuple(place for place in messages if own and place > own[0])
        return own[1:] or own

    def askers(self, number: int, point: int) -> tuple[str, ...]:
        """Return who can ask at a point, in the order of their first turn within reach.

        These speak within three turns before or after the main character's last turn at or before the
        point. The main character and collective names do not ask.
        """
        messages = self.messages(number)
        last = max(
            index
            for index, place in enumerate(messages)
            if place <= point and self._speaker(place) == self.sessions.main
        )
        near = messages[max(last - REACH, 0) : last + REACH + 1]
        return self._people(list(map(self._speaker, near)))

    def _people(self, speakers: Sequence[str]) -> tuple[str, ...]:
        others = (who for who in speakers if who != self.sessions.main and who not in self._collective)
        return tuple(dict.fromkeys(others))

    def _speaker(self, place: int) -> str:
        return self.sessions.dialogue.turns[place].speaker
