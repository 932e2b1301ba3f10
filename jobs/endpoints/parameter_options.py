"""Options of commands for the sampling parameters, made from their table."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.core.management.base import CommandParser

from jobs.endpoints.parameters import PARAMETERS, Parameter


def add_parameters(parser: CommandParser, of: str = "", *, leave: Collection[str] = ()) -> None:
    """Add one option for each parameter: `--top-p 0.1`; `--stop` may be repeated.

    Those of another model are named after it: `--improver-top-p` where `of` is `improver`. Those to `leave`
    the command names itself.
    """
    whose = f" of the {of}" if of else ""
    group = parser.add_argument_group(f"sampling parameters{whose}", "sent to the model only where given")
    for one in (one for name, one in PARAMETERS.items() if name not in leave):
        group.add_argument(f"--{_named(of, one.name).replace('_', '-')}", **_how(one))


def parameters_from_options(options: Mapping[str, Any], of: str = "") -> dict[str, Any]:
    """Return the parameters that the options give, still unchecked."""
    given = {name: options.get(_named(of, name)) for name in PARAMETERS}
    return {name: value for name, value in given.items() if value is not None}


def _named(of: str, name: str) -> str:
    return f"{of}_{name}" if of else name


def _how(one: Parameter) -> dict[str, Any]:
    how: dict[str, Any] = {"help": one.help.replace("%", "%%")}
    if one.kind == "yes":
        return how | {"action": "store_true", "default": None}
    if one.kind == "texts":
        return how | {"action": "append", "metavar": "TEXT", "help": "a text that ends a reply; at most four"}
    if one.kind == "choice":
        return how | {"choices": one.choices}
    return how | {"type": float if one.kind == "number" else int}
