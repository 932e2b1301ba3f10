"""What a probe may say of itself beside its key: its parameters, read strictly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from annotation.formats.fields import Fields
from annotation.formats.problems import ImportProblem

Read = Callable[[Fields, str], None]


def parameters(fields: Fields, known: frozenset[str], facts: frozenset[str]) -> Mapping[str, Any]:
    """Return a probe's `parameters`; raise ImportProblem for one that there is not, or with a wrong value.

    `known` are the ids of the participants, `facts` those of the common ground.
    """
    found = fields.object("parameters")
    own = Fields(found, fields.at("parameters"), frozenset(PARAMETERS))
    for name in found:
        PARAMETERS[name](own, name)
    for person in found.get("quiet", ()):
        if person not in known:
            raise own.problem("quiet", f"{person!r} is not the id of a participant")
    if "fact" in found and found["fact"] not in facts:
        raise own.problem("fact", f"{found['fact']!r} is not the id of a fact in common_ground")
    return found


def _flag(fields: Fields, name: str) -> None:
    fields.flag(name)


def _text(fields: Fields, name: str) -> None:
    fields.id(name)


def _several(fields: Fields, name: str) -> None:
    found = fields.texts(name)
    if not found or not all(one.strip() for one in found):
        raise fields.problem(name, "must be a list of texts, none of them empty")


def _one_or_several(fields: Fields, name: str) -> None:
    if isinstance(fields.raw[name], str) and fields.raw[name].strip():
        return
    _several(fields, name)


def _number(fields: Fields, name: str) -> None:
    if not fields.count(name):
        raise ImportProblem("must be a whole number from 1", field=fields.at(name))


PARAMETERS: dict[str, Read] = {
    "candidates": _several,
    "both": _flag,
    "truth": _one_or_several,
    "right": _one_or_several,
    "wrong": _one_or_several,
    "false_correction": _flag,
    "fact": _text,
    "quiet": _several,
    "silent_for": _number,
    "window": _number,
}
"""What a probe may say, and how it is read."""
