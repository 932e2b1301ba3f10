"""Baseline agents that answer without a model and without having heard anything (`dialsim.md`, section 7)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from annotation.scripts.records import LETTERS, UNKNOWN
from annotation.text.draws import one_of
from systems.long_dialogue.walking import Ask


class Baseline(ABC):
    """A baseline is one class here, listed in `BASELINES`."""

    key: ClassVar[str]
    title: ClassVar[str]

    @abstractmethod
    def answers(self, script: str, ask: Ask, trial: int, seed: int) -> str:
        """Return the letter it answers with."""


class Random(Baseline):
    """A letter from A to E, each as likely as the others; the draw knows the question and the trial."""

    key = "random"
    title = "any of the five options, each as likely"

    def answers(self, script: str, ask: Ask, trial: int, seed: int) -> str:
        """Return a letter that seed, script, trial, session and question decide."""
        return one_of(LETTERS, seed, "random", script, trial, ask.session, ask.question)


class AlwaysUnknown(Baseline):
    """It always says that it does not know."""

    key = "always_e"
    title = "always (E), I don't know"

    def answers(self, script: str, ask: Ask, trial: int, seed: int) -> str:
        """Return (E)."""
        return UNKNOWN


BASELINES: dict[str, Baseline] = {baseline.key: baseline for baseline in (Random(), AlwaysUnknown())}
