"""The questions of a scheme as controls: scales answered by digits, tags toggled by letters, texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from annotation.scheme_versions.store import Asked, Questionnaire
from annotation.schemes.base import UNSCALED, bounds_told
from annotation.schemes.comparisons import BOTH_BAD, FIRST, SECOND, TIE, WORDED, is_comparison

ROWS_AT_MOST = 7
SIDE_KEYS = {FIRST: "a", TIE: "t", SECOND: "b", BOTH_BAD: "n"}
"""The letters of the answers to a comparison; n is for neither."""
HELP_PARTS = {"definition": "", "example": "For example", "not_this": "Not this"}
SESSIONS = "sessions"
OFFERED = {
    ("fact", "head"): "people",
    ("fact", "tail"): "people",
    ("fact", "relation"): "relations",
    ("question", "evidence_sessions"): SESSIONS,
}
"""Which list a screen offers for an answer in words, by item kind and the question's key."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that can be chosen, with its key and its wording."""

    value: Any
    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Control:
    """One question as shown.

    `kind` is scale, numbers (a long scale), tag, text, people, sessions, ranking or number (`hint`: which).
    `offers` names the list of the screen that a text may be chosen from.
    """

    question: Asked
    kind: str
    choices: tuple[Choice, ...] = ()
    bands: tuple[tuple[str, str], ...] = ()
    help: tuple[tuple[str, str], ...] = ()
    hint: str = ""
    offers: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Controls under one heading."""

    heading: str
    controls: list[Control] = field(default_factory=list)


def sections(plan: Questionnaire) -> list[Section]:
    """Return a plan's controls: grouped questions together, every other question on its own."""
    grouped = groupby(
        plan.questions, key=lambda question: (question.group, "" if question.group else question.key)
    )
    return [_section(list(questions)) for _, questions in grouped]


def for_browser(plan: Questionnaire) -> list[dict[str, Any]]:
    """Return what the page's script needs to know of the questions."""
    return [
        {
            "key": control.question.key,
            "kind": control.kind,
            "wording": control.question.wording,
            "required": control.question.required,
            "shortcut": control.question.shortcut,
            "show_if": control.question.show_if,
            "values": [choice.value for choice in control.choices],
            "keys": _keys(control),
            "positive": control.question.positive,
            "evidence": control.question.evidence,
            "evidence_for": control.question.evidence_for,
            "evidence_required": control.question.evidence_required,
            "about": control.question.item_kind if plan.is_mixed else "",
        }
        for section in sections(plan)
        for control in section.controls
    ]


def _keys(control: Control) -> dict[str, Any]:
    """Return the values by their keys; those of a comparison by letters and, in their order, by digits."""
    keys = {choice.key: choice.value for choice in control.choices if choice.key}
    if not is_comparison(control.question.level, control.question.values):
        return keys
    return keys | {str(number): choice.value for number, choice in enumerate(control.choices, start=1)}


def choices(question: Asked) -> tuple[Choice, ...]:
    """Return the values that a question offers, each with its key and wording."""
    return _choices(question, "scale")


def _section(questions: list[Asked]) -> Section:
    return Section(questions[0].group or questions[0].wording, [_control(question) for question in questions])


def _control(question: Asked) -> Control:
    offers = OFFERED.get((question.item_kind, question.key), "") if question.level == "text" else ""
    if question.is_tag:
        kind = "tag"
    elif offers == SESSIONS:
        kind = SESSIONS
    elif question.level in UNSCALED:
        kind = question.level
    elif question.names_people:
        kind = "people"
    elif not question.values:
        kind = "number"
    else:
        is_short = len(question.values) <= ROWS_AT_MOST or question.level == "nominal"
        kind = "scale" if is_short else "numbers"
    choices = _choices(question, kind) if kind in ("scale", "numbers") else ()
    bands = _bands(choices) if kind == "numbers" else ()
    hint = bounds_told(question) if kind == "number" else ""
    return Control(question, kind, choices, bands, _help(question), hint, offers)


def _choices(question: Asked, kind: str) -> tuple[Choice, ...]:
    if is_comparison(question.level, question.values):
        return tuple(
            Choice(value, SIDE_KEYS[value], question.anchors.get(value, WORDED[value].format("A", "B")))
            for value in question.values
        )
    texts = {"0": "No", "1": "Yes"} if question.level == "binary" else {}
    is_listed = kind == "scale"  # only there each value shows its key, so it may differ from the value
    numeric = all(isinstance(value, int) and 0 <= value <= 10 for value in question.values)
    return tuple(
        Choice(
            value,
            _key(value, number, question.values, numeric) if numeric or is_listed else "",
            question.anchors.get(str(value), texts.get(str(value), str(value))),
        )
        for number, value in enumerate(question.values)
    )


def _key(value: Any, number: int, values: tuple[Any, ...], numeric: bool) -> str:
    """The digit of a value: itself where it is one, 0 for ten, else its place; empty where digits run out."""
    if numeric:
        if value < 10:
            return str(value)
        return "0" if 0 not in values else ""
    return str(number + 1) if number < 9 else ""


def _bands(choices: tuple[Choice, ...]) -> tuple[tuple[str, str], ...]:
    """Anchors of a long scale, neighbours with the same wording as one band."""
    bands = []
    for text, group in groupby(choices, key=lambda choice: choice.text):
        values = [str(choice.value) for choice in group]
        if text != values[0]:
            bands.append((values[0] if len(values) == 1 else f"{values[0]}–{values[-1]}", text))
    return tuple(bands)


def _help(question: Asked) -> tuple[tuple[str, str], ...]:
    known = [(lead, question.help[part]) for part, lead in HELP_PARTS.items() if part in question.help]
    aspects = [line.partition(": ") for line in question.help.get("keep_in_mind", "").splitlines()]
    return (*known, *((name, text) if text else ("", name) for name, _, text in aspects))
