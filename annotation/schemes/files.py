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
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, NoReturn

from annotation.errors import SchemeRefused
from annotation.schemes.base import SchemeDefinition
from annotation.schemes.fields import Reader
from annotation.schemes.problems import Problem, place
from annotation.schemes.rules import problems
from annotation.text.yaml_tree import DEEPEST, MOST_BYTES, BadFile, Tree, dump, parse

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
