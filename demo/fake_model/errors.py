"""The error model: how each role errs, what a better instruction changes, and which requests go wrong.

It is read from a JSON object. Every role may have

sensitivity    chance of seeing a behaviour that is there (default 1)
specificity    chance of not seeing one that is not there (default 1)
noise          chance that a score is one step of its scale off, up and down equally; for answers without an
               order, chance of another answer (default 0)
severity       steps that are added to every score; 0.3 is one step for 30 in 100 (default 0)
length_bias    steps that are added for every ten words above twenty (default 0)
inconsistency  chance that the same request, asked again, is answered anew (default 0)
wording        chance that another wording of the instruction is answered anew (default 0)
ignores_rule   chance that a rule of the prompt is ignored (default 0)
position_bias  chance that of several responses the one shown first is taken, whatever it says (default 0)

Each of the first four is a number, or an object with a number by question and `*` for the others. `phrases`
are sentences that make an instruction better (or worse): where one stands in it, its amounts are added.

A role may have keys of its own beside these (`Role.own_keys`), such as the rates of a writer.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from demo.fake_model.misbehaving import Misbehaviour

BY_QUESTION = {"sensitivity": 1.0, "specificity": 1.0, "noise": 0.0, "severity": 0.0}
PLAIN = {"length_bias": 0.0, "inconsistency": 0.0, "wording": 0.0, "ignores_rule": 0.0, "position_bias": 0.0}
CHANCES = ("sensitivity", "specificity", "noise", "inconsistency", "wording", "ignores_rule", "position_bias")
OTHERS = "*"

Amounts = Mapping[str, float]
"""Question to a number; `*` for all others."""


@dataclass(frozen=True, slots=True)
class RoleErrors:
    """How one role errs; see the module."""

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
        """Whether an instruction holds it, in any case and however its lines are broken."""
        return fold(self.text) in fold(instruction)


@dataclass(frozen=True, slots=True)
class ErrorModel:
    """All roles' errors; a role that is not named makes none."""

    roles: Mapping[str, RoleErrors] = field(default_factory=dict)
    phrases: tuple[Phrase, ...] = ()
    proposals: tuple[str, ...] = ()
    misbehaviours: tuple[Misbehaviour, ...] = ()

    def errors(self, role: str, instruction: str = "") -> RoleErrors:
        """Return how a role errs under an instruction."""
        own = self.roles.get(role, self.roles.get(OTHERS, RoleErrors()))
        for phrase in self.phrases:
            if (not phrase.roles or role in phrase.roles) and phrase.stands_in(instruction):
                own = _changed(own, phrase.amounts)
        return own


def fold(text: str) -> str:
    """Return a text in NFKC, case-folded, white space runs made one space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _changed(own: RoleErrors, amounts: Mapping[str, Amounts]) -> RoleErrors:
    fields: dict[str, Any] = {name: getattr(own, name) for name in PLAIN}
    for name in BY_QUESTION:
        added = amounts.get(name, {})
        questions = {OTHERS, *getattr(own, name), *added}
        fields[name] = {
            question: _kept(name, own.of(name, question) + added.get(question, added.get(OTHERS, 0.0)))
            for question in sorted(questions)
        }
    return RoleErrors(**fields, own=own.own)


def _kept(name: str, amount: float) -> float:
    return min(max(amount, 0.0), 1.0) if name in CHANCES else amount
