"""Vectors that a simulation looks up: all texts that are searched or searched for, embedded before it begins.

A worker that asks a model must not wait for an embedder, so what it will need is found out by going through
all questions with vectors that say nothing, and is then embedded into the store in one go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from annotation.models import Dialogue
from jobs.models import Endpoint
from systems.generators import Settings, State
from systems.long_dialogue.agent import DialsimAgent
from systems.long_dialogue.material import Material, Vectors
from systems.long_dialogue.trial import Trials
from systems.long_dialogue.trial_settings import EMBEDDER
from systems.producing import embedders
from systems.producing.scripts import LOADER


class _Noting:
    """Stands in for an embedder and notes what it is asked for, in order."""

    def __init__(self) -> None:
        self.texts: dict[str, None] = {}

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return a zero for each text."""
        self.texts.update(dict.fromkeys(texts))
        return np.zeros((len(texts), 1), dtype=np.float32)


def texts_of(material: Material, settings: Settings, trials: int) -> list[str]:
    """Return every text that the agent of some trials embeds, whatever it will answer."""
    noting = _Noting()
    walks = Trials(replace(material, vectors=noting))
    agent = DialsimAgent(walks)
    for trial in range(trials):
        state = agent.begin_trial(material.dialogue, settings, trial)
        asks = len(walks.asks(state))
        state = answered(state, asks)
        for number in range(asks):
            walks.question(state, number)
    return list(noting.texts)


def answered(state: State, number: int, text: str = "(E)") -> State:
    """Return a state in which so many questions are answered, all alike."""
    return {**state, "answers": [{"text": text, "seconds": None}] * number}


def prepare(dialogues: Sequence[Dialogue], settings: Settings, trials: int, endpoint: Endpoint) -> int:
    """Embed what the agent will look up in some scripts; return how many texts those are."""
    texts: dict[str, None] = {}
    for row in dialogues:
        material = LOADER.load(row.pk, settings, endpoint)
        texts.update(dict.fromkeys(texts_of(material, settings, trials)))
    embedders.prepare(str(settings[EMBEDDER]), texts)
    return len(texts)
