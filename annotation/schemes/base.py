"""What a built-in scheme is made of: plain definitions, mirrored into the database at first use."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

Level = Literal["binary", "nominal", "ordinal", "interval", "ratio", "text"]
LEVELS: tuple[str, ...] = get_args(Level)
Value = float | int | str
STATIC = "static"
NO_CONVERSATION = "the turns of a static continuation are not one conversation"
TEXT_LIMIT = 10_000
"""An answer in words has at most so many characters."""


def accepts(level: str, values: Sequence[Any], value: Any) -> bool:
    """Whether a value may be the answer to a question of a level, with these values (none: any)."""
    if level == "text":
        return isinstance(value, str) and len(value) <= TEXT_LIMIT
    if level == "nominal":
        return isinstance(value, str) and (not values or value in values)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return False
    return not values or value in values


@dataclass(frozen=True, slots=True)
class QuestionDefinition:
    """One question about an item.

    `values` lists what may be answered, in order; empty means any number (interval, ratio) or any text.
    `anchors` words some of the values. `group` gathers questions into one multi-label control. `help` holds
    `definition`, `example` and `not_this` where they apply, or `keep_in_mind`, one aspect a line. `show_if`
    is {"question": key, "max": value} (or "min") for a question asked only after such an answer to another.
    A question that is not required may be left unanswered.
    """

    key: str
    wording: str
    level: Level
    values: tuple[Value, ...] = ()
    anchors: Mapping[Any, str] = field(default_factory=dict)
    positive: float | None = None
    group: str = ""
    help: Mapping[str, str] = field(default_factory=dict)
    shortcut: str = ""
    required: bool = True
    show_if: Mapping[str, Any] | None = None

    def as_stored(self) -> dict[str, Any]:
        """Return the fields of the question's row: plain JSON, values and anchors as they are compared."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        return own | {
            "values": list(self.values),
            "anchors": {str(value): text for value, text in self.anchors.items()},
            "help": dict(self.help),
            "show_if": None if self.show_if is None else dict(self.show_if),
        }


@dataclass(frozen=True, slots=True)
class SchemeDefinition:
    """A version of a scheme, about items of one kind (`annotation.kinds`).

    `unit` says what one task shows: an item, or all items of a continuation.

    With `about_open`, what is known of the speakers and the dialogue stands open beside the first task.
    With `one_conversation`, its questions are about turns that follow each other: static continuations, whose
    turns each answer another point of the history, are rated by nobody, neither people nor judges.
    """

    key: str
    version: int
    title: str
    item_kind: str
    unit: Literal["item", "continuation"]
    introduction: str
    questions: tuple[QuestionDefinition, ...]
    guidelines: str = ""
    source: str = ""
    about_open: bool = False
    one_conversation: bool = False

    def question(self, key: str) -> QuestionDefinition:
        """Return a question by its key; raise KeyError where there is none."""
        for question in self.questions:
            if question.key == key:
                return question
        raise KeyError(key)

    def refusal(self, mode: str) -> str:
        """Return why nobody rates continuations of a mode by this scheme, '' where people and judges do."""
        return NO_CONVERSATION if self.one_conversation and mode == STATIC else ""

    def content_hash(self) -> str:
        """Return the SHA-256 of what raters see: the same hash means the same scheme."""
        content = asdict(self)
        del content["about_open"]  # the same is shown, folded or not
        del content["one_conversation"]  # the same is asked, of fewer
        for question in content["questions"]:
            question["anchors"] = {str(value): text for value, text in question["anchors"].items()}
        text = json.dumps(content, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()
