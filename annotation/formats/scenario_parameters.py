"""The parameters of a probe, read strictly: what a script says about its own trigger."""

from __future__ import annotations

from typing import Any

from annotation.formats.fields import Fields
from annotation.formats.problems import ImportProblem

TEXTS = ("candidates", "truth", "right", "wrong")
FLAGS = ("both", "false_correction")
COUNTS = ("window", "silent_for")
QUIET, FACT = "quiet", "fact"
KNOWN = frozenset([*TEXTS, *FLAGS, *COUNTS, QUIET, FACT])


def parameters(raw: Any, path: str, people: frozenset[str], facts: frozenset[str]) -> dict[str, Any]:
    """Return a probe's parameters as they stand; raise ImportProblem for one that is unknown or of no use.

    `people` are the ids of the participants, `facts` those of the common ground.
    """
    if raw is None:
        return {}
    fields = Fields(raw, path, KNOWN)
    for name in (one for one in (*TEXTS, QUIET) if one in fields.raw):
        _texts(fields, name)
    for name in FLAGS:
        fields.flag(name)
    for name in (one for one in COUNTS if one in fields.raw):
        if not fields.count(name):
            raise fields.problem(name, "must be a whole number from 1")
    strangers = [one for one in _texts(fields, QUIET) if one not in people] if QUIET in fields.raw else []
    if strangers:
        raise fields.problem(QUIET, f"{strangers[0]!r} is not the id of a participant")
    if FACT in fields.raw and fields.text(FACT) not in facts:
        raise fields.problem(FACT, f"{fields.text(FACT)!r} is not the id of a fact of common_ground")
    return dict(fields.raw)


def _texts(fields: Fields, name: str) -> tuple[str, ...]:
    """Return a list of texts, none of them empty; what has one alternative may be a text alone."""
    if type(fields.raw[name]) is str and name not in ("candidates", QUIET):
        found: tuple[str, ...] = (fields.raw[name],)
    else:
        found = fields.texts(name)
    if not found:
        raise fields.problem(name, "needs a text at least")
    for index, one in enumerate(found):
        if not one.strip():
            raise ImportProblem("is empty", field=f"{fields.at(name)}[{index}]")
    return found
