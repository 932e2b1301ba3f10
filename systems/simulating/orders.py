"""What somebody asks for when a system is to answer the questions of a set, checked without any script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from annotation.models import QuestionSet
from annotation.script_editing.question_records import named
from jobs.endpoints import parameters
from systems.errors import SystemsError
from systems.generators import GENERATORS, WrongSettings
from systems.long_dialogue.agent import BASELINES
from systems.long_dialogue.memory import NO_MEMORY
from systems.long_dialogue.trial_settings import (
    CONTEXT,
    EMBEDDER,
    LIMIT,
    MEMORY,
    ORDER,
    REMEMBER,
    RETRIEVER,
    SET,
    SETTINGS,
    K,
)
from systems.producing.actions import MOST_TRIALS

AGENT = "dialsim_agent"
SAMPLING: Mapping[str, Any] = {"temperature": 0.2, "top_p": 0.1}
"""As in the paper (section 5.1)."""
SETTING_NAMES = tuple(setting.name for setting in SETTINGS if setting.name != SET)
UNREAD = (MEMORY, RETRIEVER, EMBEDDER, K, ORDER, REMEMBER, LIMIT, CONTEXT)
"""Settings that a baseline does not read: what it answers is the same whatever they are."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked for. `baseline` is the key of one that needs no model, '' where an endpoint is asked.

    `settings` are those of the agent where given, but for the question set. `name` is the system's where
    somebody named it, `condition` has keys of the researcher's own.
    """

    baseline: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    trials: int = 3
    parameters: Mapping[str, Any] = field(default_factory=lambda: dict(SAMPLING))
    name: str = ""
    condition: Mapping[str, Any] = field(default_factory=dict)

    def checked(self, asked: QuestionSet) -> Order:
        """Return it with a value for every setting; raise SystemsError for what cannot be."""
        if self.baseline and self.baseline not in BASELINES:
            raise SystemsError(f"There is no agent {self.baseline!r}; there are {', '.join(BASELINES)}.")
        if not 1 <= self.trials <= MOST_TRIALS:
            raise SystemsError(f"The number of trials must be between 1 and {MOST_TRIALS}.")
        if SET in self.settings:
            raise SystemsError("set: the question set is named by itself.")
        told = {name: value for name, value in self.settings.items() if not self._leaves(name)}
        told |= {SET: named(asked)} | ({MEMORY: NO_MEMORY} if self.baseline else {})
        try:
            settings = GENERATORS[AGENT].resolved(told)
        except WrongSettings as error:
            raise SystemsError(str(error)) from None
        sampling = {} if self.baseline else parameters.checked(self.parameters)
        return Order(self.baseline, settings, self.trials, sampling, self.name.strip(), dict(self.condition))

    def _leaves(self, setting: str) -> bool:
        return bool(self.baseline) and setting in UNREAD

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Order:
        """Return the order that `as_json` wrote."""
        return cls(**{one.name: told[one.name] for one in fields(cls) if one.name in told})
