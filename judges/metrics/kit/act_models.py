"""What predicts the next act from the acts before it: a hidden Markov model, or a causal sequence model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.records import Dialogue, Turn
from judges.metrics.kit import hidden_markov
from judges.metrics.kit.base import MetricError
from judges.metrics.kit.hub import folder_hash, load_causal
from judges.metrics.kit.scene import Scene

MOST = 100_000
"""Acts that a hidden Markov model is fitted on at most; of more, every second sequence, every third, ..."""
FITTED_ON_ITSELF = "fitted_on_itself"


@dataclass(frozen=True)
class Learned:
    """What was learned from dialogues, and which these were.

    `places` gives each act its symbol in `model`; a causal model comes with neither.
    """

    seen: frozenset[str]
    model: hidden_markov.Model | None = None
    places: dict[str, int] | None = None

    def flags(self, scene: Scene) -> tuple[str, ...]:
        """Return the flag that a scene's value has where it is about a dialogue that was learned from."""
        turns = scene.dialogue.turns or scene.continuation.turns
        return (FITTED_ON_ITSELF,) if digest(turns) in self.seen else ()

    def probability(self, act: str, before: Sequence[str]) -> float | None:
        """Return p(act | the acts before it) by the hidden Markov model, None where these are impossible."""
        assert self.model is not None
        assert self.places is not None
        if any(one not in self.places for one in before):
            return None
        chances = self.model.next_symbol([self.places[one] for one in before])
        if chances is None:
            return None
        return float(chances[self.places[act]]) if act in self.places else 0.0


def sequences(dialogue: Dialogue) -> list[tuple[Turn, ...]]:
    """Return the turns to learn acts from: the dialogue's own, else those of each continuation."""
    return [dialogue.turns] if dialogue.turns else [one.turns for one in dialogue.continuations]


def digest(turns: Iterable[Turn]) -> str:
    """Return what tells one sequence of turns from another, by speakers and texts."""
    made = hashlib.sha256()
    for turn in turns:
        made.update(f"{turn.speaker}\0{turn.text}\0".encode())
    return made.hexdigest()


def hidden(dialogues: Iterable[Dialogue], tag: Callable[[str], str]) -> Learned:
    """Return a hidden Markov model of the acts of dialogues; raise MetricError where there are none."""
    seen, found = set(), []
    for dialogue in dialogues:
        for turns in sequences(dialogue):
            seen.add(digest(turns))
            found.append([tag(turn.text) for turn in turns if turn.text.strip()])
    found = [one for one in found if one]
    if not found:
        raise MetricError("daf: there are no turns to learn acts from")
    step = -(-sum(map(len, found)) // MOST)
    places = {act: place for place, act in enumerate(sorted({act for one in found for act in one}))}
    coded = [[places[act] for act in one] for one in found[::step]]
    return Learned(frozenset(seen), hidden_markov.fit(coded, len(places)), places)


def only_seen(dialogues: Iterable[Dialogue]) -> Learned:
    """Return which dialogues a model made elsewhere has learned from."""
    return Learned(frozenset(digest(turns) for dialogue in dialogues for turns in sequences(dialogue)))


class Causal:
    """A causal sequence model over act tokens, from a folder."""

    def __init__(self, name: str) -> None:
        folder_hash(name)  # raises where there is no folder
        self._encoder = load_causal(name)
        self._name = name

    def probability(self, act: str, before: Sequence[str], known: Sequence[str]) -> float:
        """Return p(act | the acts before it), renormalised over the known acts.

        Each act is one token. Acts are preceded by the tokenizer's mark for a beginning, where it has one,
        and cut at their beginning to what the model reads. Raises MetricError for an act without a token.
        """
        import torch

        start = self._encoder.tokenizer.bos_token_id
        ids = [self._token(one) for one in before]
        begun = [] if start is None else [start]
        ids = begun + ids[-(self._encoder.limit - len(begun)) :]
        logits: Any = self._encoder.forward(input_ids=torch.tensor([ids])).logits[0, -1].double()
        chances = torch.softmax(logits[[self._token(one) for one in known]], dim=-1)
        return float(chances[list(known).index(act)])

    def _token(self, act: str) -> int:
        tokenizer = self._encoder.tokenizer
        found = tokenizer.get_vocab().get(act)
        if found is None:
            raise MetricError(f"daf: the model {self._name} has no token for the act {act!r}")
        return int(found)
