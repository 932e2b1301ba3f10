"""One continuation with everything it continues, in one row of turns."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate, chain
from typing import Any, TypeVar

from annotation.kinds.decision import DECISION
from annotation.kinds.table import KINDS
from annotation.records import EVENTS, SELF, Continuation, Dialogue, Participant, Turn
from annotation.scenarios.records import POINTS

T = TypeVar("T")


class Scene:
    """What metrics read. `turns` is the history followed by the continuation's turns.

    Positions below are indexes into `turns`; a turn index is one into the continuation. What several
    metrics share (vectors, similarity matrices) is computed once per scene through `once`.
    """

    def __init__(self, dialogue: Dialogue, continuation: Continuation) -> None:
        history = () if continuation.id == SELF else dialogue.turns
        self.dialogue = dialogue
        self.continuation = continuation
        self.turns: tuple[Turn, ...] = history + continuation.turns
        self.offset = len(history)
        self._memo: dict[Any, Any] = {}
        self._participants = {person.id: person for person in dialogue.participants}

    def once(self, name: Any, make: Callable[[], T]) -> T:
        """Return what `make` returned the first time it was called under this name."""
        if name not in self._memo:
            self._memo[name] = make()
        return self._memo[name]

    def items(self, kind: str) -> list[int | None]:
        """Return the items of a kind: the indexes of turns that are not given, or [None].

        What a system answers to the points of a scenario are decisions, and no turns; where people decide
        there is nothing of its own.
        """
        if not KINDS[kind].has_turn:
            return [None]
        decides = self.continuation.mode == "static" and self.dialogue.scenario is not None
        if decides != (kind == DECISION.key) or (decides and self.continuation.id == POINTS):
            return []
        return [index for index, turn in enumerate(self.continuation.turns) if not turn.given]

    def position(self, turn: int) -> int:
        """Return where a turn of the continuation stands in `turns`."""
        return self.offset + turn

    def target(self, turn: int) -> Turn:
        """Return a turn of the continuation."""
        return self.continuation.turns[turn]

    def before(self, turn: int) -> Sequence[int]:
        """Return the positions of the turns that precede a turn, as `Dialogue.context` defines it."""
        return list(chain.from_iterable(range(*run) for run in self._runs(turn)))

    def context(self, turn: int, window: int = 0, *, keep_blank: bool = False) -> list[int]:
        """Return the positions of a turn's context: all that precedes it, or the last `window` of it.

        Turns without text (silence) are not counted, unless `keep_blank` says so.
        """
        if keep_blank:
            positions = [place for place in self.before(turn) if self.turns[place].act not in EVENTS]
        else:
            spoken, upto = self._spoken()
            parts = (spoken[upto[start] : upto[stop]] for start, stop in self._runs(turn))
            positions = list(chain.from_iterable(parts))
        return positions[-window:] if window else positions

    def span(self, context: Sequence[int], *, keep_blank: bool = False) -> tuple[int, int] | None:
        """Return where a context begins and ends, None where turns are missing in between.

        Without `keep_blank` only turns with text can be missing.
        """
        if not context:
            return 0, 0
        start, stop = context[0], context[-1] + 1
        upto = self._spoken()[1]
        length = stop - start if keep_blank else upto[stop] - upto[start]
        return (start, stop) if length == len(context) else None

    def among(
        self, positions: Sequence[int], context: Sequence[int], *, keep_blank: bool = False
    ) -> Sequence[int]:
        """Return those of some ascending positions that are in a context; without `keep_blank` they have
        text, as the context's have."""
        if (span := self.span(context, keep_blank=keep_blank)) is not None:
            return positions[bisect_left(positions, span[0]) : bisect_left(positions, span[1])]
        members = set(context)
        return [p for p in positions if p in members]

    def said_by(self, speaker: str, *, keep_blank: bool = False) -> list[int]:
        """Return the positions of a speaker's turns, those with text unless `keep_blank` says otherwise."""
        found = self.once(("said by", keep_blank), lambda: self._by_speaker(keep_blank=keep_blank))
        return found.get(speaker, [])

    def conversation(self, *, history: bool) -> list[int]:
        """Return the positions of a whole conversation's turns with text, with or without the history."""
        spoken, upto = self._spoken()
        return spoken if history else spoken[upto[self.offset] :]

    def participant(self, speaker: str) -> Participant:
        """Return who a speaker id is; a speaker that is not declared has the id as name."""
        return self._participants.get(speaker) or Participant(speaker)

    def profile(self, speaker: str) -> str:
        """Return a speaker's role and profile as one text, empty where neither is known."""
        person = self.participant(speaker)
        return " ".join(part.strip() for part in (person.role, *person.profile) if part.strip())

    def reference(self, turn: int, against: str = "") -> Turn | None:
        """Return what a turn is compared with: the same position of the continuation that `against` names,
        else the dialogue's own turn at a static turn's point; None where there is neither."""
        if not against:
            return self.dialogue.reference(self.continuation, turn)
        for other in self.dialogue.all_continuations():
            if other.id == against and turn < len(other.turns):
                return other.turns[turn]
        return None

    def is_reference(self, turn: int, against: str = "") -> bool:
        """Whether a turn is its own reference: `against` names its continuation, or it repeats the dialogue's
        own turn."""
        if against:
            return self.continuation.id == against
        return self.dialogue.is_reference(self.continuation, turn)

    def is_conversation(self) -> bool:
        """Whether the turns follow one another: a static continuation's do not."""
        return self.continuation.mode == "rollout"

    def _given_at(self, index: int, at: int | None) -> bool:
        turn = self.continuation.turns[index]
        return turn.given and turn.at == at

    def _runs(self, turn: int) -> list[tuple[int, int]]:
        """Return what precedes a turn as runs of positions: begin and end."""
        if self.continuation.mode == "rollout":
            return [(0, self.position(turn))]
        at = self.target(turn).at
        first = turn
        while first and self._given_at(first - 1, at):
            first -= 1
        seen = self.offset if at is None else min(at, self.offset)
        return [(0, seen), (self.position(first), self.position(turn))]

    def _spoken(self) -> tuple[list[int], list[int]]:
        """Return the positions of turns with text, and how many there are before each position."""
        return self.once("spoken", self._find_spoken)

    def _find_spoken(self) -> tuple[list[int], list[int]]:
        has_text = [bool(turn.text.strip()) and turn.act not in EVENTS for turn in self.turns]
        return [p for p, one in enumerate(has_text) if one], [0, *accumulate(has_text)]

    def _by_speaker(self, *, keep_blank: bool) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for position in range(len(self.turns)) if keep_blank else self._spoken()[0]:
            found.setdefault(self.turns[position].speaker, []).append(position)
        return found
