"""What a role is: whoever answers one kind of prompt, recognised from the prompt's own blocks."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request


@dataclass(frozen=True, slots=True)
class Answer:
    """What a role says: a JSON object's fields, or lines."""

    fields: Mapping[str, Any] | None = None
    lines: Sequence[str] = ()

    @property
    def text(self) -> str:
        """The reply."""
        return "\n".join(self.lines) if self.fields is None else json.dumps(self.fields, ensure_ascii=False)


class Role(ABC):
    """A role is one file, listed in `ROLES`. `recognises` reads the prompt alone, as `answer` does."""

    key: ClassVar[str]
    title: ClassVar[str]
    own_keys: ClassVar[Mapping[str, Callable[[Any, str], Any]]] = {}
    """Keys that this role alone has in an error model, each with what reads its value (and where it is)."""

    @abstractmethod
    def recognises(self, request: Request) -> bool:
        """Whether the prompt is this role's."""

    @abstractmethod
    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return what is said; every chance comes from `mind`."""
