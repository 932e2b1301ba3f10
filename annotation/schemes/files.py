"""A scheme as a human-written file: YAML or JSON with the fields of the definitions.

    scheme: politeness
    title: How polite is the response?
    item_kind: turn
    questions:
    - key: polite
      wording: How polite is it?
      level: ordinal
      values: [1, 2, 3]
      anchors: {1: rude, 3: polite}

Written files are read back as the same definition. An unreadable file reports all its errors at once.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from difflib import get_close_matches
from typing import Any, Literal, NoReturn

from annotation.errors import SchemeRefused
from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition, plain
from annotation.schemes.rules import (
    MOST_QUESTIONS,
    MOST_VALUES,
    Path,
    Problem,
    is_number,
    place,
    problems,
    quoted,
)
from annotation.text.yaml_tree import DEEPEST, MOST_BYTES, BadFile, Tree, dump, parse

# Reading a scheme's fields from plain data: every invalid field is reported, none is guessed.

SCHEME = ("scheme", *(field.name for field in fields(SchemeDefinition)))
QUESTION = tuple(field.name for field in fields(QuestionDefinition))
WORDS = {"yes": True, "on": True, "true": True, "no": False, "off": False, "false": False}
NOTHING = QuestionDefinition(key="", wording="", level="text")
"""Placeholder for an unreadable question, so that the others keep their numbers."""


class Reader:
    """Reads a scheme from plain data; `problems` lists the unreadable fields."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self.problems: list[Problem] = []

    def is_at_fault(self, path: Path) -> bool:
        """Whether a field, a part of it or its parent could not be read."""
        return any(
            path[: len(problem.path)] == problem.path or problem.path[: len(path)] == path
            for problem in self.problems
        )

    def scheme(self) -> SchemeDefinition:
        """Return a definition of all readable fields; the others have their defaults."""
        data = self._mapping(self.data, (), "A scheme has names and values, such as title: Politeness.")
        self._note_unknown(data, SCHEME, ())
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
            questions=tuple(_about(kind, question) for question in self._questions(data)),
            about_open=self._flag(data, "about_open", (), False),
            one_conversation=self._flag(data, "one_conversation", (), False),
            **texts,
        )

    def _questions(self, data: Mapping[str, Any]) -> tuple[QuestionDefinition, ...]:
        rows = data.get("questions") or []
        if not isinstance(rows, list | tuple):
            self._note(("questions",), "The questions are a list: write each after a dash.")
            return ()
        if len(rows) > MOST_QUESTIONS:
            message = f"There are {len(rows):,} questions; at most {MOST_QUESTIONS} are taken."
            self._note(("questions",), message)
        return tuple(self._question(row, ("questions", n)) for n, row in enumerate(rows[:MOST_QUESTIONS]))

    def _question(self, data: Any, at: Path) -> QuestionDefinition:
        if not isinstance(data, Mapping):
            self._note(at, "A question has names and values, such as key: polite.")
            return NOTHING
        self._note_unknown(data, QUESTION, at)
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
            short_name=self._text(data, "short_name", at),
        )

    def _evidence(self, data: Mapping[str, Any], at: Path) -> str:
        """Return the evidence setting; `none` means the same as no value."""
        evidence = self._text(data, "evidence", at)
        return "" if evidence == "none" else evidence

    def _values(self, data: Mapping[str, Any], at: Path, name: str = "values") -> tuple[Any, ...]:
        values = data.get(name)
        if values is None:
            return ()
        if not isinstance(values, list | tuple):
            self._note((*at, name), "The values are a list, such as [1, 2, 3].")
            return ()
        return tuple(
            plain(value) if isinstance(value, float) else value for value in values[: MOST_VALUES + 1]
        )

    def _anchors(self, data: Mapping[str, Any], values: tuple[Any, ...], at: Path) -> dict[Any, str]:
        path = (*at, "anchors")
        wordings = self._mapping(data.get("anchors") or {}, path, "Anchors word values, such as {1: rude}.")
        anchors: dict[Any, str] = {}
        if len(wordings) > MOST_VALUES:
            self._note(path, f"There are {len(wordings):,} anchors; at most {MOST_VALUES} are taken.")
            return anchors
        for name, text in wordings.items():
            value = next(
                (
                    candidate
                    for candidate in values
                    if str(candidate) == str(name) or _same_number(candidate, name)
                ),
                str(name),
            )
            if value in anchors:
                self._note((*path, str(name)), f"{quoted(value)} is worded twice.")
            elif not isinstance(text, str):
                self._note((*path, str(name)), f"{_quote_value(text)} is not a text: write it in quotes.")
            else:
                anchors[value] = text
        return anchors

    def _help(self, data: Mapping[str, Any], at: Path) -> dict[str, str]:
        path = (*at, "help")
        texts = self._mapping(
            data.get("help") or {}, path, "Help has names and texts, such as definition: ..."
        )
        return {str(name): self._text(texts, name, path) for name in texts if texts[name] is not None}

    def _condition(self, data: Mapping[str, Any], at: Path) -> dict[str, Any] | None:
        if data.get("show_if") is None:
            return None
        path = (*at, "show_if")
        message = "It has a question and min, max or in, such as {question: polite, max: 2}."
        condition = self._mapping(data["show_if"], path, message)
        plainly = {
            str(name): [plain(item) if isinstance(item, float) else item for item in value]
            if isinstance(value, list | tuple)
            else plain(value)
            if isinstance(value, float)
            else value
            for name, value in condition.items()
            if value is not None
        }
        return plainly

    def _note_unknown(self, data: Mapping[str, Any], names: tuple[str, ...], at: Path) -> None:
        for name in data:
            if name not in names:
                near = get_close_matches(str(name)[:40], names, n=1)
                hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}."
                self._note((*at, str(name)), f"There is no field {quoted(name)}: {hint}")

    def _mapping(self, value: Any, at: Path, message: str) -> Mapping[str, Any]:
        if isinstance(value, Mapping):
            return value
        self._note(at, message)
        return {}

    def _text(self, data: Mapping[str, Any], name: str, at: Path, digits: bool = False) -> str:
        value = data.get(name)
        if value is None:
            return ""
        if digits and isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str):
            self._note((*at, name), f"{_quote_value(value)} is not a text: write it in quotes.")
            return ""
        return value

    def _number(self, data: Mapping[str, Any], name: str, at: Path) -> float | None:
        value = data.get(name)
        if value is None or is_number(value):
            return plain(value)
        self._note((*at, name), f"{_quote_value(value)} is not a number between -10^15 and 10^15.")
        return None

    def _flag(self, data: Mapping[str, Any], name: str, at: Path, default: bool) -> bool:
        value = data.get(name)
        if value is None:
            return default
        if isinstance(value, str):
            value = WORDS.get(value.lower(), value)
        if not isinstance(value, bool):
            self._note((*at, name), f"{_quote_value(value)} is neither true nor false.")
            return default
        return value

    def _version(self, data: Mapping[str, Any]) -> int:
        value = data.get("version", 1)
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**31:
            return value
        self._note(("version",), f"{_quote_value(value)} is not the number of a version: 1, 2 or higher.")
        return 1

    def _note(self, path: Path, sentence: str) -> None:
        self.problems.append(Problem(path, sentence))


def _about(kind: str, question: QuestionDefinition) -> QuestionDefinition:
    """Return a question that names its kind of item only where it differs from its scheme's."""
    return replace(question, item_kind="") if question.item_kind == kind else question


def _quote_value(value: Any) -> str:
    """Quote an invalid value at the beginning of a sentence."""
    if isinstance(value, Mapping | list | tuple):
        return "What stands here"
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else quoted(value)


def _same_number(value: Any, name: Any) -> bool:
    """Whether a name, as files write it, equals a number: 1.0 is 1."""
    try:
        return not isinstance(value, str | bool) and float(name) == value
    except (TypeError, ValueError, OverflowError):
        return False


# Differences between two versions of a scheme, as sentences.

Kind = Literal["added", "removed", "moved", "changed"]
NO_DIFFERENCE = "nothing"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: a question added, removed or moved, or a field (without `question`, the scheme's)."""

    kind: Kind
    question: str
    field: str = ""
    before: str = ""
    after: str = ""

    def __str__(self) -> str:
        subject = f"Question {self.question}" if self.question else "Scheme"
        if self.kind == "changed":
            return f"{subject}, {self.field}: {self.before} → {self.after}"
        if self.kind == "moved":
            return f"{subject} moved from place {self.before} to place {self.after}"
        return f"{subject} {self.kind}: {self.after or self.before}"


def difference(before: SchemeDefinition, after: SchemeDefinition) -> list[Change]:
    """Return the changes: the scheme's own fields, then questions removed, added, moved and changed.

    Questions are the same where their keys are; keys and numbers of the versions are not compared.
    """
    old = {question.key: question for question in before.questions}
    new = {question.key: question for question in after.questions}
    return [
        *_fields(before, after, "", leave_out=("key", "version", "questions")),
        *(
            Change("removed", key, before=_display_value(question.wording))
            for key, question in old.items()
            if key not in new
        ),
        *(
            Change("added", key, after=_display_value(question.wording))
            for key, question in new.items()
            if key not in old
        ),
        *_moves(list(old), list(new)),
        *(change for key in new if key in old for change in _fields(old[key], new[key], key)),
    ]


def _fields(before: Any, after: Any, question: str, leave_out: Sequence[str] = ("key",)) -> Iterator[Change]:
    for field in fields(before):
        was, now = getattr(before, field.name), getattr(after, field.name)
        if field.name in leave_out or was == now:
            continue
        if isinstance(was, Mapping) and isinstance(now, Mapping):
            for name in dict.fromkeys([*was, *now]):
                if was.get(name) != now.get(name):
                    yield _changed(question, f"{field.name} {name}", was.get(name), now.get(name))
        else:
            yield _changed(question, field.name, was, now)


def _changed(question: str, field: str, was: Any, now: Any) -> Change:
    return Change("changed", question, field, _display_value(was), _display_value(now))


def _moves(old: list[str], new: list[str]) -> Iterator[Change]:
    """Yield the smallest set of moved questions that turns one order into the other; places count from 1."""
    shared = [key for key in new if key in old]
    positions = [old.index(key) for key in shared]
    unmoved = _longest_rising(positions)
    for key, position in zip(shared, positions, strict=True):
        if position not in unmoved:
            yield Change("moved", key, before=str(position + 1), after=str(new.index(key) + 1))


def _longest_rising(numbers: Sequence[int]) -> set[int]:
    """Return the members of a longest rising subsequence of distinct numbers (patience sorting)."""
    ends: list[int] = []
    previous: dict[int, int | None] = {}
    for number in numbers:
        at = bisect_left(ends, number)
        previous[number] = ends[at - 1] if at else None
        ends[at : at + 1] = [number]
    members: set[int] = set()
    last = ends[-1] if ends else None
    while last is not None:
        members.add(last)
        last = previous[last]
    return members


def _display_value(value: Any) -> str:
    """Return a field's value for a sentence."""
    if value is None or value in ("", ()) or value == {}:
        return NO_DIFFERENCE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_display_value(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_display_value(part) for part in value)
    return f"“{value}”" if isinstance(value, str) else str(value)


MOST_DIGITS = 40


def definition_from(data: Any, lines: Tree | None = None) -> SchemeDefinition:
    """Build the valid definition of a plain mapping (`lines`: of its file).

    Raises SchemeRefused with all problems at once: of fields, and violated rules among the others.
    """
    reader = Reader(data)
    definition = reader.scheme()
    faults = [
        *reader.problems,
        *(problem for problem in problems(definition) if not reader.is_at_fault(problem.path)),
    ]
    if faults:
        faults.sort(
            key=lambda problem: (
                problem.path[1] if problem.path[:1] == ("questions",) and problem.path[1:] else -1
            )
        )
        raise SchemeRefused([_placed(problem, definition, lines) for problem in faults])
    return definition


def read(text: str | bytes) -> SchemeDefinition:
    """Read a definition from a YAML or JSON text; raise SchemeRefused with all its problems."""
    try:
        tree = _tree(text)
    except BadFile as error:
        where, _, why = str(error).partition(": ")
        raise SchemeRefused([Problem((), f"{why[:1].upper()}{why[1:]}.", where)]) from None
    return definition_from(tree.value, tree)


def write(definition: SchemeDefinition) -> str:
    """Return a definition as YAML: only fields that differ from their defaults."""
    return dump(as_plain(definition))


def as_plain(definition: SchemeDefinition) -> dict[str, Any]:
    """Return a definition as a plain mapping, which `definition_from` reads as the same definition."""
    mapping = {"scheme": definition.key} | _set(definition, leave_out=("key", "questions"))
    return mapping | {"questions": [_set(question) for question in definition.questions]}


def _set(definition: Any, leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the fields that differ from their defaults."""
    changed = {}
    for field in fields(definition):
        value = getattr(definition, field.name)
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        if field.name not in leave_out and value != default:
            changed[field.name] = list(value) if isinstance(value, tuple) else value
    return {name: dict(value) if isinstance(value, Mapping) else value for name, value in changed.items()}


def _placed(problem: Problem, definition: SchemeDefinition, lines: Tree | None) -> Problem:
    """Return a problem with its place in words, and with the line of its field where there is a file."""
    path, key = problem.path, ""
    if len(path) > 1 and path[0] == "questions" and int(path[1]) < len(definition.questions):
        key = definition.questions[int(path[1])].key
    line = lines.line(*_in_file(path, lines)) if lines else None
    return Problem(path, problem.sentence, place(path, key, line))


def _in_file(path: tuple[str | int, ...], lines: Tree) -> tuple[str | int, ...]:
    """Return a path as in the file, which may use `scheme` for the scheme's key."""
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
    """Return the tree of a JSON text, None for a text that turns out to be YAML."""
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise BadFile(f"line 1: the file has more than {MOST_BYTES >> 20} MiB")
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_refused, parse_int=_parse_integer)
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
        return Tree(value)  # JSON that YAML does not read, such as lone surrogates: no lines are known


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for name, value in pairs:
        if name in mapping:
            raise BadFile(f"line 1: {name[:60]!r} is there twice")
        mapping[name] = value
    return mapping


def _check_depth(value: Any, levels: int) -> None:
    if levels < 0:
        raise BadFile(f"line 1: nested more than {DEEPEST} levels deep")
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_depth(part, levels - 1)


def _refused(name: str) -> NoReturn:
    raise BadFile(f"line 1: {name} is not a number that can be an answer")


def _parse_integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise BadFile(f"line 1: a number of {len(digits)} digits")
    return int(digits)
