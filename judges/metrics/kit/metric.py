"""Parts of a metric: its declaration, its settings and its scores.

A metric is a function `compute(scene, turn, settings, tools) -> Score` and a declaration. The function is
pure: it reads the scene (a continuation and the history it continues), gets embeddings or models from the
tools, and returns a value or the reason why there is none.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

# Errors of metrics.
#
#     MetricError                 base class; the message is one line for the user
#     ├── KeyRefused              unknown metric, variant or parameter
#     ├── InputRefused            a file to score cannot be read; the message gives the place
#     └── ModelMissing            a metric needs a model or library that is not installed
#
# A value that a formula leaves undefined is not an error: it is a `Score` with a reason.


class MetricError(Exception):
    """Base class of errors that a user can fix; the message is one plain line."""


class KeyRefused(MetricError):
    """A metric key has an unknown metric or variant, or a parameter with an invalid value."""


class InputRefused(MetricError):
    """A file to score is malformed; the message gives the place and the reason."""


class ModelMissing(MetricError):
    """A metric needs a model or library that is not installed; the message says how to get it."""


# Text helpers shared by several metric families.


@lru_cache(maxsize=65536)
def is_punctuation(character: str) -> bool:
    """Whether a character is in one of Unicode's punctuation categories (P*)."""
    return unicodedata.category(character).startswith("P")


def without_punctuation(text: str) -> str:
    """Strip Unicode punctuation and surplus spaces from a text; symbols such as + stay."""
    return " ".join("".join(c for c in text if not is_punctuation(c)).split())


if TYPE_CHECKING:
    from annotation.records import Dialogue
    from annotation.schemes.definitions import SchemeDefinition
    from judges.metrics.kit.tools import Scene, Tools

Value: TypeAlias = float | int | bool | str
Direction = Literal["higher", "lower", "nearer_half", "descriptive"]
About = Literal["", "turn", "agenda", "speaker"]
Need = Literal[
    "speakers",
    "profile",
    "agenda",
    "reference",
    "embeddings",
    "language_model",
    "corpus",
    "artifact",
    "words",
]

NEEDS: dict[Need, str] = {
    "speakers": "speakers",
    "profile": "profiles of the participants",
    "agenda": "an agenda",
    "reference": "a reference response",
    "embeddings": "an embedding model",
    "language_model": "a language model",
    "corpus": "a corpus to learn from",
    "artifact": "what the conversation was to produce",
    "words": "words",
}
"""Display name of each need."""
ALWAYS_MET: frozenset[Need] = frozenset({"speakers", "words", "corpus"})
"""Needs that every corpus meets."""

HIGHER: Direction = "higher"
LOWER: Direction = "lower"
NEARER_HALF: Direction = "nearer_half"
DESCRIPTIVE: Direction = "descriptive"

PAPER = "paper"
REFERENCE = "reference"

GIVEN = "given"
HALVES: dict[str, str] = {"speaker": "the speaker was given", "content": "the message was given"}
"""Halves of a prediction: the condition's key that marks a half as given, with the reason to show."""


def given_halves(condition: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the halves of its predictions that a system was given; none if it predicted both."""
    return tuple(half for half in HALVES if condition.get(half) == GIVEN)


class Aspect(str):
    """Aspect that a metric measures: a key, the heading under which its metrics are listed, and the halves of
    a prediction (`HALVES`) that they measure: if a system was given one of these halves, it predicted nothing
    for them to measure."""

    heading: str
    halves: tuple[str, ...]

    def __new__(cls, key: str, heading: str, halves: tuple[str, ...] = tuple(HALVES)) -> Aspect:
        """Create the key with its heading and halves."""
        aspect = super().__new__(cls, key)
        aspect.heading = heading
        aspect.halves = halves
        return aspect

    def __getnewargs__(self) -> tuple[str, str, tuple[str, ...]]:  # type: ignore[override]
        """Return the constructor's arguments, for copying and pickling."""
        return str(self), self.heading, self.halves


SPEAKER = Aspect("speaker", "Speaker", ("speaker",))
CONTENT = Aspect("content", "Content", ("content",))
SPEAKER_CONTENT = Aspect("speaker_content", "Speaker and content")
AGAINST_REFERENCE = Aspect("reference", "Against a reference", ("content",))
QUALITY = Aspect("quality", "Learned quality", ("content",))

BASELINES = "baselines"


@dataclass(frozen=True, slots=True)
class Cause:
    """Display of a detail of a score: the words before it, and the kind of its values.

    `about` is "turn" for positions in the scene, "agenda" and "speaker" for ids, "" for values shown as they
    are.
    """

    words: str
    about: About = ""


NO_ANSWERS: Mapping[str, Score] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Score:
    """A value or the reason why there is none, never both and never neither.

    The value is a number, or one of the metric's `categories` if it has some.

    `details` explain the value by positions of the scene's turns or agenda ids: the nearest turn, the
    longest edge, the active agenda item. `answers` hold the scores of the questions that the metric answers
    besides its own (`Metric.answers`). `flags` name reasons to doubt the value.
    """

    value: float | str | None
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    answers: Mapping[str, Score] = field(default_factory=lambda: NO_ANSWERS)
    flags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.value is None) != bool(self.reason):
            raise ValueError("a score is a value or a reason")
        if isinstance(self.value, float | int) and not math.isfinite(self.value):
            raise ValueError(f"a score is a finite number, not {self.value}")


def scored(value: float, **details: Any) -> Score:
    """Return a score with a value (converted to a plain float; -0.0 becomes 0.0)."""
    return Score(float(value) + 0.0, details=details)


def unscored(reason: str, **details: Any) -> Score:
    """Return a score without a value; `reason` is a short phrase shown to users."""
    return Score(None, reason, details)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a metric: its default (which fixes its type), a help text and its limits."""

    default: Value
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


class Settings:
    """The variant and the resolved parameters of a computation."""

    __slots__ = ("values", "variant")

    def __init__(self, variant: str, values: Mapping[str, Value]) -> None:
        self.variant = variant
        self.values = dict(values)

    @property
    def is_reference(self) -> bool:
        """Whether the variant reproduces the published code's own handling."""
        return self.variant == REFERENCE

    def number(self, name: str) -> float:
        """Return a parameter as a float."""
        return float(self.values[name])

    def integer(self, name: str) -> int:
        """Return a parameter as an int."""
        return int(self.values[name])

    def flag(self, name: str) -> bool:
        """Return a parameter as a bool."""
        return bool(self.values[name])

    def text(self, name: str) -> str:
        """Return a parameter as a string."""
        return str(self.values[name])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


Compute: TypeAlias = "Callable[[Scene, int | None, Settings, Tools], Score]"
Texts: TypeAlias = "Callable[[Scene, Settings], Iterable[str]]"
Fit: TypeAlias = "Callable[[Iterable[Dialogue], Settings, Tools], Any]"


def key_of(compute: Compute) -> str:
    """Return a metric's key: the name of its function."""
    return str(compute.__name__)


Identity: TypeAlias = "Callable[[Settings], Mapping[str, str]]"

ENDPOINT = "endpoint"
"""Parameter that names an endpoint whose model takes the place of one on this machine."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A text after its context, whose tokens' log-probabilities a metric needs. The context ends with no
    space."""

    context: str
    text: str


@dataclass(frozen=True, slots=True)
class Likelihood:
    """How a metric is computed from log-probabilities, which an endpoint gives.

    `passage` returns the passage about an item, or the score of an item that needs none; `score` converts the
    mean log-probability (nats a token).
    """

    passage: Callable[[Scene, int | None, Settings], Passage | Score]
    score: Callable[[float, Settings], Score]


LEARN_FROM = "learn_from"
DEV = "dev"
"""Value of `learn_from` for the dev part of the scored corpus; other names are corpora."""
WINDOW = Parameter(0, "turns of context, counted from the last; 0 takes all of them", low=0)
HISTORY = Parameter(True, "whether the shared history counts as part of the conversation")


@dataclass(frozen=True)
class Metric:
    """Declaration of a metric. Its documentation is the docstring of `compute`.

    `variants` maps a name to the parameter defaults that it changes; the first is the default. `low` and
    `high` bound the values (None: unbounded). The values of a metric with `categories` (words, not numbers)
    are these categories: its question is nominal, and profiles, which show means, leave it out.

    `fit`, if given, learns from the dialogues of a corpus and returns what `compute` gets as `tools.fitted`;
    `fit_when` tells which settings need it (None: all). `texts` yields the texts that the metric will embed,
    so that a caller can embed the texts of many conversations in one batch. `causes` define the display of
    score details, by name. `group` is the name that selects the metric together with others: by default
    `local` for turns and `global` for conversations.

    `answers` are questions of a `scheme` that its scores answer besides the metric's own. `identity` returns
    what else determines its values besides variant and parameters, such as the content of a model's files. A
    metric with the parameter `learn_from` (`LEARN_FROM`) can be fitted on a corpus other than the scored one.
    One with a `likelihood` has the parameter `endpoint` (`ENDPOINT`), and only local values come from
    `compute`.
    """

    key: str
    title: str
    kind: str
    aspect: Aspect
    compute: Compute
    low: float | None
    high: float | None
    direction: Direction
    needs: frozenset[Need] = frozenset()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    variants: Mapping[str, Mapping[str, Value]] = field(default_factory=lambda: {PAPER: {}})
    fit: Fit | None = None
    fit_when: Callable[[Settings], bool] | None = None
    texts: Texts | None = None
    causes: Mapping[str, Cause] = field(default_factory=dict)
    group: str = ""
    categories: tuple[str, ...] = ()
    scheme: SchemeDefinition | None = None
    answers: tuple[str, ...] = ()
    identity: Identity | None = None
    likelihood: Likelihood | None = None

    def __post_init__(self) -> None:
        """Set the default group for the metric's kind of item, and check the categories."""
        if any(_is_number(category) for category in self.categories):
            raise ValueError("a category is a word, not a number")
        object.__setattr__(self, "group", self.group or {"turn": "local"}.get(self.kind, "global"))

    @property
    def default_variant(self) -> str:
        """The variant of a key without `@variant`."""
        return next(iter(self.variants))

    def titled(self, variant: str) -> str:
        """Return the title, followed by the variant unless that is the printed formula."""
        label = variant.replace("_", " ")
        return self.title if variant == PAPER else f"{self.title} ({label})"

    @property
    def documentation(self) -> str:
        """Formula, source and units, as text."""
        return (self.compute.__doc__ or "").strip()

    def all_parameters(self) -> dict[str, Parameter]:
        """Return the metric's own parameters and the one shared by all metrics of its kind."""
        shared = {"turn": {"window": WINDOW}, "dialogue": {"history": HISTORY}}.get(self.kind, {})
        return {**shared, **self.parameters}

    def defaults(self, variant: str) -> dict[str, Value]:
        """Return the default value of every parameter."""
        values = {name: parameter.default for name, parameter in self.all_parameters().items()}
        return {**values, **self.variants[variant]}
