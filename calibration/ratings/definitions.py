"""A study's definition: its questions, panels of judges, scale maps and levels, with defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, cast, get_args

from annotation.corpora.splits import TRAINING
from calibration.errors import DefinitionError, MapError
from calibration.ratings.subsets import ALL_LABELS, Subset, parse_subset
from calibration.statistics import Plan
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.core.resampling import Interval
from calibration.statistics.level_correlations import Missing, SystemScore, Unit
from calibration.statistics.level_correlations import PValueKind as P
from calibration.statistics.level_scores import LEVELS, Level
from calibration.statistics.panels import RULES, Rule
from calibration.statistics.preference_strengths import BOTH_BAD_POLICIES, MODELS
from calibration.statistics.preferences import Choices
from calibration.statistics.replacement import JUDGE_TESTS
from calibration.statistics.table import described
from calibration.statistics.verdicts import AlternativeTest, VerdictRule

# Handling of votes on pairs and rankings, as written in a study's definition.

CHOICE_KEYS = {"ties": tuple(MODELS), "both_bad": tuple(BOTH_BAD_POLICIES)}
PREFERENCE_KEYS = (*CHOICE_KEYS, "anchor")


def parse_choices(raw: Any) -> Choices:
    """Return the choices in a definition's `preferences`; defaults for None. Raises DefinitionError."""
    if raw is None:
        return Choices()
    if not isinstance(raw, Mapping) or (unknown := set(raw) - set(PREFERENCE_KEYS)):
        more = f", not {sorted(unknown)[0]!r}" if isinstance(raw, Mapping) else ""
        raise DefinitionError(f"preferences is an object with ties, both_bad and anchor{more}")
    selections = {name: raw.get(name) or allowed[0] for name, allowed in CHOICE_KEYS.items()}
    for name, options in CHOICE_KEYS.items():
        if selections[name] not in options:
            raise DefinitionError(f"{name} is one of {', '.join(options)}, not {selections[name]!r}")
    anchor = raw.get("anchor") or ""
    if not isinstance(anchor, str):
        raise DefinitionError("anchor is the name of the system whose strength is 1000")
    return cast(Any, Choices)(selections["ties"], selections["both_bad"], anchor)


def written_choices(choices: Choices) -> dict[str, str]:
    """Return choices in the form that definitions use."""
    return {"ties": choices.model, "both_bad": choices.both_bad, "anchor": choices.anchor}


# The rule of a study's verdicts, with defaults for what is left out: `{"gap": 0.1, "alternative_test":
# "needed"}`.

SHARES = ("gap", "agreement", "coverage")
COUNTS = {"people": (2, 20), "clusters": (2, 10_000), "events": (1, 10_000)}


def parse_rule(raw: Any) -> VerdictRule:
    """Return the rule in a definition's `verdict`; defaults for None. Raises DefinitionError."""
    if raw is None:
        return VerdictRule()
    names = [entry.name for entry in fields(VerdictRule)]
    if not isinstance(raw, Mapping) or (unknown := set(raw) - set(names)):
        more = f", not {sorted(unknown)[0]!r}" if isinstance(raw, Mapping) else ""
        raise DefinitionError(f"verdict is an object with {', '.join(names)}{more}")
    for name in SHARES:
        if name in raw and not (_number(raw[name]) and 0 <= raw[name] <= 1):
            raise DefinitionError(f"verdict: {name} is a number from 0 to 1, not {raw[name]!r}")
    for name, (least, most) in COUNTS.items():
        if name in raw and not (isinstance(raw[name], int) and least <= raw[name] <= most):
            raise DefinitionError(
                f"verdict: {name} is a whole number from {least} to {most:,}, not {raw[name]!r}"
            )
    if not isinstance(raw.get("baselines", True), bool):
        raise DefinitionError(f"verdict: baselines is true or false, not {raw['baselines']!r}")
    tests = get_args(AlternativeTest)
    if raw.get("alternative_test", tests[0]) not in tests:
        choices = f"{', '.join(tests[:-1])} or {tests[-1]}"
        raise DefinitionError(f"verdict: alternative_test is {choices}, not {raw['alternative_test']!r}")
    return VerdictRule(**raw)


# Panels of judges in a definition: `{"name": "three judges", "rule": "median", "members": ["a", "b", "c"],
# "least": 2}`. `members` defaults to all judges of a question, `least` to more than half of the members.

PANEL_KEYS = {"name", "rule", "members", "least"}
MOST = 12


@dataclass(frozen=True, slots=True)
class PanelDefinition:
    """A panel in a definition: without `members` all judges of a question; `least` 0 means over half."""

    name: str
    rule: Rule
    members: tuple[str, ...] = ()
    least: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the panel in the form that definitions use."""
        return {"name": self.name, "rule": self.rule, "members": list(self.members), "least": self.least}


def parse_panels(entries: list[Any]) -> tuple[PanelDefinition, ...]:
    """Read the panels of a definition. Raises DefinitionError with a one-line message."""
    if len(entries) > MOST:
        raise DefinitionError(f"a study has at most {MOST} panels, not {len(entries)}")
    panels = tuple(_panel(entry, number) for number, entry in enumerate(entries, 1))
    names = [panel.name for panel in panels]
    if twice := [name for name in names if names.count(name) > 1]:
        raise DefinitionError(f"two panels are called {twice[0]!r}")
    return panels


def _panel(entry: Any, number: int) -> PanelDefinition:
    where = f"panel {number}"
    if not isinstance(entry, Mapping) or set(entry) - PANEL_KEYS:
        raise DefinitionError(
            f"{where}: a panel has {', '.join(sorted(PANEL_KEYS))}, of which only rule is needed"
        )
    rule, members, least = entry.get("rule"), entry.get("members") or [], entry.get("least") or 0
    if rule not in RULES:
        raise DefinitionError(f"{where}: rule is {', '.join(RULES)}, not {rule!r}")
    if not isinstance(members, list | tuple) or not all(isinstance(name, str) for name in members):
        raise DefinitionError(f"{where}: members is a list of judges' names")
    if len(set(members)) < len(members) or len(members) == 1:
        raise DefinitionError(f"{where}: name two members or more, each once, or none for all judges")
    if isinstance(least, bool) or not isinstance(least, int) or least < 0:
        raise DefinitionError(f"{where}: least, how many members must answer, is a whole number")
    if members and least > len(members):
        raise DefinitionError(f"{where}: least is {least}, but there are {len(members)} members")
    name = str(entry.get("name") or "").strip() or _name(rule, members)
    return PanelDefinition(name[:180], cast(Rule, rule), tuple(members), least)


def _name(rule: str, members: Sequence[str]) -> str:
    return f"panel: {rule} of {', '.join(members) or 'all judges'}"


# Declared maps between the scales of two questions. Only declared maps are applied.

MapKind = Literal["identity", "linear", "rank"]


@dataclass(frozen=True, slots=True)
class ScaleMap:
    """Map from answers on one scale to another scale.

    `identity`: the same value. `linear`: the range `source` (a, b) onto `target` (c, d). `rank`: only the
    order counts, so the rater is compared with others by correlation alone.
    """

    kind: MapKind = "identity"
    source: tuple[float, float] | None = None
    target: tuple[float, float] | None = None

    def apply(self, value: float) -> float:
        """Map a value to the target scale; identity and rank leave it unchanged."""
        if self.kind != "linear" or self.source is None or self.target is None:
            return value
        (a, b), (c, d) = self.source, self.target
        return c + (value - a) * (d - c) / (b - a)

    def on_scale(self, values: list[Any], target: list[Any]) -> bool:
        """Whether every value of the source scale maps to a value of the target scale."""
        if self.kind == "rank":
            return False
        if not target:
            return True
        if not values:
            return False
        if self.kind == "identity":
            return set(values) <= set(target)
        return {self.apply(float(v)) for v in values} <= {float(v) for v in target}

    def as_dict(self) -> dict[str, Any]:
        """Return the map in the form that definitions use."""
        if self.kind != "linear":
            return {"kind": self.kind}
        return {"kind": "linear", "from": list(self.source or ()), "to": list(self.target or ())}

    def in_words(self) -> str:
        """Return the map in words, for reports."""
        if self.kind == "linear" and self.source and self.target:
            a, b, c, d = (f"{end:g}" for end in (*self.source, *self.target))
            return f"{a} to {b} read linearly as {c} to {d}"
        return "by order only" if self.kind == "rank" else "on the same scale"

    @staticmethod
    def parse(raw: Any) -> ScaleMap:
        """Read a map from a definition. Raises MapError with a one-line message."""
        if raw is None:
            return ScaleMap()
        if isinstance(raw, str):
            raw = {"kind": raw}
        if not isinstance(raw, Mapping) or raw.get("kind") not in ("identity", "linear", "rank"):
            raise MapError(f"a map is identity, rank or linear with from and to, not {raw!r}")
        if raw["kind"] != "linear":
            return ScaleMap(raw["kind"])
        return ScaleMap("linear", _range(raw, "from"), _range(raw, "to"))


def _range(raw: Mapping[str, Any], side: str) -> tuple[float, float]:
    ends = raw.get(side)
    if not isinstance(ends, list | tuple) or len(ends) != 2 or not all(_number(end) for end in ends):
        raise MapError(f"a linear map needs {side} as two numbers, such as [1, 5]")
    if ends[0] == ends[1]:
        raise MapError(f"a linear map's {side} must be two different numbers")
    return float(ends[0]), float(ends[1])


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# Settings of a study at levels: the levels, their units, and the layout of the table.
#
#     {"level": ["dialogue", "system"], "unit": "continuation", "reference": "mean(kind:human)",
#      "system_score": "all_turns", "by": ["turns_per_call"], "p": "clustered", "shared_dialogues": false,
#      "samples": ["first", "mean"], "heading": "source", "best_per": "model"}
#
# Only `level` is required. These are keys of a study's definition (see below).

Samples = Literal["first", "mean"]
Attribute = Literal["source", "kind", "model", "protocol"]

TURN: Level = "turn"
MISSING: tuple[Missing, ...] = get_args(Missing)
ATTRIBUTES: tuple[Attribute, ...] = get_args(Attribute)
LEVEL_KEYS = frozenset(
    {"unit", "reference", "system_score", "by", "p", "shared_dialogues", "heading", "best_per"}
)
"""Keys that apply only to a study at levels; `level` and `samples` have other uses, too."""
MOST_KEYS = 10


@dataclass(frozen=True, slots=True)
class Levels:
    """Settings of a study at levels, with defaults filled in.

    `unit` is the unit of the dialogue level: a continuation, or all continuations of a system for a dialogue.
    `reference` is MEAN_OF_PEOPLE or a rater's name. `by` are condition keys that, with the system, identify a
    system. `samples` are the rows of a rater with repeated answers; empty means the study's policy. `heading`
    is the attribute that groups the rows; with `best_per`, a column's best is also marked for each of its
    values.
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
        """Return the keys as definitions use them, except `samples`, which the definition adds."""
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


def parse_levels(raw: Mapping[str, Any]) -> Levels | None:
    """Read the level keys of a definition; None without a level. Raises DefinitionError (one line)."""
    levels = _levels(raw.get("level"))
    if not levels:
        if foreign := sorted(key for key in LEVEL_KEYS if raw.get(key)):
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
        levels,
        unit=cast(Unit, _one_of("unit", raw, get_args(Unit))),
        reference=reference,
        system_score=cast(SystemScore, _one_of("system_score", raw, get_args(SystemScore))),
        by=_by(raw.get("by")),
        p=cast(P, _one_of("p", raw, get_args(P))),
        shared_dialogues=shared,
        samples=_samples_of_levels(raw.get("samples")),
        heading=cast(Attribute, _one_of("heading", raw, ATTRIBUTES)),
        best_per=cast(Attribute, _one_of("best_per", raw, ATTRIBUTES)) if raw.get("best_per") else None,
    )


def missing_of(question: Mapping[str, Any], links: Sequence[Mapping[str, Any]], where: str) -> Missing:
    """Read how a missing turn affects means for a question and those that answer it; default skip.

    Raises DefinitionError for two different policies, or for an aggregate other than the mean.
    """
    for link in links:
        _one_of("aggregate", link, ("mean",), where)
    policies = {_one_of("missing", raw, MISSING, where) for raw in (question, *links) if raw.get("missing")}
    if len(policies) > 1:
        raise DefinitionError(f"{where}one table has one missing policy, not both skip and whole")
    return cast(Missing, policies.pop() if policies else MISSING[0])


def _levels(value: Any) -> tuple[Level, ...]:
    """Return the named levels in order; none for a number, the confidence level in older definitions."""
    if value in (None, "") or isinstance(value, int | float):
        return ()
    names = list(value) if isinstance(value, list | tuple) else [value]
    if unknown := [name for name in names if name not in LEVELS]:
        raise DefinitionError(f"level is one or more of {', '.join(LEVELS)}, not {unknown[0]!r}")
    return tuple(level for level in LEVELS if level in names)


def _one_of(key: str, raw: Mapping[str, Any], choices: Sequence[str], where: str = "") -> str:
    """Return the choice named by a key; the first if the key is absent."""
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


def _samples_of_levels(value: Any) -> tuple[Samples, ...]:
    """Return the policies of a list; a single policy belongs to the definition and gives none."""
    if not isinstance(value, list | tuple):
        return ()
    if unknown := [name for name in value if name not in get_args(Samples)]:
        raise DefinitionError(f"a list of samples holds first and mean, not {unknown[0]!r}")
    return tuple(dict.fromkeys(value))


# A study's definition, as written and with defaults filled in.
#
#     {"questions": [{"question": "fed_dialogue@1/overall",
#                     "answered_by": [{"question": "fed_gpt4@1/ovr",
#                                      "map": {"kind": "linear", "from": [1, 5], "to": [0, 4]}}]}],
#      "raters": ["ann", "ben", "gpt-4"], "samples": "mean", "statistics": ["cohen_kappa", "mcc"],
#      "resamples": 2000, "seed": 0, "confidence": 0.95, "interval": "percentile", "epsilon": 0.15,
#      "split": "main", "panels": [{"rule": "median", "members": ["gpt-4", "m2", "m3"]}], "baselines": true,
#      "leave_out": false, "preferences": {"ties": "half", "both_bad": "tie", "anchor": ""},
#      "subset": {"systems": ["model-x"], "from": "2026-03-01"}}
#
# Every key is optional. Without `questions` the study is automatic: every question with two raters or more.
# `level` with its keys makes it a study at levels (see above); a number in `level` is the confidence level,
# as in older definitions.

DEFAULT_STATISTICS = (
    "percent_agreement",
    "cohen_kappa",
    "cohen_kappa_quadratic",
    "mcc",
    "spearman",
    "krippendorff_alpha",
    "krippendorff_alpha_masi",
    *JUDGE_TESTS,
)
IDENTITY = ScaleMap()
KEYS = (
    {"questions", "raters", "samples", "statistics", "epsilon", "split"}
    | {"resamples", "seed", "confidence", "interval"}
    | {"level", *LEVEL_KEYS}
    | {"panels", "baselines", "leave_out", "preferences", "verdict", "subset"}
)
EPSILON = 0.15
MOST_RESAMPLES, MOST_SEED = 20_000, 2**32 - 1
CHOICES = Choices()
DEFAULT_RULE = VerdictRule()
SamplesPolicy = Literal["mean", "first", "separate"]


@dataclass(frozen=True, slots=True)
class AnsweredBy:
    """A question whose answers count as answers to another question, through a map."""

    question: str
    map: ScaleMap = IDENTITY

    def as_dict(self) -> dict[str, Any]:
        """Return the link in the form that definitions use."""
        return {"question": self.question, "map": self.map.as_dict(), "aggregate": "mean"}


@dataclass(frozen=True, slots=True)
class StudyQuestion:
    """A question of a study, and the other questions that answer it.

    `missing` is how a turn without an answer affects means over turns in a study at levels.
    """

    question: str
    answered_by: tuple[AnsweredBy, ...] = ()
    missing: Missing = "skip"

    def as_dict(self) -> dict[str, Any]:
        """Return the question in the form that definitions use."""
        answered_by = [link.as_dict() for link in self.answered_by]
        return {"question": self.question, "missing": self.missing, "answered_by": answered_by}


@dataclass(frozen=True)
class Definition:
    """A study's definition with defaults filled in. No `questions` means automatic.

    `levels` is None in a study of items alone. `panels` are raters made up of judges; `baselines` compares
    judges with answers given without reading the text; `leave_out` excludes people left out of gold.
    `preferences` are the settings for votes on pairs and rankings, `verdict` the rule for trust in a judge.
    `subset` narrows the study to the labels
    of some systems, conditions and days.
    """

    questions: tuple[StudyQuestion, ...] = ()
    raters: tuple[str, ...] = ()
    samples: SamplesPolicy | None = None
    statistics: tuple[str, ...] = DEFAULT_STATISTICS
    plan: Plan = field(default_factory=Plan)
    epsilon: float = EPSILON
    split: str = ""
    levels: Levels | None = None
    panels: tuple[PanelDefinition, ...] = ()
    baselines: bool = True
    leave_out: bool = False
    preferences: Choices = CHOICES
    verdict: VerdictRule = DEFAULT_RULE
    subset: Subset = ALL_LABELS

    @property
    def is_of_training(self) -> bool:
        """Whether the study covers the training dialogues, which are in no split."""
        return self.split == TRAINING

    def as_dict(self) -> dict[str, Any]:
        """Return the whole definition as JSON data, as recorded in a report."""
        several = self.levels.samples if self.levels else ()
        above = self.levels.as_dict() if self.levels else {}
        above |= {"leave_out": True} if self.leave_out else {}
        if self.preferences != CHOICES:
            above |= {"preferences": written_choices(self.preferences)}
        above |= {"subset": self.subset.as_dict()} if self.subset else {}
        return above | {
            "questions": [question.as_dict() for question in self.questions],
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
            "verdict": asdict(self.verdict),
        }


def parse(raw: Mapping[str, Any]) -> Definition:
    """Read a definition. Raises DefinitionError with a one-line message."""
    if unknown := set(raw) - KEYS:
        raise DefinitionError(
            f"unknown key {sorted(unknown)[0]!r}; a definition has {', '.join(sorted(KEYS))}"
        )
    above = parse_levels(raw)
    return Definition(
        questions=tuple(
            _study_question(entry, n) for n, entry in enumerate(_list_value(raw, "questions"), 1)
        ),
        raters=tuple(str(name) for name in _list_value(raw, "raters")),
        samples=_samples(raw.get("samples"), above),
        statistics=_statistics(_list_value(raw, "statistics")),
        plan=_plan(raw),
        epsilon=_epsilon(raw.get("epsilon", EPSILON)),
        split=str(raw.get("split") or ""),
        levels=above,
        panels=parse_panels(_list_value(raw, "panels")),
        baselines=_switch(raw, "baselines"),
        leave_out=_switch(raw, "leave_out", default=False),
        preferences=parse_choices(raw.get("preferences")),
        verdict=parse_rule(raw.get("verdict")),
        subset=parse_subset(raw.get("subset")),
    )


def _switch(raw: Mapping[str, Any], key: str, *, default: bool = True) -> bool:
    value = raw.get(key, default)
    if not isinstance(value, bool):
        raise DefinitionError(f"{key} is true or false, not {value!r}")
    return value


def _list_value(raw: Mapping[str, Any], key: str) -> list[Any]:
    value = raw.get(key)
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise DefinitionError(f"{key} must be a list")
    return list(value)


def _study_question(entry: Any, number: int) -> StudyQuestion:
    if isinstance(entry, str):
        return StudyQuestion(entry)
    if not isinstance(entry, Mapping) or not isinstance(entry.get("question"), str):
        raise DefinitionError(f"question {number}: name it as scheme@version/key")
    links = _list_value(entry, "answered_by")
    answered_by = tuple(_link(link, number) for link in links)
    missing = missing_of(entry, links, f"question {number}: ")
    return StudyQuestion(entry["question"], answered_by, missing)


def _link(link: Any, number: int) -> AnsweredBy:
    if not isinstance(link, Mapping) or not isinstance(link.get("question"), str):
        raise DefinitionError(f"question {number}: each answered_by names a question as scheme@version/key")
    try:
        return AnsweredBy(link["question"], ScaleMap.parse(link.get("map")))
    except MapError as error:
        raise DefinitionError(f"question {number}, answered by {link['question']}: {error}") from error


def _samples(value: Any, above: Levels | None) -> SamplesPolicy | None:
    """Return the policy for repeated answers to an item; the first if a study at levels has several."""
    if isinstance(value, list | tuple) and value:
        if above is None:
            raise DefinitionError("several samples policies are rows of a study at levels: name level")
        value = value[0]
    if value in (None, "", [], ()):
        return None
    if value not in get_args(SamplesPolicy):
        raise DefinitionError(f"samples is mean, first or separate, not {value!r}")
    return cast(SamplesPolicy, value)


def _statistics(names: list[Any]) -> tuple[str, ...]:
    statistics = described()
    if unknown := [name for name in names if name not in statistics]:
        raise DefinitionError(f"unknown statistic {unknown[0]!r}; there are {', '.join(statistics)}")
    return tuple(names) or DEFAULT_STATISTICS


def _epsilon(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise DefinitionError("epsilon, the margin of the alternative annotator test, must lie from 0 to 1")
    return float(value)


def _plan(raw: Mapping[str, Any]) -> Plan:
    default = Plan()
    resamples, seed = raw.get("resamples", default.resamples), raw.get("seed", default.seed)
    for name, value, most in (("resamples", resamples, MOST_RESAMPLES), ("seed", seed, MOST_SEED)):
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
            raise DefinitionError(f"{name} must be a whole number from 0 to {most:,}")
    level, interval = _confidence(raw), raw.get("interval", default.interval)
    if interval not in get_args(Interval):
        raise DefinitionError(f"interval is percentile or bca, not {interval!r}")
    return Plan(resamples=resamples, seed=seed, level=float(level), interval=interval)


def _confidence(raw: Mapping[str, Any]) -> float:
    """Return the confidence level; older definitions call it `level`."""
    before = raw.get("level")
    level = raw.get("confidence", before if isinstance(before, int | float) else Plan().level)
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0.5 <= level < 1:
        raise DefinitionError("confidence, the level of intervals, must lie from 0.5 up to, but not at, 1")
    return float(level)
