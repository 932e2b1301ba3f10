"""Reading a scheme's fields from plain data: each that is not what it should be is noted, none guessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from typing import Any

from annotation.schemes.base import QuestionDefinition, SchemeDefinition, plain
from annotation.schemes.problems import Path, Problem, named
from annotation.schemes.rules import MOST_QUESTIONS
from annotation.schemes.scales import MOST_VALUES, is_number

SCHEME = ("scheme", *(one.name for one in fields(SchemeDefinition)))
QUESTION = tuple(one.name for one in fields(QuestionDefinition))
WORDS = {"yes": True, "on": True, "true": True, "no": False, "off": False, "false": False}
NOTHING = QuestionDefinition(key="", wording="", level="text")
"""Stands for a question that cannot be read, so that the others keep their numbers."""


class Reader:
    """Reads a scheme from plain data; `problems` has what could not be read."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self.problems: list[Problem] = []

    def is_at_fault(self, path: Path) -> bool:
        """Whether a field, or a part of it or what it is part of, could not be read."""
        return any(
            path[: len(one.path)] == one.path or one.path[: len(path)] == path for one in self.problems
        )

    def scheme(self) -> SchemeDefinition:
        """Return what can be read as a definition; whatever cannot has its default."""
        data = self._mapping(self.data, (), "A scheme has names and values, such as title: Politeness.")
        self._known(data, SCHEME, ())
        key = self._text(data, "scheme", ()) or self._text(data, "key", ())
        if data.get("scheme") and data.get("key") and data["scheme"] != data["key"]:
            self._note(("key",), "scheme and key are two names of one field: leave one out.")
        texts = {
            name: self._text(data, name, ()) for name in ("title", "introduction", "guidelines", "source")
        }
        unit: Any = self._text(data, "unit", ()) or "item"
        kind = self._text(data, "item_kind", ())
        return SchemeDefinition(
            key=key,
            version=self._version(data),
            item_kind=kind,
            unit=unit,
            questions=tuple(_about(kind, one) for one in self._questions(data)),
            about_open=self._flag(data, "about_open", (), False),
            one_conversation=self._flag(data, "one_conversation", (), False),
            **texts,
        )

    def _questions(self, data: Mapping[str, Any]) -> tuple[QuestionDefinition, ...]:
        listed = data.get("questions") or []
        if not isinstance(listed, list | tuple):
            self._note(("questions",), "The questions are a list: write each after a dash.")
            return ()
        if len(listed) > MOST_QUESTIONS:
            told = f"There are {len(listed):,} questions; at most {MOST_QUESTIONS} are taken."
            self._note(("questions",), told)
        return tuple(self._question(one, ("questions", n)) for n, one in enumerate(listed[:MOST_QUESTIONS]))

    def _question(self, data: Any, at: Path) -> QuestionDefinition:
        if not isinstance(data, Mapping):
            self._note(at, "A question has names and values, such as key: polite.")
            return NOTHING
        self._known(data, QUESTION, at)
        level: Any = self._text(data, "level", at)
        values = self._values(data, at)
        positive = self._number(data, "positive", at)
        if level == "binary" and data.get("values") is None:
            values = (0, 1)
        if level == "binary" and data.get("positive") is None:
            positive = 1
        minimum = self._number(data, "minimum", at)
        if level == "ratio" and not values and data.get("minimum") is None:
            minimum = 0
        return QuestionDefinition(
            key=self._text(data, "key", at),
            wording=self._text(data, "wording", at),
            level=level,
            values=values,
            anchors=self._anchors(data, values, at),
            positive=positive,
            group=self._text(data, "group", at),
            help=self._help(data, at),
            shortcut=self._text(data, "shortcut", at, digits=True),
            required=self._flag(data, "required", at, True),
            show_if=self._condition(data, at),
            minimum=minimum,
            maximum=self._number(data, "maximum", at),
            whole=self._flag(data, "whole", at, False),
            evidence=self._evidence(data, at),
            evidence_for=self._values(data, at, "evidence_for"),
            evidence_required=self._flag(data, "evidence_required", at, False),
            item_kind=self._text(data, "item_kind", at),
        )

    def _evidence(self, data: Mapping[str, Any], at: Path) -> str:
        """Return what answers point at; `none` says the same as nothing."""
        told = self._text(data, "evidence", at)
        return "" if told == "none" else told

    def _values(self, data: Mapping[str, Any], at: Path, name: str = "values") -> tuple[Any, ...]:
        listed = data.get(name)
        if listed is None:
            return ()
        if not isinstance(listed, list | tuple):
            self._note((*at, name), "The values are a list, such as [1, 2, 3].")
            return ()
        return tuple(plain(one) if isinstance(one, float) else one for one in listed[: MOST_VALUES + 1])

    def _anchors(self, data: Mapping[str, Any], values: tuple[Any, ...], at: Path) -> dict[Any, str]:
        path = (*at, "anchors")
        given = self._mapping(data.get("anchors") or {}, path, "Anchors word values, such as {1: rude}.")
        found: dict[Any, str] = {}
        if len(given) > MOST_VALUES:
            self._note(path, f"There are {len(given):,} anchors; at most {MOST_VALUES} are taken.")
            return found
        for name, text in given.items():
            value = next(
                (one for one in values if str(one) == str(name) or _same_number(one, name)), str(name)
            )
            if value in found:
                self._note((*path, str(name)), f"{named(value)} is worded twice.")
            elif not isinstance(text, str):
                self._note((*path, str(name)), f"{_told(text)} is not a text: write it in quotes.")
            else:
                found[value] = text
        return found

    def _help(self, data: Mapping[str, Any], at: Path) -> dict[str, str]:
        path = (*at, "help")
        given = self._mapping(
            data.get("help") or {}, path, "Help has names and texts, such as definition: ..."
        )
        return {str(name): self._text(given, name, path) for name in given if given[name] is not None}

    def _condition(self, data: Mapping[str, Any], at: Path) -> dict[str, Any] | None:
        if data.get("show_if") is None:
            return None
        path = (*at, "show_if")
        told = "It has a question and min, max or in, such as {question: polite, max: 2}."
        given = self._mapping(data["show_if"], path, told)
        plainly = {
            str(name): [plain(one) if isinstance(one, float) else one for one in value]
            if isinstance(value, list | tuple)
            else plain(value)
            if isinstance(value, float)
            else value
            for name, value in given.items()
            if value is not None
        }
        return plainly

    def _known(self, data: Mapping[str, Any], names: tuple[str, ...], at: Path) -> None:
        for name in data:
            if name not in names:
                near = get_close_matches(str(name)[:40], names, n=1)
                told = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}."
                self._note((*at, str(name)), f"There is no field {named(name)}: {told}")

    def _mapping(self, value: Any, at: Path, told: str) -> Mapping[str, Any]:
        if isinstance(value, Mapping):
            return value
        self._note(at, told)
        return {}

    def _text(self, data: Mapping[str, Any], name: str, at: Path, digits: bool = False) -> str:
        value = data.get(name)
        if value is None:
            return ""
        if digits and isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str):
            self._note((*at, name), f"{_told(value)} is not a text: write it in quotes.")
            return ""
        return value

    def _number(self, data: Mapping[str, Any], name: str, at: Path) -> float | None:
        value = data.get(name)
        if value is None or is_number(value):
            return plain(value)
        self._note((*at, name), f"{_told(value)} is not a number between -10^15 and 10^15.")
        return None

    def _flag(self, data: Mapping[str, Any], name: str, at: Path, default: bool) -> bool:
        value = data.get(name)
        if value is None:
            return default
        if isinstance(value, str):
            value = WORDS.get(value.lower(), value)
        if not isinstance(value, bool):
            self._note((*at, name), f"{_told(value)} is neither true nor false.")
            return default
        return value

    def _version(self, data: Mapping[str, Any]) -> int:
        value = data.get("version", 1)
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**31:
            return value
        self._note(("version",), f"{_told(value)} is not the number of a version: 1, 2 or higher.")
        return 1

    def _note(self, path: Path, sentence: str) -> None:
        self.problems.append(Problem(path, sentence))


def _about(kind: str, question: QuestionDefinition) -> QuestionDefinition:
    """Return a question that names its kind of item only where that is not its scheme's."""
    return replace(question, item_kind="") if question.item_kind == kind else question


def _told(value: Any) -> str:
    """Return a value that is at fault as a sentence begins with it."""
    if isinstance(value, Mapping | list | tuple):
        return "What stands here"
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else named(value)


def _same_number(value: Any, name: Any) -> bool:
    """Whether a name, as files write it, is a number's: 1.0 is 1."""
    try:
        return not isinstance(value, str | bool) and float(name) == value
    except (TypeError, ValueError, OverflowError):
        return False
