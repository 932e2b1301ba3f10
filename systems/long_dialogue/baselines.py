"""Agents that answer without a model and without a memory: lines to compare others with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.records import Turn
from annotation.scripts.answers import TEMPLATE
from annotation.scripts.records import LETTERS, UNKNOWN
from annotation.text.draws import one_of
from systems.generators.base import State
from systems.long_dialogue.agent import DialsimAgent
from systems.long_dialogue.answering import turns_of
from systems.long_dialogue.material import Material
from systems.long_dialogue.memory import NO_MEMORY
from systems.long_dialogue.settings import FORMAT, MEMORY, SEED
from systems.long_dialogue.trial import Trials
from systems.long_dialogue.walking import Ask

Chooses = Callable[[int, str, int, Ask], str]
"""From the seed, the script's id, the trial and the question to a letter."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """An agent that needs no model: its key is its system's name."""

    key: str
    title: str
    chooses: Chooses


def _uniform(seed: int, script: str, trial: int, ask: Ask) -> str:
    return one_of(LETTERS, seed, "random", script, trial, ask.session, ask.question)


def _unknown(seed: int, script: str, trial: int, ask: Ask) -> str:
    return UNKNOWN


BASELINES: Mapping[str, Baseline] = {
    one.key: one
    for one in (
        Baseline("random", "one of A to E, each as likely", _uniform),
        Baseline("always_e", "always (E)", _unknown),
    )
}


def settings_of(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return all settings of a trial of a baseline: it has no memory, and is shown letters.

    Raises WrongSettings.
    """
    return DialsimAgent().resolved({**told, MEMORY: NO_MEMORY, FORMAT: TEMPLATE})


def played(baseline: Baseline, material: Material, told: Mapping[str, Any], trial: int) -> tuple[Turn, ...]:
    """Return the questions of a trial with what a baseline answers, as an agent's continuation has them.

    Nothing is returned where nothing is asked. Raises WrongSettings for settings that there are not.
    """
    settings, trials = settings_of(told), Trials(material)
    state: State = {"settings": settings, "trial": trial, "answers": []}
    letters = (
        baseline.chooses(int(settings[SEED]), material.dialogue.id, trial, ask) for ask in trials.asks(state)
    )
    answers = [{"text": f"({letter})", "seconds": None} for letter in letters]
    return turns_of(trials, {**state, "answers": answers})
