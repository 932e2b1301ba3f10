"""What a study asks above its items: at which levels, of which units, and how the table is arranged.

    {"level": ["dialogue", "system"], "unit": "continuation", "reference": "mean(kind:human)",
     "system_score": "all_turns", "by": ["turns_per_call"], "p": "clustered", "shared_dialogues": false,
     "samples": ["first", "mean"], "heading": "source", "best_per": "model"}

Only `level` has to be there. These are keys of a study's definition (`calibration.reading.definitions`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from calibration.errors import DefinitionError
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.by_level.scored import LEVELS, Level
from calibration.statistics.by_level.types import Chosen as P
from calibration.statistics.by_level.types import Missing, SystemScore, Unit

Samples = Literal["first", "mean"]
Attribute = Literal["source", "kind", "model", "protocol"]

TURN: Level = "turn"
MISSING: tuple[Missing, ...] = get_args(Missing)
ATTRIBUTES: tuple[Attribute, ...] = get_args(Attribute)
KEYS = frozenset({"unit", "reference", "system_score", "by", "p", "shared_dialogues", "heading", "best_per"})
"""The keys that mean something in a study at levels alone; `level` and `samples` have other uses too."""
MOST_KEYS = 10


@dataclass(frozen=True, slots=True)
class Levels:
    """At which levels a study correlates, with every default filled in.

    `unit` is what the dialogue level counts: a continuation, or all continuations of one system for one
    dialogue. `reference` is MEAN_OF_PEOPLE or a rater's name. `by` are condition keys that, with the system,
    make a system. `samples` are the rows of a rater who answers repeatedly; none takes the study's policy.
    `heading` says by what rows are grouped, `best_per` within what a second best of a column is marked.
    """

    levels: tuple[Level, ...]
    unit: Unit = "continuation"
    reference: str = MEAN_OF_PEOPLE
    system_score: SystemScore = "all_turns"
    by: tuple[str, ...] = ()
    p: P = "clustered"
    shared_dialogues: bool = False
    samples: tuple[Samples, ...] = ()
    heading: Attribute = "source"
    best_per: Attribute | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the keys as definitions write them, `samples` left to the definition."""
        return {
            "level": list(self.levels),
            "unit": self.unit,
            "reference": self.reference,
            "system_score": self.system_score,
            "by": list(self.by),
            "p": self.p,
            "shared_dialogues": self.shared_dialogues,
            "heading": self.heading,
            "best_per": self.best_per,
        }


def parse(raw: Mapping[str, Any]) -> Levels | None:
    """Read the keys of a definition; None where it names no level. Raises DefinitionError with one line."""
    named = _levels(raw.get("level"))
    if not named:
        if foreign := sorted(key for key in KEYS if raw.get(key)):
            raise DefinitionError(
                f"{foreign[0]} belongs to a study at levels: name level, one or more of {', '.join(LEVELS)}"
            )
        return None
    shared = raw.get("shared_dialogues") or False
    if not isinstance(shared, bool):
        raise DefinitionError(f"shared_dialogues is true or false, not {shared!r}")
    reference = raw.get("reference") or MEAN_OF_PEOPLE
    if not isinstance(reference, str):
        raise DefinitionError(f"reference is {MEAN_OF_PEOPLE} or a rater's name, not {reference!r}")
    return Levels(
        named,
        unit=cast(Unit, _one_of("unit", raw, get_args(Unit))),
        reference=reference,
        system_score=cast(SystemScore, _one_of("system_score", raw, get_args(SystemScore))),
        by=_by(raw.get("by")),
        p=cast(P, _one_of("p", raw, get_args(P))),
        shared_dialogues=shared,
        samples=_samples(raw.get("samples")),
        heading=cast(Attribute, _one_of("heading", raw, ATTRIBUTES)),
        best_per=cast(Attribute, _one_of("best_per", raw, ATTRIBUTES)) if raw.get("best_per") else None,
    )


def missing_of(asked: Mapping[str, Any], links: Sequence[Mapping[str, Any]], where: str) -> Missing:
    """Read what a missing turn does to the means of a question and of those that answer it; skip unless told.

    Raises DefinitionError where two policies are named, or a way of aggregating other than the mean.
    """
    for link in links:
        _one_of("aggregate", link, ("mean",), where)
    named = {_one_of("missing", raw, MISSING, where) for raw in (asked, *links) if raw.get("missing")}
    if len(named) > 1:
        raise DefinitionError(f"{where}one table has one missing policy, not both skip and whole")
    return cast(Missing, named.pop() if named else MISSING[0])


def _levels(asked: Any) -> tuple[Level, ...]:
    """Return the levels named, in their order; none for a number, the confidence level of before."""
    if asked in (None, "") or isinstance(asked, int | float):
        return ()
    named = list(asked) if isinstance(asked, list | tuple) else [asked]
    if unknown := [name for name in named if name not in LEVELS]:
        raise DefinitionError(f"level is one or more of {', '.join(LEVELS)}, not {unknown[0]!r}")
    return tuple(level for level in LEVELS if level in named)


def _one_of(key: str, raw: Mapping[str, Any], choices: Sequence[str], where: str = "") -> str:
    """Return the choice that a key names; the first where it is left out."""
    value = raw.get(key)
    if value in (None, ""):
        return choices[0]
    if value not in choices:
        raise DefinitionError(f"{where}{key} is {' or '.join(choices)}, not {value!r}")
    return cast(str, value)


def _by(value: Any) -> tuple[str, ...]:
    if value in (None, ""):
        return ()
    keys = [value] if isinstance(value, str) else value
    if not isinstance(keys, list | tuple) or not all(isinstance(key, str) and key for key in keys):
        raise DefinitionError(f"by is a list of condition keys, not {value!r}")
    if len(keys) > MOST_KEYS:
        raise DefinitionError(f"by names {len(keys)} condition keys; at most {MOST_KEYS} make a system")
    return tuple(dict.fromkeys(keys))


def _samples(value: Any) -> tuple[Samples, ...]:
    """Return the policies of a list; one policy, or none, is the definition's own."""
    if not isinstance(value, list | tuple):
        return ()
    if unknown := [name for name in value if name not in get_args(Samples)]:
        raise DefinitionError(f"a list of samples holds first and mean, not {unknown[0]!r}")
    return tuple(dict.fromkeys(value))
