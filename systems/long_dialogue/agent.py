"""An agent that plays the main character of a long dialogue, and is asked about what it heard.

One step is one question. The state holds the answers so far; which question is next, and what the agent
remembers when it is asked, follow from the script it is bound to. A reply is never asked for again: one that
cannot be read is an outcome, and so is a call that failed (`dialsim.md`, sections 6 to 8).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.records import Dialogue, Turn
from annotation.scripts.answers import FAILED, TEMPLATE
from annotation.scripts.records import LETTERS, UNKNOWN
from annotation.text.draws import one_of
from jobs.prompt import Prompt
from systems.generators.base import (
    Done,
    Failed,
    Generator,
    Reply,
    Settings,
    State,
    Value,
)
from systems.long_dialogue.material import Material
from systems.long_dialogue.memory import FULL, NO_MEMORY, NoSummary
from systems.long_dialogue.recalling import TooLong
from systems.long_dialogue.trial import Trials, turns_of
from systems.long_dialogue.trial_settings import (
    FORMAT,
    MEMORY,
    REMEMBER,
    RETRIEVER,
    SEED,
    SET,
    SETTINGS,
    settled,
)
from systems.long_dialogue.walking import Ask
from systems.long_dialogue.world import NoMaterial

KEY = "dialsim_agent"
SCRIPT = "script"


class DialsimAgent(Generator):
    """Answers the questions of a trial of the simulator, one after the other."""

    key = KEY
    title = "Answers in a long dialogue"
    produces = "static"
    settings = SETTINGS
    needs = SCRIPT
    takes_failures = True

    def __init__(self, trials: Trials | None = None) -> None:
        self._trials = trials

    def bound(self, material: Material) -> Generator:
        """Return the agent of one script."""
        return DialsimAgent(Trials(material))

    def rough(self) -> Generator:
        """Return an agent that goes by words alone: prompts are as long, and nothing is embedded."""
        return DialsimAgent(self._bound.rough())

    def calls_left(self, state: State) -> int:
        """Return how many questions are still to be asked."""
        return len(self._bound.asks(state)) - len(state["answers"])

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """Return why nothing is asked: it is no script, nothing is asked in it, or something is missing."""
        if dialogue.script is None:
            return "it is no script"
        if self._trials is None:
            return ""
        try:
            asks = self._trials.walk(settings, 0).asks
            if not asks:
                return f"the question set {settings[SET]!r} asks nothing in it"
            if settings[MEMORY] == FULL:
                self._trials.question(self.begin(dialogue, {**settings, REMEMBER: False}), len(asks) - 1)
            self._trials.world(settings).check(str(settings[MEMORY]), str(settings[RETRIEVER]))
        except (NoMaterial, NoSummary, TooLong) as error:
            return str(error)
        return ""

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Return the state of the first trial, in which nothing is answered."""
        return self.begin_trial(dialogue, settings, 0)

    def begin_trial(self, dialogue: Dialogue, settings: Settings, trial: int) -> State:
        """Return the state of a trial, in which nothing is answered."""
        return {"settings": dict(settings), "trial": trial, "answers": []}

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return the prompt of the next question, or the questions with their answers.

        Raises Failed where what the agent remembers is not there, or is too long.
        """
        try:
            number = len(state["answers"])
            if number < len(self._bound.asks(state)):
                return [self._bound.question(state, number).prompt]
            return Done(turns_of(self._bound, state), flags=_flags(state))
        except (NoMaterial, NoSummary, TooLong) as error:
            raise Failed(str(error)) from error

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Return the state with one answer more: the reply, how long it took, and why there is none."""
        reply = replies[0]
        answer = {"text": "" if reply.error else reply.text, "seconds": reply.seconds}
        return {
            **state,
            "answers": [*state["answers"], answer | ({"error": reply.error} if reply.error else {})],
        }

    def pretend(self, state: State) -> Sequence[str]:
        """Return one letter, or a few words."""
        return ["(E)"] if state["settings"]["format"] == "template" else ["I do not know."]

    def reasks(self, settings: Settings) -> int:
        """No reply is asked for again: what cannot be read is wrong."""
        return 0

    def resolved(self, given: Mapping[str, Any]) -> dict[str, Value]:
        """Return a value for every setting, the same ones for equal conditions. Raises WrongSettings."""
        return settled(super().resolved(given))

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the model: memory and the rest are its condition."""
        return model

    @property
    def _bound(self) -> Trials:
        if self._trials is None:
            raise RuntimeError(f"{self.key} works only once it is bound to a script")
        return self._trials


def _flags(state: State) -> tuple[str, ...]:
    failed = sum("error" in answer for answer in state["answers"])
    return (f"{FAILED}: {failed} of {len(state['answers'])} questions",) if failed else ()


# Agents that answer without a model and without a memory: lines to compare others with.

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
