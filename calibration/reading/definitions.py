"""What a study asks: its definition as it is written, and read with every default filled in.

    {"questions": [{"question": "fed_dialogue@1/overall",
                    "answered_by": [{"question": "fed_gpt4@1/ovr",
                                     "map": {"kind": "linear", "from": [1, 5], "to": [0, 4]}}]}],
     "raters": ["ann", "ben", "gpt-4"], "samples": "mean", "statistics": ["cohen_kappa", "mcc"],
     "resamples": 2000, "seed": 0, "confidence": 0.95, "interval": "percentile", "epsilon": 0.15,
     "split": "main", "panels": [{"rule": "median", "members": ["gpt-4", "m2", "m3"]}], "baselines": true,
     "leave_out": false, "preferences": {"ties": "half", "both_bad": "tie", "anchor": ""}}

Everything may be left out. Without `questions` the study is automatic: every question with two raters
or more. `level` with its keys makes it a study at levels (`calibration.reading.levels`); a number there is
the confidence level, as definitions of before wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from annotation.corpora.parts import TRAINING
from calibration.errors import DefinitionError, MapError
from calibration.reading import choices as choice_options
from calibration.reading import levels as level_options
from calibration.reading import panels as panel_options
from calibration.reading.choices import written_choices
from calibration.reading.levels import Levels, Missing
from calibration.reading.panels import PanelAsked
from calibration.reading.scale_maps import ScaleMap
from calibration.statistics import Plan
from calibration.statistics.preferences.report import Choices
from calibration.statistics.replacement import JUDGE_TESTS
from calibration.statistics.table import described

DEFAULT_STATISTICS = (
    "percent_agreement",
    "cohen_kappa",
    "cohen_kappa_quadratic",
    "mcc",
    "spearman",
    "krippendorff_alpha",
    *JUDGE_TESTS,
)
IDENTITY = ScaleMap()
KEYS = (
    {"questions", "raters", "samples", "statistics", "epsilon", "split"}
    | {"resamples", "seed", "confidence", "interval"}
    | {"level", *level_options.KEYS}
    | {"panels", "baselines", "leave_out", "preferences"}
)
EPSILON = 0.15
CHOICES = Choices()
SamplesPolicy = Literal["mean", "first", "separate"]


@dataclass(frozen=True, slots=True)
class AnsweredBy:
    """A question whose answers are read as answers to another one, through a map."""

    question: str
    map: ScaleMap = IDENTITY

    def as_dict(self) -> dict[str, Any]:
        """Return the link as definitions write it."""
        return {"question": self.question, "map": self.map.as_dict(), "aggregate": "mean"}


@dataclass(frozen=True, slots=True)
class StudyQuestion:
    """One question of a study, and which other questions answer it too.

    `missing` says what a turn without an answer does to means of turns, in a study at levels.
    """

    question: str
    answered_by: tuple[AnsweredBy, ...] = ()
    missing: Missing = "skip"

    def as_dict(self) -> dict[str, Any]:
        """Return the question as definitions write it."""
        answered_by = [link.as_dict() for link in self.answered_by]
        return {"question": self.question, "missing": self.missing, "answered_by": answered_by}


@dataclass(frozen=True)
class Definition:
    """A study's definition with its defaults filled in. No `questions` means automatic.

    `levels` is None in a study of items alone. `panels` are raters made of judges; `baselines` says whether
    judges stand above what answers without reading are worth; `leave_out` that people left out of gold
    are left out here, too. `preferences` say how votes on pairs and rankings are read.
    """

    questions: tuple[StudyQuestion, ...] = ()
    raters: tuple[str, ...] = ()
    samples: SamplesPolicy | None = None
    statistics: tuple[str, ...] = DEFAULT_STATISTICS
    plan: Plan = field(default_factory=Plan)
    epsilon: float = EPSILON
    split: str = ""
    levels: Levels | None = None
    panels: tuple[PanelAsked, ...] = ()
    baselines: bool = True
    leave_out: bool = False
    preferences: Choices = CHOICES

    @property
    def is_of_training(self) -> bool:
        """Whether it is about the training dialogues, which are in no split."""
        return self.split == TRAINING

    def as_dict(self) -> dict[str, Any]:
        """Return the whole definition, ready for JSON: what a report records."""
        several = self.levels.samples if self.levels else ()
        above = self.levels.as_dict() if self.levels else {}
        above |= {"leave_out": True} if self.leave_out else {}
        if self.preferences != CHOICES:
            above |= {"preferences": written_choices(self.preferences)}
        return above | {
            "questions": [asked.as_dict() for asked in self.questions],
            "raters": list(self.raters),
            "samples": list(several) or self.samples,
            "statistics": list(self.statistics),
            "resamples": self.plan.resamples,
            "seed": self.plan.seed,
            "confidence": self.plan.level,
            "interval": self.plan.interval,
            "epsilon": self.epsilon,
            "split": self.split,
            "panels": [panel.as_dict() for panel in self.panels],
            "baselines": self.baselines,
        }


def parse(raw: Mapping[str, Any]) -> Definition:
    """Read a definition. Raises DefinitionError with one clear line."""
    if unknown := set(raw) - KEYS:
        raise DefinitionError(
            f"unknown key {sorted(unknown)[0]!r}; a definition has {', '.join(sorted(KEYS))}"
        )
    above = level_options.parse(raw)
    return Definition(
        questions=tuple(_asked(entry, n) for n, entry in enumerate(_listed(raw, "questions"), 1)),
        raters=tuple(str(name) for name in _listed(raw, "raters")),
        samples=_samples(raw.get("samples"), above),
        statistics=_statistics(_listed(raw, "statistics")),
        plan=_plan(raw),
        epsilon=_epsilon(raw.get("epsilon", EPSILON)),
        split=str(raw.get("split") or ""),
        levels=above,
        panels=panel_options.parse(_listed(raw, "panels")),
        baselines=_switch(raw, "baselines"),
        leave_out=_switch(raw, "leave_out", default=False),
        preferences=choice_options.parse(raw.get("preferences")),
    )


def _switch(raw: Mapping[str, Any], key: str, *, default: bool = True) -> bool:
    value = raw.get(key, default)
    if not isinstance(value, bool):
        raise DefinitionError(f"{key} is true or false, not {value!r}")
    return value


def _listed(raw: Mapping[str, Any], key: str) -> list[Any]:
    value = raw.get(key)
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise DefinitionError(f"{key} must be a list")
    return list(value)


def _asked(entry: Any, number: int) -> StudyQuestion:
    if isinstance(entry, str):
        return StudyQuestion(entry)
    if not isinstance(entry, Mapping) or not isinstance(entry.get("question"), str):
        raise DefinitionError(f"question {number}: name it as scheme@version/key")
    links = _listed(entry, "answered_by")
    answered_by = tuple(_link(link, number) for link in links)
    missing = level_options.missing_of(entry, links, f"question {number}: ")
    return StudyQuestion(entry["question"], answered_by, missing)


def _link(link: Any, number: int) -> AnsweredBy:
    if not isinstance(link, Mapping) or not isinstance(link.get("question"), str):
        raise DefinitionError(f"question {number}: each answered_by names a question as scheme@version/key")
    try:
        return AnsweredBy(link["question"], ScaleMap.parse(link.get("map")))
    except MapError as error:
        raise DefinitionError(f"question {number}, answered by {link['question']}: {error}") from error


def _samples(value: Any, above: Levels | None) -> SamplesPolicy | None:
    """Return how repeated answers about an item are read: of several policies, by levels, the first."""
    if isinstance(value, list | tuple) and value:
        if above is None:
            raise DefinitionError("several samples policies are rows of a study at levels: name level")
        value = value[0]
    if value in (None, "", [], ()):
        return None
    if value not in ("mean", "first", "separate"):
        raise DefinitionError(f"samples is mean, first or separate, not {value!r}")
    return cast(SamplesPolicy, value)


def _statistics(names: list[Any]) -> tuple[str, ...]:
    known = described()
    if unknown := [name for name in names if name not in known]:
        raise DefinitionError(f"unknown statistic {unknown[0]!r}; there are {', '.join(known)}")
    return tuple(names) or DEFAULT_STATISTICS


def _epsilon(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise DefinitionError("epsilon, the margin of the alternative annotator test, must lie from 0 to 1")
    return float(value)


def _plan(raw: Mapping[str, Any]) -> Plan:
    resamples, seed = raw.get("resamples", 2000), raw.get("seed", 0)
    for name, value, most in (("resamples", resamples, 20_000), ("seed", seed, 2**32 - 1)):
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
            raise DefinitionError(f"{name} must be a whole number from 0 to {most:,}")
    level, interval = _confidence(raw), raw.get("interval", "percentile")
    if interval not in ("percentile", "bca"):
        raise DefinitionError(f"interval is percentile or bca, not {interval!r}")
    return Plan(resamples=resamples, seed=seed, level=float(level), interval=interval)


def _confidence(raw: Mapping[str, Any]) -> float:
    """Return the confidence level; definitions of before call it `level`."""
    before = raw.get("level")
    level = raw.get("confidence", before if isinstance(before, int | float) else 0.95)
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0.5 <= level < 1:
        raise DefinitionError("confidence, the level of intervals, must lie from 0.5 up to, but not at, 1")
    return float(level)
