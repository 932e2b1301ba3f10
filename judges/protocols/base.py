"""What a judge protocol is: how to ask about an item or a continuation, and how to read the reply.

A reply is read strictly: a score off the scale, a missing field or a turn that is not there makes the whole
reply unparseable. It is never guessed at, and never becomes a label.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from annotation.records import Continuation, Dialogue
from annotation.schemes.base import SchemeDefinition
from annotation.text.views import RENDERING, View
from jobs.prompt import Prompt

Covers = Literal["turn", "continuation"]


@dataclass(frozen=True, slots=True)
class Case:
    """What one call is about: a turn, or (`turn` None) the continuation with all its turns.

    `view` is what raters are shown of it; the systems of the dialogue's own record are hidden in any view.
    """

    dialogue: Dialogue
    continuation: Continuation
    turn: int | None = None
    view: View = field(default_factory=View)

    def judged(self) -> tuple[int, ...]:
        """Return the indices of the continuation's turns that are items: all that are not given."""
        return tuple(i for i, turn in enumerate(self.continuation.turns) if not turn.given)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One answer read from a reply: `value` is None exactly when `missing` says why. `turn` is 0-based."""

    question: str
    turn: int
    value: float | None
    missing: str = ""
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """All answers of a reply, and flags: one line each about what stands but deserves a look."""

    verdicts: tuple[Verdict, ...]
    flags: tuple[str, ...] = ()


class Protocol(ABC):
    """A way to judge. A protocol is one file, listed in `PROTOCOLS`.

    `answers` maps each verdict's question to the scheme and question that it answers; `covers` says what one
    call is about; `network` is false for a judge that computes its verdicts itself. `version` is that of the
    prompt's text (or of the rules): a released one is never edited. How the material is rendered into it has
    a version of its own (`annotation.text.views.RENDERING`).
    """

    key: ClassVar[str]
    version: ClassVar[int] = 1
    title: ClassVar[str]
    covers: ClassVar[Covers]
    network: ClassVar[bool] = True
    variants: ClassVar[tuple[str, ...]] = ("",)
    answers: ClassVar[Mapping[str, tuple[SchemeDefinition, str]]]

    def refusal(self, case: Case, variant: str) -> str:
        """Return why the case cannot be judged, '' where it can; its answers are then missing for that."""
        return ""

    def unanswered(self, case: Case, reason: str) -> Reading:
        """Return the reading in which every answer is missing for one reason."""
        turns = case.judged() if case.turn is None else (case.turn,)
        return Reading(
            tuple(Verdict(key, turn, None, missing=reason) for turn in turns for key in self.answers)
        )

    def fingerprint(self, variant: str) -> dict[str, Any]:
        """Return what identifies the judge beside its model and parameters."""
        return {"protocol": self.key, "version": self.version, "rendering": RENDERING}


class Asking(Protocol):
    """A protocol that asks a language model. `reply_tokens` is about how long a reply is, for estimates."""

    reply_tokens: ClassVar[int] = 100

    @abstractmethod
    def prompt(self, case: Case, variant: str) -> Prompt:
        """Return what to send about a case."""

    @abstractmethod
    def parse(self, reply: str, case: Case) -> Reading:
        """Return the answers of a reply; raise Unparseable where it does not answer."""

    @abstractmethod
    def prompt_file(self, variant: str) -> str:
        """Return the name of the prompt's text, without its version."""

    def fingerprint(self, variant: str) -> dict[str, Any]:
        """Return what identifies the judge: protocol, variant, and the versions of prompt and rendering."""
        return Protocol.fingerprint(self, variant) | {"variant": variant, "prompt": self.prompt_file(variant)}


class Computing(Protocol):
    """A protocol that computes its answers itself, without a model or a network."""

    network = False

    @abstractmethod
    def judge(self, case: Case) -> Reading:
        """Return the answers about a case."""
