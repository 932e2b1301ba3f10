"""A scheme as a file that people write: YAML or JSON with the fields of the definitions.

    scheme: politeness
    title: How polite is the response?
    item_kind: turn
    questions:
    - key: polite
      wording: How polite is it?
      level: ordinal
      values: [1, 2, 3]
      anchors: {1: rude, 3: polite}

What is written is read again as the same definition. A file that cannot be read says every place at once.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from difflib import get_close_matches
from typing import Any, Literal, NoReturn

from annotation.errors import SchemeRefused
from annotation.schemes.base import QuestionDefinition, SchemeDefinition, plain
from annotation.schemes.rules import (
    MOST_QUESTIONS,
    MOST_VALUES,
    Path,
    Problem,
    is_number,
    named,
    place,
    problems,
)
from annotation.text.yaml_tree import DEEPEST, MOST_BYTES, BadFile, Tree, dump, parse

# Reading a scheme's fields from plain data: each that is not what it should be is noted, none guessed.

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
                self._note((*path, str(name)), f"{_told_of_fields(text)} is not a text: write it in quotes.")
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
            self._note((*at, name), f"{_told_of_fields(value)} is not a text: write it in quotes.")
            return ""
        return value

    def _number(self, data: Mapping[str, Any], name: str, at: Path) -> float | None:
        value = data.get(name)
        if value is None or is_number(value):
            return plain(value)
        self._note((*at, name), f"{_told_of_fields(value)} is not a number between -10^15 and 10^15.")
        return None

    def _flag(self, data: Mapping[str, Any], name: str, at: Path, default: bool) -> bool:
        value = data.get(name)
        if value is None:
            return default
        if isinstance(value, str):
            value = WORDS.get(value.lower(), value)
        if not isinstance(value, bool):
            self._note((*at, name), f"{_told_of_fields(value)} is neither true nor false.")
            return default
        return value

    def _version(self, data: Mapping[str, Any]) -> int:
        value = data.get("version", 1)
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**31:
            return value
        self._note(("version",), f"{_told_of_fields(value)} is not the number of a version: 1, 2 or higher.")
        return 1

    def _note(self, path: Path, sentence: str) -> None:
        self.problems.append(Problem(path, sentence))


def _about(kind: str, question: QuestionDefinition) -> QuestionDefinition:
    """Return a question that names its kind of item only where that is not its scheme's."""
    return replace(question, item_kind="") if question.item_kind == kind else question


def _told_of_fields(value: Any) -> str:
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


# What two versions of a scheme differ by, as sentences.

Kind = Literal["added", "removed", "moved", "changed"]
NO_DIFFERENCE = "nothing"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: a question that came, went or moved, or a field (without `question`, the scheme's)."""

    kind: Kind
    question: str
    field: str = ""
    before: str = ""
    after: str = ""

    def __str__(self) -> str:
        who = f"Question {self.question}" if self.question else "Scheme"
        if self.kind == "changed":
            return f"{who}, {self.field}: {self.before} → {self.after}"
        if self.kind == "moved":
            return f"{who} moved from place {self.before} to place {self.after}"
        return f"{who} {self.kind}: {self.after or self.before}"


def difference(before: SchemeDefinition, after: SchemeDefinition) -> list[Change]:
    """Return what changed: the scheme's own fields, then questions removed, added, moved and changed.

    Questions are the same where their keys are; keys and numbers of the versions are not compared.
    """
    old = {question.key: question for question in before.questions}
    new = {question.key: question for question in after.questions}
    return [
        *_fields(before, after, "", leave_out=("key", "version", "questions")),
        *(Change("removed", key, before=_told(one.wording)) for key, one in old.items() if key not in new),
        *(Change("added", key, after=_told(one.wording)) for key, one in new.items() if key not in old),
        *_moves(list(old), list(new)),
        *(change for key in new if key in old for change in _fields(old[key], new[key], key)),
    ]


def _fields(before: Any, after: Any, question: str, leave_out: Sequence[str] = ("key",)) -> Iterator[Change]:
    for one in fields(before):
        was, now = getattr(before, one.name), getattr(after, one.name)
        if one.name in leave_out or was == now:
            continue
        if isinstance(was, Mapping) and isinstance(now, Mapping):
            for name in dict.fromkeys([*was, *now]):
                if was.get(name) != now.get(name):
                    yield _changed(question, f"{one.name} {name}", was.get(name), now.get(name))
        else:
            yield _changed(question, one.name, was, now)


def _changed(question: str, field: str, was: Any, now: Any) -> Change:
    return Change("changed", question, field, _told(was), _told(now))


def _moves(old: list[str], new: list[str]) -> Iterator[Change]:
    """Yield the fewest questions whose moving makes one order the other; places count from 1 in the whole."""
    shared = [key for key in new if key in old]
    positions = [old.index(key) for key in shared]
    staying = _longest_rising(positions)
    for key, position in zip(shared, positions, strict=True):
        if position not in staying:
            yield Change("moved", key, before=str(position + 1), after=str(new.index(key) + 1))


def _longest_rising(numbers: Sequence[int]) -> set[int]:
    """Return the members of a longest rising subsequence of distinct numbers (patience sorting)."""
    ends: list[int] = []
    previous: dict[int, int | None] = {}
    for number in numbers:
        at = bisect_left(ends, number)
        previous[number] = ends[at - 1] if at else None
        ends[at : at + 1] = [number]
    found: set[int] = set()
    last = ends[-1] if ends else None
    while last is not None:
        found.add(last)
        last = previous[last]
    return found


def _told(value: Any) -> str:
    """Return a field's value as a sentence shows it."""
    if value is None or value in ("", ()) or value == {}:
        return NO_DIFFERENCE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_told(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_told(one) for one in value)
    return f"“{value}”" if isinstance(value, str) else str(value)


MOST_DIGITS = 40


def definition_from(data: Any, lines: Tree | None = None) -> SchemeDefinition:
    """Return the definition of a plain mapping (`lines`: of the file it comes from) that keeps every rule.

    Raises SchemeRefused with all problems at once: of fields, and of what the rules say of the others.
    """
    reader = Reader(data)
    made = reader.scheme()
    found = [*reader.problems, *(one for one in problems(made) if not reader.is_at_fault(one.path))]
    if found:
        found.sort(key=lambda one: one.path[1] if one.path[:1] == ("questions",) and one.path[1:] else -1)
        raise SchemeRefused([_placed(one, made, lines) for one in found])
    return made


def read(text: str | bytes) -> SchemeDefinition:
    """Return the definition that a YAML or JSON text holds; raise SchemeRefused with all its problems."""
    try:
        tree = _tree(text)
    except BadFile as error:
        where, _, why = str(error).partition(": ")
        raise SchemeRefused([Problem((), f"{why[:1].upper()}{why[1:]}.", where)]) from None
    return definition_from(tree.value, tree)


def write(definition: SchemeDefinition) -> str:
    """Return a definition as YAML: what differs from the defaults."""
    return dump(as_plain(definition))


def as_plain(definition: SchemeDefinition) -> dict[str, Any]:
    """Return a definition as a plain mapping, which `definition_from` reads as the same definition."""
    told = {"scheme": definition.key} | _set(definition, leave_out=("key", "questions"))
    return told | {"questions": [_set(question) for question in definition.questions]}


def _set(definition: Any, leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the fields that have another value than they would have anyway."""
    told = {}
    for one in fields(definition):
        value = getattr(definition, one.name)
        default = one.default_factory() if one.default_factory is not MISSING else one.default
        if one.name not in leave_out and value != default:
            told[one.name] = list(value) if isinstance(value, tuple) else value
    return {name: dict(value) if isinstance(value, Mapping) else value for name, value in told.items()}


def _placed(problem: Problem, made: SchemeDefinition, lines: Tree | None) -> Problem:
    """Return a problem with its place in words, and with the line of its field where there is a file."""
    path, key = problem.path, ""
    if len(path) > 1 and path[0] == "questions" and int(path[1]) < len(made.questions):
        key = made.questions[int(path[1])].key
    line = lines.line(*_in_file(path, lines)) if lines else None
    return Problem(path, problem.sentence, place(path, key, line))


def _in_file(path: tuple[str | int, ...], lines: Tree) -> tuple[str | int, ...]:
    """Return a path as the file has it, which may call the scheme's key `scheme`."""
    return ("scheme",) if path == ("key",) and ("key",) not in lines.lines else path


def _tree(text: str | bytes) -> Tree:
    if isinstance(text, bytes):
        text = _decoded(text)
    text = text.removeprefix("\ufeff")
    return (_json(text) if text.lstrip()[:1] == "{" else None) or parse(text, core=True)


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadFile(f"line {line}: the file is not in UTF-8") from None


def _json(text: str) -> Tree | None:
    """Return the tree of a JSON text, None for a text that is YAML after all."""
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise BadFile(f"line 1: the file has more than {MOST_BYTES >> 20} MiB")
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_refused, parse_int=_whole)
    except RecursionError:
        raise BadFile(f"line 1: nested more than {DEEPEST} levels deep") from None
    except BadFile:
        raise
    except ValueError:
        return None
    _check_depth(value, DEEPEST)
    try:
        return Tree(value, parse(text, core=True).lines)
    except BadFile:
        return Tree(value)  # JSON that YAML does not read, such as halves of a character: no lines are known


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise BadFile(f"line 1: {name[:60]!r} is there twice")
        found[name] = value
    return found


def _check_depth(value: Any, left: int) -> None:
    if left < 0:
        raise BadFile(f"line 1: nested more than {DEEPEST} levels deep")
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_depth(part, left - 1)


def _refused(name: str) -> NoReturn:
    raise BadFile(f"line 1: {name} is not a number that can be an answer")


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise BadFile(f"line 1: a number of {len(digits)} digits")
    return int(digits)
