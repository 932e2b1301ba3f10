"""One continuation with everything it continues, in one row of turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from annotation.records import SELF, Continuation, Dialogue, ItemKind, Participant, Turn

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

    def items(self, kind: ItemKind) -> list[int | None]:
        """Return the items of a kind: the indexes of turns that are not given, or [None]."""
        if kind == "dialogue":
            return [None]
        return [index for index, turn in enumerate(self.continuation.turns) if not turn.given]

    def position(self, turn: int) -> int:
        """Return where a turn of the continuation stands in `turns`."""
        return self.offset + turn

    def target(self, turn: int) -> Turn:
        """Return a turn of the continuation."""
        return self.continuation.turns[turn]

    def before(self, turn: int) -> Sequence[int]:
        """Return the positions of the turns that precede a turn, as `Dialogue.context` defines it."""
        if self.continuation.mode == "rollout":
            return range(self.position(turn))
        at = self.target(turn).at
        first = turn
        while first and self._given_at(first - 1, at):
            first -= 1
        seen = self.offset if at is None else min(at, self.offset)
        return [*range(seen), *range(self.position(first), self.position(turn))]

    def context(self, turn: int, window: int = 0, *, keep_blank: bool = False) -> list[int]:
        """Return the positions of a turn's context: all that precedes it, or the last `window` of it.

        Turns without text (silence) are not counted, unless `keep_blank` says so.
        """
        positions = [p for p in self.before(turn) if keep_blank or self.turns[p].text.strip()]
        return positions[-window:] if window else positions

    def conversation(self, *, history: bool) -> list[int]:
        """Return the positions of a whole conversation's turns with text, with or without the history."""
        first = 0 if history else self.offset
        return [p for p in range(first, len(self.turns)) if self.turns[p].text.strip()]

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

    def is_conversation(self) -> bool:
        """Whether the turns follow one another: a static continuation's do not."""
        return self.continuation.mode == "rollout"

    def _given_at(self, index: int, at: int | None) -> bool:
        turn = self.continuation.turns[index]
        return turn.given and turn.at == at
