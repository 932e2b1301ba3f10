"""What a metric is made of: its declaration, its settings and its score.

A metric is a function `compute(scene, turn, settings, tools) -> Score` and a declaration beside it. The
function is pure: it reads the scene (one continuation with what it continues), asks the tools for
embeddings or models, and returns a value or the reason why there is none.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

# What can go wrong around metrics, as one tree.
#
#     MetricError                 a message for the user, one line
#     ├── KeyRefused              a metric key, variant or parameter that does not exist
#     ├── InputRefused            a file to score that cannot be read, with its place
#     └── ModelMissing            a model or library that a metric needs and that is not there
#
# A value that a formula leaves undefined is not an error: it is a `Score` with a reason.


class MetricError(Exception):
    """Anything a user can put right; its text is one plain line."""


class KeyRefused(MetricError):
    """A metric key names no metric, no variant of it, or a parameter with an impossible value."""


class InputRefused(MetricError):
    """A file to score is malformed; the message says where and why."""


class ModelMissing(MetricError):
    """A metric needs a model or library that is not installed; the message says what to get."""


# Small helpers on text that several metric families share.


@lru_cache(maxsize=65536)
def is_punctuation(character: str) -> bool:
    """Whether a character is in one of Unicode's punctuation categories (P*)."""
    return unicodedata.category(character).startswith("P")


def without_punctuation(text: str) -> str:
    """Return a text without Unicode punctuation and with single spaces; symbols such as + stay."""
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
"""Each need in words."""
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
"""The halves of a prediction by the condition's key that says that they were given, with the reason."""


def given_halves(condition: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the halves of its predictions that a system was given, none where it predicted both."""
    return tuple(half for half in HALVES if condition.get(half) == GIVEN)


class Aspect(str):
    """What a metric is about: a key, the heading that metrics of this aspect are listed under, and the halves
    of a prediction (`HALVES`) that they measure: where a system was given one of these, it predicted nothing
    that they could be about."""

    heading: str
    halves: tuple[str, ...]

    def __new__(cls, key: str, heading: str, halves: tuple[str, ...] = tuple(HALVES)) -> Aspect:
        """Return the key, with its heading and halves."""
        aspect = super().__new__(cls, key)
        aspect.heading = heading
        aspect.halves = halves
        return aspect

    def __getnewargs__(self) -> tuple[str, str, tuple[str, ...]]:  # type: ignore[override]
        """Return what a copy is made of."""
        return str(self), self.heading, self.halves


SPEAKER = Aspect("speaker", "Speaker", ("speaker",))
CONTENT = Aspect("content", "Content", ("content",))
SPEAKER_CONTENT = Aspect("speaker_content", "Speaker and content")
AGAINST_REFERENCE = Aspect("reference", "Against a reference", ("content",))
QUALITY = Aspect("quality", "Learned quality", ("content",))

BASELINES = "baselines"


@dataclass(frozen=True, slots=True)
class Cause:
    """How a detail of a score is told: the words before it, and what its values name.

    `about` is "turn" for positions in the scene, "agenda" and "speaker" for ids, "" for what needs no name.
    """

    words: str
    about: About = ""


NO_ANSWERS: Mapping[str, Score] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Score:
    """One value or the reason why there is none, never both and never neither.

    The value is a number, or one of the metric's `categories` where it has some.

    `details` say what caused the value, in positions of the scene's turns or agenda ids: which turn was
    nearest, which edge was longest, which agenda item is active. `answers` are those to the questions that
    the metric answers beside its own (`Metric.answers`). `flags` say what is doubtful about a value.
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
    """Return a score with a value (made a plain float; -0.0 becomes 0.0)."""
    return Score(float(value) + 0.0, details=details)


def unscored(reason: str, **details: Any) -> Score:
    """Return a score without a value; `reason` is a short phrase for people."""
    return Score(None, reason, details)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a metric: its default (whose type it keeps), a sentence about it, and its limits."""

    default: Value
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


class Settings:
    """The variant and the resolved parameters that one computation uses."""

    __slots__ = ("values", "variant")

    def __init__(self, variant: str, values: Mapping[str, Value]) -> None:
        self.variant = variant
        self.values = dict(values)

    @property
    def is_reference(self) -> bool:
        """Whether the published code's own handling is asked for."""
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
    """Return a metric's key: its function is named like it."""
    return str(compute.__name__)


Identity: TypeAlias = "Callable[[Settings], Mapping[str, str]]"

LEARN_FROM = "learn_from"
DEV = "dev"
"""What `learn_from` calls the dev part of the corpus that is scored; anything else names a corpus."""
WINDOW = Parameter(0, "turns of context, counted from the last; 0 takes all of them", low=0)
HISTORY = Parameter(True, "whether the shared history counts as part of the conversation")


@dataclass(frozen=True)
class Metric:
    """The declaration of a metric. Its documentation is the docstring of `compute`.

    `variants` maps a name to the parameter defaults that it changes; the first is the default. `low` and
    `high` bound the values (None: unbounded). A metric with `categories` (in words, not numbers) answers with
    one of them: its question is nominal, and profiles, which show means, leave it out.

    `fit`, where there is one, learns from the dialogues of a
    corpus what `compute` then finds as `tools.fitted`; `fit_when` says for which settings that is needed
    (None: for all). `texts` are what it will embed, so that a caller can embed many conversations' texts in
    one go. `causes` word the details of its scores, by name. `group` is the name under which
    it can be asked for with others: `local` for a turn, `global` for a conversation, unless one is given.

    `answers` are questions of a `scheme` that its scores answer beside the metric's own. `identity` is what
    makes its values beside variant and parameters, such as the content of a model's files. One that has the
    parameter `learn_from` (`LEARN_FROM`) can be fitted on something else than the corpus that it scores.
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

    def __post_init__(self) -> None:
        """Put a metric without a group of its own with the others of its kind of item; check categories."""
        if any(_is_number(category) for category in self.categories):
            raise ValueError("a category is a word, not a number")
        object.__setattr__(self, "group", self.group or {"turn": "local"}.get(self.kind, "global"))

    @property
    def default_variant(self) -> str:
        """The variant that a key without `@variant` means."""
        return next(iter(self.variants))

    def titled(self, variant: str) -> str:
        """Return the title, with the variant wherever that is not the printed formula."""
        label = variant.replace("_", " ")
        return self.title if variant == PAPER else f"{self.title} ({label})"

    @property
    def documentation(self) -> str:
        """Formula, source and units, as text."""
        return (self.compute.__doc__ or "").strip()

    def all_parameters(self) -> dict[str, Parameter]:
        """Return its own parameters and the one that all metrics of its kind share."""
        shared = {"turn": {"window": WINDOW}, "dialogue": {"history": HISTORY}}.get(self.kind, {})
        return {**shared, **self.parameters}

    def defaults(self, variant: str) -> dict[str, Value]:
        """Return every parameter's value where nothing is said."""
        values = {name: parameter.default for name, parameter in self.all_parameters().items()}
        return {**values, **self.variants[variant]}
