"""Options of commands for the sampling parameters, made from their table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from jobs.endpoints.parameters import PARAMETERS, Parameter


def add_parameters(parser: CommandParser) -> None:
    """Add one option for each parameter: `--top-p 0.1`; `--stop` may be repeated."""
    group = parser.add_argument_group("sampling parameters", "sent to the model only where given")
    for one in PARAMETERS.values():
        group.add_argument(f"--{one.name.replace('_', '-')}", **_how(one))


def told(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that the options give, still unchecked."""
    return {name: options[name] for name in PARAMETERS if options.get(name) is not None}


def _how(one: Parameter) -> dict[str, Any]:
    how: dict[str, Any] = {"help": one.help.replace("%", "%%")}
    if one.kind == "yes":
        return how | {"action": "store_true", "default": None}
    if one.kind == "texts":
        return how | {"action": "append", "metavar": "TEXT", "help": "a text that ends a reply; at most four"}
    if one.kind == "choice":
        return how | {"choices": one.choices}
    return how | {"type": float if one.kind == "number" else int}
