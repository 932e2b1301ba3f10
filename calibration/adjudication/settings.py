"""The rules that pick cases for a round, as people write them: which are on, with which bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from calibration.errors import AdjudicationRefused

CONFIDENCE_RULES = ("dawid_skene", "mace", "majority")
"""The gold rules whose support says how sure a label is, from 0 to 1."""
COMBINE = ("any", "all")
MOST_CONTROL = 100_000


@dataclass(frozen=True, slots=True)
class Settings:
    """Which rules pick a case; `combine` says whether one of them is enough (`any`) or it takes `all`.

    `spread`, `judge_apart` and `confidence` are bounds, None where the rule is off: the people's answers lie
    at least `spread` apart; `judge` lies at least `judge_apart` from the people's mean (of categories: says
    otherwise than their majority); `confidence_rule` is at most so sure. `control` is how many cases a
    question gets on which all people agree, drawn by the round's seed. `questions` are keys, none: all.
    `by_question` holds other bounds for a question.
    """

    no_majority: bool = False
    spread: float | None = None
    flagged: bool = False
    commented: bool = False
    judge: str = ""
    judge_apart: float | None = None
    confidence_rule: str = "dawid_skene"
    confidence: float | None = None
    marked: bool = False
    everything: bool = False
    control: int = 0
    combine: str = "any"
    questions: tuple[str, ...] = ()
    by_question: Mapping[str, Mapping[str, float]] | None = None

    def of(self, question: str) -> Settings:
        """Return the settings for a question, its own bounds in place of the common ones."""
        own: Mapping[str, Any] = (self.by_question or {}).get(question, {})
        return replace(self, **own)

    @property
    def on(self) -> tuple[str, ...]:
        """The rules that are on, in the order of the table."""
        told = {
            "no_majority": self.no_majority,
            "spread": self.spread is not None,
            "flagged": self.flagged,
            "commented": self.commented,
            "judge": bool(self.judge),
            "confidence": self.confidence is not None,
            "marked": self.marked,
            "everything": self.everything,
        }
        return tuple(key for key, is_on in told.items() if is_on)

    def as_dict(self) -> dict[str, Any]:
        """Return what differs from the defaults, as it is kept."""
        default = asdict(Settings())
        told = asdict(self) | {"questions": list(self.questions)}
        return {key: value for key, value in told.items() if value not in (default[key], [])}


BOUNDS: dict[str, tuple[float, float]] = {
    "spread": (0.0, math.inf),
    "judge_apart": (0.0, math.inf),
    "confidence": (0.0, 1.0),
}


def parse(given: Mapping[str, Any]) -> Settings:
    """Return checked settings. Raises AdjudicationRefused, in one line, for what makes no sense."""
    known = {field.name for field in fields(Settings)}
    if unknown := sorted(set(given) - known):
        raise AdjudicationRefused(f"There is no rule {unknown[0]!r}; there are {', '.join(sorted(known))}.")
    told: dict[str, Any] = {}
    for name, value in given.items():
        if value in (None, ""):
            continue
        told[name] = _read(name, value)
    found = Settings(**told)
    if found.judge_apart is not None and not found.judge:
        raise AdjudicationRefused("judge_apart says how far which judge lies from people? Name the judge.")
    if not found.on:
        raise AdjudicationRefused("Choose a rule: which items are to be decided on?")
    return found


def _read(name: str, value: Any) -> Any:
    if name in BOUNDS:
        return _number(name, value)
    if name in ("judge", "confidence_rule", "combine"):
        return _word(name, value)
    if name == "control":
        return _count(value)
    if name == "questions":
        if not isinstance(value, list | tuple) or not all(isinstance(key, str) for key in value):
            raise AdjudicationRefused("questions is a list of keys of questions.")
        return tuple(value)
    if name == "by_question":
        return _own_bounds(value)
    if not isinstance(value, bool):
        raise AdjudicationRefused(f"{name} is true or false, not {value!r}.")
    return value


def _number(name: str, value: Any) -> float:
    low, high = BOUNDS[name]
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not (math.isfinite(number) and low < number <= high):
        most = f" and at most {high:g}" if math.isfinite(high) else ""
        raise AdjudicationRefused(f"{name} is a number above {low:g}{most}, not {value!r}.")
    return number


def _word(name: str, value: Any) -> str:
    choices = {"confidence_rule": CONFIDENCE_RULES, "combine": COMBINE}.get(name)
    if not isinstance(value, str) or (choices and value not in choices):
        told = f"one of {', '.join(choices)}" if choices else "a rater’s name"
        raise AdjudicationRefused(f"{name} is {told}, not {value!r}.")
    return value


def _count(value: Any) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_CONTROL:
        raise AdjudicationRefused(f"control is a number of cases, 0 to {MOST_CONTROL:,}, not {value!r}.")
    return value


def _own_bounds(value: Any) -> dict[str, dict[str, float]]:
    if not isinstance(value, Mapping) or not all(isinstance(own, Mapping) for own in value.values()):
        raise AdjudicationRefused("by_question maps a question’s key to its own bounds.")
    if wrong := sorted({str(name) for own in value.values() for name in own} - BOUNDS.keys()):
        raise AdjudicationRefused(f"by_question takes {', '.join(BOUNDS)}, not {wrong[0]!r}.")
    return {
        str(key): {name: _number(name, bound) for name, bound in own.items()} for key, own in value.items()
    }
