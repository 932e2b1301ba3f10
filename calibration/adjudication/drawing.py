"""Drawing cases: what the rules would pick now, in an order that a seed gives, with a hash of all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from calibration.adjudication.material import Asked, Material
from calibration.adjudication.rules import CONTROL, TITLES, control, draw_key, picked
from calibration.adjudication.settings import Settings
from calibration.reading.census import QuestionInfo


class Pick(NamedTuple):
    """A case to be: its item, its question, and the rules that picked it."""

    item: int
    question: int
    rules: tuple[str, ...]


@dataclass(frozen=True)
class QuestionPicks:
    """What the rules pick of one question: cases by rule, in all, and for control; which rules do not fit."""

    question: QuestionInfo
    n_items: int
    by_rule: dict[str, int]
    n: int
    control: int
    unfit: dict[str, str] = field(default_factory=dict)

    @property
    def cells(self) -> list[tuple[str, int | None, str]]:
        """Each rule with the number that it picks, or why it does not apply."""
        return [
            (TITLES[key], self.by_rule.get(key), self.unfit.get(key, ""))
            for key in (*self.by_rule, *self.unfit)
        ]


@dataclass(frozen=True)
class Drawn:
    """What a draw comes to: the picks in their order, the numbers by question, and the hash."""

    picks: tuple[Pick, ...]
    questions: tuple[QuestionPicks, ...]
    inputs_hash: str

    @property
    def rules(self) -> list[str]:
        """The titles of the rules that are on."""
        return [title for title, _, _ in self.questions[0].cells] if self.questions else []

    @property
    def n_items(self) -> int:
        """How many items the picks are about."""
        return len({pick.item for pick in self.picks})

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers for programs."""
        return {
            "cases": len(self.picks),
            "items": self.n_items,
            "inputs_hash": self.inputs_hash,
            "questions": [
                {
                    "question": one.question.key,
                    "items": one.n_items,
                    "by_rule": one.by_rule,
                    "picked": one.n,
                    "control": one.control,
                    "does_not_apply": one.unfit,
                }
                for one in self.questions
            ],
        }


def drawn(
    material: Material,
    settings: Settings,
    seed: int,
    already: Mapping[tuple[int, int], Iterable[str]] | None = None,
) -> Drawn:
    """Return what the rules pick, beside the cases there are `already` (item, question) to rules.

    The order is drawn by the seed, conversation by conversation: whoever decides reads each one once, and
    cases for control are among the others.
    """
    there = already or {}
    picks: list[Pick] = []
    told = []
    for asked in material.asked:
        own = settings.of(asked.question.key)
        found, summary = _of_question(asked, own, seed, there)
        picks += found
        told.append(summary)
    positions = {asked.question.id: asked.question.position for asked in material.asked}
    picks.sort(
        key=lambda pick: (
            draw_key(seed, material.where[pick.item].continuation),
            pick.item,
            positions[pick.question],
        )
    )
    return Drawn(tuple(picks), tuple(told), _hash(material, settings, seed, picks))


def _of_question(
    asked: Asked, settings: Settings, seed: int, there: Mapping[tuple[int, int], Iterable[str]]
) -> tuple[list[Pick], QuestionPicks]:
    found = picked(asked.answered, settings)
    question = asked.question.id
    rows = [row for row, hit in enumerate(found.chosen) if hit]
    new = [
        Pick(asked.items[row], question, found.rules_of(row))
        for row in rows
        if (asked.items[row], question) not in there
    ]
    known = {item for item, of in there if of == question}
    had = sum(CONTROL in rules for (_, of), rules in there.items() if of == question)
    taken = found.chosen.copy()
    for row, item in enumerate(asked.items):
        taken[row] |= item in known
    agreed = control(
        asked.answered, taken, n=max(0, settings.control - had), seed=seed, salt=asked.question.ref
    )
    new += [Pick(asked.items[row], question, (CONTROL,)) for row in agreed]
    counts = {key: int(hits.sum()) for key, hits in found.by_rule.items()}
    return new, QuestionPicks(asked.question, len(asked.items), counts, len(rows), len(agreed), found.unfit)


def _hash(material: Material, settings: Settings, seed: int, picks: Iterable[Pick]) -> str:
    refs = {asked.question.id: asked.question.ref for asked in material.asked}
    content = {
        "rules": settings.as_dict(),
        "seed": seed,
        "answers": [asked.digest for asked in material.asked],
        "drawn": [[material.where[one.item].key, refs[one.question], list(one.rules)] for one in picks],
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
