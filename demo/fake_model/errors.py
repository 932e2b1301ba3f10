"""The error model: errors of each role, effects of better instructions, and misbehaving requests.

It is read from a JSON object. Every role may have

sensitivity    chance of detecting a behaviour that is present (default 1)
specificity    chance of not detecting a behaviour that is absent (default 1)
noise          chance that a score is one step of its scale off, up and down equally; for unordered answers,
               chance of another answer (default 0)
severity       steps added to every score; 0.3 is one step in 30 of 100 cases (default 0)
length_bias    steps added for every ten words above twenty (default 0)
inconsistency  chance that a repeated request gets a newly drawn answer (default 0)
wording        chance that another wording of the instruction gets a newly drawn answer (default 0)
ignores_rule   chance that a rule of the prompt is ignored (default 0)
position_bias  chance that of several responses the first is chosen, regardless of content (default 0)

Each of the first four is a number, or an object with a number by question and `*` for the others. `phrases`
are sentences that make an instruction better (or worse): if one occurs in it, its amounts are added.

A role may have additional keys (`Role.own_keys`), such as the rates of a writer.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

# Strict parsing of an error model's JSON: an error is one line that names the key.


class ErrorFileProblem(ValueError):
    """An invalid error model; the message is one line: which key, and the problem."""


def check_keys(value: Any, where: str, valid_keys: Sequence[str]) -> None:
    """Raise ErrorFileProblem unless a value is an object with only these keys."""
    if not isinstance(value, dict):
        raise ErrorFileProblem(f"{where or 'the file'}: a JSON object is needed")
    for key in value:
        if key not in valid_keys:
            place = f"{where}.{key}" if where else key
            raise ErrorFileProblem(f"{place}: no such key; there are {', '.join(valid_keys)}")


def number(value: Any, where: str, low: float, high: float) -> float:
    """Return a number within limits; raise ErrorFileProblem for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ErrorFileProblem(f"{where}: {str(value)[:40]!r} is not a number")
    if not low <= value <= high:
        raise ErrorFileProblem(f"{where}: {value:g} is not between {low:g} and {high:g}")
    return float(value)


def texts(value: Any, where: str, valid: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return a list of texts, each in `valid` if given; raise ErrorFileProblem otherwise."""
    if not isinstance(value, list) or not all(isinstance(text, str) and text.strip() for text in value):
        raise ErrorFileProblem(f"{where}: a list of texts is needed")
    for text in value:
        if valid is not None and text not in valid:
            raise ErrorFileProblem(f"{where}: there is no {text!r}; there are {', '.join(valid)}")
    return tuple(value)


# Deterministic draws: a number in [0, 1) computed from a seed and texts, the same on every machine.

T = TypeVar("T")


def u(seed: int, *parts: object) -> float:
    """Return the first 8 bytes, big-endian, of the SHA-256 of seed and parts joined by NUL, over 2^64."""
    text = "\x00".join(str(part) for part in (seed, *parts))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def pick(values: Sequence[T], chances: Sequence[float], draw: float) -> T:
    """Return the value at which the cumulative chances pass a draw."""
    total = 0.0
    for value, chance in zip(values, chances, strict=True):
        total += chance
        if draw < total:
            return value
    return next(value for value, chance in reversed(list(zip(values, chances, strict=True))) if chance > 0)


# Misbehaviours of a request: the kinds, and which of them a request meets.

KINDS: Mapping[str, str] = {
    "429": "status 429, with `retry_after` where it is given",
    "500": "status 500",
    "hang": "silence until the client gives up",
    "reset": "the connection is closed without an answer",
    "slow:MS": "the answer comes MS milliseconds later",
    "malformed": "a reply that breaks off before it says anything",
    "wrong_form": "the right answer in another form than was asked for",
    "wrong_count": "a count that contradicts the turns named; without counts, one score too few",
    "wrong_turn": "a turn that is not there",
    "extra_field": "a field or line that was not asked for",
    "truncated": "the reply is cut in half: finish_reason length",
    "refusal": "message.refusal in place of a text",
    "content_filter": "no text: finish_reason content_filter",
    "reasoning": "reasoning_content beside the text",
    "no_schema": "status 400 for structured output",
    "no_parameter:NAME": "status 400 for one parameter",
    "batch_429": "status 429 for the submission of a batch, with `retry_after` where it is given",
    "batch_refused": "a batch fails when it is checked, and nothing of it is done",
    "batch_reset": "a batch is taken, and the connection closed without an answer",
    "batch_slow:MS": "a batch takes MS milliseconds",
    "batch_fails": "a line of a batch comes back with status 500",
    "batch_expires": "a line of a batch is not done in time",
    "batch_unlisted": "batches are not listed: status 404",
    "batch_undeletable": "files are not deleted: status 403",
    "batch_upload_slow:MS": "an uploaded file is taken MS milliseconds later",
}
OF_THE_TEXT = ("truncated", "refusal", "content_filter", "reasoning")
"""A model refuses a text every time; other trouble is temporary, so its chance is drawn anew each time."""
_FORM = re.compile(r"(?:batch_(?:upload_)?)?slow:\d{1,8}|no_parameter:[a-z_]{1,40}")
_NAMES = tuple(kind for kind in KINDS if ":" not in kind)


@dataclass(frozen=True, slots=True)
class Misbehaviour:
    """A misbehaviour: for the `first` requests, or at a `rate`; `roles` limits it (none: all)."""

    kind: str
    first: int = 0
    rate: float = 0.0
    retry_after: float | None = None
    roles: tuple[str, ...] = ()

    def meets(self, *, seed: int, role: str, text: str, number: int, times: int) -> bool:
        """Whether it affects a request: the `number`th (from 0) in all, sent `times` times before."""
        if self.roles and role not in self.roles:
            return False
        again = () if self.kind in OF_THE_TEXT else (times,)
        return number < self.first or u(seed, "misbehaviour", self.kind, text, *again) < self.rate

    @property
    def amount(self) -> str:
        """The value after the colon of its kind."""
        return self.kind.partition(":")[2]


def misbehaviour(value: Any, where: str, roles: Sequence[str]) -> Misbehaviour:
    """Return the misbehaviour of a JSON value; raise ErrorFileProblem that names the key."""
    check_keys(value, where, ("kind", "first", "rate", "retry_after", "roles"))
    kind = value.get("kind")
    if not isinstance(kind, str) or (kind not in _NAMES and not _FORM.fullmatch(kind)):
        raise ErrorFileProblem(f"{where}.kind: {str(kind)[:40]!r} is none of {', '.join(KINDS)}")
    first, rate = value.get("first"), value.get("rate")
    if (first is None) == (rate is None):
        raise ErrorFileProblem(f"{where}: either first (requests) or rate (0 to 1) is needed")
    if first is not None and (not isinstance(first, int) or isinstance(first, bool) or first < 1):
        raise ErrorFileProblem(f"{where}.first: {str(first)[:40]!r} is not a number of requests")
    pause = value.get("retry_after")
    if pause is not None and kind not in ("429", "batch_429"):
        raise ErrorFileProblem(f"{where}.retry_after: only 429 and batch_429 have one")
    return Misbehaviour(
        kind,
        first or 0,
        0.0 if rate is None else number(rate, f"{where}.rate", 0.0, 1.0),
        None if pause is None else number(pause, f"{where}.retry_after", 0.0, 3600.0),
        texts(value.get("roles", []), f"{where}.roles", roles),
    )


# Parsing of role-specific keys in an error model.


def one_chance(value: Any, where: str) -> float:
    """Return a chance of a JSON value; raise ErrorFileProblem that names the key."""
    return number(value, where, 0.0, 1.0)


def chances_of(names: Sequence[str]) -> Callable[[Any, str], Mapping[str, float]]:
    """Return a parser of an object that maps some of the names to a chance; other keys are rejected."""

    def read(value: Any, where: str) -> Mapping[str, float]:
        if not isinstance(value, dict) or not value.keys() <= set(names):
            raise ErrorFileProblem(
                f"{where}: an object with chances is needed; its keys are {', '.join(names)}"
            )
        return {name: one_chance(chance, f"{where}.{name}") for name, chance in value.items()}

    return read


BY_QUESTION = {"sensitivity": 1.0, "specificity": 1.0, "noise": 0.0, "severity": 0.0}
PLAIN = {"length_bias": 0.0, "inconsistency": 0.0, "wording": 0.0, "ignores_rule": 0.0, "position_bias": 0.0}
CHANCES = ("sensitivity", "specificity", "noise", "inconsistency", "wording", "ignores_rule", "position_bias")
OTHERS = "*"

Amounts = Mapping[str, float]
"""Question to a number; `*` for all others."""


@dataclass(frozen=True, slots=True)
class RoleErrors:
    """Errors of one role; see the module."""

    sensitivity: Amounts = field(default_factory=dict)
    specificity: Amounts = field(default_factory=dict)
    noise: Amounts = field(default_factory=dict)
    severity: Amounts = field(default_factory=dict)
    length_bias: float = 0.0
    inconsistency: float = 0.0
    wording: float = 0.0
    ignores_rule: float = 0.0
    position_bias: float = 0.0
    own: Mapping[str, Any] = field(default_factory=dict)

    def of(self, name: str, question: str) -> float:
        """Return one of the four amounts for a question."""
        amounts: Amounts = getattr(self, name)
        return amounts.get(question, amounts.get(OTHERS, BY_QUESTION[name]))


@dataclass(frozen=True, slots=True)
class Phrase:
    """A sentence that changes how roles err, by known amounts; no `roles` are all roles."""

    text: str
    roles: tuple[str, ...] = ()
    amounts: Mapping[str, Amounts] = field(default_factory=dict)

    def stands_in(self, instruction: str) -> bool:
        """Whether an instruction contains it, ignoring case and line breaks."""
        return fold(self.text) in fold(instruction)


@dataclass(frozen=True, slots=True)
class ErrorModel:
    """All roles' errors; an unlisted role makes none."""

    roles: Mapping[str, RoleErrors] = field(default_factory=dict)
    phrases: tuple[Phrase, ...] = ()
    proposals: tuple[str, ...] = ()
    misbehaviours: tuple[Misbehaviour, ...] = ()

    def errors(self, role: str, instruction: str = "") -> RoleErrors:
        """Return a role's errors under an instruction."""
        own = self.roles.get(role, self.roles.get(OTHERS, RoleErrors()))
        for phrase in self.phrases:
            if (not phrase.roles or role in phrase.roles) and phrase.stands_in(instruction):
                own = _changed(own, phrase.amounts)
        return own


def fold(text: str) -> str:
    """Return a text in NFKC, case-folded, with runs of white space as one space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _changed(own: RoleErrors, amounts: Mapping[str, Amounts]) -> RoleErrors:
    fields: dict[str, Any] = {name: getattr(own, name) for name in PLAIN}
    for name in BY_QUESTION:
        added = amounts.get(name, {})
        questions = {OTHERS, *getattr(own, name), *added}
        fields[name] = {
            question: _clip(name, own.of(name, question) + added.get(question, added.get(OTHERS, 0.0)))
            for question in sorted(questions)
        }
    return RoleErrors(**fields, own=own.own)


def _clip(name: str, amount: float) -> float:
    return min(max(amount, 0.0), 1.0) if name in CHANCES else amount
