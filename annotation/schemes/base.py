"""What a built-in scheme is made of: plain definitions, mirrored into the database at first use."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, Protocol, get_args

# Answers to comparisons: which of two is better, and in which order several are.
#
# They are kept in the members' own order, which never changes, whatever order a rater saw them in. A
# ranking is written best first: `2>0=1>3` means that member 2 is best, 0 and 1 are equal, and 3 is last.
# Members are numbered from 0, equal ones stand in rising order, so a ranking is written in one way.

FIRST, TIE, SECOND, BOTH_BAD = "first", "tie", "second", "both_bad"
COMPARISON = (FIRST, TIE, SECOND, BOTH_BAD)
"""What the answer about a pair may be, in the order in which it is offered; a question may leave out `tie`,
`both_bad` or both."""
RANKING = "ranking"
"""The level of a question whose answer is an order."""
WORDED = {FIRST: "{0} is better", TIE: "Both alike", SECOND: "{1} is better", BOTH_BAD: "Both are bad"}
LETTERS = "ABCDEFGHIJ"
"""What members are called on a screen, in the order in which they are shown."""
_FORM = re.compile(r"[0-9](?:[>=][0-9])*")


def is_comparison(level: str, values: Iterable[Any]) -> bool:
    """Whether a question asks which of two is better: `first` and `second` are among its values."""
    distinct_values = list(values)
    return level == "nominal" and {FIRST, SECOND} <= set(distinct_values) <= set(COMPARISON)


def groups(ranking: str) -> list[list[int]]:
    """Return the members of a ranking, best first, equal ones together. Raises ValueError."""
    if not _FORM.fullmatch(ranking):
        raise ValueError(f"{ranking[:40]!r} is not a ranking: write it like 2>0=1, best first")
    return [[int(number) for number in group.split("=")] for group in ranking.split(">")]


def ranking_text(members: Iterable[Iterable[int]]) -> str:
    """Return a ranking as it is kept, from its groups of equal members, best first."""
    return ">".join("=".join(map(str, sorted(group))) for group in members)


def is_ranking(text: str, members: int | None = None) -> bool:
    """Whether a text is a ranking as it is kept; with `members`, of exactly so many."""
    try:
        tied_groups = groups(text)
    except ValueError:
        return False
    numbers = sorted(number for group in tied_groups for number in group)
    size = len(numbers) if members is None else members
    return ranking_text(tied_groups) == text and numbers == list(range(size))


def in_own_order(value: Any, order: Sequence[int] | None, level: str, values: Iterable[Any]) -> Any:
    """Return an answer about members as they were shown in terms of their own order.

    `order` has their numbers in the order shown; None: their own. What is not about members stays as it is.
    Raises ValueError for a ranking that cannot be read.
    """
    if order is None or not isinstance(value, str):
        return value
    if level == RANKING:
        tied_groups = groups(value)
        if max(number for group in tied_groups for number in group) >= len(order):
            raise ValueError(f"{value!r} ranks more than the {len(order)} that were shown")
        return ranking_text([[order[number] for number in group] for group in tied_groups])
    if is_comparison(level, values) and value in (FIRST, SECOND):
        return (FIRST, SECOND)[order[value == SECOND]]
    return value


def as_shown(value: Any, order: Sequence[int] | None, level: str, values: Iterable[Any]) -> Any:
    """Return an answer in terms of the members' own order as a rater sees them in this `order`."""
    back = None if order is None else [list(order).index(number) for number in range(len(order))]
    return in_own_order(value, back, level, values)


Level = Literal["binary", "nominal", "ordinal", "interval", "ratio", "text", "ranking"]
LEVELS: tuple[str, ...] = get_args(Level)
TURNS, SPANS = "turns", "spans"
EVIDENCE = (TURNS, SPANS)
"""What an answer may point at: whole turns alone, or stretches of their text, too."""
Value = float | int | str
UNSCALED = ("text", "ranking")
"""Levels whose answers are not values of a scale: no coefficient reads them as they are."""
STATIC = "static"
NO_CONVERSATION = "the turns of a static continuation are not one conversation"
TEXT_LIMIT = 10_000
"""An answer in words has at most so many characters."""


def accepts(
    level: str,
    values: Sequence[Any],
    value: Any,
    minimum: float | None = None,
    maximum: float | None = None,
    whole: bool = False,
) -> bool:
    """Whether a value may be the answer to a question of a level, with these values.

    Without values any number may, or those between `minimum` and `maximum` (both belong to the range), and
    with `whole` no fractions.
    """
    if level == "text":
        return isinstance(value, str) and len(value) <= TEXT_LIMIT
    if level == RANKING:
        return isinstance(value, str) and is_ranking(value)
    if level == "nominal":
        return isinstance(value, str) and (not values or value in values)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return False
    if values:
        return value in values
    return (
        (minimum is None or value >= minimum)
        and (maximum is None or value <= maximum)
        and (not whole or value == int(value))
    )


def plain(number: float | None) -> float | None:
    """Return a number as people write it: whole where it has no fraction."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


class Bounded(Protocol):
    """What takes any number within bounds."""

    @property
    def minimum(self) -> float | None: ...

    @property
    def maximum(self) -> float | None: ...

    @property
    def whole(self) -> bool: ...


def describe_bounds(question: Bounded) -> str:
    """Return in words which numbers a question without values takes."""
    kind = "a whole number" if question.whole else "any number"
    low, high = plain(question.minimum), plain(question.maximum)
    if low is not None and high is not None:
        return f"{kind} from {low} to {high}"
    if low is None and high is None:
        return kind
    return f"{kind}, at least {low}" if high is None else f"{kind}, at most {high}"


def is_met(condition: Mapping[str, Any] | None, answers: Mapping[str, Any]) -> bool:
    """Whether a question with this `show_if` is asked, given the answers to the questions asked before it.

    A question that was not asked has no answer, so nothing is asked after it; an untouched tag is answered 0.
    """
    if condition is None:
        return True
    value = answers.get(condition["question"])
    if value is None or isinstance(value, bool):
        return False
    if "in" in condition:
        return value in condition["in"]
    if not isinstance(value, int | float):
        return False
    return bool(condition.get("min", -math.inf) <= value <= condition.get("max", math.inf))


class Pointing(Protocol):
    """What may ask for the turns or the words that an answer refers to."""

    @property
    def evidence(self) -> str: ...

    @property
    def evidence_for(self) -> Sequence[Any]: ...

    @property
    def positive(self) -> float | None: ...


def takes_evidence(question: Pointing, value: Any) -> bool:
    """Whether an answer of this value may point at turns.

    Without `evidence_for` the positive answer of a binary question may, and every answer of another level.
    """
    if not question.evidence or value is None or value == "":
        return False
    if question.evidence_for:
        return value in question.evidence_for
    return question.positive is None or value == question.positive


def explains(level: str, condition: Mapping[str, Any] | None, tags: Container[str]) -> bool:
    """Whether a question says in words what a set tag stands for: then it needs an answer."""
    if level != "text" or condition is None or condition["question"] not in tags:
        return False
    return is_met(condition, {condition["question"]: 1}) and not is_met(condition, {condition["question"]: 0})


@dataclass(frozen=True, slots=True)
class QuestionDefinition:
    """One question about an item.

    `values` lists what may be answered, in order; empty means any number (interval, ratio) or any text, and
    of a nominal question about decisions a set of participants (`names_people`).
    `anchors` words some of the values. `group` gathers questions into one multi-label control. `help` holds
    `definition`, `example` and `not_this` where they apply, or `keep_in_mind`, one aspect a line. `show_if`
    is {"question": key, "max": value} (or "min", or both) or {"question": key, "in": [values]} for a question
    asked only after such an answer to an earlier one. A question that is not required may be left unanswered.
    `minimum`, `maximum` and `whole` bound the answers to a question that takes any number.
    `evidence` (EVIDENCE, '' for none) says what an answer may point at, and `evidence_for` which answers
    (`takes_evidence`); with `evidence_required` such an answer points at something. `item_kind` is the kind
    of the items that it is about where that is not its scheme's, '' where it is.
    """

    key: str
    wording: str
    level: Level
    values: tuple[Value, ...] = ()
    anchors: Mapping[Any, str] = field(default_factory=dict)
    positive: float | None = None
    group: str = ""
    help: Mapping[str, str] = field(default_factory=dict)
    shortcut: str = ""
    required: bool = True
    show_if: Mapping[str, Any] | None = None
    minimum: float | None = None
    maximum: float | None = None
    whole: bool = False
    evidence: str = ""
    evidence_for: tuple[Value, ...] = ()
    evidence_required: bool = False
    item_kind: str = ""

    @property
    def is_tag(self) -> bool:
        """Whether it is one toggle of a multi-label control: left untouched, it means no."""
        return self.level == "binary" and bool(self.group)

    @property
    def names_people(self) -> bool:
        """Whether it is answered with a set of participants: ids joined by `;`, `nobody` for none."""
        return self.level == "nominal" and not self.values

    @property
    def is_comparison(self) -> bool:
        """Whether it asks which of two is better."""
        return is_comparison(self.level, self.values)

    @property
    def is_open(self) -> bool:
        """Whether any number may be the answer, within its bounds."""
        return not self.values and self.level in ("interval", "ratio")

    def accepts(self, value: Any) -> bool:
        """Whether a value may be the answer."""
        return accepts(self.level, self.values, value, self.minimum, self.maximum, self.whole)

    def as_stored(self) -> dict[str, Any]:
        """Return the fields of the question's row: plain JSON, values and anchors as they are compared."""
        own = {column.name: getattr(self, column.name) for column in fields(self)}
        return own | {
            "values": list(self.values),
            "evidence_for": list(self.evidence_for),
            "anchors": {str(value): text for value, text in self.anchors.items()},
            "help": dict(self.help),
            "show_if": None if self.show_if is None else dict(self.show_if),
        }


@dataclass(frozen=True, slots=True)
class SchemeDefinition:
    """A version of a scheme, about items of one kind (`annotation.kinds`).

    `unit` says what one task shows: an item, or all items of a continuation. Of a scheme whose tasks show all
    turns of a continuation, some questions may be about the whole dialogue (`QuestionDefinition.item_kind`).

    With `about_open`, what is known of the speakers and the dialogue stands open beside the first task.
    With `one_conversation`, its questions are about turns that follow each other: static continuations, whose
    turns each answer another point of the history, are rated by nobody, neither people nor judges.
    """

    key: str
    version: int
    title: str
    item_kind: str
    unit: Literal["item", "continuation"]
    introduction: str
    questions: tuple[QuestionDefinition, ...]
    guidelines: str = ""
    source: str = ""
    about_open: bool = False
    one_conversation: bool = False

    def question(self, key: str) -> QuestionDefinition:
        """Return a question by its key; raise KeyError where there is none."""
        for question in self.questions:
            if question.key == key:
                return question
        raise KeyError(key)

    def kind_of(self, question: QuestionDefinition) -> str:
        """Return the kind of the items that one of its questions is about."""
        return question.item_kind or self.item_kind

    @property
    def item_kinds(self) -> tuple[str, ...]:
        """The kinds of items that its questions are about, its own first."""
        return tuple(
            dict.fromkeys([self.item_kind, *(self.kind_of(question) for question in self.questions)])
        )

    @property
    def is_mixed(self) -> bool:
        """Whether it asks about turns and about the whole on one screen."""
        return len(self.item_kinds) > 1

    def asked_about(self, kind: str) -> tuple[QuestionDefinition, ...]:
        """Return its questions about items of a kind."""
        return tuple(question for question in self.questions if self.kind_of(question) == kind)

    def refusal(self, mode: str) -> str:
        """Return why nobody rates continuations of a mode by this scheme, '' where people and judges do."""
        return NO_CONVERSATION if self.one_conversation and mode == STATIC else ""

    def content_hash(self) -> str:
        """Return the SHA-256 of what raters see: the same hash means the same scheme."""
        content = asdict(self)
        del content["about_open"]  # the same is shown, folded or not
        del content["one_conversation"]  # the same is asked, of fewer
        for question in content["questions"]:
            question["anchors"] = {str(value): text for value, text in question["anchors"].items()}
            _drop_bounds(question)
            _drop_evidence(question)
        text = json.dumps(content, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


def _drop_bounds(question: dict[str, Any]) -> None:
    """Leave out bounds that are not set: schemes without any keep the hash they had before bounds existed."""
    for name in ("minimum", "maximum"):
        if question[name] is None:
            del question[name]
        else:
            question[name] = float(question[name])  # as the database has it
    if not question["whole"]:
        del question["whole"]


def _drop_evidence(question: dict[str, Any]) -> None:
    """Leave out what is not asked for, for the same reason."""
    for name in ("evidence", "evidence_for", "evidence_required", "item_kind"):
        if not question[name]:
            del question[name]


# Answers that name people of the dialogue.

NOBODY = "nobody"
JOIN = ";"


def people_answer(ids: Collection[str]) -> str:
    """Return a set of people's ids as an answer: sorted and joined by `;`, `nobody` for none."""
    return JOIN.join(sorted(ids)) or NOBODY
