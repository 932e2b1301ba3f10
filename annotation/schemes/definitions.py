"""Building blocks of built-in schemes: plain definitions, mirrored into the database at first use."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, Protocol, get_args

# Answers to comparisons: the better of two, or a ranking of several.
#
# They are stored in the members' own order, which never changes, whatever order a rater saw them in. A
# ranking is written best first: `2>0=1>3` means that member 2 is best, 0 and 1 are equal, and 3 is last.
# Members are numbered from 0, equal ones in rising order, so each ranking has exactly one written form.

FIRST, TIE, SECOND, BOTH_BAD = "first", "tie", "second", "both_bad"
COMPARISON = (FIRST, TIE, SECOND, BOTH_BAD)
"""Possible answers about a pair, in display order; a question may leave out `tie`, `both_bad` or both."""
RANKING = "ranking"
"""Level of a question whose answer is a ranking."""
WORDED = {FIRST: "{0} is better", TIE: "Both alike", SECOND: "{1} is better", BOTH_BAD: "Both are bad"}
LETTERS = "ABCDEFGHIJ"
"""Letters of members on a screen, in the order in which they are shown."""
_FORM = re.compile(r"[0-9](?:[>=][0-9])*")


def is_comparison(level: str, values: Iterable[Any]) -> bool:
    """Whether a question asks for the better of two: `first` and `second` are among its values."""
    distinct_values = list(values)
    return level == "nominal" and {FIRST, SECOND} <= set(distinct_values) <= set(COMPARISON)


def groups(ranking: str) -> list[list[int]]:
    """Return the members of a ranking, best first, equal ones together. Raises ValueError."""
    if not _FORM.fullmatch(ranking):
        raise ValueError(f"{ranking[:40]!r} is not a ranking: write it like 2>0=1, best first")
    return [[int(number) for number in group.split("=")] for group in ranking.split(">")]


def ranking_text(members: Iterable[Iterable[int]]) -> str:
    """Return the stored form of a ranking, from its groups of equal members, best first."""
    return ">".join("=".join(map(str, sorted(group))) for group in members)


def is_ranking(text: str, members: int | None = None) -> bool:
    """Whether a text is a ranking in stored form; with `members`, of exactly that many."""
    try:
        tied_groups = groups(text)
    except ValueError:
        return False
    numbers = sorted(number for group in tied_groups for number in group)
    size = len(numbers) if members is None else members
    return ranking_text(tied_groups) == text and numbers == list(range(size))


def in_own_order(value: Any, order: Sequence[int] | None, level: str, values: Iterable[Any]) -> Any:
    """Convert an answer about members from the order shown to their own order.

    `order` has their numbers in the order shown; None: their own. Other answers stay unchanged. Raises
    ValueError for an unreadable ranking.
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
    """Convert an answer from the members' own order to the `order` shown to a rater."""
    back = None if order is None else [list(order).index(number) for number in range(len(order))]
    return in_own_order(value, back, level, values)


Level = Literal["binary", "nominal", "ordinal", "interval", "ratio", "text", "ranking"]
LEVELS: tuple[str, ...] = get_args(Level)
TURNS, SPANS = "turns", "spans"
EVIDENCE = (TURNS, SPANS)
"""Possible evidence of an answer: whole turns alone, or also spans of their text."""
Value = float | int | str
UNSCALED = ("text", "ranking")
"""Levels whose answers are not values of a scale: no agreement coefficient applies to them directly."""
STATIC = "static"
NO_CONVERSATION = "the turns of a static continuation are not one conversation"
SHORT_NAME = 80
"""Maximum characters of the short name of a question or a judge."""
TEXT_LIMIT = 10_000
"""Maximum characters of an answer in words."""


def accepts(
    level: str,
    values: Sequence[Any],
    value: Any,
    minimum: float | None = None,
    maximum: float | None = None,
    whole: bool = False,
) -> bool:
    """Whether a value is a valid answer to a question of a level, with these values.

    Without values any number is valid, or those between `minimum` and `maximum` (both inclusive), and with
    `whole` no fractions.
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
    """Return a number in the form people write: whole where it has no fraction."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def values_text(values: Iterable[Value]) -> str:
    """Return the values of a scale in one text, as people write them."""
    return ", ".join(str(plain(value) if isinstance(value, float) else value) for value in values)


class Bounded(Protocol):
    """A question that takes any number within bounds."""

    @property
    def minimum(self) -> float | None: ...

    @property
    def maximum(self) -> float | None: ...

    @property
    def whole(self) -> bool: ...


def describe_bounds(question: Bounded) -> str:
    """Describe the numbers that a question without values takes."""
    kind = "a whole number" if question.whole else "any number"
    low, high = plain(question.minimum), plain(question.maximum)
    if low is not None and high is not None:
        return f"{kind} from {low} to {high}"
    if low is None and high is None:
        return kind
    return f"{kind}, at least {low}" if high is None else f"{kind}, at most {high}"


def is_met(condition: Mapping[str, Any] | None, answers: Mapping[str, Any]) -> bool:
    """Whether a question with this `show_if` is asked, given the answers to earlier questions.

    A question that was not asked has no answer, so no question depending on it is asked; an untouched tag is
    answered 0.
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
    """A question that may ask for the turns or words behind an answer."""

    @property
    def evidence(self) -> str: ...

    @property
    def evidence_for(self) -> Sequence[Any]: ...

    @property
    def positive(self) -> float | None: ...


def takes_evidence(question: Pointing, value: Any) -> bool:
    """Whether an answer of this value may have evidence.

    Without `evidence_for`, the positive answer of a binary question may, and every answer on other levels.
    """
    if not question.evidence or value is None or value == "":
        return False
    if question.evidence_for:
        return value in question.evidence_for
    return question.positive is None or value == question.positive


def explains(level: str, condition: Mapping[str, Any] | None, tags: Container[str]) -> bool:
    """Whether a question explains a set tag in words: then it requires an answer."""
    if level != "text" or condition is None or condition["question"] not in tags:
        return False
    return is_met(condition, {condition["question"]: 1}) and not is_met(condition, {condition["question"]: 0})


@dataclass(frozen=True, slots=True)
class QuestionDefinition:
    """One question about an item.

    `values` lists the possible answers, in order; empty means any number (interval, ratio) or any text, and
    for
    a nominal question about decisions a set of participants (`names_people`). `anchors` words some of the
    values. `group` gathers questions into one multi-label control. `help` holds `definition`, `example` and
    `not_this` where they apply, or `keep_in_mind`, one aspect a line. `show_if` is
    {"question": key, "max": value} (or "min", or both) or {"question": key, "in": [values]} for a question
    asked only after such an answer to an earlier one. A question that is not required may be left unanswered.
    `minimum`, `maximum` and `whole` bound the answers to a question that takes any number. `evidence`
    (EVIDENCE, '' for none) is the kind of evidence an answer may have, and `evidence_for` the answers that
    may
    have it (`takes_evidence`); with `evidence_required` such an answer needs evidence. `item_kind` is the
    kind
    of its items where it differs from its scheme's, '' where it is the same. `short_name` names it in reports
    and lists in place of its wording, which raters are asked.
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
    short_name: str = ""

    @property
    def title(self) -> str:
        """Name in reports and lists: the short name, else the wording."""
        return self.short_name or self.wording

    @property
    def is_tag(self) -> bool:
        """Whether it is one toggle of a multi-label control: left untouched, it means no."""
        return self.level == "binary" and bool(self.group)

    @property
    def names_people(self) -> bool:
        """Whether the answer is a set of participants: ids joined by `;`, `nobody` for none."""
        return self.level == "nominal" and not self.values

    @property
    def is_comparison(self) -> bool:
        """Whether it asks for the better of two."""
        return is_comparison(self.level, self.values)

    @property
    def is_open(self) -> bool:
        """Whether any number may be the answer, within its bounds."""
        return not self.values and self.level in ("interval", "ratio")

    def accepts(self, value: Any) -> bool:
        """Whether a value is a valid answer."""
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

    `unit` is the content of one task: an item, or all items of a continuation. In a scheme whose tasks show
    all turns of a continuation, some questions may be about the whole dialogue
    (`QuestionDefinition.item_kind`).

    With `about_open`, the information about speakers and dialogue is unfolded beside the first task.
    With `one_conversation`, its questions are about consecutive turns: static continuations, whose
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
        """Return the kind of items that one of its questions is about."""
        return question.item_kind or self.item_kind

    @property
    def item_kinds(self) -> tuple[str, ...]:
        """Kinds of items that its questions are about, its own first."""
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
        """Explain why this scheme does not rate continuations of a mode, '' where it does."""
        return NO_CONVERSATION if self.one_conversation and mode == STATIC else ""

    def content_hash(self) -> str:
        """Return the SHA-256 of the content raters see: the same hash means the same scheme."""
        content = asdict(self)
        del content["about_open"]  # the same content is shown, folded or not
        del content["one_conversation"]  # the same questions are asked, of fewer items
        for question in content["questions"]:
            question["anchors"] = {str(value): text for value, text in question["anchors"].items()}
            _drop_bounds(question)
            _drop_evidence(question)
            del question["short_name"]  # raters never see it
        text = json.dumps(content, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


def _drop_bounds(question: dict[str, Any]) -> None:
    """Leave out unset bounds: schemes without any keep the hash they had before bounds existed."""
    for name in ("minimum", "maximum"):
        if question[name] is None:
            del question[name]
        else:
            question[name] = float(question[name])  # as in the database
    if not question["whole"]:
        del question["whole"]


def _drop_evidence(question: dict[str, Any]) -> None:
    """Leave out unset evidence fields, for the same reason."""
    for name in ("evidence", "evidence_for", "evidence_required", "item_kind"):
        if not question[name]:
            del question[name]


# Answers that name people of the dialogue.

NOBODY = "nobody"
JOIN = ";"


def people_answer(ids: Collection[str]) -> str:
    """Return the answer for a set of people's ids: sorted and joined by `;`, `nobody` for none."""
    return JOIN.join(sorted(ids)) or NOBODY
