"""What somebody asks for when a benchmark is to be made, checked without reading corpora."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from jobs.endpoints import parameters
from systems.benchmarks.choosing import Wanted
from systems.errors import SystemsError
from systems.generators import GENERATORS, WrongSettings

METADATA, CUT, SUMMARY, CLEANING = "metadata", "cut", "summary", "cleaning"
STEPS = (METADATA, CUT, SUMMARY)
GENERATOR = {step: f"cocoeval_{step}" for step in (CLEANING, METADATA, SUMMARY)}
MOST = 100_000
LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked for.

    `steps` are some of STEPS, the cut among them. With `clean` the sources that `verbatim` names are cleaned
    first, all of them where it names none. `part_tokens` is the generator's setting, `parameters` are those
    of sampling.
    """

    per_source: int
    train: int = 0
    train_sources: tuple[str, ...] = ()
    per_conversation: int = 1
    seed: int = 0
    steps: tuple[str, ...] = STEPS
    clean: bool = False
    verbatim: tuple[str, ...] = ()
    part_tokens: int = 60_000
    parameters: Mapping[str, Any] = field(default_factory=dict)
    allow_fewer: bool = False

    def checked(self) -> Order:
        """Return it, its steps in order; raise SystemsError for what cannot be."""
        for name, low, high in (
            ("per_source", 0, MOST),
            ("train", 0, MOST),
            ("per_conversation", 1, MOST),
            ("seed", 0, LARGEST_SEED),
        ):
            if not low <= getattr(self, name) <= high:
                raise SystemsError(f"{_option(name)}: must be between {low} and {high:,}.")
        if not self.per_source + self.train:
            raise SystemsError("per-source and train are both 0: there is nothing to make.")
        if unknown := [step for step in self.steps if step not in STEPS]:
            raise SystemsError(f"steps: there is no step {unknown[0]!r}; there are {', '.join(STEPS)}.")
        if CUT not in self.steps:
            raise SystemsError("steps: without the cut there is no benchmark; name it, too.")
        if self.verbatim and not self.clean:
            raise SystemsError("verbatim: names what is cleaned, so clean has to be given, too.")
        if self.train_sources and not self.train:
            raise SystemsError("train-from: says where training comes from, so train has to be given, too.")
        try:
            GENERATORS[GENERATOR[METADATA]].resolved(self.settings(METADATA))
        except WrongSettings as error:
            raise SystemsError(str(error)) from None
        told = asdict(self) | {
            "steps": tuple(step for step in STEPS if step in self.steps),
            "parameters": parameters.checked(self.parameters),
            "verbatim": tuple(sorted(set(self.verbatim))),
            "train_sources": tuple(sorted(set(self.train_sources))),
        }
        return Order(**told)

    @property
    def asks(self) -> bool:
        """Whether a model is asked at any step."""
        return self.clean or METADATA in self.steps or SUMMARY in self.steps

    @property
    def wanted(self) -> Wanted:
        """How many instances."""
        return Wanted(
            self.per_source, self.train, self.train_sources, self.per_conversation, self.allow_fewer
        )

    def cleans(self, source: str) -> bool:
        """Whether conversations of a source are cleaned."""
        return self.clean and (not self.verbatim or source in self.verbatim)

    def settings(self, step: str) -> dict[str, Any]:
        """Return the settings of a step's generator that are asked for."""
        return {"part_tokens": self.part_tokens} if step == METADATA else {}

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()
        }

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Order:
        """Return the order that `as_json` wrote."""
        known = {one.name for one in fields(cls)}
        given: dict[str, Any] = {name: value for name, value in told.items() if name in known}
        lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
        return cls(**(given | lists))


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return in words how two orders differ, '' for none. Whether fewer are allowed may change."""
    names = sorted((set(one) | set(other)) - {"allow_fewer"})
    return "; ".join(
        f"{_option(name)} was {_told(one.get(name))} and is {_told(other.get(name))}"
        for name in names
        if one.get(name) != other.get(name)
    )


def _option(name: str) -> str:
    return "train-from" if name == "train_sources" else name.replace("_", "-")


def _told(value: Any) -> str:
    return ", ".join(map(str, value)) or "not given" if isinstance(value, Sequence | Mapping) else str(value)
