"""Roles of the fake model: a role recognises its prompt and answers from the truth in a text, with its
errors.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from demo.fake_model.errors import RoleErrors, pick, u
from demo.fake_model.requests import Request

# Truth in a text: markers in braces that the model sees.
#
# `{repetition off_topic}` names behaviours, `{quality 4}` or `{consistency 7}` a value for a question. Of
# repeated markers, the last counts.

_MARKER = re.compile(r"\{([^{}\n]{1,200})\}")
QUALITY = "quality"


def markers(text: str) -> Iterator[list[str]]:
    """Yield the words of every marker of a text."""
    for match in _MARKER.finditer(text):
        if words := match[1].split():
            yield words


def shows_planted(text: str, behaviour: str) -> bool:
    """Whether a behaviour is planted in a text: a word of a marker, not followed by `0`."""
    planted = False
    for words in markers(text):
        if behaviour in words:
            after = words[words.index(behaviour) + 1 :][:1]
            planted = after != ["0"]
    return planted


def planted_value(text: str, question: str) -> str | None:
    """Return the planted value for a question, as in `{question value}`; None if there is none."""
    value = None
    for words in markers(text):
        if words[0] == question and len(words) > 1:
            value = " ".join(words[1:])
    return value


def planted_number(text: str, question: str) -> float | None:
    """Return the planted number for a question; None if there is none."""
    value = planted_value(text, question)
    try:
        return None if value is None else float(value)
    except ValueError:
        return None


# One role with its errors, answering one request: from the truth in a text to an answer.

V = TypeVar("V", int, float, str)
USUAL_WORDS = 20
"""Length in words of a text that is neither short nor long."""


@dataclass
class Sampler:
    """Source of a role's draws, and the chances for them.

    `instruction` is the prompt's own text, `request_seed` the seed of the request, `times` how often the same
    request came before. `proposals` are sentences to propose. `answers` keeps each answer's chances, in
    order, for token probabilities.
    """

    role: str
    seed: int = 0
    errors: RoleErrors = field(default_factory=RoleErrors)
    instruction: str = ""
    request_seed: int | None = None
    times: int = 0
    proposals: tuple[str, ...] = ()
    answers: list[tuple[str, dict[str, float]]] = field(default_factory=list)

    def draw(self, question: str, text: str) -> float:
        """Return a number in [0, 1) for a question about a text."""
        parts: list[object] = [self.role, question, text]
        if self.errors.wording and u(self.seed, self.role, "wording", question, text) < self.errors.wording:
            parts.append(self.instruction)
        if self.request_seed is not None:
            parts.append(f"seed {self.request_seed}")
        if self.times:
            chance = u(self.seed, self.role, "inconsistency", question, text, self.times)
            parts += [f"again {self.times}"] if chance < self.errors.inconsistency else []
        return u(self.seed, *parts)

    def sees(self, behaviour: str, text: str, about: str | None = None) -> bool:
        """Return whether a behaviour is detected in a text; `about` has the truth if it is elsewhere."""
        planted = shows_planted(text if about is None else about, behaviour)
        return self.yes_or_no(behaviour, text, planted)

    def yes_or_no(self, question: str, text: str, planted: bool) -> bool:
        """Return the answer to a question whose true answer is known."""
        chance = self.chance_of_yes(question, planted)
        seen = self.draw(question, text) >= 1 - chance
        self.answers.append((str(int(seen)), {"0": 1 - chance, "1": chance}))
        return seen

    def chance_of_yes(self, question: str, planted: bool) -> float:
        """Return the chance of the answer yes."""
        if planted:
            return self.errors.of("sensitivity", question)
        return 1 - self.errors.of("specificity", question)

    def score(self, question: str, text: str, values: Sequence[V], position: float | None = None) -> V:
        """Return a score for a question about a text, from values in order.

        `position` is the index of the true value (from 0); without it, the text's marker decides.
        """
        place = self.position(question, text, values) if position is None else position
        chances = self.chances(question, text, values, place)
        value = pick(values, chances, self.draw(question, text))
        self.answers.append((f"{value}", {f"{option}": c for option, c in zip(values, chances, strict=True)}))
        return value

    def choose(self, question: str, text: str, values: Sequence[str]) -> str:
        """Return one of several unordered answers; the true answer is in the text, else the first."""
        planted = planted_value(text, question)
        true = planted if planted in values else values[0]
        noise = self.errors.of("noise", question) if len(values) > 1 else 0.0
        chances = [1 - noise if option == true else noise / (len(values) - 1) for option in values]
        value = pick(values, chances, self.draw(question, text))
        self.answers.append((value, dict(zip(values, chances, strict=True))))
        return value

    @staticmethod
    def position(question: str, text: str, values: Sequence[V]) -> float:
        """Return the index of a text's true value: by its marker for the question, else by `{quality 1}` to
        `{quality 5}` mapped to the values, else the middle (the lower of two).
        """
        last = len(values) - 1
        numbers = [float(value) for value in values if not isinstance(value, str)]
        planted = planted_number(text, question)
        if planted is not None and len(numbers) == len(values):
            return float(min(range(last + 1), key=lambda place: abs(numbers[place] - planted)))
        if (name := planted_value(text, question)) in values:
            return float(list(values).index(name))  # type: ignore[arg-type]
        quality = planted_number(text, QUALITY)
        if quality is None:
            return float(last // 2)
        return float(int(min(max((quality - 1) / 4, 0.0), 1.0) * last + 0.5))

    def chances(self, question: str, text: str, values: Sequence[V], position: float) -> list[float]:
        """Return the chance of each value, for a true index among them."""
        last = len(values) - 1
        longer = (len(text.split()) - USUAL_WORDS) / 10
        bias = self.errors.length_bias * max(longer, 0.0)
        place = min(max(position + self.errors.of("severity", question) + bias, 0.0), float(last))
        noise = self.errors.of("noise", question)
        below = int(place)
        probabilities = [0.0] * len(values)
        for middle, share in ((below, 1 - (place - below)), (below + 1, place - below)):
            for step, chance in ((-1, noise / 2), (0, 1 - noise), (1, noise / 2)):
                probabilities[min(max(middle + step, 0), last)] += share * chance
        return probabilities


# Interface of a role: it answers one kind of prompt, recognised from the prompt's blocks.


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of a role: the fields of a JSON object, or lines."""

    fields: Mapping[str, Any] | None = None
    lines: Sequence[str] = ()

    @property
    def text(self) -> str:
        """The reply text."""
        return "\n".join(self.lines) if self.fields is None else json.dumps(self.fields, ensure_ascii=False)


class Role(ABC):
    """A role is one file, listed in `ROLES`. `recognises` and `answer` read only the prompt."""

    key: ClassVar[str]
    title: ClassVar[str]
    own_keys: ClassVar[Mapping[str, Callable[[Any, str], Any]]] = {}
    """Role-specific keys of an error model, each with the parser of its value (and its location)."""

    @abstractmethod
    def recognises(self, request: Request) -> bool:
        """Whether the prompt belongs to this role."""

    @abstractmethod
    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Answer a request; every chance comes from `sampler`."""
