"""Reading the keys that roles have of their own in an error model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from demo.fake_model.problems import ErrorFileProblem, number


def one_chance(value: Any, where: str) -> float:
    """Return a chance of a JSON value; raise ErrorFileProblem that names the key."""
    return number(value, where, 0.0, 1.0)


def chances_of(names: Sequence[str]) -> Callable[[Any, str], Mapping[str, float]]:
    """Return what reads an object with a chance for some of the names, and refuses everything else."""

    def read(value: Any, where: str) -> Mapping[str, float]:
        if not isinstance(value, dict) or not value.keys() <= set(names):
            raise ErrorFileProblem(
                f"{where}: an object with chances is needed; its keys are {', '.join(names)}"
            )
        return {name: one_chance(one, f"{where}.{name}") for name, one in value.items()}

    return read
