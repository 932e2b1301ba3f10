"""Error models from JSON: the built-in ones by name, a researcher's own from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from demo.fake_model.errors import (
    BY_QUESTION,
    CHANCES,
    OTHERS,
    PLAIN,
    Amounts,
    ErrorModel,
    Phrase,
    RoleErrors,
)
from demo.fake_model.misbehaving import misbehaviour
from demo.fake_model.problems import ErrorFileProblem, check_keys, number, texts
from demo.fake_model.roles import ROLES

FOLDER = Path(__file__).parent / "models"


def built_in() -> list[str]:
    """Return the names of the built-in error models."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def load(name: str) -> ErrorModel:
    """Return a built-in error model by name, or the one in a file.

    Raises ErrorFileProblem with one line: which key, what is wrong, or which names there are.
    """
    path = FOLDER / f"{name}.json" if name in built_in() else Path(name)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ErrorFileProblem(
            f"{name}: there is no such file and no such error model; there are {', '.join(built_in())}"
        ) from None
    except OSError as error:
        raise ErrorFileProblem(f"{name}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise ErrorFileProblem(f"{name}: not valid JSON ({str(error)[:200]})") from None
    try:
        return parse(data)
    except ErrorFileProblem as problem:
        raise ErrorFileProblem(f"{name}: {problem}") from None


def parse(data: Any) -> ErrorModel:
    """Return the error model of a JSON value; raise ErrorFileProblem that names the key."""
    check_keys(data, "", ("about", "roles", "phrases", "proposals", "misbehaviours"))
    roles = data.get("roles", {})
    check_keys(roles, "roles", (*ROLES, OTHERS))
    listed = {name: data.get(name, []) for name in ("phrases", "misbehaviours")}
    for name, value in listed.items():
        if not isinstance(value, list):
            raise ErrorFileProblem(f"{name}: a list is needed")
    return ErrorModel(
        {role: _errors(value, f"roles.{role}", role) for role, value in roles.items()},
        tuple(_phrase(value, f"phrases[{i}]", tuple(ROLES)) for i, value in enumerate(listed["phrases"])),
        texts(data.get("proposals", []), "proposals"),
        tuple(
            misbehaviour(value, f"misbehaviours[{i}]", tuple(ROLES))
            for i, value in enumerate(listed["misbehaviours"])
        ),
    )


def _errors(value: Any, where: str, role: str) -> RoleErrors:
    own = ROLES[role].own_keys if role in ROLES else {}
    check_keys(value, where, (*BY_QUESTION, *PLAIN, *own))
    fields: dict[str, Any] = {
        name: _amounts(value[name], f"{where}.{name}", chance=name in CHANCES)
        for name in BY_QUESTION
        if name in value
    }
    for name in PLAIN:
        if name in value:
            fields[name] = number(value[name], f"{where}.{name}", *_limits(name in CHANCES))
    found = {name: read(value[name], f"{where}.{name}") for name, read in own.items() if name in value}
    return RoleErrors(**fields, own=found)


def _phrase(value: Any, where: str, known: tuple[str, ...]) -> Phrase:
    check_keys(value, where, ("text", "roles", *BY_QUESTION))
    text = value.get("text")
    if not isinstance(text, str) or not text.strip():
        raise ErrorFileProblem(f"{where}.text: the sentence is needed")
    roles = texts(value.get("roles", []), f"{where}.roles", known)
    amounts = {
        name: _amounts(value[name], f"{where}.{name}", chance=False) for name in BY_QUESTION if name in value
    }
    return Phrase(text, roles, amounts)


def _amounts(value: Any, where: str, *, chance: bool) -> Amounts:
    limits = _limits(chance)
    if not isinstance(value, dict):
        return {OTHERS: number(value, where, *limits)}
    return {str(key): number(one, f"{where}.{key}", *limits) for key, one in value.items()}


def _limits(chance: bool) -> tuple[float, float]:
    return (0.0, 1.0) if chance else (-100.0, 100.0)
